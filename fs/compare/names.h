/*
 * Names without the parts that a build or a run generates: numbers of clones, hashes, addresses.
 * Two names that are equal without them are one function. The rules are data, in names.c;
 * docs/namespace.md lists them.
 */
#ifndef PROFMOUNT_FS_COMPARE_NAMES_H
#define PROFMOUNT_FS_COMPARE_NAMES_H

#include "formats/common/text.h"

/*
 * Every match of the pattern in the name is replaced: the part between the braces is removed.
 * Letters after a tilde:
 *
 *     ~d  decimal digits        ~i  letters, digits and _       ~b  no such character follows
 *     ~x  hexadecimal digits    ~y  10 to 16 of them            ~X  exactly 16 of them
 *     ~c  suffixes of clones    ~e  blank, ] or the end follow  ~|  the end follows
 */
struct pmfs_name_rule {
	const char *pattern;
	const char *within; /* only applied to names that contain this; NULL: to all */
	bool alone;         /* only applied to names that the other side lacks */
};

extern const struct pmfs_name_rule pmfs_name_rules[];
extern const size_t pmfs_n_name_rules;

/* Names of entry points in measurements, and in the databases that hpcprof makes of them. */
struct pmfs_name_twins {
	const char *name, *same_as;
};

extern const struct pmfs_name_twins pmfs_name_twins[];
extern const size_t pmfs_n_name_twins;

/*
 * Appends the name normalised by the rules that always apply. Not empty unless the name is. O(n).
 */
void pmfs_tidy_name(struct pm_bytes name, struct pm_text *out);

/* The same by all rules: for names that the other side lacks. */
void pmfs_loose_name(struct pm_bytes name, struct pm_text *out);

/* Appends a module's path without < and > and without 8 or more hexadecimal digits in a row. */
void pmfs_tidy_module(struct pm_bytes path, struct pm_text *out);

#endif
