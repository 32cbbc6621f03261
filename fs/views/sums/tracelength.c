#include "fs/views/sums/tracelength.h"

#include <stdlib.h>

#include "formats/common/number.h"
#include "formats/common/row.h"
#include "fs/views/model/categories.h"

int pmfs_trace_contexts(struct pmfs_model *m, struct pmfs_trace_contexts *ret, struct pm_error *err)
{
	int r = pmfs_identity(m, &ret->identity, err);
	if (r < 0)
		return r;
	ret->tree = ret->identity->tree;
	return pmfs_categories(m, &ret->categories, err);
}

struct pm_bytes pmfs_trace_function(const struct pmfs_trace_contexts *c, uint32_t context)
{
	const struct pmfs_function *function =
		&c->identity->functions[pmfs_function_of(c->identity, context)];
	bool is_known = function->module != 0 || function->file != 0 ||
		!pm_bytes_equal(function->name, pm_bytes_of("(unknown)"));
	return is_known ? function->name : (struct pm_bytes){NULL, 0};
}

uint32_t pmfs_trace_length_compute(
	struct pmfs_trace_lengths *lengths, const struct pmfs_trace_contexts *c, uint32_t context)
{
	struct pm_text scratch = {.p = NULL};
	struct pm_bytes name = pmfs_frame_name(c->tree, pm_tree_frame(c->tree, context), &scratch);
	uint64_t bytes = pm_u64_length(pm_tree_number(c->tree, context)) +
		pm_u64_length(c->tree->depth[context]) +
		pmfs_category_name(c->categories[context]).len +
		pm_row_text_length(lengths->form, pmfs_trace_function(c, context)) +
		pm_row_text_length(lengths->form, name);
	bool failed = scratch.failed;
	pm_text_done(&scratch);
	if (failed)
		return 0;
	__atomic_store_n(&lengths->bytes[context], (uint32_t)bytes, __ATOMIC_RELAXED);
	return (uint32_t)bytes;
}

static int build(struct pmfs_model *m, enum pm_form form, void **ret, struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	/* Zero pages cost nothing until a context occurs. */
	struct pmfs_trace_lengths *lengths =
		calloc(1, sizeof(*lengths) + (size_t)tree->n_contexts * sizeof(*lengths->bytes));
	if (!lengths)
		return pmfs_no_memory(err);
	lengths->form = form;
	*ret = lengths;
	return 0;
}

static int build_csv(struct pmfs_model *m, void **ret, struct pm_error *err)
{
	return build(m, PM_CSV, ret, err);
}

static int build_tsv(struct pmfs_model *m, void **ret, struct pm_error *err)
{
	return build(m, PM_TSV, ret, err);
}

int pmfs_trace_lengths(struct pmfs_model *m, enum pm_form form, struct pmfs_trace_lengths **ret,
	struct pm_error *err)
{
	static const struct pmfs_part_type csv = {.build = build_csv, .free = free};
	static const struct pmfs_part_type tsv = {.build = build_tsv, .free = free};
	return form == PM_CSV ? pmfs_model_part(m, PMFS_PART_TRACE_CSV, &csv, ret, err)
			      : pmfs_model_part(m, PMFS_PART_TRACE_TSV, &tsv, ret, err);
}
