/*
 * Reads all of a database once and collects what is wrong with it. The readers themselves report
 * what stops them (tables, metrics, contexts, tuples, trace headers); this adds what nobody would
 * come upon before a user asks for it.
 */
#include "formats/hpctoolkit/damage.h"

#include "formats/hpctoolkit/columns.h"
#include "formats/hpctoolkit/contexts.h"

static int damage_build(void *context, struct pm_error *err)
{
	struct hpctk_db *db = context;
	const struct hpctk_tree *tree;
	int r = hpctk_tree_get(db, &tree, err);
	if (r < 0)
		return r;
	db->damages = pm_damage_rows(&db->damage);
	return 0;
}

int hpctk_damage(const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	struct hpctk_db *db = hpctk_db_of(p);
	int r = pm_lazy_get(&db->damage_lazy, damage_build, db, err);
	*ret = r < 0 ? NULL : &db->damages;
	return r;
}
