/* A document that an engine serves, read in windows. */
#ifndef PROFMOUNT_TESTS_DOCUMENT_MOUNTED_H
#define PROFMOUNT_TESTS_DOCUMENT_MOUNTED_H

#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>

#include "fs/document/engine.h"

struct mount {
	struct pm_cache *cache;
	struct pmfs_engine *engine;
	struct pm_doc doc;
	uint64_t size;
};

/* Measures the document; the cache keeps up to `limit` bytes. */
static inline void mount_doc(struct mount *m, const struct pm_doc *doc, uint64_t limit)
{
	m->doc = *doc;
	m->cache = pm_cache_new(limit);
	assert_non_null(m->cache);
	m->engine = pmfs_engine_new(doc->of, m->cache);
	assert_non_null(m->engine);
	assert_int_equal(pmfs_engine_size(m->engine, 1, &m->doc, &m->size, NULL), 0);
}

static inline void mount_end(struct mount *m)
{
	pmfs_engine_free(m->engine);
	pm_cache_free(m->cache);
}

/* Reads the window at `at` into `ret`. */
static inline int try_read(struct mount *m, uint64_t at, size_t len, char *ret, size_t *ret_n)
{
	struct pmfs_piece piece;
	int r = pmfs_engine_read(m->engine, 1, &m->doc, at, len, &piece, NULL);
	if (r < 0)
		return r;
	*ret_n = piece.len;
	memcpy(ret, piece.p, piece.len);
	pmfs_engine_release(m->engine, &piece);
	return 0;
}

/* The same, without failure; returns its length. */
static inline size_t read_at(struct mount *m, uint64_t at, size_t len, char *ret)
{
	size_t n = 0;
	assert_int_equal(try_read(m, at, len, ret, &n), 0);
	return n;
}

static inline char *read_all(struct mount *m)
{
	char *ret = malloc(m->size);
	assert_non_null(ret);
	for (uint64_t at = 0; at < m->size;) {
		size_t n = read_at(m, at, 1 << 17, ret + at);
		assert_true(n > 0);
		at += n;
	}
	return ret;
}

#endif
