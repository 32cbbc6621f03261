/*
 * Names of all load modules of a measurement: which module has which scopes. What is read, from
 * where, and what is not: docs/formats/hpcrun.md, section 7, and decision 33.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SYMBOLS_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SYMBOLS_H

#include "formats/common/damage.h"
#include "formats/hpcrun/symbols/scopes.h"

struct hpcrun_symbols;

/*
 * `folder`: the measurement directory, the caller's, open as long as this lives. `*ret` is the
 * caller's. Structure files are looked at as far as their module's path; other files when a module
 * is asked for. 0 or -ENOMEM.
 */
int hpcrun_symbols_new(struct hpcrun_symbols **ret, int folder, struct pm_damage_list *damage);

/* May lines be known of a measurement? Opens a file or two. */
bool hpcrun_symbols_have_lines(int folder);

/*
 * The scopes of the load module with that path, as a load map has it: the same ones each time, or
 * NULL where nothing is known of it. They live as long as `s`. Not for use by several threads at
 * once. 0 or -ENOMEM.
 */
int hpcrun_symbols_module(
	struct hpcrun_symbols *s, struct pm_bytes path, const struct hpcrun_scopes **ret);

/* Accepts NULL. */
void hpcrun_symbols_free(struct hpcrun_symbols *s);

#endif
