/* Growing arrays: `struct thing *items; size_t n, room;` and one function. */
#ifndef PROFMOUNT_LIST_H
#define PROFMOUNT_LIST_H

#include <stddef.h>

/*
 * Makes room for item n of `*items` (items of `size` bytes, `*room` of them allocated), growing by
 * half. 0 or -ENOMEM, with everything unchanged. The caller frees `*items`.
 */
int pm_list_room(void *items, size_t n, size_t *room, size_t size);

#endif
