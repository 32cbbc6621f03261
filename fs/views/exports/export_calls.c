/*
 * trace.chrome.json: a profile that is one trace, call by call, as Chrome trace events on one
 * track. Unlike trace.json, it clips overlapping calls instead of putting them on lanes.
 */
#include <stdlib.h>

#include "formats/common/json.h"
#include "formats/common/work.h"
#include "fs/views/exports/chrome.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/stacks.h"
#include "profmount/limits.h"

struct writing {
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	uint64_t *end;        /* by context: when the call ends */
	uint64_t *busy_until; /* by context: when the last call directly below ended */
	uint64_t top;         /* the same of the calls at the top */
	uint32_t n;           /* calls written */
	struct pmfs_chrome chrome;
	struct pm_text scratch;
};

/*
 * Slices of one track must nest: a call ends with its caller at the latest, and begins where the
 * call before it ended at the earliest.
 */
static void write_call(struct writing *w, uint32_t context, const struct pm_sample *call)
{
	uint32_t parent = w->tree->parent[context];
	uint64_t limit = parent == PM_NONE ? UINT64_MAX : w->end[parent];
	uint64_t *before = parent == PM_NONE ? &w->top : &w->busy_until[parent];
	uint64_t start = call->time_ns, length = call->duration_ns, end;
	if (length == PM_NO_TIME || __builtin_add_overflow(start, length, &end))
		end = limit == UINT64_MAX ? start : limit;
	if (start < *before)
		start = *before;
	if (start > limit)
		start = limit;
	if (end > limit)
		end = limit;
	if (end < start)
		end = start;
	*before = w->end[context] = end;
	w->busy_until[context] = start;
	pm_text_clear(&w->scratch);
	const struct pmfs_chrome_slice slice = {.pid = 1,
		.tid = 1,
		.start_ns = start,
		.length_ns = end - start,
		.name = pmfs_stacks_name(w->tree, pm_tree_frame(w->tree, context), &w->scratch)};
	pmfs_chrome_slice(&w->chrome, &slice);
}

static int write_calls(struct writing *w, struct pm_error *err)
{
	struct pm_sample batch[256];
	uint64_t at = 0;
	int64_t n = 0;
	while (w->n < PM_LIMIT_TRACE_SLICES) {
		n = w->profile->ops->samples(w->profile, 0, at, batch, 256, err);
		if (n <= 0)
			break;
		if (pm_work_cancelled())
			return pmfs_no_memory(err);
		for (int64_t i = 0; i < n && w->n < PM_LIMIT_TRACE_SLICES; i++) {
			uint32_t context = pm_tree_find(w->tree, batch[i].context);
			if (context == PM_NONE)
				continue;
			write_call(w, context, &batch[i]);
			w->n++;
		}
		at += (uint64_t)n;
	}
	return n < 0 ? (int)n : 0;
}

static void write_other_data(struct writing *w, struct pm_bytes title)
{
	struct pm_json j = {.out = w->chrome.out, .first = true};
	pm_json_open(&j, '{');
	pm_json_key(&j, "title");
	pm_json_text(&j, title);
	if (w->tree->n_contexts > PM_LIMIT_TRACE_SLICES) {
		pm_json_key(&j, "slices_left_out");
		pm_json_u64(&j, w->tree->n_contexts - PM_LIMIT_TRACE_SLICES);
	}
	pm_json_close(&j, '}');
}

int pmfs_calls_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	struct writing w = {.profile = pmfs_model_profile(m), .chrome = {.out = out}};
	struct pm_bytes title;
	int r = pm_profile_title(w.profile, &title, err);
	if (r == 0)
		r = pmfs_model_tree(m, &w.tree, err);
	if (r < 0)
		return r;
	w.end = calloc((size_t)w.tree->n_contexts + 1, sizeof(*w.end));
	w.busy_until = calloc((size_t)w.tree->n_contexts + 1, sizeof(*w.busy_until));
	r = w.end && w.busy_until ? 0 : pmfs_no_memory(err);
	if (r == 0) {
		pmfs_chrome_begin(&w.chrome);
		write_other_data(&w, title);
		pmfs_chrome_events(&w.chrome);
		pmfs_chrome_name(&w.chrome, "process", 1, 0, title);
		r = write_calls(&w, err);
		pmfs_chrome_end(&w.chrome);
	}
	free(w.end);
	free(w.busy_until);
	pm_text_end(&w.scratch, out);
	return r;
}
