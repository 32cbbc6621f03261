/*
 * The profile of a comparison. It only has documents: what the runs have in common is not the
 * tree of one run, and views for one run would not show the differences.
 */
#include "fs/compare/internal.h"

#include <stdlib.h>

#include "fs/compare/compare.h"
#include "fs/compare/union.h"
#include "profmount/profile.h"

/* ---- the documents: the contents of compare/NAME ---- */

struct documents {
	struct pm_named_doc *docs;
	size_t n;
};

static void add_table(struct documents *d, const char *csv, const char *tsv, struct pm_table table)
{
	d->docs[d->n++] = (struct pm_named_doc){.path = csv, .doc = pm_doc_csv(table)};
	if (tsv)
		d->docs[d->n++] = (struct pm_named_doc){.path = tsv, .doc = pm_doc_tsv(table)};
}

static void add_joined(struct documents *d, struct pmfs_compare *c, const char *csv,
	const char *tsv, enum pmfs_compare_part which)
{
	add_table(d, csv, tsv, pmfs_joined_table(c, which));
}

static void add_text(struct documents *d, struct pmfs_compare *c, const char *path,
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err))
{
	d->docs[d->n++] = (struct pm_named_doc){
		.path = path, .doc = {.kind = PM_DOC_TEXT, .text = {.render = render, .self = c}}};
}

enum { MOST_FIXED = 32, EACH_QUANTITY = 2 };

static void list(struct documents *d, struct pmfs_compare *c, const struct pmfs_costs *k)
{
	add_text(d, c, "summary.txt", pmfs_compare_summary_render);
	add_text(d, c, "functions.txt", pmfs_compare_functions_render);
	add_table(d, "contexts.csv", "contexts.tsv", pmfs_union_table(c));
	add_joined(d, c, "functions.csv", "functions.tsv", PMFS_COMPARE_FUNCTIONS);
	if (k->has_modules)
		add_joined(d, c, "modules.csv", "modules.tsv", PMFS_COMPARE_MODULES);
	if (k->has_files)
		add_joined(d, c, "files.csv", "files.tsv", PMFS_COMPARE_FILES);
	if (k->has_lines)
		add_joined(d, c, "lines.csv", "lines.tsv", PMFS_COMPARE_LINES);
	add_joined(d, c, "callers.csv", "callers.tsv", PMFS_COMPARE_CALLERS);
	add_joined(d, c, "categories.csv", NULL, PMFS_COMPARE_CATEGORIES);
	if (k->has_gpu && k->n_good[PMFS_BASE] > 0 && k->n_good[PMFS_OTHER] > 0)
		add_joined(d, c, "gpu.csv", NULL, PMFS_COMPARE_GPU);
	add_text(d, c, "flamegraph.svg", pmfs_compare_flame_render);
	add_text(d, c, "flamegraph.html", pmfs_compare_page_render);
	add_text(d, c, "gone.svg", pmfs_compare_gone_render);
	add_table(d, "metrics.csv", NULL, pmfs_totals_table(c));
	add_table(d, "names.csv", NULL, pmfs_joined_names_table(c));
}

static void *documents_build(struct pm_arena *a, struct pmfs_compare *c,
	enum pmfs_compare_part which, struct pm_error *err)
{
	const struct pmfs_costs *k;
	(void)which;
	pm_build_check(a, pmfs_compare_costs(c, &k, err));
	size_t most = MOST_FIXED + (size_t)EACH_QUANTITY * k->n_shown_quantities;
	struct documents *d = pm_arena_alloc(a, sizeof(*d));
	d->docs = pm_arena_array(a, most, sizeof(*d->docs));
	list(d, c, k);
	for (uint32_t i = 0; i < k->n_shown_quantities; i++) {
		const char *export = pmfs_quantity_cost(k, i)->export;
		if (!pmfs_quantity_is_shown(k, i))
			continue;
		add_text(d, c, pm_arena_printf(a, "export/%s.collapsedstack.txt", export),
			pmfs_compare_folded_render);
		add_text(d, c, pm_arena_printf(a, "export/%s.pb.gz", export),
			pmfs_compare_pprof_render);
		d->docs[d->n - 2].doc.text.a = d->docs[d->n - 1].doc.text.a = i;
	}
	c->shown.documents.it = d->docs;
	c->shown.documents.n = d->n;
	return d;
}

static int get_documents(void *self, struct pm_error *err)
{
	const struct documents *d;
	return pmfs_compare_get(self, PMFS_COMPARE_DOCUMENTS, documents_build, &d, err);
}

/* ---- the profile ---- */

static void compare_close(struct pm_profile *p)
{
	struct pmfs_compare *c = p->self;
	for (unsigned i = PMFS_COMPARE_N_PARTS; i-- > 0;) /* later parts refer to earlier ones */
		pm_arena_done(&c->parts[i].arena);
	free(c);
}

static uint64_t compare_memory(const struct pm_profile *p)
{
	const struct pmfs_compare *c = p->self;
	return sizeof(*c) + __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
}

static const struct pm_profile_ops compare_ops = {
	.close = compare_close,
	.memory = compare_memory,
};

int pmfs_compare_new(
	const struct pmfs_comparison *of, struct pm_profile **ret, struct pm_error *err)
{
	struct pmfs_compare *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	c->of = *of;
	c->shown = pm_nothing;
	c->shown.documents.build = get_documents;
	c->profile = (struct pm_profile){
		.ops = &compare_ops,
		.parts = &c->shown,
		.format = "comparison",
		.source = of->name,
		.layout = "comparison",
		.title = pm_bytes_of(of->name),
		.kind_of_tree = "samples",
		.baseline = of->base_name,
		.self = c,
	};
	*ret = &c->profile;
	return 0;
}
