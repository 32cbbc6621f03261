/*
 * Traces, read in place. Lines are sorted by time; an unsorted line is presented as stored and
 * reported in damage.csv.
 */
#include "formats/hpctoolkit/trace.h"

struct hpctk_sample_record hpctk_sample_get(
	const struct hpctk_opened *db, const struct hpctk_line *line, uint64_t i)
{
	struct hpctk_sample_record sample;
	struct pm_bytes d;
	pm_bytes_sub(hpctk_bytes(db, HPCTK_TRACE), line->at + i * HPCTK_SAMPLE, HPCTK_SAMPLE, &d);
	hpctk_sample_decode(&db->layout, d.p, &sample);
	return sample;
}

int64_t hpctk_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	const struct hpctk_threads *threads;
	int r = hpctk_threads_get(db, &threads, err);
	if (r < 0)
		return r;
	const struct hpctk_line *line = &threads->lines[thread];
	if (line->damaged)
		return pm_error_set(err, -EINVAL, "trace.db", line->at,
			"the samples of profile %u are outside the file, or overlap those of another one",
			threads->list.threads[thread].id);
	if (first >= line->n)
		return 0;
	size_t n = room < line->n - first ? room : (size_t)(line->n - first);
	struct hpctk_sample_record now, next;
	struct pm_bytes d; /* the samples and the one after them; the line is within the file */
	pm_bytes_sub(hpctk_bytes(db, HPCTK_TRACE), line->at + first * HPCTK_SAMPLE,
		(line->n - first) * HPCTK_SAMPLE, &d);
	hpctk_sample_decode(&db->layout, pm_bytes_row(d, 0, HPCTK_SAMPLE), &now);
	for (size_t i = 0; i < n; i++) {
		bool last = first + i + 1 == line->n;
		next = now;
		if (!last)
			hpctk_sample_decode(
				&db->layout, pm_bytes_row(d, i + 1, HPCTK_SAMPLE), &next);
		ret[i] = (struct pm_sample){
			.time_ns = now.time_ns,
			.duration_ns = last || next.time_ns < now.time_ns
				? PM_NO_TIME
				: next.time_ns - now.time_ns,
			.context = now.context,
		};
		now = next;
	}
	return (int64_t)n;
}

static int span_build(void *context, struct pm_error *err)
{
	struct hpctk_opened *db = context;
	const struct hpctk_threads *threads;
	uint64_t first = UINT64_MAX, last = 0;
	int r = hpctk_threads_get(db, &threads, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < threads->list.n; i++) {
		const struct hpctk_line *line = &threads->lines[i];
		if (line->n == 0)
			continue;
		uint64_t begin = hpctk_sample_get(db, line, 0).time_ns;
		uint64_t end = hpctk_sample_get(db, line, line->n - 1).time_ns;
		first = begin < first ? begin : first;
		last = end > last ? end : last;
	}
	db->origin_ns = first == UINT64_MAX ? PM_NO_TIME : first;
	db->duration_ns = first == UINT64_MAX || last < first ? PM_NO_TIME : last - first;
	return 0;
}

int hpctk_span(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
	struct pm_error *err)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	int r = pm_lazy_get(&db->span_lazy, span_build, db, err);
	*ret_origin_ns = r < 0 ? PM_NO_TIME : db->origin_ns;
	*ret_duration_ns = r < 0 ? PM_NO_TIME : db->duration_ns;
	return r;
}
