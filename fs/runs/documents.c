/* The documents at the root, in the order of listings. */
#include "fs/runs/internal.h"
#include "fs/runs/sides.h"
#include "fs/runs/texts.h"

static struct pm_doc text(const struct pmfs_ensemble *e,
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err))
{
	struct pm_doc doc = {.kind = PM_DOC_TEXT};
	doc.text.render = render;
	doc.text.self = e;
	return doc;
}

static void add(struct pmfs_ensemble *e, const char *path, struct pm_doc doc)
{
	e->documents[e->n_documents++] = (struct pm_named_doc){.path = path, .doc = doc};
}

static int scales(const struct pm_profile *p, struct pm_error *err)
{
	return pmfs_scales(pmfs_ensemble_of(p->self), err);
}

static int has_efficiencies(const struct pm_profile *p, struct pm_error *err)
{
	return pmfs_has_efficiencies(pmfs_ensemble_of(p->self), err);
}

void pmfs_ensemble_list_documents(struct pmfs_ensemble *e)
{
	struct pm_table functions = pmfs_all_functions_table(e);
	add(e, "README.txt", text(e, pmfs_ensemble_readme));
	add(e, "summary.txt", text(e, pmfs_ensemble_summary));
	add(e, "functions.txt", text(e, pmfs_ensemble_functions));
	add(e, "info.json", text(e, pmfs_ensemble_info));
	add(e, "runs.csv", pm_doc_csv(pmfs_runs_table(e)));
	add(e, "functions.csv", pm_doc_csv(functions));
	add(e, "functions.tsv", pm_doc_tsv(functions));
	add(e, "functions-wide.csv", pm_doc_csv(pmfs_wide_table(e)));
	if (e->runs.repeated)
		add(e, "noise.csv", pm_doc_csv(pmfs_noise_table(e)));
	add(e, "scaling.csv", pm_doc_csv(pmfs_scaling_table(e)));
	e->documents[e->n_documents - 1].present = scales;
	add(e, "scaling/contexts.csv", pm_doc_csv(pmfs_scaling_contexts_table(e)));
	e->documents[e->n_documents - 1].present = scales;
	add(e, "efficiency.csv", pm_doc_csv(pmfs_efficiencies_table(e)));
	e->documents[e->n_documents - 1].present = has_efficiencies;
	add(e, "damage.csv", pm_doc_csv(pmfs_all_damage_table(e)));
}
