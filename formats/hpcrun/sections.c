/*
 * Profiles of 04.00: sections at multiples of 1024, and a footer with their positions
 * (docs/formats/hpcrun.md §4).
 *
 * The footer is written last, so it is missing if the run was killed, and it may be damaged.
 * Sections for which it has no valid position are searched where the writer would have put them: at
 * the first multiple of 1024 after the previous section. Offsets are only accepted in ascending
 * order, so that no byte is read as two things.
 */
#include "formats/hpcrun/sections.h"

#include "formats/common/list.h"
#include "formats/hpcrun/sparse.h"

enum {
	ALIGNMENT = 1024,
	FOOTER_SIZE = 112,
	MOST_JUNK = 64 << 10, /* after the footer */
	NODE_SIZE_OF_2021 = 18,
};

#define FOOTER_MARK UINT64_C(0x48504352554e736d) /* HPCRUNsm */

static const struct hpcrun_dialect dialect = {.map = HPCRUN_MAP_ID,
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

static bool footer_at(const struct hpcrun_profile *p, uint64_t at)
{
	struct pm_bytes footer;
	return pm_bytes_sub(p->file, at, FOOTER_SIZE, &footer) && pm_be64(footer.p + 0x60) == at &&
		pm_be64(footer.p + 0x68) == FOOTER_MARK;
}

static void decode_footer(struct hpcrun_profile *p, uint64_t at)
{
	struct pm_bytes footer;
	pm_bytes_sub(p->file, at, FOOTER_SIZE, &footer);
	for (size_t i = 0; i < HPCRUN_SECTION_FOOTER; i++) {
		p->sections[i].start = pm_be64(footer.p + 0x10 * i);
		p->sections[i].end = pm_be64(footer.p + 0x10 * i + 8);
	}
	p->sections[HPCRUN_SECTION_FOOTER] = (struct hpcrun_section){at, at + FOOTER_SIZE};
	p->has_footer = true;
}

/* The footer ends the file, except for junk appended by something else. */
static void find_footer(struct reader *r)
{
	struct hpcrun_profile *p = r->p;
	uint64_t len = p->file.len;
	if (len < FOOTER_SIZE)
		return;
	uint64_t at = (len - FOOTER_SIZE) / ALIGNMENT * ALIGNMENT;
	for (; at > 0 && at + MOST_JUNK > len && !p->has_footer; at -= ALIGNMENT)
		if (footer_at(p, at))
			decode_footer(p, at);
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

static int read_header(struct reader *r)
{
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_HEADER, &c))
		return 0;
	pm_cur_take(&c, r->p->magic.len);
	int code = hpcrun_pairs_read(&c, &r->p->header);
	leave(r, HPCRUN_SECTION_HEADER, &c, code == 0);
	if (code == -EINVAL)
		report_cut(r, HPCRUN_SECTION_HEADER, r->p->magic.len, &c, r->p->header.n);
	return code == -ENOMEM ? code : 0;
}

static int read_modules(struct reader *r, struct hpcrun_epoch *e)
{
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_MODULES, &c)) {
		report_missing(r, HPCRUN_SECTION_MODULES);
		return 0;
	}
	uint64_t start = c.at;
	int code = hpcrun_modules_read(&c, &dialect, &e->modules);
	leave(r, HPCRUN_SECTION_MODULES, &c, code == 0);
	if (code == -EINVAL)
		report_cut(r, HPCRUN_SECTION_MODULES, start, &c, e->modules.n);
	return code == -ENOMEM ? code : 0;
}

static int read_metrics(struct reader *r, struct hpcrun_epoch *e)
{
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_METRICS, &c)) {
		report_missing(r, HPCRUN_SECTION_METRICS);
		return 0;
	}
	uint64_t start = c.at;
	int code = hpcrun_metrics_read(&c, &dialect, &e->metrics);
	leave(r, HPCRUN_SECTION_METRICS, &c, code == 0);
	if (code == -EINVAL)
		report_cut(r, HPCRUN_SECTION_METRICS, start, &c, e->metrics.n);
	return code == -ENOMEM ? code : 0;
}

static void read_nodes(struct reader *r, struct hpcrun_epoch *e)
{
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_NODES, &c)) {
		report_missing(r, HPCRUN_SECTION_NODES);
		return;
	}
	uint64_t n = pm_cur_u64(&c);
	size_t left = pm_cur_left(&c), size = hpcrun_node_size(&dialect, false, 0);
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

static int read_dictionary(struct reader *r)
{
	struct hpcrun_profile *p = r->p;
	struct pm_cur c;
	if (!enter(r, HPCRUN_SECTION_DICTIONARY, &c)) {
		report_missing(r, HPCRUN_SECTION_DICTIONARY);
		return 0;
	}
	uint64_t start = c.at;
	uint16_t n = pm_cur_u16(&c);
	for (uint16_t i = 0; i < n; i++) {
		struct hpcrun_kind kind = {.kind = pm_cur_u16(&c)};
		kind.name = pm_cur_bytes(&c, pm_cur_u32(&c));
		if (c.bad)
			break;
		if (pm_list_room(&p->kinds, p->n_kinds, &p->kinds_room, sizeof(kind)) < 0)
			return -ENOMEM;
		p->kinds[p->n_kinds++] = kind;
	}
	leave(r, HPCRUN_SECTION_DICTIONARY, &c, !c.bad);
	if (c.bad)
		report_cut(r, HPCRUN_SECTION_DICTIONARY, start, &c, p->n_kinds);
	return 0;
}

static int read_values(struct reader *r, enum hpcrun_extent extent)
{
	struct pm_cur c;
	if (enter(r, HPCRUN_SECTION_SPARSE, &c))
		return hpcrun_sparse_read(r->p, &c, extent, r->report);
	report_missing(r, HPCRUN_SECTION_SPARSE);
	return 0;
}

/* ---- the whole ---- */

/* Less than everything can be read without the sections in between, if the footer is valid. */
static bool knows_the_way(const struct reader *r, enum hpcrun_extent extent)
{
	if (extent == HPCRUN_ALL || (extent == HPCRUN_METRICS && !r->sound[HPCRUN_SECTION_METRICS]))
		return false;
	return r->sound[HPCRUN_SECTION_DICTIONARY] && r->sound[HPCRUN_SECTION_SPARSE];
}

static int read_tables(struct reader *r)
{
	struct hpcrun_epoch *e = hpcrun_epoch_add(r->p);
	if (!e)
		return -ENOMEM;
	int code = read_modules(r, e);
	if (code == 0)
		read_nodes(r, e);
	return code == 0 ? read_metrics(r, e) : code;
}

int hpcrun_sections_read(
	struct hpcrun_profile *p, enum hpcrun_extent extent, const struct hpcrun_report *report)
{
	struct reader r = {.p = p, .report = report, .limit = p->file.len};
	find_footer(&r);
	judge_footer(&r);
	int code = read_header(&r);
	if (code < 0)
		return code;
	if (is_snapshot(p)) {
		hpcrun_report_loss(report, p->file.len - 16, 16,
			"the footer is that of a snapshot version of 2020 or 2021: the rest is not read");
		return 0;
	}
	if (!p->has_footer)
		hpcrun_report_loss(report, p->file.len, PM_NO_OFFSET,
			"the footer is missing: the run was killed");
	if (!knows_the_way(&r, extent))
		code = read_tables(&r);
	else if (extent == HPCRUN_METRICS) {
		struct hpcrun_epoch *e = hpcrun_epoch_add(p);
		code = e ? read_metrics(&r, e) : -ENOMEM;
	}
	if (code == 0)
		code = read_dictionary(&r);
	return code == 0 ? read_values(&r, extent) : code;
}
