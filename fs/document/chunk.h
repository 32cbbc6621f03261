/*
 * A column of a row group in Parquet: a dictionary page of distinct texts, if it is text, and one
 * data page: levels that tell which rows have a value, then the values, or indexes into the
 * dictionary, each of the same width. Nothing is compressed.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_CHUNK_H
#define PROFMOUNT_FS_DOCUMENT_CHUNK_H

#include "formats/common/map.h"
#include "formats/common/text.h"
#include "profmount/table.h"

enum { PMFS_GROUP_ROWS = 1 << 17 }; /* at most; engines process so many as one piece */

/* How the cells of a column are stored. */
enum pmfs_storage {
	PMFS_STORE_TEXT,   /* BYTE_ARRAY, UTF-8 */
	PMFS_STORE_I64,    /* INT64 */
	PMFS_STORE_U64,    /* INT64 as unsigned */
	PMFS_STORE_DOUBLE, /* DOUBLE */
};

/* Properties of the cells seen in a column, which determine how they can be stored. */
enum {
	PMFS_SEEN_TEXT = 1,
	PMFS_SEEN_FRACTION = 2, /* not an integer, or one that only a double can represent */
	PMFS_SEEN_INEXACT = 4,  /* an integer that a double cannot represent */
	PMFS_SEEN_BEYOND = 8,   /* greater than INT64_MAX */
	PMFS_SEEN_NEGATIVE = 16,
	PMFS_SEEN_NUMBER = 32, /* any */
};

enum { PMFS_BOUND_ROOM = 32 };

#define PMFS_UNKNOWN UINT32_MAX

/* A text that is a lower, or upper, bound of all texts of a chunk: one of them, or a prefix. */
struct pmfs_bound {
	uint8_t n;     /* bytes; 0 = there is none */
	bool is_exact; /* it is one of them */
	char p[PMFS_BOUND_ROOM];
};

/* Metadata of a chunk; known after measuring, before it is made again. */
struct pmfs_chunk_facts {
	uint64_t min, max;                 /* as stored; of numbers */
	struct pmfs_bound least, greatest; /* of texts */
	uint32_t n, n_nulls;               /* rows, and rows without a value or PMFS_UNKNOWN */
	bool has_range;                    /* min and max are known */
	uint32_t dictionary;               /* bytes of its page, 0 = there is none */
	uint32_t bytes;                    /* of both pages, headers included */
	uint8_t seen;
};

/* All texts that a column can have: the same dictionary page in every row group. Zeroed = none. */
struct pmfs_dictionary {
	struct pm_strtab texts;
	struct pm_arena arena;
	struct pm_text page;
	uint32_t *index_of; /* by the table's number: 2 + index, 1 = empty text, 0 = not reported */
	size_t room;        /* for index_of */
	uint64_t bytes;     /* of the texts */
};

/* Adds a text of CSV, and the table's number for it. 0 or -ENOMEM. */
int pmfs_dictionary_add(struct pmfs_dictionary *d, uint32_t number, struct pm_bytes text);

/* Makes the page, after the last text. 0, -ENOMEM or -EFBIG. */
int pmfs_dictionary_end(struct pmfs_dictionary *d);

void pmfs_dictionary_done(struct pmfs_dictionary *d);

/* A text of an earlier row, at an address in the table's memory. */
struct pmfs_seen {
	struct pm_bytes lasting; /* where it is, if it lasts; else NULL */
	uint32_t index;          /* 1 + its own, or 0 */
};

/* A chunk being made: zeroed, then pmfs_chunk_begin. */
struct pmfs_chunk {
	enum pmfs_storage storage;
	/*
	 * Set by the caller before pmfs_chunk_begin: the size of its pages depends on the number of
	 * rows only, as if all rows had values. Texts are those of `dictionary`.
	 */
	bool laid_out;
	const struct pmfs_dictionary *dictionary;
	uint8_t seen;
	bool failed; /* out of memory */
	uint32_t n, n_nulls;
	uint64_t bytes;            /* approximate size of values and distinct texts */
	uint64_t *values;          /* rows with a value */
	size_t room;               /* for values */
	uint8_t *present;          /* one bit per row */
	struct pmfs_seen *seen_at; /* texts by address */
	uint32_t last;             /* index of the previous text */
	struct pm_strtab texts;
	struct pm_arena arena;
	struct pm_text scratch;
};

/* Its dictionary: of this row group, or of all. */
static inline const struct pm_strtab *pmfs_chunk_texts(const struct pmfs_chunk *c)
{
	return c->laid_out ? &c->dictionary->texts : &c->texts;
}

/* Empties it, and keeps memory that is reused. 0 or -ENOMEM. */
int pmfs_chunk_begin(struct pmfs_chunk *c, enum pmfs_storage storage);

/*
 * Adds the next row's cell. A cell that cannot be stored in this way becomes null, and is noted in
 * c->seen.
 */
void pmfs_chunk_add(struct pmfs_chunk *c, const struct pm_cell *cell);

/*
 * For a chunk that is laid out: sets all its `n` rows. The chunk uses and changes the strip's
 * values; the caller frees them after the chunk. -EIO if a text is not in the dictionary.
 */
int pmfs_chunk_take(struct pmfs_chunk *c, const struct pm_strip *strip, uint32_t n);

/*
 * The stored form of a number; false if the cell is not a number or cannot be stored in this way.
 */
bool pmfs_number_bits(enum pmfs_storage storage, const struct pm_cell *cell, uint64_t *ret);

/* Sets the least and the greatest number as required by parquet.thrift. In bounds.c. */
void pmfs_chunk_range(
	enum pmfs_storage storage, uint64_t min, uint64_t max, struct pmfs_chunk_facts *ret);

/* A close upper bound of the size of its pages, for a chunk that is not laid out. */
uint64_t pmfs_chunk_most(const struct pmfs_chunk *c);

/* Appends its pages. Texts may fail; the caller checks c->failed. */
void pmfs_chunk_render(struct pmfs_chunk *c, struct pm_text *out, struct pmfs_chunk_facts *ret);

/* Computes the bounds of its values. In bounds.c. */
void pmfs_chunk_bounds(const struct pmfs_chunk *c, struct pmfs_chunk_facts *ret);

void pmfs_chunk_done(struct pmfs_chunk *c);

/* How to store a column of this type, given the cells that were seen. */
enum pmfs_storage pmfs_storage_for(enum pm_type type, uint8_t seen);

#endif
