/*
 * Names of all load modules of a measurement: which address has which scopes. What is read, from
 * where, and what is not: docs/formats/hpcrun.md, section 8, and decisions 32 and 33.
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

/* May lines be known of a measurement? Opens a file or two. */
bool hpcrun_symbols_have_lines(const struct hpcrun_symbols_place *place);

/*
 * `*ret` is the caller's. Structure files are looked at as far as their module's path; other files
 * when an address is asked for. 0 or -ENOMEM.
 */
int hpcrun_symbols_new(struct hpcrun_symbols **ret, const struct hpcrun_symbols_place *place,
	struct pm_damage_list *damage);

/*
 * Load modules of the measurement, as load maps have them: each is to be said before any address is
 * asked for. Files of this machine count only where the measured program is among them: elsewhere
 * the same paths may be other files. 0 or -ENOMEM.
 */
int hpcrun_symbols_meet(struct hpcrun_symbols *s, struct pm_bytes path);

/*
 * The innermost scope of an address in a load module: `*ret_scope` of `*ret`, the same each time;
 * `*ret` is NULL where nothing is known of it. They live as long as `s`. Not for use by several
 * threads at once. 0 or -ENOMEM.
 */
int hpcrun_symbols_find(struct hpcrun_symbols *s, struct pm_bytes path, uint64_t address,
	const struct hpcrun_scopes **ret, uint32_t *ret_scope);

/* Accepts NULL. */
void hpcrun_symbols_free(struct hpcrun_symbols *s);

#endif
