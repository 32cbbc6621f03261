/*
 * The model holds the profile, the parts that views have computed (parts.h), and the header rows
 * of tables. It knows neither how a part is computed nor which tables there are.
 */
#include "fs/views/model/model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/arena.h"
#include "formats/common/lazy.h"
#include "formats/common/list.h"
#include "fs/views/model/parts.h"

struct part {
	struct pm_lazy lazy;
	const struct pmfs_part_type *type;
	void *built;
};

struct header {
	const char *const *before, *const *suffixes, *const *after;
	uint32_t skip;
	const char *const *names;
	uint32_t n;
};

struct pmfs_model {
	const struct pm_profile *profile;
	struct pmfs_model *outer; /* or NULL */
	const char *wish;         /* which quantity is to lead, or NULL */
	struct part parts[PMFS_N_PARTS];
	struct pmfs_entries entries;
	pthread_mutex_t lock; /* of what follows */
	struct pm_arena arena;
	struct header *headers;
	size_t n_headers, room_headers;
};

struct pmfs_model *pmfs_model_new(const struct pm_profile *profile)
{
	static const struct pm_lazy fresh = PM_LAZY_INIT;
	struct pmfs_model *m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->profile = profile;
	for (size_t i = 0; i < PMFS_N_PARTS; i++)
		m->parts[i].lazy = fresh;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void pmfs_model_free(struct pmfs_model *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < PMFS_N_PARTS; i++) {
		if (m->parts[i].built)
			m->parts[i].type->free(m->parts[i].built);
	}
	pthread_mutex_destroy(&m->lock);
	pm_arena_done(&m->arena);
	free(m->headers);
	free(m);
}

const struct pm_profile *pmfs_model_profile(const struct pmfs_model *m)
{
	return m->profile;
}

void pmfs_model_set_outer(struct pmfs_model *m, struct pmfs_model *outer)
{
	m->outer = outer;
}

struct pmfs_model *pmfs_model_outer(const struct pmfs_model *m)
{
	return m->outer;
}

int pmfs_model_lead_with(struct pmfs_model *m, const char *name, struct pm_error *err)
{
	const struct pmfs_columns *c;
	m->wish = name;
	return pmfs_model_columns(m, &c, err);
}

const char *pmfs_model_wish(const struct pmfs_model *m)
{
	return m->wish;
}

void pmfs_model_set_entries(struct pmfs_model *m, const struct pmfs_entries *entries)
{
	m->entries = *entries;
}

const struct pmfs_entries *pmfs_model_entries(const struct pmfs_model *m)
{
	return m->entries.take ? &m->entries : NULL;
}

int pmfs_model_metrics(struct pmfs_model *m, const struct pm_metrics **ret, struct pm_error *err)
{
	return m->profile->ops->metrics(m->profile, ret, err);
}

int pmfs_model_threads(struct pmfs_model *m, const struct pm_threads **ret, struct pm_error *err)
{
	static const struct pm_threads none;
	if (m->profile->ops->threads)
		return m->profile->ops->threads(m->profile, ret, err);
	*ret = &none;
	return 0;
}

/* ---- parts ---- */

struct building {
	struct pmfs_model *model;
	struct part *part;
	const struct pmfs_part_type *type;
};

static int build_part(void *context, struct pm_error *err)
{
	struct building *b = context;
	b->part->type = b->type;
	return b->type->build(b->model, &b->part->built, err);
}

int pmfs_model_part(struct pmfs_model *m, enum pmfs_part which, const struct pmfs_part_type *type,
	void **ret, struct pm_error *err)
{
	struct part *part = &m->parts[which];
	struct building b = {.model = m, .part = part, .type = type};
	int r = pm_lazy_get(&part->lazy, build_part, &b, err);
	*ret = part->built;
	return r;
}

/* ---- header rows ---- */

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

static int make_header(struct pmfs_model *m, const struct pmfs_columns *c, struct header *h)
{
	uint32_t n_suffixes = count_names(h->suffixes), at;
	size_t most =
		(size_t)count_names(h->before) + count_names(h->after) + (size_t)c->n * n_suffixes;
	const char **names = pm_arena_array(&m->arena, most, sizeof(*names));
	if (!names)
		return -ENOMEM;
	at = copy_names(names, 0, h->before);
	for (uint32_t i = 0; i < c->n; i++) {
		for (uint32_t k = 0; k < n_suffixes && i != h->skip; k++) {
			names[at] = pm_arena_printf(
				&m->arena, "%s%s", c->columns[i].name, h->suffixes[k]);
			if (!names[at++])
				return -ENOMEM;
		}
	}
	h->n = copy_names(names, at, h->after);
	h->names = names;
	return 0;
}

static bool same_header(const struct header *a, const struct header *b)
{
	return a->before == b->before && a->suffixes == b->suffixes && a->after == b->after &&
		a->skip == b->skip;
}

static int find_or_make_header(struct pmfs_model *m, const struct pmfs_columns *c, struct header *h)
{
	for (size_t i = 0; i < m->n_headers; i++) {
		if (same_header(&m->headers[i], h)) {
			*h = m->headers[i];
			return 0;
		}
	}
	if (pm_list_room(&m->headers, m->n_headers, &m->room_headers, sizeof(*m->headers)) < 0 ||
		make_header(m, c, h) < 0)
		return -ENOMEM;
	m->headers[m->n_headers++] = *h;
	return 0;
}

int pmfs_model_header(struct pmfs_model *m, const char *const *before, const char *const *suffixes,
	const char *const *after, uint32_t skip, const char *const **ret, uint32_t *ret_n,
	struct pm_error *err)
{
	struct header h = {.before = before, .suffixes = suffixes, .after = after, .skip = skip};
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&m->lock);
	r = find_or_make_header(m, c, &h);
	pthread_mutex_unlock(&m->lock);
	if (r < 0)
		return pmfs_no_memory(err);
	*ret = h.names;
	*ret_n = h.n;
	return 0;
}
