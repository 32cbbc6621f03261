/* The plan of a database, for meta.db and the files with values. */
#ifndef PROFMOUNT_TESTS_BENCH_MAKE_HPCTOOLKIT_H
#define PROFMOUNT_TESTS_BENCH_MAKE_HPCTOOLKIT_H

#include <stdint.h>

enum { FUNCTION_RECORD = 0x28, LINE_RECORD = 0x30 };

struct tree {
	uint32_t n;
	uint32_t *first; /* child */
	uint8_t *n_children;
	uint8_t *is_line;
	uint64_t *place; /* of the record, from the first record on */
	uint64_t bytes;
	uint32_t *below; /* contexts of the subtree among the valued ones */
};

struct plan {
	const char *dir;
	uint32_t n_contexts, n_threads, n_valued;
	uint64_t n_samples;
	struct tree tree;
};

/* One of the database's files: its kind has four letters, its footer eight. */
void hpctoolkit_open(const struct plan *p, const char *name, const char *kind);
void hpctoolkit_close(const char *footer);

void hpctoolkit_write_meta(const struct plan *p);

#endif
