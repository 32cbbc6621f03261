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
	pm_text_hex(&text, hash ? *hash : (uint32_t)pm_hash_bytes(raw), 8);
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

/* State while names are assigned, which is a build of the arena of the siblings. */
struct taking {
	struct pmfs_siblings *siblings;
	const struct pmfs_naming *naming;
	struct pm_arena arena;
	struct pm_map seen;     /* hash of a legal name → ordinal tried last */
	struct pm_strtab raws;  /* long raw names, which many siblings may share … */
	struct pm_map hashes;   /* … → hash */
	struct pm_text scratch; /* in no arena: `naming` calls formats */
};

/* The hash of a long raw name, which is kept for the item; else NULL. */
static const uint32_t *keep_hash(struct taking *t, struct pm_bytes raw, uint32_t item)
{
	bool fresh, in_scratch = raw.p == (const uint8_t *)t->scratch.p;
	if (raw.len <= PM_STRTAB_LONG || in_scratch)
		return NULL;
	uint32_t *hash = pm_map_put(&t->hashes, pm_strtab_add_lasting(&t->raws, raw), 0, &fresh);
	if (fresh)
		*hash = (uint32_t)pm_hash_bytes(raw);
	return pm_map_put(&t->siblings->hashes, item, *hash, &fresh);
}

/* Takes the first free name of the item. */
static void take_name(struct taking *t, struct pm_bytes raw, uint32_t item)
{
	struct pmfs_siblings *s = t->siblings;
	char name[PMFS_NAME_SIZE];
	bool fresh;
	size_t len = make_legal(raw, keep_hash(t, raw, item), name);
	uint32_t *ordinal = pm_map_put(&t->seen, hash_of(name, len), 0, &fresh);
	struct pmfs_name_slot *slot;
	uint64_t hash;
	do {
		++*ordinal;
		hash = hash_of(name, add_ordinal(name, len, *ordinal));
		slot = slot_of(s, hash);
	} while (slot->taken);
	*slot = (struct pmfs_name_slot){
		.hash = hash, .item = item, .ordinal = *ordinal, .taken = true};
	if (*ordinal > 1)
		pm_map_put(&s->ordinals, item, *ordinal, &fresh);
}

static void take_all(void *taking)
{
	struct taking *t = taking;
	const struct pmfs_naming *naming = t->naming;
	struct pmfs_siblings *s = t->siblings;
	size_t n_reserved = 0;
	while (naming->reserved && naming->reserved[n_reserved])
		n_reserved++;
	s->n_slots = 8;
	while (s->n_slots < (naming->n + n_reserved) * 3 / 2)
		s->n_slots *= 2;
	s->slots = pm_arena_zeroed(&s->arena, s->n_slots, sizeof(*s->slots));
	for (size_t i = 0; i < n_reserved; i++) {
		uint64_t hash = hash_of(naming->reserved[i], strlen(naming->reserved[i]));
		*slot_of(s, hash) = (struct pmfs_name_slot){.hash = hash, .taken = true};
	}
	for (uint32_t k = 0; k < naming->n; k++) {
		uint32_t item = naming->item(naming->context, k);
		pm_text_clear(&t->scratch);
		pm_build_proceed(&s->arena);
		struct pm_bytes raw = naming->raw(naming->context, item, &t->scratch);
		pm_build_check(&s->arena, pm_text_status(&t->scratch));
		take_name(t, raw, item);
	}
}

static void siblings_free(struct pm_cached *cached)
{
	struct pmfs_siblings *s = (struct pmfs_siblings *)cached;
	pm_arena_done(&s->arena);
	free(s);
}

int pmfs_siblings_build(
	const struct pmfs_naming *naming, struct pmfs_siblings **ret, struct pm_error *err)
{
	struct pmfs_siblings *s = calloc(1, sizeof(*s));
	if (!s)
		return pm_error_plain(err, -ENOMEM);
	struct taking t = {s, naming, {.of = &s->arena}};
	s->cached.free = siblings_free;
	s->ordinals.arena = s->hashes.arena = &s->arena;
	t.seen.arena = t.hashes.arena = &t.arena;
	/* Long names are not copied: they last. */
	t.raws = (struct pm_strtab){.home = &t.arena, .lasting.arena = &t.arena};
	int r = pm_build(&s->arena, take_all, &t);
	pm_arena_done(&t.arena);
	pm_text_done(&t.scratch);
	s->cached.bytes = sizeof(*s) + s->arena.total;
	if (r < 0)
		siblings_free(&s->cached);
	else
		*ret = s;
	return r < 0 ? pm_error_plain(err, r) : 0;
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
