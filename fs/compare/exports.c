/* Folded stacks in the format of difffolded.pl, and pprof with negative values. */
#include "fs/compare/exports.h"

#include <math.h>

#include "fs/compare/stacks.h"
#include "fs/views/exports/export.h"
#include "fs/views/exports/stackfiles.h"

/*
 * Means are seldom whole units: a call that one of three repetitions has is a third of a call. What
 * rounding a frame leaves counts for the next one, so that all of them add up to the total.
 */
static void round_means(struct pmfs_stacks *s)
{
	double scale = s->column->export_scale, left = 0;
	for (uint32_t i = 0; i < s->end; i++) {
		double exact = s->self[i] * scale + left;
		if (!(s->self[i] > 0) || !(exact < 0x1p53))
			continue;
		double units = round(exact);
		left = exact - units;
		s->self[i] = units / scale;
	}
}

/* The stacks of a document, limited like those of a single run. */
static int make(const struct pm_doc *doc, struct pmfs_two_stacks *ret, struct pm_error *err)
{
	struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	const struct pmfs_tree_union *u;
	uint32_t levels;
	*ret = (struct pmfs_two_stacks){.metric = {.unit = {NULL, 0}}};
	int r = pmfs_union_get(c, &u, err);
	if (r == 0)
		r = pmfs_two_stacks_make(c, u, (uint32_t)doc->text.a, false, ret, err);
	for (unsigned side = 0; r == 0 && side < PMFS_N_SIDES; side++) {
		r = pmfs_stacks_cut(&ret->side[side], &levels, err);
		if (r == 0 && u->costs->n_good[side] > 1)
			round_means(&ret->side[side]);
	}
	return r;
}

int pmfs_compare_folded_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_two_stacks s;
	int r = make(doc, &s, err);
	if (r == 0)
		r = pmfs_folded_write(&s.side[PMFS_BASE], &s.side[PMFS_OTHER], out, err);
	pmfs_two_stacks_done(&s);
	return r;
}

int pmfs_compare_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	struct pmfs_two_stacks s;
	struct pm_text comment = {.p = NULL};
	int r = make(doc, &s, err);
	pm_text_line(&comment, pm_bytes_of(c->of.name));
	pm_text_str(&comment, " against ");
	pm_text_line(&comment, pm_bytes_of(c->of.base_name));
	if (r == 0) {
		struct pmfs_pprof_about about = {.comment = pm_text_view(&comment),
			.unit = pmfs_export_unit(&s.column, "count")};
		r = pmfs_pprof_write(&s.side[PMFS_BASE], &s.side[PMFS_OTHER], &about, out, err);
	}
	pmfs_two_stacks_done(&s);
	pm_text_end(&comment, out);
	return r;
}
