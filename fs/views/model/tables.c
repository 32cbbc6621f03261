/* What tables share: their header rows, and cells. */
#include "fs/views/model/tables.h"

#include <pthread.h>
#include <stdlib.h>

#include "formats/common/arena.h"
#include "formats/common/list.h"
#include "fs/views/model/parts.h"

/* ---- header rows with metric columns: made when first asked for, and kept ---- */

struct header {
	const char *const *before, *const *suffixes, *const *after;
	uint32_t skip;
	const char *const *names;
	uint32_t n;
};

struct headers {
	pthread_mutex_t lock; /* of what follows */
	struct pm_arena arena;
	struct header *items;
	size_t n, room;
};

static int headers_fill(void *owner, void *part, struct pm_error *err)
{
	struct headers *h = part;
	(void)owner;
	(void)err;
	pthread_mutex_init(&h->lock, NULL);
	return 0;
}

static void headers_done(void *part)
{
	struct headers *h = part;
	pthread_mutex_destroy(&h->lock);
	pm_arena_done(&h->arena);
	free(h->items);
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

static int make_header(struct headers *m, const struct pmfs_columns *c, struct header *h)
{
	uint32_t n_suffixes = count_names(h->suffixes), at;
	size_t most = (size_t)count_names(h->before) + count_names(h->after) +
		(size_t)c->n * n_suffixes + c->n_self + c->n_derived;
	const char **names = pm_arena_array(&m->arena, most, sizeof(*names));
	if (!names)
		return -ENOMEM;
	at = copy_names(names, 0, h->before);
	for (uint32_t i = 0; i < c->n_shown; i++) {
		for (uint32_t k = 0; k < n_suffixes && i != h->skip; k++) {
			names[at] = pm_arena_printf(
				&m->arena, "%s%s", c->columns[i].name, h->suffixes[k]);
			if (!names[at++])
				return -ENOMEM;
		}
	}
	for (uint32_t i = 0; h->suffixes == pmfs_suffixes_with_self && i < c->n_self; i++)
		names[at++] = c->self[i].name;
	for (uint32_t i = 0; !h->suffixes[0][0] && i < c->n_derived; i++)
		names[at++] = c->derived[i].name;
	h->n = copy_names(names, at, h->after);
	h->names = names;
	return 0;
}

static bool same_header(const struct header *a, const struct header *b)
{
	return a->before == b->before && a->suffixes == b->suffixes && a->after == b->after &&
		a->skip == b->skip;
}

static int find_or_make_header(struct headers *m, const struct pmfs_columns *c, struct header *h)
{
	for (size_t i = 0; i < m->n; i++) {
		if (same_header(&m->items[i], h)) {
			*h = m->items[i];
			return 0;
		}
	}
	if (pm_list_room(&m->items, m->n, &m->room, sizeof(*m->items)) < 0 ||
		make_header(m, c, h) < 0)
		return -ENOMEM;
	m->items[m->n++] = *h;
	return 0;
}

int pmfs_model_header(struct pmfs_model *m, const char *const *before, const char *const *suffixes,
	const char *const *after, uint32_t skip, const char *const **ret, uint32_t *ret_n,
	struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct headers), headers_fill, headers_done, .what = "headers"};
	struct header h = {.before = before, .suffixes = suffixes, .after = after, .skip = skip};
	const struct pmfs_columns *c;
	struct headers *all;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0 || (r = pmfs_model_part(m, PMFS_PART_HEADERS, &type, &all, err)) < 0)
		return r;
	pthread_mutex_lock(&all->lock);
	r = find_or_make_header(all, c, &h);
	pthread_mutex_unlock(&all->lock);
	if (r < 0)
		return pmfs_no_memory(err);
	*ret = h.names;
	*ret_n = h.n;
	return 0;
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

struct pm_doc pmfs_doc_of_text(struct pmfs_model *m, uint64_t item,
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err))
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = m, .a = item}};
}
