/*
 * Buffers of long windows, kept for the next ones: the pages of a new one take a tenth of the time
 * that rendering takes.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_SPARES_H
#define PROFMOUNT_FS_DOCUMENT_SPARES_H

#include <pthread.h>

#include "formats/common/text.h"

enum { PMFS_N_SPARES = 2 }; /* as many windows are usually rendered at the same time */

struct pmfs_spares {
	pthread_mutex_t lock;
	struct pm_text texts[PMFS_N_SPARES];
};

/* Take and give may be called by several threads at the same time. */
void pmfs_spares_init(struct pmfs_spares *s);
void pmfs_spares_done(struct pmfs_spares *s);

/* An empty text, with memory if there is a buffer to spare. */
struct pm_text pmfs_spares_take(struct pmfs_spares *s);

/* Keeps or frees the memory of a text, of which `taken` bytes are allocated. NULL is ignored. */
void pmfs_spares_give(struct pmfs_spares *s, char *p, size_t taken);

#endif
