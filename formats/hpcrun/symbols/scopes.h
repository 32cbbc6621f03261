/*
 * The names of one load module: the function, inlined functions, loops and line of each address.
 * Structure files (structs.h), symbols (elf.h) and line tables (dwarf.h) all produce this.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SCOPES_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SCOPES_H

#include "formats/common/map.h"

enum hpcrun_scope_kind {
	HPCRUN_SCOPE_FUNCTION,
	HPCRUN_SCOPE_INLINED, /* a function inlined into the enclosing scope */
	HPCRUN_SCOPE_LOOP,
	HPCRUN_SCOPE_LINE, /* a statement, or where the function inside of it was inlined */
};

struct hpcrun_scope {
	uint8_t kind;    /* enum hpcrun_scope_kind */
	uint32_t parent; /* an earlier scope, or UINT32_MAX; only a function has none */
	uint32_t name;   /* texts.items[…]; 0 is the empty text */
	uint32_t file;
	uint32_t line;   /* 0 = unknown */
	uint64_t offset; /* offset of a function or loop in the module; else 0 */
};

/* Addresses start … end - 1 belong to a scope. */
struct hpcrun_range {
	uint64_t start, end;
	uint32_t scope;
};

/* Zeroed = empty. Const and thread-safe after hpcrun_scopes_settle. */
struct hpcrun_scopes {
	struct hpcrun_scope *items;
	struct hpcrun_range *ranges; /* once settled: by start, none overlaps another */
	uint32_t n;
	size_t n_ranges, room, ranges_room;
	struct pm_strtab texts;
	struct pm_arena arena;
	size_t said;  /* bytes of texts that were added, also of those that were there */
	bool is_full; /* a limit of limits.h was reached, and the rest was left out */
};

/* Counts n bytes that a text is made of; false beyond HPCRUN_TEXTS_MAX. */
bool hpcrun_scopes_say(struct hpcrun_scopes *s, size_t n);

/* The index of a text, cut at HPCRUN_NAME_MAX; 0 beyond HPCRUN_TEXTS_MAX; PM_NONE if out of memory.
 */
uint32_t hpcrun_scopes_text(struct hpcrun_scopes *s, struct pm_bytes text);

/*
 * Adds a scope; `*ret` is its index. Where it `is_full`, that of its parent, which has then what
 * would have been its own. 0 or -ENOMEM.
 */
int hpcrun_scopes_add(struct hpcrun_scopes *s, const struct hpcrun_scope *scope, uint32_t *ret);

/*
 * Adds an address range of a scope. If ranges overlap, the one that was added first gets the common
 * addresses. Empty ranges, and those of scope PM_NONE, are ignored. 0 or -ENOMEM.
 */
int hpcrun_scopes_range(struct hpcrun_scopes *s, uint64_t start, uint64_t end, uint32_t scope);

/* Puts ranges in order; to be called once, after all were added. O(n log n). 0 or -ENOMEM. */
int hpcrun_scopes_settle(struct hpcrun_scopes *s);

/* The first range that ends beyond an address, or n_ranges. O(log n). */
size_t hpcrun_scopes_after(const struct hpcrun_scopes *s, uint64_t address);

/* The innermost scope of an address, or PM_NONE. O(log n). */
uint32_t hpcrun_scopes_find(const struct hpcrun_scopes *s, uint64_t address);

static inline struct pm_bytes hpcrun_scopes_text_of(const struct hpcrun_scopes *s, uint32_t text)
{
	return text < s->texts.n ? s->texts.items[text] : (struct pm_bytes){NULL, 0};
}

/* Also for a zeroed one. */
void hpcrun_scopes_done(struct hpcrun_scopes *s);

#endif
