/*
 * A .hpcrun file of any version: its family by the magic number, regardless of its name, the
 * positions of its parts by the reader of that family, and its metric values one after the other.
 * There is no public real file with the 16-byte magic; see docs/formats/hpcrun.md §3.
 */
#include "formats/hpcrun/profile.h"

#include <stdarg.h>
#include <stdio.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"

/* ==== what could not be read ==== */

void hpcrun_report_loss(
	const struct hpcrun_report *r, uint64_t offset, uint64_t bytes, const char *format, ...)
{
	char what[256];
	va_list args;
	if (!r->list)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	pm_damage_add(r->list, r->file, offset, bytes, "%s", what);
}

void hpcrun_report_file(const struct hpcrun_report *r, uint64_t size, const struct pm_error *err)
{
	uint64_t left = err->offset < size ? size - err->offset : size;
	hpcrun_report_loss(r, err->offset, left, "%s", err->text);
}

/* ==== epochs of a profile ==== */

/* Adds an empty one. */
static struct hpcrun_epoch *add_epoch(struct hpcrun_profile *p)
{
	pm_list_grow(p->arena, &p->epochs, p->n_epochs, &p->epochs_room, sizeof(*p->epochs));
	p->epochs[p->n_epochs] = (struct hpcrun_epoch){.flags = 0};
	return &p->epochs[p->n_epochs++];
}

/* The values [*ret_start, *ret_end) of a block; false where they are not its own. */
static bool block_range(const struct hpcrun_sparse *s, uint64_t block, uint64_t covered,
	uint64_t *ret_start, uint64_t *ret_end)
{
	*ret_start = pm_be64(pm_bytes_row(s->index, block, HPCRUN_BLOCK_SIZE) + 4);
	*ret_end = pm_be64(pm_bytes_row(s->index, block + 1, HPCRUN_BLOCK_SIZE) + 4);
	return *ret_start >= covered && *ret_start <= *ret_end && *ret_end <= s->n_values;
}

/*
 * ==== epochs: 01.98 to 03.10, and those of 2009 (docs/formats/hpcrun.md §3) ====
 * The version in the magic does not determine the layout: 02.00 was written with five layouts, and
 * the later readers of the same authors know only one of them. So each layout that a magic may
 * stand for is tried on the whole file without reporting; the one that gives the most plausible
 * result is then read with reporting.
 */

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
static bool read_epoch_header(
	struct pm_arena *a, struct pm_cur *c, bool early, struct hpcrun_epoch *e)
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
	return hpcrun_pairs_read(a, c, &e->pairs);
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

static enum stage read_epoch(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_dialect *d)
{
	struct hpcrun_epoch *e = add_epoch(p);
	if (!read_epoch_header(p->arena, c, p->family == HPCRUN_FAMILY_EARLY, e))
		return STAGE_HEADER;
	if (!hpcrun_metrics_read(p->arena, c, d, &e->metrics))
		return STAGE_METRICS;
	if (!hpcrun_modules_read(p->arena, c, d, &e->modules))
		return STAGE_MODULES;
	return place_nodes(c, d, e) ? STAGE_WHOLE : STAGE_NODES;
}

/* Epochs up to the end of the file, or to an incomplete one; returns how the last one ended. */
static enum stage read_epochs(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_dialect *d)
{
	enum stage stage = STAGE_WHOLE;
	while (stage == STAGE_WHOLE && pm_cur_left(c) > 0)
		stage = at_tag(c) ? read_epoch(p, c, d) : STAGE_TAG;
	return stage;
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

static const struct hpcrun_dialect *choose_dialect(
	const struct hpcrun_profile *p, struct pm_cur start)
{
	size_t n;
	const struct hpcrun_dialect *dialects = dialects_of(p, &n), *ret = NULL;
	struct pm_arena *scratch = pm_arena_scratch(p->arena);
	int best = -1;
	for (size_t i = 0; i < n; i++) {
		struct pm_cur c = start;
		struct hpcrun_profile trial = *p;
		trial.arena = scratch;
		enum stage last = read_epochs(&trial, &c, &dialects[i]);
		int sense = sense_of(&trial, last);
		pm_arena_done(scratch);
		if (sense > best) {
			best = sense;
			ret = &dialects[i];
		}
	}
	return ret;
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

/*
 * ==== 04.00: the section of metric values (docs/formats/hpcrun.md §4) ====
 * Their threads, the values, and an index of the contexts that own them.
 */

enum { IDENTITY_SIZE = 18 };

#define INDEX_END 0x656e6421u /* end! */

static void read_identity(struct hpcrun_profile *p, struct pm_cur *c)
{
	uint16_t n = pm_cur_u16(c);
	for (uint16_t i = 0; i < n && pm_cur_left(c) >= IDENTITY_SIZE; i++) {
		uint16_t kind = pm_cur_u16(c);
		struct hpcrun_identity level = {
			.kind = kind & 0x3fff, .interpret = (uint8_t)(kind >> 14)};
		level.physical = pm_cur_u64(c);
		level.logical = pm_cur_u64(c);
		pm_list_grow(
			p->arena, &p->identity, p->n_identity, &p->identity_room, sizeof(level));
		p->identity[p->n_identity++] = level;
	}
	if (p->n_identity < n)
		c->bad = true;
}

/* Values and index at `off`, if both fit and the index ends with its end mark. */
static bool place_values(struct hpcrun_profile *p, struct pm_bytes b, uint64_t off,
	uint64_t n_values, uint64_t n_blocks)
{
	struct hpcrun_sparse s = {.values_off = off, .n_values = n_values, .n_blocks = n_blocks};
	if (!pm_bytes_table(b, off, n_values, HPCRUN_VALUE_SIZE, HPCRUN_VALUE_SIZE, &s.values))
		return false;
	s.index_off = off + s.values.len;
	if (!pm_bytes_table(
		    b, s.index_off, n_blocks + 1, HPCRUN_BLOCK_SIZE, HPCRUN_BLOCK_SIZE, &s.index))
		return false;
	const uint8_t *end = pm_bytes_row(s.index, n_blocks, HPCRUN_BLOCK_SIZE);
	if (pm_be32(end) != INDEX_END || pm_be64(end + 4) != n_values)
		return false;
	p->sparse = s;
	return true;
}

static void report_blocks(const struct hpcrun_sparse *s, const struct hpcrun_report *report)
{
	uint64_t covered = 0, start, end;
	for (uint64_t i = 0; i < s->n_blocks; i++) {
		if (!block_range(s, i, covered, &start, &end)) {
			hpcrun_report_loss(report, s->index_off + i * HPCRUN_BLOCK_SIZE,
				HPCRUN_BLOCK_SIZE,
				"this block of metric values is not contiguous with the one before");
			continue;
		}
		if (start > covered)
			hpcrun_report_loss(report, s->values_off + covered * HPCRUN_VALUE_SIZE,
				(start - covered) * HPCRUN_VALUE_SIZE,
				"metric values that belong to no context");
		covered = end;
	}
	if (covered < s->n_values)
		hpcrun_report_loss(report, s->values_off + covered * HPCRUN_VALUE_SIZE,
			(s->n_values - covered) * HPCRUN_VALUE_SIZE,
			"metric values that belong to no context");
}

/*
 * The index follows the values. If their number is damaged, it is computed from the size of the
 * section, which the footer has.
 */
static void read_blocks(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_report *report)
{
	uint64_t n_values = pm_cur_u64(c), n_blocks = pm_cur_u32(c), at = c->at;
	uint64_t index = (n_blocks + 1) * HPCRUN_BLOCK_SIZE, left = pm_cur_left(c);
	bool placed = !c->bad && place_values(p, c->b, at, n_values, n_blocks);
	if (!c->bad && !placed && index <= left) {
		uint64_t told = (left - index) / HPCRUN_VALUE_SIZE;
		placed = place_values(p, c->b, at, told, n_blocks);
		if (placed)
			hpcrun_report_loss(report, at - 12, 8,
				"%llu metric values declared, but there is only room for %llu",
				(unsigned long long)n_values, (unsigned long long)told);
	}
	if (placed)
		report_blocks(&p->sparse, report);
	else
		hpcrun_report_loss(report, at, c->b.len - at,
			"metric values without a valid index: their contexts are unknown");
}

/*
 * ==== 04.00: sections at multiples of 1024, and a footer with their positions ====
 * The footer is written last, so it is missing if the run was killed, and it may be damaged.
 * Sections for which it has no valid position are searched where the writer would have put them: at
 * the first multiple of 1024 after the previous section. Offsets are only accepted in ascending
 * order, so that no byte is read as two things.
 */

enum {
	ALIGNMENT = 1024,
	FOOTER_SIZE = 112,
	MOST_JUNK = 64 << 10, /* after the footer */
	NODE_SIZE_OF_2021 = 18,
};

#define FOOTER_MARK UINT64_C(0x48504352554e736d) /* HPCRUNsm */

static const struct hpcrun_dialect dialect_04 = {.map = HPCRUN_MAP_ID,
	.has_description = true,
	.has_long_flags = true,
	.tail = 20,
	.has_module_ids = true,
	.has_node_flags = true};

struct reader {
	struct hpcrun_profile *p;
	const struct hpcrun_report *report;
	bool sound[HPCRUN_N_SECTIONS]; /* the footer has a valid position for it */
	uint64_t limit;                /* upper bound for the end of sections */
	uint64_t walked;               /* end of the previous section; UINT64_MAX: unknown */
	bool ended;                    /* it has been reported that the file ends too early */
};

static const char *const section_names[] = {"header", "load map", "context tree", "metric table",
	"dictionary", "metric values", "footer"};

/* ---- the footer ---- */

/* The footer ends the file, except for junk appended by something else. */
static void find_footer(struct reader *r)
{
	struct hpcrun_profile *p = r->p;
	uint64_t len = p->file.len;
	if (len < FOOTER_SIZE)
		return;
	uint64_t at = (len - FOOTER_SIZE) / ALIGNMENT * ALIGNMENT;
	for (; at > 0 && at + MOST_JUNK > len && !p->has_footer; at -= ALIGNMENT) {
		struct pm_bytes footer;
		if (!pm_bytes_sub(p->file, at, FOOTER_SIZE, &footer) ||
			pm_be64(footer.p + 0x60) != at || pm_be64(footer.p + 0x68) != FOOTER_MARK)
			continue;
		for (size_t i = 0; i < HPCRUN_SECTION_FOOTER; i++) {
			p->sections[i].start = pm_be64(footer.p + 0x10 * i);
			p->sections[i].end = pm_be64(footer.p + 0x10 * i + 8);
		}
		p->sections[HPCRUN_SECTION_FOOTER] = (struct hpcrun_section){at, at + FOOTER_SIZE};
		p->has_footer = true;
	}
	if (!p->has_footer)
		return;
	uint64_t end = p->sections[HPCRUN_SECTION_FOOTER].end;
	r->limit = p->sections[HPCRUN_SECTION_FOOTER].start;
	if (end < len)
		hpcrun_report_loss(r->report, end, len - end, "unknown bytes after the footer");
}

/* Snapshots of 2020 and 2021 wrote 04.00 with shorter footers and other sections. */
static bool is_snapshot(const struct hpcrun_profile *p)
{
	struct pm_bytes end;
	if (p->has_footer || p->file.len < 16)
		return false;
	pm_bytes_sub(p->file, p->file.len - 16, 16, &end);
	uint64_t start = pm_be64(end.p);
	return pm_be64(end.p + 8) == FOOTER_MARK &&
		(p->file.len - start == 56 || p->file.len - start == 96);
}

static void judge_footer(struct reader *r)
{
	uint64_t before = 0;
	for (size_t i = 0; i < HPCRUN_SECTION_FOOTER && r->p->has_footer; i++) {
		struct hpcrun_section s = r->p->sections[i];
		r->sound[i] = s.start >= before && s.start <= s.end && s.end <= r->limit &&
			s.start % ALIGNMENT == 0 && (s.start == 0) == (i == HPCRUN_SECTION_HEADER);
		if (r->sound[i])
			before = s.end;
		else
			hpcrun_report_loss(r->report,
				r->p->sections[HPCRUN_SECTION_FOOTER].start + 0x10 * i, 16,
				"the footer gives an invalid position for the %s",
				section_names[i]);
	}
}

/* ---- sections ---- */

/* A cursor over section i with offsets as in the file; false if it cannot be found. */
static bool enter(struct reader *r, enum hpcrun_section_id i, struct pm_cur *ret)
{
	uint64_t end = r->limit, start = 0;
	for (size_t next = i + 1; next < HPCRUN_SECTION_FOOTER; next++)
		if (r->sound[next] && r->p->sections[next].start < end)
			end = r->p->sections[next].start;
	if (r->sound[i]) {
		start = r->p->sections[i].start;
		end = r->p->sections[i].end;
	} else if (i > 0) {
		if (r->walked > end)
			return false;
		start = (r->walked + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	if (start >= end)
		return false;
	struct pm_bytes b;
	pm_bytes_sub(r->p->file, 0, end, &b);
	*ret = pm_cur_of(b, true);
	ret->at = (size_t)start;
	return true;
}

/* `whole`: the cursor is at the end of the section. */
static void leave(struct reader *r, enum hpcrun_section_id i, const struct pm_cur *c, bool whole)
{
	r->walked = UINT64_MAX;
	if (r->sound[i])
		r->walked = r->p->sections[i].end;
	else if (whole)
		r->walked = c->at;
}

static void report_cut(const struct reader *r, enum hpcrun_section_id i, uint64_t start,
	const struct pm_cur *c, size_t n)
{
	hpcrun_report_loss(r->report, start, c->b.len - start,
		"the %s cannot be read to the end: %zu complete records", section_names[i], n);
}

/* Reported once: without a footer, nothing after a missing section can be found either. */
static void report_missing(struct reader *r, enum hpcrun_section_id i)
{
	if (!r->ended)
		hpcrun_report_loss(r->report, r->p->file.len, PM_NO_OFFSET, "no %s could be found",
			section_names[i]);
	r->ended = !r->p->has_footer;
}

static void read_header(struct reader *r)
{
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_HEADER, &c))
		return;
	pm_cur_take(&c, r->p->magic.len);
	bool whole = hpcrun_pairs_read(r->p->arena, &c, &r->p->header);
	leave(r, HPCRUN_SECTION_HEADER, &c, whole);
	if (!whole)
		report_cut(r, HPCRUN_SECTION_HEADER, r->p->magic.len, &c, r->p->header.n);
}

/* The load map or the metric table. */
static void read_table(struct reader *r, enum hpcrun_section_id i, struct hpcrun_epoch *e)
{
	struct pm_cur c;
	if (!enter(r, i, &c)) {
		report_missing(r, i);
		return;
	}
	bool modules = i == HPCRUN_SECTION_MODULES;
	uint64_t start = c.at;
	bool whole = modules ? hpcrun_modules_read(r->p->arena, &c, &dialect_04, &e->modules)
			     : hpcrun_metrics_read(r->p->arena, &c, &dialect_04, &e->metrics);
	leave(r, i, &c, whole);
	if (!whole)
		report_cut(r, i, start, &c, modules ? e->modules.n : e->metrics.n);
}

static void read_nodes(struct reader *r, struct hpcrun_epoch *e)
{
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_NODES, &c)) {
		report_missing(r, HPCRUN_SECTION_NODES);
		return;
	}
	uint64_t n = pm_cur_u64(&c);
	size_t left = pm_cur_left(&c), size = hpcrun_node_size(&dialect_04, false, 0);
	if (r->sound[HPCRUN_SECTION_NODES] && n > 0 && n == left / NODE_SIZE_OF_2021 &&
		left % NODE_SIZE_OF_2021 == 0) {
		hpcrun_report_loss(r->report, c.at, left,
			"contexts of %d bytes, written only by snapshot versions of 2021, are not read",
			NODE_SIZE_OF_2021);
		leave(r, HPCRUN_SECTION_NODES, &c, false);
		return;
	}
	uint64_t whole = n < left / size ? n : left / size;
	e->nodes = (struct hpcrun_nodes){.off = c.at,
		.n = whole,
		.size = size,
		.big = true,
		.has_module = true,
		.has_flags = true};
	e->nodes.table = pm_cur_bytes(&c, (size_t)whole * size);
	leave(r, HPCRUN_SECTION_NODES, &c, whole == n);
	if (whole < n || c.bad)
		report_cut(r, HPCRUN_SECTION_NODES, e->nodes.off, &c, whole);
}

static void read_dictionary(struct reader *r)
{
	struct hpcrun_profile *p = r->p;
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_DICTIONARY, &c)) {
		report_missing(r, HPCRUN_SECTION_DICTIONARY);
		return;
	}
	uint64_t start = c.at;
	uint16_t n = pm_cur_u16(&c);
	for (uint16_t i = 0; i < n; i++) {
		struct hpcrun_kind kind = {.kind = pm_cur_u16(&c)};
		kind.name = pm_cur_bytes(&c, pm_cur_u32(&c));
		if (c.bad)
			break;
		pm_list_grow(p->arena, &p->kinds, p->n_kinds, &p->kinds_room, sizeof(kind));
		p->kinds[p->n_kinds++] = kind;
	}
	leave(r, HPCRUN_SECTION_DICTIONARY, &c, !c.bad);
	if (c.bad)
		report_cut(r, HPCRUN_SECTION_DICTIONARY, start, &c, p->n_kinds);
}

static void read_values(struct reader *r, enum hpcrun_extent extent)
{
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_SPARSE, &c)) {
		report_missing(r, HPCRUN_SECTION_SPARSE);
		return;
	}
	uint64_t start = c.at;
	read_identity(r->p, &c);
	if (c.bad)
		hpcrun_report_loss(r->report, start, c.b.len - start,
			"the identity cannot be read to the end: no metric values");
	else if (extent == HPCRUN_ALL)
		read_blocks(r->p, &c, r->report);
}

/* ---- the whole ---- */

/* Reads everything after the magic number. */
static void read_sections(
	struct hpcrun_profile *p, enum hpcrun_extent extent, const struct hpcrun_report *report)
{
	struct reader r = {.p = p, .report = report, .limit = p->file.len};
	find_footer(&r);
	judge_footer(&r);
	read_header(&r);
	if (is_snapshot(p)) {
		hpcrun_report_loss(report, p->file.len - 16, 16,
			"the footer is that of a snapshot version of 2020 or 2021: the rest is not read");
		return;
	}
	if (!p->has_footer)
		hpcrun_report_loss(report, p->file.len, PM_NO_OFFSET,
			"the footer is missing: the run was killed");
	/* Less can be read without the sections in between, if the footer is valid. */
	bool all = extent == HPCRUN_ALL || !r.sound[HPCRUN_SECTION_DICTIONARY] ||
		!r.sound[HPCRUN_SECTION_SPARSE] ||
		(extent == HPCRUN_METRICS && !r.sound[HPCRUN_SECTION_METRICS]);
	if (all || extent == HPCRUN_METRICS) {
		struct hpcrun_epoch *e = add_epoch(p);
		if (all) {
			read_table(&r, HPCRUN_SECTION_MODULES, e);
			read_nodes(&r, e);
		}
		read_table(&r, HPCRUN_SECTION_METRICS, e);
	}
	read_dictionary(&r);
	read_values(&r, extent);
}

/* ==== any version ==== */

#define EARLY_MAGIC "HPCRUN____02.00"
#define MAGIC       "HPCRUN-profile____"

enum { EARLY_MAGIC_SIZE = 16, MAGIC_SIZE = 24 };

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "02.00" → 0x0200; 01.9A has a letter. 0 for anything else. */
static unsigned version_of(const uint8_t *p)
{
	int digits[4] = {hex_digit(p[0]), hex_digit(p[1]), hex_digit(p[3]), hex_digit(p[4])};
	unsigned version = 0;
	for (size_t i = 0; i < 4; i++) {
		if (digits[i] < 0 || p[2] != '.')
			return 0;
		version = version << 4 | (unsigned)digits[i];
	}
	return version;
}

enum hpcrun_family hpcrun_family_of(struct pm_bytes head, unsigned *ret_version)
{
	*ret_version = 0;
	if (pm_begins_with(head, EARLY_MAGIC "l") || pm_begins_with(head, EARLY_MAGIC "b")) {
		*ret_version = 0x0200;
		return HPCRUN_FAMILY_EARLY;
	}
	struct pm_bytes version;
	if (!pm_begins_with(head, MAGIC) || !pm_bytes_sub(head, strlen(MAGIC), 6, &version) ||
		version.p[5] != 'b')
		return HPCRUN_FAMILY_NONE;
	*ret_version = version_of(version.p);
	return *ret_version >= 0x0400 ? HPCRUN_FAMILY_SECTIONS : HPCRUN_FAMILY_EPOCHS;
}

static int refuse(const struct hpcrun_profile *p, const char *file, struct pm_error *err)
{
	if (p->file.len == 0)
		return pm_error_set(err, -EINVAL, file, PM_NO_OFFSET,
			"is empty: the run ended before anything was written");
	if (p->family == HPCRUN_FAMILY_NONE)
		return pm_error_set(err, -EINVAL, file, 0,
			"is not an hpcrun profile: HPCRUN-profile____ or HPCRUN____02.00 expected here");
	return pm_error_set(err, -ENOTSUP, file, 0,
		"is an hpcrun profile of an unknown version (supported: 01.98 to 04.00)");
}

static bool is_known_version(const struct hpcrun_profile *p)
{
	switch (p->family) {
	case HPCRUN_FAMILY_NONE: return false;
	case HPCRUN_FAMILY_EARLY: return true;
	case HPCRUN_FAMILY_EPOCHS: return p->version >= 0x0198;
	case HPCRUN_FAMILY_SECTIONS: return p->version < 0x0500;
	}
	return false;
}

static void read_epoch_family(
	struct hpcrun_profile *p, enum hpcrun_extent extent, const struct hpcrun_report *report)
{
	struct pm_cur c = pm_cur_of(p->file, p->big);
	pm_cur_take(&c, p->magic.len);
	if (!hpcrun_pairs_read(p->arena, &c, &p->header)) {
		hpcrun_report_loss(report, p->magic.len, p->file.len - p->magic.len,
			"the file ends within its header: %zu complete fields", p->header.n);
		return;
	}
	if (extent == HPCRUN_WHO)
		return;
	/* For some weeks of 2009, and in the design note, a count came first. */
	if (p->family == HPCRUN_FAMILY_EARLY && !at_tag(&c) && pm_cur_left(&c) > 0)
		pm_cur_u32(&c);
	enum stage last = read_epochs(p, &c, choose_dialect(p, c));
	report_last(p, &c, last, report);
}

int hpcrun_profile_read(struct hpcrun_profile *ret, struct pm_arena *a, struct pm_bytes file,
	enum hpcrun_extent extent, const struct hpcrun_report *report, struct pm_error *err)
{
	*ret = (struct hpcrun_profile){.arena = a, .file = file};
	ret->family = hpcrun_family_of(file, &ret->version);
	if (!is_known_version(ret))
		return refuse(ret, report->file, err);
	bool early = ret->family == HPCRUN_FAMILY_EARLY;
	pm_bytes_sub(file, 0, early ? EARLY_MAGIC_SIZE : MAGIC_SIZE, &ret->magic);
	ret->big = ret->magic.p[ret->magic.len - 1] == 'b';
	if (ret->family == HPCRUN_FAMILY_SECTIONS)
		read_sections(ret, extent, report);
	else
		read_epoch_family(ret, extent, report);
	return 0;
}

/*
 * ==== values ====
 * In stored order, without zeros. Positions are plain numbers, so a table of values can be entered
 * anywhere: epochs number all cells of all nodes, sections number value records.
 */

const struct hpcrun_metric *hpcrun_value_metric(
	const struct hpcrun_profile *p, const struct hpcrun_value *v)
{
	const struct hpcrun_metrics *metrics = &p->epochs[v->epoch].metrics;
	return v->metric < metrics->n ? &metrics->items[v->metric] : NULL;
}

/* ---- epochs ---- */

static bool next_in_epochs(struct hpcrun_values *v, struct hpcrun_value *ret)
{
	const struct hpcrun_profile *p = v->profile;
	while (v->epoch < p->n_epochs) {
		const struct hpcrun_nodes *nodes = &p->epochs[v->epoch].nodes;
		uint64_t cells = nodes->n * nodes->n_values;
		if (v->at - v->before >= cells) {
			v->before += cells;
			v->epoch++;
			continue;
		}
		uint64_t cell = v->at++ - v->before;
		uint64_t node = cell / nodes->n_values;
		size_t metric = (size_t)(cell % nodes->n_values);
		uint64_t bits = hpcrun_node_value(nodes, node, metric);
		if (bits == 0)
			continue;
		struct hpcrun_node record;
		hpcrun_node_decode(nodes, node, &record);
		*ret = (struct hpcrun_value){.epoch = v->epoch,
			.node_id = record.id,
			.node = node,
			.metric = (uint32_t)metric,
			.bits = bits,
			.off = nodes->off + (node + 1) * nodes->size -
				8 * (nodes->n_values - metric)};
		return true;
	}
	return false;
}

/* ---- sections ---- */

static bool next_in_blocks(struct hpcrun_values *v, struct hpcrun_value *ret)
{
	const struct hpcrun_sparse *s = &v->profile->sparse;
	uint64_t start, end;
	while (v->block < s->n_blocks) {
		bool sound = block_range(s, v->block, v->covered, &start, &end);
		if (sound && v->at < start)
			v->at = start;
		if (!sound || v->at >= end) {
			v->covered = sound ? end : v->covered;
			v->block++;
			continue;
		}
		const uint8_t *value = pm_bytes_row(s->values, v->at, HPCRUN_VALUE_SIZE);
		*ret = (struct hpcrun_value){
			.node_id = pm_be32(pm_bytes_row(s->index, v->block, HPCRUN_BLOCK_SIZE)),
			.node = UINT64_MAX,
			.metric = pm_be16(value + 8),
			.bits = pm_be64(value),
			.off = s->values_off + v->at * HPCRUN_VALUE_SIZE};
		v->at++;
		if (ret->bits != 0)
			return true;
	}
	return false;
}

struct hpcrun_values hpcrun_values_from(const struct hpcrun_profile *p, uint64_t at)
{
	return (struct hpcrun_values){.profile = p, .at = at};
}

bool hpcrun_values_next(struct hpcrun_values *v, struct hpcrun_value *ret)
{
	if (v->profile->family == HPCRUN_FAMILY_SECTIONS)
		return next_in_blocks(v, ret);
	return next_in_epochs(v, ret);
}
