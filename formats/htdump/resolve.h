/* Resolves bases and structs of a class version: its fields as a flat list. */
#ifndef PROFMOUNT_HTDUMP_RESOLVE_H
#define PROFMOUNT_HTDUMP_RESOLVE_H

#include "formats/htdump/klass.h"

/* A struct whose fields are being listed. */
struct htd_resolving {
	uint32_t klass, next; /* field */
	struct pm_bytes prefix;
};

struct htd_resolver {
	struct htd_table *t;
	struct pm_arena names; /* nested ones */
	struct htd_resolving stack[HTD_LIMIT_NESTING];
	uint32_t depth, steps, n;
	const char *broken;
	bool too_large; /* a field is broken: there are columns, but events cannot be read */
};

/*
 * Fills the table's scratch space with the first `n` fields of the version, in the order of an
 * event; `broken` says why there are none. The resolver is zeroed before, except for `t`; the
 * caller frees `names`. 0 or -ENOMEM.
 */
int htd_resolve(struct htd_resolver *r, uint32_t klass);

#endif
