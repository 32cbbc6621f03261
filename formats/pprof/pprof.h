/* Shared by the files of the pprof reader: the wire, and a profile while it is read. */
#ifndef PROFMOUNT_FORMATS_PPROF_PPROF_H
#define PROFMOUNT_FORMATS_PPROF_PPROF_H

#include "formats/builder/builder.h"
#include "formats/common/map.h"
#include "formats/common/paths.h"
#include "formats/symbols/symbols.h"

/* ---- the wire of Protocol Buffers ---- */

enum pprof_wire { PPROF_VARINT = 0, PPROF_FIXED64 = 1, PPROF_LENGTH = 2, PPROF_FIXED32 = 5 };

struct pprof_field {
	uint32_t number;
	enum pprof_wire wire;
	uint64_t value;        /* of numbers */
	struct pm_bytes bytes; /* of PPROF_LENGTH */
};

/* A varint at the front of `in`, which moves on; false if there is none. */
bool pprof_varint(struct pm_bytes *in, uint64_t *ret);

/* The next field of a message, which moves on. 1, 0 at the end, -EINVAL if it is broken. */
int pprof_next(struct pm_bytes *in, struct pprof_field *ret);

/*
 * The numbers of a repeated field, packed or one by one: appends those of `f` to a list. 0,
 * -EINVAL, -ENOMEM.
 */
struct pprof_numbers {
	struct pm_arena *arena; /* NULL: free(items) */
	uint64_t *items;
	size_t n, room;
};

int pprof_numbers_add(struct pprof_numbers *l, const struct pprof_field *f);

/* ---- what a profile consists of ---- */

#define PPROF_NONE UINT32_MAX

enum { PPROF_SAMPLE = 2 /* the field of samples */ };

struct pprof_type {
	uint64_t name, unit; /* of the string table */
	uint32_t metric;
};

struct pprof_mapping {
	uint64_t id, start, limit, offset;
	uint64_t file, build_id; /* of the string table */
	uint64_t has[4];         /* functions, file names, line numbers, inlined functions */
	uint32_t module;         /* of the symbols; PPROF_NONE: not asked for */
};

struct pprof_function {
	uint64_t name, system_name, file, line;
	uint64_t id;
};

struct pprof_line {
	uint64_t function, line;
};

struct pprof_location {
	uint64_t id, mapping, address;
	uint32_t first, n; /* lines */
};

struct pprof_label {
	uint32_t key, text; /* texts; text 0: `number` holds */
	uint32_t unit;
	int64_t number;
};

/* A row of labels.csv. */
struct pprof_tag {
	struct pprof_label label;
	uint64_t records;
	size_t sums; /* the first of its sums, one a type */
};

/* What only samples with a label have: labels/KEY/VALUE. */
struct pprof_filter {
	bool is_set;
	struct pprof_label label;
};

/* The reader's own: what lives as long as the profile. */
struct pprof_own {
	struct pprof_filter filter;
	struct sym_root root;
};

/* While it is read: a build in its arena, which has all that is not the recording's. */
struct pprof {
	struct pm_arena arena;
	struct pm_recording *r;
	const struct pprof_own *own;
	int64_t time_ns, duration_ns, period;
	uint64_t period_type[2], drop_frames, keep_frames, default_type, doc_url;
	bool has_time, has_duration, has_strings;
	bool twice; /* two profiles, one after the other */
	struct pprof_type *types;
	size_t n_types, types_room;
	struct pprof_mapping *mappings;
	size_t n_mappings, mappings_room;
	struct pprof_function *functions;
	size_t n_functions, functions_room;
	struct pprof_location *locations;
	size_t n_locations, locations_room;
	struct pprof_line *lines;
	size_t n_lines, lines_room;
	struct pprof_numbers comments;
	struct pm_map mapping_of, function_of, location_of; /* by id */

	/* The string table: equal strings are one text. Text 0 is empty. */
	struct pm_strtab texts;
	uint32_t *strings; /* text of each */
	size_t n_strings, strings_room;

	struct pm_map keys; /* string of a label's key → its place in `key_samples` */
	struct pprof_key {
		uint64_t string, samples, last;
	} * key_samples;
	size_t n_keys, keys_room;
	uint64_t n_samples;

	struct pm_paths paths; /* of locations */
	uint32_t *contexts;    /* of each path */
	size_t contexts_room;
	struct sym_names *names;
	struct pm_damage_list symbol_damage;

	struct pprof_tag *tags;
	size_t n_tags, tags_room;
	struct pm_fingerprints tag_index;
	__int128 *sums;
	size_t n_sums, sums_room;
	uint32_t primary; /* the type that leads */

	/* For raw/labels.csv: strings that labels have, a bit each, and where to begin in it. */
	uint8_t *in_labels;
	struct pprof_spot {
		uint64_t offset, sample, label;
	} * spots;
	size_t n_spots, spots_room;
	uint64_t n_raw_labels, n_raw_samples;

	/* What is left out, and counted. */
	uint64_t no_location, no_values, no_mapping, no_function, twice_ids, bad_strings,
		many_labels;
	bool has_negative;
};

static inline struct pm_bytes pprof_text(const struct pprof *p, uint32_t text)
{
	return text < p->texts.n ? p->texts.items[text] : (struct pm_bytes){NULL, 0};
}

/* wire.c: the text of a string; strings that are not in the table are counted, and empty. */
uint32_t pprof_string(struct pprof *p, uint64_t string);

/* labels.c: a sample's labels in the order of the source. -EINVAL if they are broken. */
int pprof_label_read(struct pprof *p, struct pm_bytes message, struct pprof_label *ret);

/* labels.c: adds a sample to the rows of its labels. */
void pprof_tags_add(
	struct pprof *p, const struct pprof_label *labels, size_t n, const uint64_t *values);

/* labels.c: labels.csv and labels/, from the rows. */
void pprof_tags_show(struct pprof *p);

/* The type of which column k of the costs is: the primary one comes first. */
static inline uint32_t pprof_column_type(const struct pprof *p, uint32_t k)
{
	return k == 0 ? p->primary : k <= p->primary ? k - 1 : k;
}

/* labels.c: four columns, which have these types, and one for each type of value. */
void pprof_columns(
	struct pprof *p, const char *const first[4], const char *types, struct pm_table *table);

/* labels.c: a sum of values, times what makes the unit that is shown of theirs. */
struct pm_cell pprof_cost(__int128 sum, int64_t factor);

/* raw.c: raw/, once samples were read. */
void pprof_raw_add(struct pprof *p);

/* samples.c: the second pass. */
void pprof_samples_read(struct pprof *p);

/*
 * wire.c: the next field in the window of a stream, of which its bytes are *ret_used: consume them.
 * 1, 0 at the end, -EINVAL, -EFBIG.
 */
int pprof_peek(struct pm_inflate *stream, struct pprof_field *f, size_t *ret_used);

/*
 * wire.c: calls `each` for the fields of the source until it fails: their slices are valid
 * meanwhile. What is broken is damage, said if `says`, as is -EINVAL.
 */
void pprof_for_fields(struct pprof *p, bool says,
	int (*each)(void *context, const struct pprof_field *f, uint64_t offset), void *context);

/* reader.c: reads a source; see pm_reader. */
int pprof_read(struct pm_recording *r, struct pm_error *err);

/* samples.c: the bytes of a build id that is hexadecimal; empty if it is something else. */
struct pm_bytes pprof_build_id(struct pm_bytes hex, uint8_t room[32]);

#endif
