/*
 * A .hpcrun file of any version: the positions of its parts. Nodes and values stay in the input and
 * are decoded on request; the short tables before them are decoded immediately.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_PROFILE_H
#define PROFMOUNT_FORMATS_HPCRUN_PROFILE_H

#include "formats/hpcrun/records.h"

enum hpcrun_family {
	HPCRUN_FAMILY_NONE,     /* not an hpcrun profile */
	HPCRUN_FAMILY_EARLY,    /* HPCRUN____02.00l|b: epochs of 2009 */
	HPCRUN_FAMILY_EPOCHS,   /* HPCRUN-profile____01.98 … 03.10: epochs */
	HPCRUN_FAMILY_SECTIONS, /* HPCRUN-profile____04.00: sections and a footer */
};

struct hpcrun_epoch {
	uint64_t flags, granularity;
	uint32_t ra_to_callsite;
	struct hpcrun_pairs pairs;
	struct hpcrun_metrics metrics;
	struct hpcrun_modules modules;
	struct hpcrun_nodes nodes;
};

enum hpcrun_section_id {
	HPCRUN_SECTION_HEADER,
	HPCRUN_SECTION_MODULES,
	HPCRUN_SECTION_NODES,
	HPCRUN_SECTION_METRICS,
	HPCRUN_SECTION_DICTIONARY,
	HPCRUN_SECTION_SPARSE,
	HPCRUN_SECTION_FOOTER,
	HPCRUN_N_SECTIONS,
};

struct hpcrun_section {
	uint64_t start, end;
};

/* Names of kinds in the identity tuple: kind 3 is THREAD. */
struct hpcrun_kind {
	uint16_t kind;
	struct pm_bytes name;
};

/* A level of the identity tuple; `interpret` says which of the two ids are valid. */
struct hpcrun_identity {
	uint16_t kind;
	uint8_t interpret; /* 0 both, 1 logical, generated for this file only, 2 for all files, 3
			      logical */
	uint64_t physical, logical;
};

/* Metric values of 04.00: blocks of values, and an index of nodes that own them. */
struct hpcrun_sparse {
	struct pm_bytes values; /* n_values records of 10 bytes */
	struct pm_bytes index;  /* n_blocks + 1 records of 12 bytes */
	uint64_t values_off, index_off;
	uint64_t n_values, n_blocks;
};

/* How much to read. */
enum hpcrun_extent {
	HPCRUN_ALL,
	HPCRUN_WHO,    /* header, identity and dictionary */
	HPCRUN_METRICS /* these and the metric tables */
};

struct hpcrun_profile {
	struct pm_bytes file;
	enum hpcrun_family family;
	unsigned version;
	bool big;
	struct pm_bytes magic;
	struct hpcrun_pairs header;
	struct hpcrun_epoch *epochs; /* owned; of SECTIONS always one */
	size_t n_epochs, epochs_room;

	/* Of SECTIONS only. */
	bool has_footer;
	struct hpcrun_section sections[HPCRUN_N_SECTIONS]; /* as stored */
	struct hpcrun_kind *kinds;                         /* the dictionary; owned */
	size_t n_kinds, kinds_room;
	struct hpcrun_identity *identity; /* owned */
	size_t n_identity, identity_room;
	struct hpcrun_sparse sparse;
};

/* Also for a zeroed one, and after a failed read. */
void hpcrun_profile_done(struct hpcrun_profile *p);

/* Adds an empty epoch; NULL if out of memory. */
struct hpcrun_epoch *hpcrun_epoch_add(struct hpcrun_profile *p);
void hpcrun_epochs_done(struct hpcrun_profile *p);

/* The values [*ret_start, *ret_end) of a block; false where they are not its own. */
bool hpcrun_block_range(const struct hpcrun_sparse *s, uint64_t block, uint64_t covered,
	uint64_t *ret_start, uint64_t *ret_end);

#endif
