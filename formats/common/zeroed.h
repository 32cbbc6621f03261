/* Zeroed memory for tables that are looked at before they are written to. */
#ifndef PROFMOUNT_ZEROED_H
#define PROFMOUNT_ZEROED_H

#include <stddef.h>

/*
 * As calloc: free with free. The kernel maps a shared page of zeros where fresh memory is first
 * read, and another page where it is then written: two faults, of which the second interrupts all
 * processors that run threads of the process. Here all pages can be written from the beginning.
 */
void *pm_zeroed(size_t n, size_t size);

#endif
