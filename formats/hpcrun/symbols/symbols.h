/*
 * Names of all load modules of a measurement: the scopes of addresses. docs/formats/hpcrun.md,
 * section 8, and decisions 32 and 33 say which files are read.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SYMBOLS_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SYMBOLS_H

#include "formats/common/damage.h"
#include "formats/hpcrun/symbols/elsewhere.h"
#include "formats/hpcrun/symbols/scopes.h"

struct hpcrun_symbols;

/* Where names may come from; all of it outlives the symbols. */
struct hpcrun_symbols_place {
	int folder; /* the measurement directory */
	const struct hpcrun_elsewhere *elsewhere;
	uint64_t written_ns;     /* when the youngest profile was written */
	struct pm_bytes program; /* the measured program's name, without its folder */
};

/* Whether lines may be known for a measurement. Opens one or two files. */
bool hpcrun_symbols_have_lines(const struct hpcrun_symbols_place *place);

/*
 * The caller owns `*ret`. Structure files are read up to their module's path, other files when an
 * address is requested. 0 or -ENOMEM.
 */
int hpcrun_symbols_new(struct hpcrun_symbols **ret, const struct hpcrun_symbols_place *place,
	struct pm_damage_list *damage);

/*
 * Adds a load module from a load map; add all of them before requesting an address. Files of this
 * machine are used only if the measured program is among them, because on another machine the same
 * paths may be different files. 0 or -ENOMEM.
 */
int hpcrun_symbols_meet(struct hpcrun_symbols *s, struct pm_bytes path);

/*
 * The number of a load module, whose files are read on the first call: its path is compared here
 * and not for each address, because it may be long. 0 or -ENOMEM.
 */
int hpcrun_symbols_module(struct hpcrun_symbols *s, struct pm_bytes path, uint32_t *ret);

/*
 * The innermost scope of an address in a load module: `*ret_scope` of `*ret`, the same each time;
 * `*ret` is NULL if nothing is known. They live as long as `s`. Not thread-safe. 0 or -ENOMEM.
 */
int hpcrun_symbols_find(struct hpcrun_symbols *s, uint32_t module, uint64_t address,
	const struct hpcrun_scopes **ret, uint32_t *ret_scope);

/* Accepts NULL. */
void hpcrun_symbols_free(struct hpcrun_symbols *s);

#endif
