/* Parts of profiles: each is built by whoever asks for it first, by the profile that it belongs to.
 */
#include "profmount/profile.h"

#define BUILD(p, part, err)                                                                        \
	({                                                                                         \
		while ((p)->parts->part.of)                                                        \
			(p) = (p)->parts->part.of;                                                 \
		(p)->parts->part.build ? (p)->parts->part.build((p)->self, err) : 0;               \
	})

#define PART(part, type)                                                                           \
	int pm_profile_##part(                                                                     \
		const struct pm_profile *p, const struct type **ret, struct pm_error *err)         \
	{                                                                                          \
		int r = BUILD(p, part, err);                                                       \
		*ret = r < 0 ? NULL : p->parts->part.it;                                           \
		return r;                                                                          \
	}

#define LIST(list, type)                                                                           \
	int pm_profile_##list(const struct pm_profile *p, const struct type **ret, size_t *ret_n,  \
		struct pm_error *err)                                                              \
	{                                                                                          \
		int r = BUILD(p, list, err);                                                       \
		*ret = r < 0 ? NULL : p->parts->list.it;                                           \
		*ret_n = r < 0 ? 0 : p->parts->list.n;                                             \
		return r;                                                                          \
	}

PART(tree, pm_tree)
PART(metrics, pm_metrics)
PART(threads, pm_threads)
PART(call_times, pm_call_times)
PART(flat, pm_flat)
PART(missing, pm_missings)
PART(damage, pm_damages)
LIST(documents, pm_named_doc)
LIST(collections, pm_collection)
LIST(sources, pm_source)
LIST(series, pm_series)
LIST(facts, pm_fact)
LIST(sections, pm_section)

int pm_profile_span(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
	struct pm_error *err)
{
	int r = BUILD(p, span, err);
	const struct pm_span *span = r < 0 ? NULL : p->parts->span.it;
	*ret_origin_ns = span ? span->origin_ns : PM_NO_TIME;
	*ret_duration_ns = span ? span->duration_ns : PM_NO_TIME;
	return r;
}

int pm_profile_traces(
	const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err)
{
	static const struct pm_threads none;
	if (pm_profile_has(p, threads))
		return pm_profile_threads(p, ret, err);
	int r = BUILD(p, traces, err);
	*ret = r == 0 && p->parts->traces.it ? p->parts->traces.it : &none;
	return r;
}

static const struct pm_bytes no_text = {(const uint8_t *)"", 0};
static const struct pm_tree no_tree = {.ordered_by = PM_NONE, .n_texts = 1, .texts = &no_text};
static const struct pm_metrics no_metrics;
static const struct pm_damages no_damages;

const struct pm_parts pm_nothing = {
	.tree.it = &no_tree,
	.metrics.it = &no_metrics,
	.damage.it = &no_damages,
};
