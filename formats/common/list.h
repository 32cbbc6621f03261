/*
 * Growing arrays: `struct thing *items; size_t n, room;` and one function. Memory for large tables.
 */
#ifndef PROFMOUNT_LIST_H
#define PROFMOUNT_LIST_H

#include <stddef.h>

/*
 * Makes room for item n of `*items` (items of `size` bytes, `*room` of them allocated), growing by
 * half. 0 or -ENOMEM, with everything unchanged. The caller frees `*items`.
 */
int pm_list_room(void *items, size_t n, size_t *room, size_t size);

/* ---- large tables, which are accessed at random ---- */

/*
 * As calloc, for tables that are looked at before they are written to: free with free. The kernel
 * maps a shared page of zeros where fresh memory is first read, and another page where it is then
 * written: two faults, of which the second interrupts all processors that run threads of the
 * process. Here all pages can be written from the beginning.
 */
void *pm_zeroed(size_t n, size_t size);

/*
 * Advises the kernel to use huge pages for memory from malloc or realloc if it is large, so that
 * its addresses stay in the TLB. For memory that has not been written to. pm_zeroed does this.
 */
void pm_use_huge_pages(void *items, size_t bytes);

#endif
