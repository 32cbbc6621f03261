/*
 * Sizes of documents. They are kept outside the cache, in a table of fixed size, because they are
 * requested far more often than text. Thread-safe.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_SIZES_H
#define PROFMOUNT_FS_DOCUMENT_SIZES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { PMFS_N_SIZES = 1 << 17 };

enum pmfs_size {
	PMFS_SIZE_KNOWN,
	PMFS_SIZE_NEVER_TOLD, /* never returned by pmfs_engine_size */
	PMFS_SIZE_FORGOTTEN,  /* it may have been reported */
};

struct pmfs_known_size {
	uint64_t key, size;
};

/* Zeroed, then pmfs_sizes_init. */
struct pmfs_sizes {
	pthread_mutex_t lock;
	struct pmfs_known_size known[PMFS_N_SIZES];
	bool forgot[PMFS_N_SIZES]; /* if two sizes use the same slot, the earlier one is lost */
};

void pmfs_sizes_init(struct pmfs_sizes *s);
void pmfs_sizes_done(struct pmfs_sizes *s);

void pmfs_sizes_put(struct pmfs_sizes *s, uint64_t key, uint64_t size);

/* Forgets the sizes for whose keys belongs(context, key) is true: these keys mean something else
 * from now on. */
void pmfs_sizes_purge(
	struct pmfs_sizes *s, bool (*belongs)(void *context, uint64_t key), void *context);

/* O(1). `*ret` is set if the size is known; that of key 0 never is. */
enum pmfs_size pmfs_sizes_get(struct pmfs_sizes *s, uint64_t key, uint64_t *ret);

#endif
