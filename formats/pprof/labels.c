/*
 * Labels of samples: labels.csv has a row for each key and value, labels/KEY/VALUE is the profile
 * of the samples that have it, which is read again when it is entered.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/utf8.h"
#include "formats/pprof/pprof.h"

int pprof_label_read(struct pprof *p, struct pm_bytes message, struct pprof_label *ret)
{
	struct pprof_field f;
	int r;
	*ret = (struct pprof_label){.key = 0};
	while ((r = pprof_next(&message, &f)) > 0) {
		if (f.number <= 4 && f.wire != PPROF_VARINT)
			return -EINVAL;
		switch (f.number) {
		case 1: ret->key = pprof_string(p, f.value); break;
		case 2: ret->text = pprof_string(p, f.value); break;
		case 3: ret->number = (int64_t)f.value; break;
		case 4: ret->unit = pprof_string(p, f.value); break;
		default: break;
		}
	}
	return r;
}

static bool is_label(const struct pprof_label *a, const struct pprof_label *b)
{
	return a->key == b->key && a->text == b->text && a->unit == b->unit &&
		a->number == b->number;
}

/* The row of a label, which is added if it is new; NULL without memory. */
static struct pprof_tag *tag_of(struct pprof *p, const struct pprof_label *l)
{
	if (pm_prints_room(&p->tag_index) < 0)
		return NULL;
	uint64_t h = pm_hash_u64(p->tag_index.salt ^ ((uint64_t)l->key << 32 | l->text));
	uint32_t hash = (uint32_t)pm_hash_u64(h ^ (uint64_t)l->number ^ (uint64_t)l->unit << 32);
	size_t at = pm_prints_first(&p->tag_index, hash);
	uint32_t i;
	while ((i = pm_prints_at(&p->tag_index, hash, &at)) != PPROF_NONE &&
		!is_label(&p->tags[i].label, l))
		at++;
	if (i != PPROF_NONE)
		return &p->tags[i];
	if (pm_list_room(&p->tags, p->n_tags, &p->tags_room, sizeof(*p->tags)) < 0)
		return NULL;
	struct pprof_tag *tag = &p->tags[p->n_tags];
	*tag = (struct pprof_tag){.label = *l, .sums = p->n_sums};
	for (size_t k = 0; k < p->n_types; k++) {
		if (pm_list_room(&p->sums, p->n_sums, &p->sums_room, sizeof(*p->sums)) < 0)
			return NULL;
		p->sums[p->n_sums++] = 0;
	}
	pm_prints_put(&p->tag_index, at, hash, (uint32_t)p->n_tags++);
	return tag;
}

int pprof_tags_add(
	struct pprof *p, const struct pprof_label *labels, size_t n, const uint64_t *values)
{
	for (size_t i = 0; i < n; i++) {
		bool again = false;
		for (size_t k = 0; k < i && !again; k++)
			again = labels[k].key == labels[i].key;
		struct pprof_tag *tag = again ? NULL : tag_of(p, &labels[i]);
		if (!again && !tag)
			return -ENOMEM;
		for (size_t k = 0; tag && k < p->n_types; k++)
			p->sums[tag->sums + k] += (int64_t)values[k];
		if (tag)
			tag->records++;
	}
	return 0;
}

/* ---- the table ---- */

/* What remains of the labels, for as long as the profile. */
struct shown {
	struct pm_recording *r;
	uint32_t n_columns, n_types;
	const char **columns;
	char *types;
	uint32_t n;
	struct row {
		struct pm_bytes key, value, unit, name; /* name: of its directory */
		uint64_t records;
		struct pprof_label label;
	} * rows;
	double *cells;  /* a row's costs, one after the other: exact up to 2^53 … */
	int64_t *whole; /* … and as integers, where they fit */
	bool *fits;
};

struct keyed {
	const struct shown *shown;
	uint32_t first;
};

static int next_row(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct shown *s = rows->table->self;
	(void)err;
	if (rows->at >= s->n)
		return 0;
	const struct row *row = &s->rows[rows->at];
	size_t at = (size_t)rows->at++ * s->n_types;
	*cells++ = pm_cell_text(row->key);
	*cells++ = pm_cell_text(row->value);
	*cells++ = pm_cell_text(row->unit);
	*cells++ = pm_cell_u64(row->records);
	for (uint32_t i = 0; i < s->n_types; i++)
		*cells++ = s->fits[at + i] ? pm_cell_i64(s->whole[at + i])
					   : pm_cell_f64(s->cells[at + i]);
	return 1;
}

static const struct pm_table_type table_type = {.next = next_row, .dense = true};

/* Columns as views name those of quantities: a slug, the unit where the name lacks it. */
static void slug(struct pm_text *out, struct pm_bytes b)
{
	size_t start = out->len;
	bool gap = false;
	for (size_t i = 0; i < b.len; i++) {
		uint8_t c = b.p[i] >= 'A' && b.p[i] <= 'Z' ? b.p[i] + 32 : b.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
		if (plain && gap && out->len > start)
			pm_text_char(out, '_');
		if (plain)
			pm_text_char(out, (char)c);
		gap = !plain;
	}
}

static struct pm_bytes arena_text(struct pprof *p, struct pm_text *t)
{
	pm_text_char(t, '\0');
	struct pm_bytes copy =
		t->failed ? (struct pm_bytes){NULL, 0} : pm_rec_copy(p->r, pm_text_view(t));
	pm_text_done(t);
	return copy;
}

static bool name_columns(struct pprof *p, struct shown *s)
{
	s->n_columns = (uint32_t)p->n_types + 4;
	s->columns = pm_rec_alloc(p->r, s->n_columns * sizeof(*s->columns));
	s->types = pm_rec_alloc(p->r, s->n_columns + 1);
	if (!s->columns || !s->types)
		return false;
	static const char *const first[] = {"key", "value", "unit", "records"};
	for (uint32_t i = 0; i < s->n_columns; i++) {
		s->types[i] = i < 3 ? 't' : 'i';
		if (i < 4)
			s->columns[i] = first[i];
	}
	for (uint32_t i = 0; i < p->n_types; i++) {
		struct pm_text t = {.p = NULL};
		slug(&t, pprof_text(p, pprof_string(p, p->types[i].name)));
		struct pm_bytes unit = pm_rec_unit(p->r, p->types[i].metric);
		struct pm_bytes name = pm_text_view(&t);
		bool has_it = name.len >= unit.len && unit.len > 0 &&
			memcmp(name.p + name.len - unit.len, unit.p, unit.len) == 0;
		if (unit.len > 0 && !has_it) {
			pm_text_char(&t, '_');
			slug(&t, unit);
		}
		for (uint32_t k = 0; k < i && t.p; k++)
			if (strlen(s->columns[k + 4]) == t.len &&
				memcmp(s->columns[k + 4], t.p, t.len) == 0)
				pm_text_printf(&t, "_%u", i + 1);
		s->columns[i + 4] = (const char *)arena_text(p, &t).p;
		if (!s->columns[i + 4])
			return false;
	}
	return true;
}

/* ---- labels/KEY/VALUE ---- */

static struct pm_bytes item_name(const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	const struct keyed *k = c->self;
	(void)scratch;
	return k->shown->rows[k->first + i].name;
}

static int item_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	(void)c;
	(void)i;
	(void)k;
	(void)ret;
	return 0;
}

static int item_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	const struct keyed *k = c->self;
	struct pprof_own *own = calloc(1, sizeof(*own));
	if (!own)
		return pm_error_plain(err, -ENOMEM);
	own->filter = (struct pprof_filter){true, k->shown->rows[k->first + i].label};
	return pm_rec_again(k->shown->r, own, free, ret, err);
}

/* A path below labels/: what a name must not have is replaced, as in other directories. */
static const char *key_path(struct pprof *p, struct pm_bytes key, uint32_t number)
{
	struct pm_text t = {.p = NULL};
	pm_text_str(&t, "labels/");
	if (key.len > 0 && (key.p[0] == '.' || key.p[0] == '-'))
		pm_text_char(&t, '_');
	for (size_t at = 0; at < key.len && t.len < 190;) {
		if (key.p[at] == '/') {
			pm_text_str(&t, "\xe2\x88\x95");
			at++;
		} else {
			at += pm_text_shown_char(&t, key, at);
		}
	}
	if (key.len == 0)
		pm_text_str(&t, "(unknown)");
	if (number > 1)
		pm_text_printf(&t, "~%u", number);
	return (const char *)arena_text(p, &t).p;
}

static int add_collections(struct pprof *p, struct shown *s)
{
	struct pm_strtab seen = {.arena = &p->arena};
	int r = 0;
	for (uint32_t first = 0, end; r == 0 && first < s->n; first = end) {
		for (end = first; end < s->n && s->rows[end].label.key == s->rows[first].label.key;)
			end++;
		struct keyed *k = pm_rec_alloc(p->r, sizeof(*k));
		const char *path = NULL;
		for (uint32_t number = 1; k && number < 1000; number++) {
			uint32_t known = seen.n, text = PPROF_NONE;
			path = key_path(p, s->rows[first].key, number);
			if (path)
				text = pm_strtab_add(&seen, pm_bytes_of(path));
			if (text == PPROF_NONE)
				path = NULL;
			if (!path || text == known)
				break;
		}
		if (!k || !path) {
			r = -ENOMEM;
			break;
		}
		*k = (struct keyed){s, first};
		pm_rec_collection(p->r,
			&(struct pm_collection){.path = path,
				.n = end - first,
				.self = k,
				.name = item_name,
				.document = item_document,
				.profile = item_profile,
				.shape = PM_SHAPE_WINDOW});
	}
	pm_strtab_done(&seen);
	return r;
}

/* ---- rows in their order: by key, most cost first ---- */

struct ordering {
	const struct pprof *p;
	uint32_t primary;
};

static int by_cost(const void *a, const void *b, void *context)
{
	const struct ordering *o = context;
	const struct pprof_tag *x = a, *y = b;
	int keys = pm_bytes_compare(pprof_text(o->p, x->label.key), pprof_text(o->p, y->label.key));
	__int128 c = o->p->sums[x->sums + o->primary], d = o->p->sums[y->sums + o->primary];
	__int128 m = c < 0 ? -c : c, n = d < 0 ? -d : d;
	if (keys != 0 || m != n)
		return keys ? keys : m > n ? -1 : 1;
	int texts =
		pm_bytes_compare(pprof_text(o->p, x->label.text), pprof_text(o->p, y->label.text));
	return texts ? texts
		     : (x->label.number > y->label.number) - (x->label.number < y->label.number);
}

static bool fill_row(struct pprof *p, struct shown *s, uint32_t i, const struct pprof_tag *tag)
{
	struct row *row = &s->rows[i];
	struct pm_text t = {.p = NULL};
	const struct pprof_label *l = &tag->label;
	*row = (struct row){.key = pm_rec_copy(p->r, pprof_text(p, l->key)),
		.unit = pm_rec_copy(p->r, pprof_text(p, l->unit)),
		.records = tag->records,
		.label = *l};
	if (l->text) {
		row->value = row->name = pm_rec_copy(p->r, pprof_text(p, l->text));
	} else if (l->number != 0 || l->unit != 0) {
		pm_text_i64(&t, l->number);
		row->value = arena_text(p, &t);
		if (!row->value.p)
			return false;
		row->value.len--; /* the NUL */
		row->name = row->value;
	}
	for (uint32_t k = 0; k < p->n_types; k++) {
		size_t at = (size_t)i * p->n_types + k;
		int64_t factor = pm_rec_factor(p->r, p->types[k].metric);
		__int128 sum = p->sums[tag->sums + k], product;
		bool over = __builtin_mul_overflow(sum, (__int128)factor, &product);
		s->fits[at] = !over && product >= INT64_MIN && product <= INT64_MAX;
		s->whole[at] = s->fits[at] ? (int64_t)product : 0;
		s->cells[at] = (double)sum * (double)factor;
	}
	return row->key.p && row->unit.p && (row->value.p || !l->text);
}

int pprof_tags_show(struct pprof *p, uint32_t primary)
{
	struct ordering o = {p, primary};
	struct shown *s = pm_rec_alloc(p->r, sizeof(*s));
	if (p->n_tags == 0 || p->own->filter.is_set)
		return 0;
	size_t n = p->n_tags, cells = n * p->n_types;
	if (!s || pm_sort_with(p->tags, n, sizeof(*p->tags), by_cost, &o) < 0)
		return -ENOMEM;
	*s = (struct shown){.r = p->r, .n = (uint32_t)n, .n_types = (uint32_t)p->n_types};
	s->rows = pm_rec_alloc(p->r, n * sizeof(*s->rows));
	s->cells = pm_rec_alloc(p->r, cells * sizeof(*s->cells));
	s->whole = pm_rec_alloc(p->r, cells * sizeof(*s->whole));
	s->fits = pm_rec_alloc(p->r, cells * sizeof(*s->fits));
	bool good = s->rows && s->cells && s->whole && s->fits && name_columns(p, s);
	for (uint32_t i = 0; good && i < n; i++)
		good = fill_row(p, s, i, &p->tags[i]);
	if (!good || add_collections(p, s) < 0)
		return -ENOMEM;
	struct pm_table table = {.type = &table_type,
		.columns = s->columns,
		.types = s->types,
		.n_columns = s->n_columns,
		.self = s,
		.end = n};
	pm_rec_document(
		p->r, &(struct pm_named_doc){.path = "labels.csv", .doc = pm_doc_csv(table)});
	pm_rec_note(p->r, "labels.csv", "costs by label of samples: a row per key and value");
	pm_rec_note(p->r, "labels", "labels/KEY/VALUE/: the profile of the samples that have it");
	return 0;
}
