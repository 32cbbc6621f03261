/* The orders in which traces are listed (by time, by store, by duration), and their names. */
#include "formats/zts/survey.h"

#include <stdlib.h>
#include <time.h>

#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/zts/records.h"
#include "profmount/profile.h"

enum { SLOWEST = 100 };

static int by_time(const void *a, const void *b, void *context)
{
	const struct zts_trace *x = a, *y = b;
	const struct zts_survey *v = context;
	const struct zts_part *p = &v->parts[x->part], *q = &v->parts[y->part];
	return zts_order(x->timestamp_ns, y->timestamp_ns)
		?: zts_order(p->store, q->store)
		?: zts_order(p->data_offset, q->data_offset)
		?: zts_order(p->start_offset, q->start_offset)
		?: zts_order(x->trace_id[0], y->trace_id[0])
		?: zts_order(x->trace_id[1], y->trace_id[1])
		?: zts_order(x->span_id, y->span_id);
}

static uint64_t length_of(const struct zts_trace *t)
{
	return t->duration_ns == PM_NO_TIME ? 0 : t->duration_ns;
}

static int by_length(const void *a, const void *b, void *context)
{
	const struct zts_survey *v = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	return zts_order(length_of(&v->traces[k]), length_of(&v->traces[i])) ?: zts_order(i, k);
}

/* Equal for traces of one store that have the same name. */
static int compare_names(const struct zts_trace *x, const struct zts_trace *y)
{
	return zts_order(x->store, y->store)
		?: zts_order(x->timestamp_ns / ZTS_MS_NS, y->timestamp_ns / ZTS_MS_NS)
		?: zts_order(x->has_trace_id, y->has_trace_id)
		?: zts_order(x->trace_id[0], y->trace_id[0])
		?: zts_order(x->trace_id[1], y->trace_id[1])
		?: zts_order(x->span_id, y->span_id);
}

static int by_name(const void *a, const void *b, void *context)
{
	const struct zts_survey *v = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	return compare_names(&v->traces[i], &v->traces[k]) ?: zts_order(i, k);
}

static int by_store(const void *a, const void *b, void *context)
{
	const struct zts_survey *v = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	return zts_order(v->traces[i].store, v->traces[k].store) ?: zts_order(i, k);
}

static int number_twins(struct zts_survey *v, uint32_t *all)
{
	if (pm_sort_with(all, v->n, sizeof(*all), by_name, v) < 0)
		return -ENOMEM;
	for (uint32_t i = 1; i < v->n; i++) {
		struct zts_trace *t = &v->traces[all[i]], *before = &v->traces[all[i - 1]];
		t->twin = compare_names(before, t) == 0 ? before->twin + 1 : 0;
	}
	return 0;
}

static int list_stores(struct zts_survey *v)
{
	if (pm_sort_with(v->by_store, v->n, sizeof(*v->by_store), by_store, v) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < v->n; i++) {
		v->traces[v->by_store[i]].place = i;
		v->first_of[v->traces[i].store + 1]++;
	}
	for (uint32_t s = 0; s < v->n_stores; s++)
		v->first_of[s + 1] += v->first_of[s];
	return 0;
}

int zts_survey_list_slow(
	const struct zts_survey *v, uint32_t first, uint32_t end, uint32_t *ret, uint32_t *ret_n)
{
	for (uint32_t i = first; i < end; i++)
		ret[i - first] = i;
	*ret_n = end - first < SLOWEST ? end - first : SLOWEST;
	return pm_sort_with(ret, end - first, sizeof(*ret), by_length, (void *)(uintptr_t)v);
}

/* Lists the traces in each order; they are in order of time already. 0 or -ENOMEM. */
static int list_traces(struct zts_survey *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		v->by_store[i] = i;
	int r = number_twins(v, v->by_store);
	if (r == 0)
		r = list_stores(v);
	return r < 0 ? r : zts_survey_list_slow(v, 0, v->n, v->slow, &v->n_slow);
}

static void list_failed(struct zts_survey *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->traces[i].error)
			v->failed[v->n_failed++] = i;
}

static void measure_time(struct zts_survey *v)
{
	v->origin_ns = v->n ? v->traces[0].timestamp_ns : PM_NO_TIME;
	v->end_ns = v->origin_ns;
	for (uint32_t i = 0; i < v->n; i++) {
		uint64_t end = v->traces[i].timestamp_ns + length_of(&v->traces[i]);
		v->end_ns = end > v->end_ns ? end : v->end_ns;
	}
}

int zts_survey_order(struct zts_survey *v, struct pm_error *err)
{
	size_t size = ((size_t)v->n + 1) * sizeof(uint32_t);
	v->by_store = malloc(size);
	v->slow = malloc(size);
	v->failed = malloc(size);
	v->first_of = calloc((size_t)v->n_stores + 1, sizeof(*v->first_of));
	if (!v->by_store || !v->slow || !v->failed || !v->first_of ||
		pm_sort_with(v->traces, v->n, sizeof(*v->traces), by_time, v) < 0 ||
		list_traces(v) < 0)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for traces");
	measure_time(v);
	list_failed(v);
	return 0;
}

void zts_trace_name(const struct zts_trace *t, struct pm_text *out)
{
	char stamp[sizeof("YYYYMMDDTHHMMSS")];
	struct tm tm;
	uint64_t ms = t->timestamp_ns / ZTS_MS_NS;
	time_t seconds = (time_t)(ms / 1000);
	gmtime_r(&seconds, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm);
	pm_text_printf(out, "%s.%03u", stamp, (unsigned)(ms % 1000));
	if (t->has_trace_id) {
		pm_text_char(out, '-');
		pm_text_hex(out, t->trace_id[0], 16);
		pm_text_hex(out, t->trace_id[1], 16);
	}
	if (t->span_id) {
		pm_text_char(out, '-');
		pm_text_hex(out, t->span_id, 16);
	}
	if (t->twin)
		pm_text_printf(out, "~%u", t->twin + 1);
}
