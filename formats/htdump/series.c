/*
 * What trace.json has in addition to calls: events of the program's own classes (counters if they
 * have numbers, else instants), and fields of calls beyond the standard ones.
 */
#include <errno.h>

#include "formats/htdump/parts.h"

enum { COLUMN_SEQ = 0, COLUMN_TIME = 3, FIRST_FIELD = 4 };

static bool is_part_of_call(struct pm_bytes name)
{
	return pm_bytes_equal(name, pm_bytes_of("duration")) ||
		pm_bytes_equal(name, pm_bytes_of("thread_id")) ||
		pm_bytes_equal(name, pm_bytes_of("label"));
}

static bool has_numbers(const struct htd_klass *k)
{
	for (uint32_t i = 0; i < k->n_columns; i++)
		if (htd_is_number(k->columns[i].field))
			return true;
	return false;
}

static bool is_shown(enum pm_series_kind kind, const struct htd_flat *f)
{
	switch (kind) {
	case PM_SERIES_COUNTER: return htd_is_number(f);
	case PM_SERIES_INSTANT: return true;
	case PM_SERIES_CALLS: return !is_part_of_call(f->name);
	}
	return false;
}

/* Adds the class if it has something to show. 0 or -ENOMEM. */
static int add_class(struct htd_opened *src, uint32_t klass)
{
	const struct htd_klass *k = &src->stream.table.klasses[klass];
	const struct htd_sheet *sheet = &src->sheets[klass];
	bool call = htd_is_call_class(k), any = false;
	if (k->fixed || k->events.n_events == 0 || (!call && !htd_is_own_class(k)))
		return 0;
	enum pm_series_kind kind = call ? PM_SERIES_CALLS
		: has_numbers(k)        ? PM_SERIES_COUNTER
					: PM_SERIES_INSTANT;
	bool *fields = pm_arena_array(&src->arena, sheet->n_columns + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < k->n_columns; i++) {
		fields[sheet->cell[i]] = is_shown(kind, k->columns[i].field);
		any |= fields[sheet->cell[i]];
	}
	if (kind == PM_SERIES_CALLS && !any)
		return 0;
	src->series[src->n_series++] = (struct pm_series){.kind = kind,
		.name = k->name,
		.table = htd_class_events(src, klass),
		.n = k->events.n_events,
		.seq = COLUMN_SEQ,
		.time = COLUMN_TIME,
		.fields = fields};
	return 0;
}

static int series_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	int r = htd_scan_get(src, err);
	if (r < 0)
		return r;
	size_t n = src->stream.table.n_klasses;
	src->n_series = 0;
	src->series = pm_arena_array(&src->arena, n + 1, sizeof(*src->series));
	r = src->series ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n && r == 0; i++)
		r = add_class(src, i);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : 0;
}

int htd_series(const struct pm_profile *p, const struct pm_series **ret, size_t *ret_n,
	struct pm_error *err)
{
	struct htd_opened *src = htd_opened_of(p);
	int r = pm_lazy_get(&src->series_lazy, series_build, src, err);
	*ret = src->series;
	*ret_n = r < 0 ? 0 : src->n_series;
	return r;
}
