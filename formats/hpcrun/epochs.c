/*
 * Epochs: the contents of profiles of 01.98 to 03.10 and of 2009 (docs/formats/hpcrun.md §3).
 *
 * The version in the magic does not determine the layout: 02.00 was written with five layouts, and
 * the later readers of the same authors know only one of them. So each layout that a magic may
 * stand for is tried on the whole file without reporting; the one that gives the most plausible
 * result is then read with reporting.
 */
#include "formats/hpcrun/epochs.h"

#define TAG "EPOCH___"

enum { TAG_SIZE = 8 };

/* As written by the code of summer 2009, and as described in its design note. */
static const struct hpcrun_dialect early_dialects[] = {
	{.map = HPCRUN_MAP_NAME, .lush = HPCRUN_LUSH_ALWAYS},
	{.map = HPCRUN_MAP_ADDRESSES, .has_short_count = true},
};

static const struct hpcrun_dialect dialects_01[] = {
	{.map = HPCRUN_MAP_ID_ADDRESSES, .has_description = true, .has_module_ids = true},
	{.map = HPCRUN_MAP_ID_ADDRESSES, .has_module_ids = true},
	{.map = HPCRUN_MAP_NAME},
	{.map = HPCRUN_MAP_NAME, .lush = HPCRUN_LUSH_ALWAYS},
};

#define SINCE_2010 .has_description = true, .has_long_flags = true, .has_module_ids = true

static const struct hpcrun_dialect dialects_02[] = {
	{.map = HPCRUN_MAP_ID, SINCE_2010, .tail = 20},       /* 2017.10 and later */
	{.map = HPCRUN_MAP_ID, SINCE_2010},                   /* to 2017.06 */
	{.map = HPCRUN_MAP_ID, SINCE_2010, .tail = 28},       /* some weeks of 2017 */
	{.map = HPCRUN_MAP_ID_ADDRESSES, SINCE_2010},         /* to August 2010 */
	{.map = HPCRUN_MAP_NAME, .lush = HPCRUN_LUSH_ALWAYS}, /* three days of 2009 */
};

/* ---- one epoch ---- */

/* How far an epoch could be read. */
enum stage { STAGE_TAG, STAGE_HEADER, STAGE_METRICS, STAGE_MODULES, STAGE_NODES, STAGE_WHOLE };

static bool at_tag(const struct pm_cur *c)
{
	struct pm_bytes tag;
	return pm_bytes_sub(c->b, c->at, TAG_SIZE, &tag) && pm_bytes_equal(tag, pm_bytes_of(TAG));
}

/*
 * Granularity comes first since September 2009. Both are small numbers, so the upper half of a
 * leading granularity is 0, and that of a leading distance is not.
 */
static int read_epoch_header(struct pm_cur *c, bool early, struct hpcrun_epoch *e)
{
	pm_cur_take(c, TAG_SIZE);
	e->flags = pm_cur_u64(c);
	struct pm_cur ahead = *c;
	if (pm_cur_u32(&ahead) != 0 || early) {
		e->ra_to_callsite = pm_cur_u32(c);
		e->granularity = pm_cur_u64(c);
	} else {
		e->granularity = pm_cur_u64(c);
		e->ra_to_callsite = pm_cur_u32(c);
	}
	return hpcrun_pairs_read(c, &e->pairs);
}

/* True if all announced nodes are present; otherwise the complete ones are used. */
static bool place_nodes(struct pm_cur *c, const struct hpcrun_dialect *d, struct hpcrun_epoch *e)
{
	uint64_t n = d->has_short_count ? pm_cur_u32(c) : pm_cur_u64(c);
	if (c->bad)
		return false;
	bool has_lush = d->lush == HPCRUN_LUSH_ALWAYS || (e->flags & 1);
	size_t size = hpcrun_node_size(d, has_lush, e->metrics.n);
	size_t left = pm_cur_left(c);
	uint64_t whole = n < left / size ? n : left / size;
	e->nodes = (struct hpcrun_nodes){.off = c->at,
		.n = whole,
		.size = size,
		.big = c->big,
		.has_module = d->has_module_ids,
		.has_lush = has_lush,
		.n_values = e->metrics.n};
	e->nodes.table = pm_cur_bytes(c, (size_t)whole * size);
	return whole == n;
}

/* -ENOMEM, or 0 with the position that was reached. */
static int read_epoch(struct pm_cur *c, bool early, const struct hpcrun_dialect *d,
	struct hpcrun_epoch *e, enum stage *ret)
{
	*ret = STAGE_HEADER;
	int r = read_epoch_header(c, early, e);
	if (r == 0) {
		*ret = STAGE_METRICS;
		r = hpcrun_metrics_read(c, d, &e->metrics);
	}
	if (r == 0) {
		*ret = STAGE_MODULES;
		r = hpcrun_modules_read(c, d, &e->modules);
	}
	if (r == 0)
		*ret = place_nodes(c, d, e) ? STAGE_WHOLE : STAGE_NODES;
	return r == -ENOMEM ? r : 0;
}

/* Epochs up to the end of the file, or to an incomplete one; *ret says how the last one ended. */
static int read_epochs(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_dialect *d, enum stage *ret)
{
	*ret = STAGE_WHOLE;
	while (*ret == STAGE_WHOLE && pm_cur_left(c) > 0) {
		*ret = STAGE_TAG;
		if (!at_tag(c))
			return 0;
		struct hpcrun_epoch *e = hpcrun_epoch_add(p);
		int r = e ? read_epoch(c, p->family == HPCRUN_FAMILY_EARLY, d, e, ret) : -ENOMEM;
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- which dialect ---- */

static bool names_metrics(const struct hpcrun_epoch *e)
{
	for (size_t i = 0; i < e->metrics.n; i++)
		if (e->metrics.items[i].name.len == 0)
			return false;
	return true;
}

static bool names_modules(const struct hpcrun_epoch *e)
{
	for (size_t i = 0; i < e->modules.n; i++)
		if (e->modules.items[i].name.len == 0 ||
			(i > 0 && e->modules.items[i].id <= e->modules.items[i - 1].id))
			return false;
	return true;
}

static bool begins_with_root(const struct hpcrun_epoch *e)
{
	struct hpcrun_node root = {.parent = 0};
	if (e->nodes.n > 0)
		hpcrun_node_decode(&e->nodes, 0, &root);
	return root.parent == 0;
}

/* How plausible it is to read the file this way, if the last epoch ended with `last`. */
static int sense_of(const struct hpcrun_profile *p, enum stage last)
{
	if (p->n_epochs == 0)
		return 0;
	const struct hpcrun_epoch *first = &p->epochs[0];
	enum stage stage = p->n_epochs == 1 && last != STAGE_TAG ? last : STAGE_WHOLE;
	int sense = 0;
	if (stage > STAGE_METRICS && names_metrics(first))
		sense++;
	if (stage > STAGE_MODULES && names_modules(first))
		sense++;
	if (stage > STAGE_MODULES && begins_with_root(first))
		sense++;
	return last == STAGE_WHOLE ? sense + 2 : sense;
}

static const struct hpcrun_dialect *dialects_of(const struct hpcrun_profile *p, size_t *ret_n)
{
	if (p->family == HPCRUN_FAMILY_EARLY) {
		*ret_n = sizeof(early_dialects) / sizeof(early_dialects[0]);
		return early_dialects;
	}
	if (p->version < 0x0200) {
		*ret_n = sizeof(dialects_01) / sizeof(dialects_01[0]);
		return dialects_01;
	}
	*ret_n = sizeof(dialects_02) / sizeof(dialects_02[0]);
	return dialects_02;
}

static int choose_dialect(
	struct hpcrun_profile *p, struct pm_cur start, const struct hpcrun_dialect **ret)
{
	size_t n;
	const struct hpcrun_dialect *dialects = dialects_of(p, &n);
	int best = -1;
	for (size_t i = 0; i < n; i++) {
		struct pm_cur c = start;
		enum stage last;
		int r = read_epochs(p, &c, &dialects[i], &last);
		int sense = sense_of(p, last);
		hpcrun_epochs_done(p);
		if (r < 0)
			return r;
		if (sense > best) {
			best = sense;
			*ret = &dialects[i];
		}
	}
	return 0;
}

/* ---- the whole ---- */

static void report_last(const struct hpcrun_profile *p, const struct pm_cur *c, enum stage last,
	const struct hpcrun_report *report)
{
	static const char *const inside[] = {[STAGE_HEADER] = "header",
		[STAGE_METRICS] = "metric table",
		[STAGE_MODULES] = "load map"};
	const struct hpcrun_epoch *e = p->n_epochs ? &p->epochs[p->n_epochs - 1] : NULL;
	uint64_t at = c->at;
	switch (last) {
	case STAGE_WHOLE: return;
	case STAGE_TAG:
		hpcrun_report_loss(
			report, at, p->file.len - at, "no epoch begins here: " TAG " is expected");
		return;
	case STAGE_HEADER:
	case STAGE_METRICS:
	case STAGE_MODULES:
		hpcrun_report_loss(report, at, p->file.len - at,
			"epoch %zu cannot be read beyond its %s: no contexts, no values",
			p->n_epochs - 1, inside[last]);
		return;
	case STAGE_NODES:
		hpcrun_report_loss(report, at, p->file.len - at,
			"epoch %zu is truncated: %llu complete contexts", p->n_epochs - 1,
			(unsigned long long)e->nodes.n);
		return;
	}
}

int hpcrun_epochs_read(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_report *report)
{
	const struct hpcrun_dialect *dialect = NULL;
	enum stage last;
	/* For some weeks of 2009, and in the design note, a count came first. */
	if (p->family == HPCRUN_FAMILY_EARLY && !at_tag(c) && pm_cur_left(c) > 0)
		pm_cur_u32(c);
	int r = choose_dialect(p, *c, &dialect);
	if (r == 0)
		r = read_epochs(p, c, dialect, &last);
	if (r == 0)
		report_last(p, c, last, report);
	return r;
}
