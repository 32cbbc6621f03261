/* Memory for large tables, which are accessed at random. */
#ifndef PROFMOUNT_ZEROED_H
#define PROFMOUNT_ZEROED_H

#include <stddef.h>

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
