/* The order of names with numbers. */
#ifndef PROFMOUNT_FS_RUNS_NATURAL_H
#define PROFMOUNT_FS_RUNS_NATURAL_H

/*
 * Like strcmp, but runs of decimal digits count as numbers of any length: n2 is before n16. Names
 * that differ only in leading zeros are in the order of strcmp.
 */
int pmfs_natural_compare(const char *a, const char *b);

#endif
