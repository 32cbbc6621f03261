/*
 * The text index of a store: id → entry. Entries are in WAL files, in the order in which they were
 * appended, and in FM files, which are made from full WAL files.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_TEXTS_H
#define PROFMOUNT_FORMATS_ZTS_TEXTS_H

#include "formats/common/damage.h"
#include "profmount/bytes.h"

struct zts_text {
	uint64_t id;
	struct pm_bytes raw; /* as stored: escaped, with the marker bytes of its kind */
};

struct zts_texts {
	const char *store;      /* its number: ids are valid only in their store */
	struct zts_text *items; /* by id, each once */
	size_t n;
	size_t room;
	uint8_t **decoded; /* of each FM file that has entries: its text; owned */
	size_t n_decoded, decoded_room;
};

/*
 * Adds the entries of a WAL file (up to where its data ended when it was opened, see
 * zts_wal_length) or of an FM file. Unreadable data is reported in `damage` under the name `file`;
 * fails only if out of memory.
 */
int zts_texts_add_wal(
	struct zts_texts *t, struct pm_bytes data, struct pm_damage_list *damage, const char *file);
int zts_texts_add_fm(
	struct zts_texts *t, struct pm_bytes data, struct pm_damage_list *damage, const char *file);

/* Call after all files have been added, before the first find. 0 or -ENOMEM. */
int zts_texts_freeze(struct zts_texts *t);

/* The entry, or NULL. O(1) if no ids are missing, else O(log n). */
const struct zts_text *zts_texts_find(const struct zts_texts *t, uint64_t id);

/* Bytes of a WAL file up to the first zero after its magic number; the rest is preallocated. */
size_t zts_wal_length(struct pm_bytes file);

void zts_texts_done(struct zts_texts *t);

/* A number in base 64, digits 0x30 to 0x6f, most significant first; false if it is invalid. */
bool zts_number_read(struct pm_bytes digits, uint64_t *ret);

#endif
