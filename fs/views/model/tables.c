/* What tables share: their header rows, and cells. */
#include "fs/views/model/tables.h"

#include <pthread.h>
#include <stdlib.h>

#include "formats/common/arena.h"
#include "formats/common/list.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/views.h"

/* ---- header rows with metric columns: made when first asked for, and kept ---- */

struct header {
	const char *const *before, *const *suffixes, *const *after;
	uint32_t skip;
	const char *const *names;
	uint32_t n;
};

struct headers {
	pthread_mutex_t lock; /* of what follows */
	struct pm_arena *arena;
	struct header *items;
	size_t n, room;
};

static void end_lock(void *lock)
{
	pthread_mutex_destroy(lock);
}

static void headers_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct headers *h = part;
	(void)owner;
	(void)err;
	h->arena = a;
	pm_arena_owns(a, end_lock, &h->lock);
	pthread_mutex_init(&h->lock, NULL);
}

static uint32_t count_names(const char *const *names)
{
	uint32_t n = 0;
	while (names[n])
		n++;
	return n;
}

static uint32_t copy_names(const char **to, uint32_t at, const char *const *names)
{
	for (; *names; names++)
		to[at++] = *names;
	return at;
}

const char *const pmfs_suffixes_with_self[] = {"", NULL};

/* What is looked for, or made: under the lock, in an attempt of its own. */
struct wanted {
	struct headers *all;
	const struct pmfs_columns *columns;
	struct header header;
};

static void make_header(struct pm_arena *a, const struct pmfs_columns *c, struct header *h)
{
	uint32_t n_suffixes = count_names(h->suffixes), at;
	size_t most = (size_t)count_names(h->before) + count_names(h->after) +
		(size_t)c->n * n_suffixes + c->n_self + c->n_derived;
	const char **names = pm_arena_array(a, most, sizeof(*names));
	at = copy_names(names, 0, h->before);
	for (uint32_t i = 0; i < c->n_shown; i++)
		for (uint32_t k = 0; k < n_suffixes && i != h->skip; k++)
			names[at++] =
				pm_arena_printf(a, "%s%s", c->columns[i].name, h->suffixes[k]);
	for (uint32_t i = 0; h->suffixes == pmfs_suffixes_with_self && i < c->n_self; i++)
		names[at++] = c->self[i].name;
	for (uint32_t i = 0; !h->suffixes[0][0] && i < c->n_derived; i++)
		names[at++] = c->derived[i].name;
	h->n = copy_names(names, at, h->after);
	h->names = names;
}

static void find_or_make_header(void *wanted)
{
	struct wanted *w = wanted;
	struct headers *all = w->all;
	for (size_t i = 0; i < all->n; i++) {
		const struct header *h = &all->items[i];
		if (h->before == w->header.before && h->suffixes == w->header.suffixes &&
			h->after == w->header.after && h->skip == w->header.skip) {
			w->header = *h;
			return;
		}
	}
	pm_list_grow(all->arena, &all->items, all->n, &all->room, sizeof(*all->items));
	make_header(all->arena, w->columns, &w->header);
	all->items[all->n++] = w->header;
}

int pmfs_model_header(struct pmfs_model *m, const char *const *before, const char *const *suffixes,
	const char *const *after, uint32_t skip, const char *const **ret, uint32_t *ret_n,
	struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct headers), .what = "headers", .build = headers_build};
	struct wanted w = {.header = {before, suffixes, after, skip}};
	int r = pmfs_model_columns(m, &w.columns, err);
	if (r < 0 || (r = pmfs_model_part(m, PMFS_PART_HEADERS, &type, &w.all, err)) < 0)
		return r;
	pthread_mutex_lock(&w.all->lock);
	r = pm_build(w.all->arena, find_or_make_header, &w);
	pthread_mutex_unlock(&w.all->lock);
	*ret = w.header.names;
	*ret_n = w.header.n;
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- tables ---- */

int pmfs_table_with_metrics(struct pmfs_model *m, const struct pm_table_type *type,
	const char *const *before, const char *const *after, struct pm_table *ret,
	struct pm_error *err)
{
	static const char *const plain[] = {"", NULL};
	*ret = (struct pm_table){.type = type, .self = m};
	return pmfs_model_header(
		m, before, plain, after, PM_NONE, &ret->columns, &ret->n_columns, err);
}

int pmfs_table_with_self(struct pmfs_model *m, const struct pm_table_type *type,
	const char *const *before, const char *const *after, struct pm_table *ret,
	struct pm_error *err)
{
	*ret = (struct pm_table){.type = type, .self = m};
	return pmfs_model_header(m, before, pmfs_suffixes_with_self, after, PM_NONE, &ret->columns,
		&ret->n_columns, err);
}

struct pm_table pmfs_table_plain(
	struct pmfs_model *m, const struct pm_table_type *type, const char *const *columns)
{
	struct pm_table table = {.type = type, .self = m, .columns = columns};
	while (columns[table.n_columns])
		table.n_columns++;
	return table;
}

struct pm_cell *pmfs_number_cells(
	const struct pmfs_columns *c, const pm_number *numbers, struct pm_cell *cells)
{
	for (uint32_t i = 0; i < c->n_shown; i++)
		*cells++ = pmfs_cell(numbers[i]);
	pmfs_derived_cells(c, numbers, cells);
	return cells + c->n_derived;
}

void pmfs_set_kind(struct pm_cell *cell, const struct pm_frame *frame)
{
	if (frame->kind >= PM_KIND_OTHER)
		pm_set_u64(cell, frame->code);
	else
		pm_set_text(cell, pmfs_frame_kind(frame, NULL));
}

void pmfs_set_name(struct pm_cell *cell, const struct pm_tree *tree, const struct pm_frame *frame,
	struct pm_text *scratch)
{
	pm_set_text(cell, pmfs_frame_name(tree, frame, scratch));
	cell->lasts = frame->name != 0;
}

/* ---- cursors ---- */

struct cursor {
	struct pm_arena arena;
	struct pm_rows *rows;
	void (*build)(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err);
	struct pm_error *err;
	max_align_t own[];
};

static void build_cursor(void *context)
{
	struct cursor *c = context;
	c->build(&c->arena, c->rows, c->own, c->err);
}

int pmfs_rows_build(struct pm_rows *rows, size_t size,
	void (*build)(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err),
	struct pm_error *err)
{
	struct cursor *c = calloc(1, sizeof(*c) + size);
	if (!c)
		return pmfs_no_memory(err);
	c->rows = rows;
	c->build = build;
	c->err = err;
	rows->own = c->own;
	return pm_error_plain(err, pm_build(&c->arena, build_cursor, c));
}

void pmfs_rows_done(struct pm_rows *rows)
{
	struct cursor *c = (struct cursor *)rows->own - 1;
	pm_arena_done(&c->arena);
	free(c);
	rows->own = NULL;
}

static void end_text(void *text)
{
	pm_text_done(text);
}

struct pm_text *pmfs_text_apart(struct pm_arena *a)
{
	struct pm_text *text = pm_arena_alloc(a, sizeof(*text));
	pm_arena_owns(a, end_text, text);
	return text;
}

struct attempt {
	struct pmfs_writing w;
	void (*write)(const struct pmfs_writing *w);
};

static void write_text(void *context)
{
	const struct attempt *t = context;
	t->write(&t->w);
}

int pmfs_write(const struct pm_doc *doc, void (*write)(const struct pmfs_writing *w),
	struct pm_text *out, struct pm_error *err)
{
	struct pm_arena arena = {.block = NULL};
	struct attempt t = {{&arena, pmfs_model_of(doc->text.self), doc, out, err}, write};
	int r = pm_build(&arena, write_text, &t);
	pm_arena_done(&arena);
	return r < 0 ? pm_error_plain(err, r) : pm_text_status(out);
}

struct pm_doc pmfs_doc_of_text(struct pmfs_model *m, uint64_t item,
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err))
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = m, .a = item}};
}
