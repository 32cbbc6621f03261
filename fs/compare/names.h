/*
 * Names without the parts that a build or a run generates: numbers of clones, hashes, addresses.
 * Names that are equal without them are a family, whose members match.h pairs. The rules are data,
 * in names.c; docs/namespace.md lists them.
 */
#ifndef PROFMOUNT_FS_COMPARE_NAMES_H
#define PROFMOUNT_FS_COMPARE_NAMES_H

#include "formats/common/text.h"

/* What generates the part of a name that is removed. */
enum pmfs_name_part {
	PMFS_NAME_PLAIN,  /* nothing: the name has no such part */
	PMFS_NAME_CLONE,  /* a compiler, for parts and copies of one function */
	PMFS_NAME_SOURCE, /* the source: lines and ordinals, which keep their order */
	PMFS_NAME_HASH,   /* a build */
	PMFS_NAME_RUN,    /* a run: equal numbers mean nothing */
	PMFS_NAME_ADDRESS,
};

/*
 * Every match of the pattern in the name is replaced: the part between the braces is removed.
 * Letters after a tilde:
 *
 *     ~d  decimal digits        ~i  letters, digits and _       ~b  no such character follows
 *     ~x  hexadecimal digits    ~y  10 to 16 of them            ~X  exactly 16 of them
 *     ~n  1 to 7 digits         ~e  blank, ] or the end follow  ~|  the end follows
 *     ~c  suffixes of clones    ~p  folders, up to the last slash before a bracket
 *     ~f  a file's name before a colon and digits
 */
struct pmfs_name_rule {
	const char *pattern;
	const char *within; /* only applied to names that contain this; NULL: to all */
	enum pmfs_name_part part;
};

extern const struct pmfs_name_rule pmfs_name_rules[];
extern const size_t pmfs_n_name_rules;

/* Names of entry points in measurements, and in the databases that hpcprof makes of them. */
struct pmfs_name_twins {
	const char *name, *same_as;
};

extern const struct pmfs_name_twins pmfs_name_twins[];
extern const size_t pmfs_n_name_twins;

/* Whether it is one of these, under either name. */
bool pmfs_is_entry_name(struct pm_bytes name);

struct pmfs_name_facts {
	enum pmfs_name_part part; /* the last in the order above of those that were removed */
	bool cold;                /* the part of a function that is seldom executed */
	uint64_t number;          /* of the source, or an address; 0 if there is none */
};

/* Appends the name of the family. Not empty unless the name is. O(n). */
void pmfs_family_name(struct pm_bytes name, struct pm_text *out, struct pmfs_name_facts *ret);

/* The length of `(eval CHECKSUM)` at the start of a file's name; 0 if it is none. */
size_t pmfs_eval_mark(struct pm_bytes file);

/* Appends a module's path without < and > and without 8 or more hexadecimal digits in a row. */
void pmfs_tidy_module(struct pm_bytes path, struct pm_text *out);

#endif
