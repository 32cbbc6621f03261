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

static int fill(struct pmfs_model *m, enum pm_form form, struct pmfs_trace_lengths *part,
	struct pm_error *err)
{
	const struct pm_tree *tree;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	part->form = form;
	/* Zero pages cost nothing until a context occurs. */
	part->bytes = calloc((size_t)tree->n_contexts + 1, sizeof(*part->bytes));
	return part->bytes ? 0 : pmfs_no_memory(err);
}

static int fill_csv(void *owner, void *part, struct pm_error *err)
{
	return fill(owner, PM_CSV, part, err);
}

static int fill_tsv(void *owner, void *part, struct pm_error *err)
{
	return fill(owner, PM_TSV, part, err);
}

static void lengths_done(void *p)
{
	struct pmfs_trace_lengths *part = p;
	free(part->bytes);
}

int pmfs_trace_lengths(struct pmfs_model *m, enum pm_form form, struct pmfs_trace_lengths **ret,
	struct pm_error *err)
{
	static const struct pm_part_type csv = {sizeof(struct pmfs_trace_lengths), fill_csv,
		lengths_done, .what = "the lengths of rows"};
	static const struct pm_part_type tsv = {sizeof(struct pmfs_trace_lengths), fill_tsv,
		lengths_done, .what = "the lengths of rows"};
	return form == PM_CSV ? pmfs_model_part(m, PMFS_PART_TRACE_CSV, &csv, ret, err)
			      : pmfs_model_part(m, PMFS_PART_TRACE_TSV, &tsv, ret, err);
}
