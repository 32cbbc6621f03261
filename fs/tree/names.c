/*
 * Legal names, and an index that makes them unique.
 *
 * Siblings are taken in database order. Each gets its legal name if that is free, else the first of
 * NAME~2, NAME~3 … that is. The index stores the hash of each final name and the number after `~`,
 * but not the names, which are made again when needed.
 */
#include "fs/tree/names.h"

#include <stdlib.h>

#include "formats/common/number.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

enum {
	HASH_PART = 9, /* ~ and 8 digits */
};

struct pmfs_name_slot {
	uint64_t hash; /* of the final name */
	uint32_t item;
	uint32_t ordinal; /* 1: the plain name; 0: the slot is free or reserved */
	bool taken;
};

/* One character of a legal name: appends it and returns how many bytes of raw it replaces. */
static size_t add_legal_char(struct pm_text *out, struct pm_bytes raw, size_t at)
{
	if (raw.p[at] != '/')
		return pm_text_shown_char(out, raw, at);
	pm_text_str(out, "\xe2\x88\x95"); /* U+2215 */
	return 1;
}

static uint32_t hash_of_raw(struct pm_bytes raw)
{
	return (uint32_t)pm_hash_bytes(raw);
}

/* `hash` is that of the raw name if it is known, else NULL. */
static size_t make_legal(struct pm_bytes raw, const uint32_t *hash, char out[PMFS_NAME_SIZE])
{
	/* At most one character beyond the limit, so it never needs to allocate. */
	struct pm_text text = {.p = out, .room = PMFS_NAME_SIZE};
	size_t cut = 0;
	if (raw.len == 0)
		pm_text_str(&text, "(unknown)");
	else if (raw.p[0] == '.' || raw.p[0] == '-')
		pm_text_char(&text, '_');
	for (size_t at = 0; at < raw.len && text.len <= PM_LIMIT_NAME;) {
		if (text.len <= PM_LIMIT_NAME - HASH_PART)
			cut = text.len;
		at += add_legal_char(&text, raw, at);
	}
	if (text.len <= PM_LIMIT_NAME)
		return text.len;
	text.len = cut;
	pm_text_char(&text, '~');
	pm_text_hex(&text, hash ? *hash : hash_of_raw(raw), 8);
	return text.len;
}

size_t pmfs_name_legal(struct pm_bytes raw, char out[PMFS_NAME_SIZE])
{
	return make_legal(raw, NULL, out);
}

static size_t add_ordinal(char name[PMFS_NAME_SIZE], size_t len, uint32_t ordinal)
{
	if (ordinal < 2)
		return len;
	name[len++] = '~';
	return len + pm_u64_format(ordinal, name + len);
}

static uint64_t hash_of(const char *name, size_t len)
{
	return pm_hash_bytes((struct pm_bytes){(const uint8_t *)name, len});
}

/* Salted like pm_map: names are hostile input, and must not determine their slots. */
static struct pmfs_name_slot *slot_of(const struct pmfs_siblings *s, uint64_t hash)
{
	size_t i = pm_hash_u64(hash ^ (uintptr_t)s->slots) & (s->n_slots - 1);
	while (s->slots[i].taken && s->slots[i].hash != hash)
		i = (i + 1) & (s->n_slots - 1);
	return &s->slots[i];
}

/* State while names are assigned. */
struct taking {
	struct pmfs_siblings *siblings;
	struct pm_map seen;    /* hash of a legal name → ordinal tried last */
	struct pm_strtab raws; /* long raw names, which many siblings may share … */
	struct pm_map hashes;  /* … → hash */
	struct pm_text scratch;
};

/* Keeps the hash of a long raw name for the item, so that it is not computed again. */
static int keep_hash(struct taking *t, struct pm_bytes raw, uint32_t item, const uint32_t **ret)
{
	bool fresh, in_scratch = raw.p == (const uint8_t *)t->scratch.p;
	*ret = NULL;
	if (raw.len <= PM_STRTAB_LONG || in_scratch)
		return 0;
	uint32_t index = pm_strtab_add_lasting(&t->raws, raw);
	uint32_t *hash = index == PM_NONE ? NULL : pm_map_put(&t->hashes, index, 0, &fresh);
	if (hash && fresh)
		*hash = hash_of_raw(raw);
	*ret = hash ? pm_map_put(&t->siblings->hashes, item, *hash, &fresh) : NULL;
	return *ret ? 0 : -ENOMEM;
}

/* Takes the first free name of the item. */
static int take_name(struct taking *t, struct pm_bytes raw, uint32_t item)
{
	struct pmfs_siblings *s = t->siblings;
	char name[PMFS_NAME_SIZE];
	const uint32_t *known;
	bool fresh;
	if (keep_hash(t, raw, item, &known) < 0)
		return -ENOMEM;
	size_t len = make_legal(raw, known, name);
	uint32_t *ordinal = pm_map_put(&t->seen, hash_of(name, len), 0, &fresh);
	if (!ordinal)
		return -ENOMEM;
	struct pmfs_name_slot *slot;
	uint64_t hash;
	do {
		++*ordinal;
		hash = hash_of(name, add_ordinal(name, len, *ordinal));
		slot = slot_of(s, hash);
	} while (slot->taken);
	*slot = (struct pmfs_name_slot){
		.hash = hash, .item = item, .ordinal = *ordinal, .taken = true};
	if (*ordinal == 1)
		return 0;
	uint32_t *kept = pm_map_put(&s->ordinals, item, *ordinal, &fresh);
	return kept ? 0 : -ENOMEM;
}

static int take_all(struct pmfs_siblings *s, const struct pmfs_naming *naming)
{
	struct taking t = {.siblings = s};
	int r = 0;
	for (const char *const *name = naming->reserved; name && *name; name++) {
		uint64_t hash = hash_of(*name, strlen(*name));
		*slot_of(s, hash) = (struct pmfs_name_slot){.hash = hash, .taken = true};
	}
	for (uint32_t k = 0; r == 0 && k < naming->n; k++) {
		uint32_t item = naming->item(naming->context, k);
		pm_text_clear(&t.scratch);
		struct pm_bytes raw = naming->raw(naming->context, item, &t.scratch);
		r = t.scratch.failed || pm_work_cancelled() ? PM_CANCELLED
							    : take_name(&t, raw, item);
	}
	pm_map_done(&t.seen);
	pm_map_done(&t.hashes);
	pm_strtab_done(&t.raws);
	pm_text_done(&t.scratch);
	return r;
}

static void siblings_free(struct pm_cached *cached)
{
	struct pmfs_siblings *s = (struct pmfs_siblings *)cached;
	pm_map_done(&s->ordinals);
	pm_map_done(&s->hashes);
	free(s->slots);
	free(s);
}

int pmfs_siblings_build(
	const struct pmfs_naming *naming, struct pmfs_siblings **ret, struct pm_error *err)
{
	size_t n_reserved = 0;
	while (naming->reserved && naming->reserved[n_reserved])
		n_reserved++;
	struct pmfs_siblings *s = calloc(1, sizeof(*s));
	if (!s)
		return pm_error_plain(err, -ENOMEM);
	s->cached.free = siblings_free;
	s->n_slots = 8;
	while (s->n_slots < (naming->n + n_reserved) * 3 / 2)
		s->n_slots *= 2;
	s->slots = calloc(s->n_slots, sizeof(*s->slots));
	if (!s->slots || take_all(s, naming) < 0) {
		siblings_free(&s->cached);
		return pm_error_plain(err, -ENOMEM);
	}
	s->cached.bytes = sizeof(*s) + s->n_slots * sizeof(*s->slots) +
		(s->ordinals.room + s->hashes.room) * 16;
	*ret = s;
	return 0;
}

int pmfs_siblings_find(const struct pmfs_siblings *s, const struct pmfs_naming *naming,
	struct pm_bytes name, uint32_t *ret_item)
{
	char real[PMFS_NAME_SIZE];
	const struct pmfs_name_slot *slot = slot_of(s, pm_hash_bytes(name));
	if (!slot->taken || slot->ordinal == 0)
		return 0;
	/* Hashes can collide: compare the name. */
	size_t len = pmfs_siblings_name(s, naming, slot->item, real);
	if (len == 0)
		return -ENOMEM;
	*ret_item = slot->item;
	return len == name.len && memcmp(real, name.p, len) == 0;
}

size_t pmfs_siblings_name(const struct pmfs_siblings *s, const struct pmfs_naming *naming,
	uint32_t item, char out[PMFS_NAME_SIZE])
{
	struct pm_text scratch = {.p = NULL};
	struct pm_bytes raw = naming->raw(naming->context, item, &scratch);
	size_t len = make_legal(raw, pm_map_find(&s->hashes, item), out);
	const uint32_t *ordinal = pm_map_find(&s->ordinals, item);
	bool failed = scratch.failed;
	pm_text_done(&scratch);
	return failed ? 0 : add_ordinal(out, len, ordinal ? *ordinal : 1);
}
