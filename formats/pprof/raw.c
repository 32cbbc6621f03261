/*
 * raw/: mappings, comments, and the labels of each sample. Labels are not kept: their table reads
 * the samples again, from one of the spots that were noted while they were read.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/work.h"
#include "formats/pprof/pprof.h"

/* ---- mappings ---- */

struct raw_mapping {
	uint64_t id, start, limit, offset, has[4];
	struct pm_bytes build_id, file;
};

static int mapping_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	const struct raw_mapping *all = rows->table->self;
	(void)err;
	ret->p = &all[rows->at];
	return rows->at < rows->table->end;
}

static const struct pm_column mapping_columns[] = {
	PM_COLUMN(struct raw_mapping, id, "id"),
	PM_COLUMN_HEX(struct raw_mapping, start, "memory_start"),
	PM_COLUMN_HEX(struct raw_mapping, limit, "memory_limit"),
	PM_COLUMN_HEX(struct raw_mapping, offset, "file_offset"),
	PM_COLUMN(struct raw_mapping, has[0], "has_functions"),
	PM_COLUMN(struct raw_mapping, has[1], "has_filenames"),
	PM_COLUMN(struct raw_mapping, has[2], "has_line_numbers"),
	PM_COLUMN(struct raw_mapping, has[3], "has_inline_frames"),
	PM_COLUMN(struct raw_mapping, build_id, "build_id"),
	PM_COLUMN(struct raw_mapping, file, "file"),
};

static const struct pm_sheet mapping_sheet =
	PM_SHEET("raw/mappings.csv", mapping_columns, mapping_record, .dense = true);

static void add_mappings(struct pprof *p)
{
	struct raw_mapping *all = pm_rec_keep(p->r, &p->arena, p->n_mappings * sizeof(*all));
	for (size_t i = 0; i < p->n_mappings; i++) {
		const struct pprof_mapping *m = &p->mappings[i];
		all[i] = (struct raw_mapping){m->id, m->start, m->limit, m->offset,
			{m->has[0], m->has[1], m->has[2], m->has[3]},
			pm_rec_copy(p->r, pprof_text(p, pprof_string(p, m->build_id))),
			pm_rec_copy(p->r, pprof_text(p, pprof_string(p, m->file)))};
	}
	pm_rec_sheet(p->r, &mapping_sheet, all, p->n_mappings);
}

/* ---- comments ---- */

struct comments {
	size_t n;
	struct pm_bytes of[];
};

static int comments_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct comments *c = doc->text.self;
	(void)err;
	for (size_t i = 0; i < c->n; i++) {
		pm_text_add(out, c->of[i].p, c->of[i].len);
		pm_text_char(out, '\n');
	}
	return 0;
}

static void add_comments(struct pprof *p)
{
	size_t n = p->comments.n;
	if (n == 0)
		return;
	struct comments *c = pm_rec_keep(p->r, &p->arena, sizeof(*c) + n * sizeof(struct pm_bytes));
	c->n = n;
	for (size_t i = 0; i < n; i++)
		c->of[i] = pm_rec_copy(p->r, pprof_text(p, pprof_string(p, p->comments.items[i])));
	pm_rec_document(p->r,
		&(struct pm_named_doc){.path = "raw/comments.txt",
			.doc = {.kind = PM_DOC_TEXT,
				.text = {.render = comments_render, .self = c}}});
}

/* ---- labels ---- */

struct labels {
	struct pm_bytes file;
	const struct pprof_spot *spots;
	size_t n_spots;
	/* Strings of labels by number, in order. */
	const uint64_t *strings;
	const struct pm_bytes *texts;
	size_t n_strings;
	/* Columns of costs: which value, and its factor. */
	const uint32_t *values;
	const int64_t *factors;
	uint32_t n_values;
};

/* Positions are numbers of labels. */
struct cursor {
	struct pm_inflate *in;
	size_t used;            /* of the window, by the message */
	struct pm_bytes rest;   /* of the message */
	uint64_t label, sample; /* that come next */
	struct pprof_numbers costs;
	struct pm_text number;
};

static struct pm_bytes string(const struct labels *l, uint64_t number)
{
	size_t i = PM_LOWER_BOUND(at, 0, l->n_strings, l->strings[at] < number);
	return i < l->n_strings && l->strings[i] == number ? l->texts[i]
							   : (struct pm_bytes){NULL, 0};
}

static int start(struct pm_rows *rows, struct pm_error *err)
{
	const struct labels *l = rows->table->self;
	struct cursor *c = rows->own = calloc(1, sizeof(*c));
	if (!c || !(c->in = pm_inflate_new(pm_inflate_kind_of(l->file), l->file)))
		return pm_error_plain(err, -ENOMEM);
	size_t after = PM_LOWER_BOUND(i, 0, l->n_spots, l->spots[i].label <= rows->at);
	const struct pprof_spot *spot = &l->spots[after > 0 ? after - 1 : 0];
	c->sample = spot->sample;
	c->label = spot->label;
	for (uint64_t at; (at = pm_inflate_status(c->in).out) < spot->offset;) {
		size_t n = pm_inflate_peek(c->in, 1).len;
		if (pm_work_cancelled() || pm_inflate_status(c->in).state == PM_INFLATE_FAILED)
			return pm_error_plain(err, -ENOMEM);
		if (n == 0)
			return pm_error_set(
				err, -EIO, NULL, at, "the samples that were here before are gone");
		pm_inflate_consume(c->in, n < spot->offset - at ? n : (size_t)(spot->offset - at));
	}
	return 0;
}

static void done(struct pm_rows *rows)
{
	struct cursor *c = rows->own;
	if (!c)
		return;
	pm_inflate_free(c->in);
	free(c->costs.items);
	pm_text_done(&c->number);
	free(c);
	rows->own = NULL;
}

static void fill(
	struct cursor *c, const struct labels *l, struct pm_bytes label, struct pm_cell *cells)
{
	struct pprof_field f;
	uint64_t v[5] = {0};
	while (pprof_next(&label, &f) > 0)
		if (f.number < 5)
			v[f.number] = f.value;
	struct pm_bytes text = string(l, v[2]), unit = string(l, v[4]);
	pm_text_clear(&c->number);
	if (text.len == 0 && (v[3] != 0 || unit.len > 0)) {
		pm_text_i64(&c->number, (int64_t)v[3]);
		text = pm_text_view(&c->number);
	}
	*cells++ = pm_cell_u64(c->sample - 1);
	*cells++ = pm_cell_text(string(l, v[1]));
	*cells++ = pm_cell_text(text);
	*cells++ = pm_cell_text(unit);
	for (uint32_t i = 0; i < l->n_values; i++)
		*cells++ = c->costs.n == l->n_values
			? pprof_cost((int64_t)c->costs.items[l->values[i]], l->factors[i])
			: pm_cell_empty();
}

/* Begins with the next sample: 1, 0 if there is none, -ENOMEM. */
static int next_sample(struct cursor *c)
{
	struct pprof_field f;
	int r;
	for (unsigned fields = 0;; fields++) {
		pm_inflate_consume(c->in, c->used);
		if (fields % 256 == 255 && pm_work_cancelled())
			return PM_CANCELLED;
		r = pprof_peek(c->in, &f, &c->used);
		if (r <= 0)
			return pm_inflate_status(c->in).state == PM_INFLATE_FAILED ? -ENOMEM : 0;
		if (f.number == PPROF_SAMPLE)
			break;
	}
	c->sample++;
	c->costs.n = 0;
	c->rest = f.bytes;
	for (struct pm_bytes rest = f.bytes; r >= 0 && pprof_next(&rest, &f) > 0;)
		if (f.number == 2)
			r = pprof_numbers_add(&c->costs, &f);
	return pm_is_passing(r) ? r : 1;
}

static int next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct cursor *c = rows->own;
	struct pprof_field f;
	while (c->label < rows->table->end) {
		int r = pprof_next(&c->rest, &f);
		if (r <= 0) {
			r = next_sample(c);
			if (r <= 0)
				return r < 0 ? pm_error_plain(err, r) : 0;
		} else if (f.number == 3 && c->label++ >= rows->at) {
			rows->row = rows->at++;
			fill(c, rows->table->self, f.bytes, cells);
			return c->number.failed ? pm_error_plain(err, -ENOMEM) : 1;
		}
	}
	return 0;
}

/* The strings that labels have. */
static void keep_strings(struct pprof *p, struct labels *l)
{
	for (size_t i = 0; i < p->n_strings; i++)
		l->n_strings += p->in_labels[i / 8] >> i % 8 & 1;
	uint64_t *strings = pm_rec_keep(p->r, &p->arena, l->n_strings * sizeof(*strings));
	struct pm_bytes *texts = pm_rec_keep(p->r, &p->arena, l->n_strings * sizeof(*texts));
	for (size_t i = 0, n = 0; i < p->n_strings; i++)
		if (p->in_labels[i / 8] >> i % 8 & 1) {
			strings[n] = i;
			texts[n++] = pm_rec_copy(p->r, pprof_text(p, p->strings[i]));
		}
	l->strings = strings;
	l->texts = texts;
}

static void add_labels(struct pprof *p)
{
	static const struct pm_table_type type = {
		.start = start, .next = next, .done = done, .dense = true};
	static const char *const first[] = {"sample", "key", "value", "unit"};
	struct labels *l = pm_rec_keep(p->r, &p->arena, sizeof(*l));
	struct pprof_spot *spots = pm_rec_keep(p->r, &p->arena, p->n_spots * sizeof(*spots));
	uint32_t *values = pm_rec_keep(p->r, &p->arena, p->n_types * sizeof(*values));
	int64_t *factors = pm_rec_keep(p->r, &p->arena, p->n_types * sizeof(*factors));
	struct pm_table table = {.type = &type, .self = l, .end = p->n_raw_labels};
	keep_strings(p, l);
	pprof_columns(p, first, "ittt", &table);
	memcpy(spots, p->spots, p->n_spots * sizeof(*spots));
	for (uint32_t i = 0; i < p->n_types; i++) {
		values[i] = pprof_column_type(p, i);
		factors[i] = pm_rec_factor(p->r, p->types[values[i]].metric);
	}
	l->file = pm_rec_bytes(p->r);
	l->spots = spots;
	l->n_spots = p->n_spots;
	l->values = values;
	l->factors = factors;
	l->n_values = (uint32_t)p->n_types;
	pm_rec_document(
		p->r, &(struct pm_named_doc){.path = "raw/labels.csv", .doc = pm_doc_csv(table)});
}

void pprof_raw_add(struct pprof *p)
{
	add_mappings(p);
	add_comments(p);
	if (p->n_raw_labels && !p->own->filter.is_set)
		add_labels(p);
}
