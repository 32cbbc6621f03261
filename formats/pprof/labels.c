/*
 * Labels of samples: labels.csv has a row for each key and value, labels/KEY/VALUE is the profile
 * of the samples that have it, which is read again when it is entered.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/slug.h"
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
		if (f.number <= 4 && f.number != 3 && f.value < p->n_strings)
			p->in_labels[f.value / 8] |= (uint8_t)(1u << f.value % 8);
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

/* The row of a label, which is added if it is new. */
static struct pprof_tag *tag_of(struct pprof *p, const struct pprof_label *l)
{
	pm_fingerprints_room(&p->tag_index);
	uint64_t h = pm_hash_u64(p->tag_index.salt ^ ((uint64_t)l->key << 32 | l->text));
	uint32_t hash = (uint32_t)pm_hash_u64(h ^ (uint64_t)l->number ^ (uint64_t)l->unit << 32);
	size_t at = pm_fingerprints_first(&p->tag_index, hash);
	uint32_t i;
	while ((i = pm_fingerprints_at(&p->tag_index, hash, &at)) != PPROF_NONE &&
		!is_label(&p->tags[i].label, l))
		at++;
	if (i != PPROF_NONE)
		return &p->tags[i];
	pm_list_grow(&p->arena, &p->tags, p->n_tags, &p->tags_room, sizeof(*p->tags));
	struct pprof_tag *tag = &p->tags[p->n_tags];
	*tag = (struct pprof_tag){.label = *l, .sums = p->n_sums};
	for (size_t k = 0; k < p->n_types; k++) {
		pm_list_grow(&p->arena, &p->sums, p->n_sums, &p->sums_room, sizeof(*p->sums));
		p->sums[p->n_sums++] = 0;
	}
	pm_fingerprints_put(&p->tag_index, at, hash, (uint32_t)p->n_tags++);
	return tag;
}

void pprof_tags_add(
	struct pprof *p, const struct pprof_label *labels, size_t n, const uint64_t *values)
{
	for (size_t i = 0; i < n; i++) {
		bool again = false;
		for (size_t k = 0; k < i && !again; k++)
			again = labels[k].key == labels[i].key;
		if (again)
			continue;
		struct pprof_tag *tag = tag_of(p, &labels[i]);
		for (size_t k = 0; k < p->n_types; k++)
			p->sums[tag->sums + k] += (int64_t)values[k];
		tag->records++;
	}
}

/* ---- the table ---- */

/* What remains of the labels, for as long as the profile. */
struct shown {
	struct pm_recording *r;
	uint32_t n_types, n;
	struct row {
		struct pm_bytes key, value, unit, name; /* name: of its directory */
		uint64_t records;
		struct pprof_label label;
	} * rows;
	struct pm_cell *cells; /* a row's costs, one after the other */
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
	memcpy(cells, s->cells + at, s->n_types * sizeof(*cells));
	return 1;
}

static const struct pm_table_type table_type = {.next = next_row, .dense = true};

struct pm_cell pprof_cost(__int128 sum, int64_t factor)
{
	__int128 product;
	bool over = __builtin_mul_overflow(sum, (__int128)factor, &product);
	return over || product < INT64_MIN || product > INT64_MAX
		? pm_cell_f64((double)sum * (double)factor)
		: pm_cell_i64((int64_t)product);
}

/* Names as columns have them elsewhere (docs/namespace.md, section 1), by type. */
static void name_types(struct pprof *p, const char **names)
{
	struct pm_text t = {.arena = &p->arena};
	struct pm_strtab taken = pm_strtab_in(&p->arena);
	for (uint32_t i = 0; i < p->n_types; i++) {
		struct pm_metric m = {.name = pprof_text(p, pprof_string(p, p->types[i].name)),
			.unit = pm_rec_unit(p->r, p->types[i].metric)};
		struct pm_bytes slug = pm_metric_slug(&t, &m);
		size_t len = slug.len;
		uint32_t known = taken.n;
		pm_strtab_add(&taken, slug);
		for (unsigned number = 2; taken.n == known; number++) {
			size_t start = t.len - slug.len;
			t.len = start + len;
			pm_text_printf(&t, "_%u", number);
			slug = (struct pm_bytes){(const uint8_t *)t.p + start, t.len - start};
			pm_strtab_add(&taken, slug);
		}
		char *name = pm_rec_keep(p->r, &p->arena, slug.len + 1);
		memcpy(name, slug.p, slug.len);
		names[i] = name;
	}
}

void pprof_columns(
	struct pprof *p, const char *const first[4], const char *types, struct pm_table *table)
{
	uint32_t n = (uint32_t)p->n_types + 4;
	const char **columns = pm_rec_keep(p->r, &p->arena, n * sizeof(*columns));
	const char **names = pm_rec_keep(p->r, &p->arena, n * sizeof(*names));
	char *letters = pm_rec_keep(p->r, &p->arena, n + 1);
	name_types(p, names);
	for (uint32_t i = 0; i < n; i++) {
		columns[i] = i < 4 ? first[i] : names[pprof_column_type(p, i - 4)];
		letters[i] = i < 4 ? types[i] : 'i';
	}
	table->columns = columns;
	table->types = letters;
	table->n_columns = n;
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
	struct pm_text t = {.arena = &p->arena};
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
	char *path = pm_rec_keep(p->r, &p->arena, t.len + 1);
	memcpy(path, t.p, t.len);
	return path;
}

static void add_collections(struct pprof *p, struct shown *s)
{
	struct pm_strtab seen = pm_strtab_in(&p->arena);
	for (uint32_t first = 0, end; first < s->n; first = end) {
		for (end = first; end < s->n && s->rows[end].label.key == s->rows[first].label.key;)
			end++;
		struct keyed *k = pm_rec_keep(p->r, &p->arena, sizeof(*k));
		const char *path = NULL;
		for (uint32_t number = 1; number < 1000; number++) {
			uint32_t known = seen.n;
			path = key_path(p, s->rows[first].key, number);
			if (pm_strtab_add(&seen, pm_bytes_of(path)) == known)
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
}

/* ---- rows in their order: by key, most cost first ---- */

static int by_cost(const void *a, const void *b, void *context)
{
	const struct pprof *p = context;
	const struct pprof_tag *x = a, *y = b;
	int keys = pm_bytes_compare(pprof_text(p, x->label.key), pprof_text(p, y->label.key));
	__int128 c = p->sums[x->sums + p->primary], d = p->sums[y->sums + p->primary];
	__int128 m = c < 0 ? -c : c, n = d < 0 ? -d : d;
	if (keys != 0 || m != n)
		return keys ? keys : m > n ? -1 : 1;
	int texts = pm_bytes_compare(pprof_text(p, x->label.text), pprof_text(p, y->label.text));
	return texts ? texts
		     : (x->label.number > y->label.number) - (x->label.number < y->label.number);
}

static void fill_row(struct pprof *p, struct shown *s, uint32_t i, const struct pprof_tag *tag)
{
	struct row *row = &s->rows[i];
	struct pm_text t = {.arena = &p->arena};
	const struct pprof_label *l = &tag->label;
	*row = (struct row){.key = pm_rec_copy(p->r, pprof_text(p, l->key)),
		.unit = pm_rec_copy(p->r, pprof_text(p, l->unit)),
		.records = tag->records,
		.label = *l};
	if (l->text) {
		row->value = row->name = pm_rec_copy(p->r, pprof_text(p, l->text));
	} else if (l->number != 0 || l->unit != 0) {
		pm_text_i64(&t, l->number);
		row->value = row->name = pm_rec_copy(p->r, pm_text_view(&t));
	}
	for (uint32_t k = 0; k < p->n_types; k++) {
		uint32_t type = pprof_column_type(p, k);
		int64_t factor = pm_rec_factor(p->r, p->types[type].metric);
		s->cells[(size_t)i * p->n_types + k] =
			pprof_cost(p->sums[tag->sums + type], factor);
	}
	pm_text_done(&t);
}

void pprof_tags_show(struct pprof *p)
{
	static const char *const first[] = {"key", "value", "unit", "records"};
	size_t n = p->n_tags;
	if (n == 0 || p->own->filter.is_set)
		return;
	struct shown *s = pm_rec_keep(p->r, &p->arena, sizeof(*s));
	pm_build_check(&p->arena, pm_sort_with(p->tags, n, sizeof(*p->tags), by_cost, p));
	*s = (struct shown){.r = p->r, .n = (uint32_t)n, .n_types = (uint32_t)p->n_types};
	s->rows = pm_rec_keep(p->r, &p->arena, n * sizeof(*s->rows));
	s->cells = pm_rec_keep(p->r, &p->arena, n * p->n_types * sizeof(*s->cells));
	struct pm_table table = {.type = &table_type, .self = s, .end = n};
	pprof_columns(p, first, "ttti", &table);
	for (uint32_t i = 0; i < n && pm_rec_goes_on(p->r); i++)
		fill_row(p, s, i, &p->tags[i]);
	add_collections(p, s);
	pm_rec_document(
		p->r, &(struct pm_named_doc){.path = "labels.csv", .doc = pm_doc_csv(table)});
	pm_rec_note(p->r, "labels.csv", "Costs by label of samples: a row for each key and value.");
	pm_rec_note(
		p->r, "labels/", "labels/KEY/VALUE/: the profile of the samples with that label.");
	pm_rec_recipe(p->r,
		"What does the work for each label cost? (Its profile is in labels/KEY/VALUE/.)",
		"head -n 6 labels.csv");
}
