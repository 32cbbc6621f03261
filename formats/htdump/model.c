/* The format interface of a stream, from the results of scan and calls. Reads no bytes. */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdio.h>

/* Where a second thread is looked for before the whole stream is read. */
#define SOON_BYTES ((uint64_t)16 << 20)

static int tree(void *opened, struct pm_error *err)
{
	const struct htd_calls *c;
	return htd_calls_get(opened, &c, err);
}

static int call_times(void *opened, struct pm_error *err)
{
	const struct htd_percentiles *found;
	return htd_percentiles_get(opened, &found, err);
}

static int64_t run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	const struct htd_calls *c;
	int r = htd_calls_get(htd_opened_of(p), &c, err);
	if (r < 0)
		return r;
	return c->wanted->n ? htd_all_of_run(c, context, ret, room)
			    : pm_callcosts_of_run(&c->costs, context, ret, room);
}

static int64_t values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	const struct htd_calls *c;
	int r = htd_calls_get(htd_opened_of(p), &c, err);
	if (r < 0)
		return r;
	if (!c->wanted->n)
		return pm_callcosts_values(&c->costs, of, first, ret, room);
	return of.what == PM_OF_THREAD ? pm_costs_of_thread(&c->all, of.index, first, ret, room)
				       : pm_costs_of_context(&c->all, of.index, first, ret, room);
}

/* Streams with several threads show this early; for others, everything has to be read. */
static int several_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	int r = htd_stream_has_threads(src->stream.bytes, &src->stream.dialect, SOON_BYTES);
	if (r == -EAGAIN && (r = htd_scan_get(src, err)) == 0)
		r = src->stream.n_threads > 1;
	if (r < 0)
		return pm_error_plain(err, r);
	src->several = r > 0;
	return 0;
}

static int has(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err)
{
	struct htd_opened *src = htd_opened_of(p);
	if (feature == PM_HAS_TRACES || feature == PM_HAS_CALL_TIMES)
		return 1;
	if (feature != PM_HAS_SEVERAL_THREADS)
		return 0;
	int r = pm_lazy_get(&src->several_lazy, several_build, src, err);
	return r < 0 ? r : src->several;
}

static int thread_counts(const struct pm_profile *p, uint32_t thread, struct pm_thread_counts *ret,
	struct pm_error *err)
{
	const struct htd_calls *c;
	int r = htd_calls_get(htd_opened_of(p), &c, err);
	if (r < 0)
		return r;
	const struct htd_lane *lane = &c->lanes[thread];
	*ret = (struct pm_thread_counts){.values = (uint64_t)lane->n_contexts * PM_CALLS_N_METRICS};
	if (c->wanted->n && pm_costs_counts(&c->all, thread, ret) < 0)
		return pm_error_plain(err, -ENOMEM);
	ret->contexts = lane->n_contexts;
	ret->last_ns = lane->end == UINT64_MAX ? 0 : lane->end;
	return 0;
}

static const struct pm_note notes[] = {
	{"labels.csv", "calls and time by label, highest time first"},
	{"classes", "the events of each class, one column per field"},
	{"counters", "numeric values traced by the program, over time"},
	{NULL, NULL},
};

static int recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	int r = htd_scan_get(htd_opened_of(p), err);
	if (r < 0)
		return r;
	pm_text_str(out,
		"  Which labels are the most expensive, and what does the stream contain?\n"
		"$ head labels.csv raw/events.csv\n");
	if (htd_opened_of(p)->n_counters)
		pm_text_str(out,
			"  Which counters did the program trace?\n"
			"$ ls counters\n");
	return 0;
}

static int facts_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	const struct htd_stream *s = &src->stream;
	const struct htd_calls *c;
	struct pm_cell version = pm_cell_empty();
	int r = htd_calls_get(src, &c, err);
	if (r < 0)
		return r;
	if (s->version != UINT64_MAX) {
		unsigned v = (unsigned)s->version;
		snprintf(src->version, sizeof(src->version), "%u.%u.%u", v >> 16, v >> 8 & 0xff,
			v & 0xff);
		version = pm_cell_str(src->version);
	}
	src->facts[0] =
		(struct pm_fact){"endianness", pm_cell_str(s->dialect.big ? "big" : "little")};
	src->facts[1] = (struct pm_fact){"hawktracer_version", version};
	src->facts[2] = (struct pm_fact){"events", pm_cell_u64(s->n_events)};
	src->facts[3] = (struct pm_fact){"classes", pm_cell_u64(s->table.n_klasses)};
	src->facts[4] = (struct pm_fact){"negative_calls", pm_cell_u64(s->n_negative)};
	src->facts[5] = (struct pm_fact){"overlapping_calls", pm_cell_u64(c->overlapping)};
	return 0;
}

static int facts(void *opened, struct pm_error *err)
{
	struct htd_opened *src = opened;
	return pm_lazy_get(&src->facts_lazy, facts_build, src, err);
}

static void warm(const struct pm_profile *p)
{
	htd_scan_get(htd_opened_of(p), NULL);
}

static bool changed(const struct pm_profile *p)
{
	return pm_input_changed(&htd_opened_of(p)->input);
}

static const struct pm_profile_ops ops = {
	.has = has,
	.thread_counts = thread_counts,
	.run_costs = run_costs,
	.values = values,
	.samples = htd_samples,
	.amounts = htd_samples_amounts,
	.recipes = recipes,
	.warm = warm,
	.changed = changed,
};

void htd_model_init(struct htd_opened *src, struct pm_profile *ret)
{
	htd_raw_documents(src);
	htd_class_collection(src, &src->collections[0]);
	htd_counter_collection(src, &src->collections[1]);
	src->parts = (struct pm_parts){
		.tree.build = tree,
		.metrics.it = src->wanted.n ? &src->wanted.metrics : &pm_callcosts_metrics,
		.threads = {.build = htd_scan_get, .it = &src->threads},
		.span = {.build = htd_scan_get, .it = &src->span},
		.call_times.build = call_times,
		.damage = {.build = htd_damage, .it = &src->damages},
		.documents = {.it = src->documents,
			.n = sizeof(src->documents) / sizeof(src->documents[0])},
		.collections = {.it = src->collections,
			.n = sizeof(src->collections) / sizeof(src->collections[0])},
		.series.build = htd_series,
		.facts = {.build = facts, .it = src->facts, .n = HTD_N_FACTS},
	};
	ret->ops = &ops;
	ret->parts = &src->parts;
	ret->layout = src->stream.dialect.timestamp_first ? "timestamp-first" : "class-first";
	ret->title = pm_bytes_of(src->input.name);
	ret->mtime_ns = src->input.mtime_ns;
	ret->input_bytes = src->stream.bytes.len;
	ret->kind_of_tree = "calls";
	ret->traces_are_calls = ret->calls_in_order = true;
	ret->events = src->wanted.events;
	ret->n_events = src->wanted.n;
	ret->notes = notes;
	ret->self = src;
}
