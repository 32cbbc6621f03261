/*
 * Walks call trees and adds up. Methods are the same when their whole names are: ids differ from
 * store to store.
 */
#include "formats/zts/partial.h"

#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/zts/names.h"
#include "profmount/limits.h"

/* A path that was left out because there are too many; so is all below it. */
#define LEFT_OUT (PM_NONE - 1)

enum { ID_BITS = 40 };

#define NO_ID UINT64_MAX

/* ---- methods ---- */

static uint32_t add_method(struct zts_partial *p, struct pm_bytes name)
{
	uint32_t known = p->names.n;
	p->names.arena = &p->texts;
	uint32_t method = pm_strtab_add(&p->names, name);
	if (method == PM_NONE || method < known)
		return method;
	if (pm_list_room(&p->methods, method, &p->method_room, sizeof(*p->methods)) < 0 ||
		pm_list_room(&p->active, method, &p->active_room, sizeof(*p->active)) < 0)
		return PM_NONE;
	p->methods[method] = (struct zts_method){.name = p->names.items[method]};
	p->active[method] = 0;
	return method;
}

/* Store and method of a call in one number; NO_ID where they do not fit. */
static uint64_t call_id(const struct zts_call *call)
{
	return call->method >> ID_BITS ? NO_ID : (uint64_t)call->store << ID_BITS | call->method;
}

/* The method of a call; PM_NONE without memory. */
static uint32_t method_of(
	struct zts_partial *p, struct zts_stores *stores, const struct zts_call *call)
{
	const struct zts_texts *texts;
	bool is_new = true;
	uint32_t *place = NULL;
	if (call_id(call) != NO_ID) {
		place = pm_map_put(&p->ids, call_id(call), PM_NONE, &is_new);
		if (!place)
			return PM_NONE;
		if (!is_new && *place != PM_NONE)
			return *place;
	}
	if (zts_store_texts(&stores->items[call->store], &texts, NULL) < 0)
		return PM_NONE;
	pm_text_clear(&p->scratch);
	zts_name_method(texts, call->method, &p->scratch);
	if (p->scratch.failed)
		return PM_NONE;
	uint32_t method = add_method(p, pm_text_view(&p->scratch));
	if (place)
		*place = method;
	return method;
}

void zts_method_ended(struct zts_method *m, int64_t min_ns, int64_t max_ns)
{
	if (!m->ended || min_ns < m->min_ns)
		m->min_ns = min_ns;
	if (!m->ended || max_ns > m->max_ns)
		m->max_ns = max_ns;
	m->ended = true;
}

static void add_to_method(
	struct zts_partial *p, uint32_t method, const struct zts_call *call, zts_sum self_ns)
{
	struct zts_method *m = &p->methods[method];
	int64_t duration_ns;
	if (zts_call_duration(call, &duration_ns))
		zts_method_ended(m, duration_ns, duration_ns);
	m->sums.calls++;
	m->sums.errors += (call->flags & ZTS_FLAG_ERROR) != 0;
	m->sums.exclusive_ns += self_ns;
	if (p->active[method] == 0)
		m->sums.inclusive_ns += duration_ns;
}

/* ---- paths ---- */

/* The path below `parent`, found or added; PM_NONE without memory. */
static uint32_t path_of(struct zts_partial *p, uint32_t parent, uint32_t method)
{
	bool is_new;
	if (parent == LEFT_OUT)
		return LEFT_OUT;
	uint32_t *place =
		pm_map_put(&p->children, (uint64_t)parent << 32 | method, p->n_paths, &is_new);
	if (!place)
		return PM_NONE;
	if (!is_new)
		return *place;
	if (p->n_paths >= PM_LIMIT_CALL_PATHS) {
		*place = LEFT_OUT;
		return LEFT_OUT;
	}
	if (pm_list_room(&p->paths, p->n_paths, &p->path_room, sizeof(*p->paths)) < 0)
		return PM_NONE;
	p->paths[p->n_paths] = (struct zts_path){.parent = parent, .method = method};
	return p->n_paths++;
}

static void add_to_path(
	struct zts_partial *p, uint32_t path, const struct zts_call *call, zts_sum self_ns)
{
	if (path == LEFT_OUT) {
		p->left_out++;
		return;
	}
	struct zts_sums *sums = &p->paths[path].sums;
	int64_t duration_ns;
	zts_call_duration(call, &duration_ns);
	sums->calls++;
	sums->errors += (call->flags & ZTS_FLAG_ERROR) != 0;
	sums->inclusive_ns += duration_ns;
	sums->exclusive_ns += self_ns;
}

/* ---- attributes ---- */

/* First-generation stores have no traces inside of others: such records are plain calls. */
static bool begins_trace(const struct zts_call *call)
{
	return call->parent == PM_NONE ||
		((call->has & ZTS_HAS_TIMESTAMP) &&
			(!(call->has & ZTS_HAS_TYPE) || (call->has & ZTS_HAS_SPAN)));
}

static int count_attrs(
	struct zts_partial *p, const struct zts_tree *tree, const struct zts_call *call)
{
	for (uint32_t i = 0; i < call->n_attrs; i++) {
		const struct zts_attr *attr = &tree->attrs[call->attr + i];
		uint32_t known = p->attrs.n;
		p->attrs.arena = &p->texts;
		pm_text_clear(&p->scratch);
		zts_attr_join(&p->scratch, attr->key, attr->value);
		if (p->scratch.failed)
			return -ENOMEM;
		uint32_t index = pm_strtab_add(&p->attrs, pm_text_view(&p->scratch));
		if (index == PM_NONE ||
			pm_list_room(
				&p->attr_counts, index, &p->attr_room, sizeof(*p->attr_counts)) < 0)
			return -ENOMEM;
		p->attr_counts[index] = index < known ? p->attr_counts[index] + 1 : 1;
	}
	return 0;
}

/* ---- a trace ---- */

struct step {
	uint32_t method, path;
};

/*
 * Traces are alike: the path of a call is mostly the one that followed the path of the call before
 * the last time, too. This is told without a look into a table.
 */
static bool guess_step(
	const struct zts_partial *p, const struct zts_call *call, uint32_t parent, struct step *ret)
{
	uint32_t guess = p->latest < p->n_paths ? p->paths[p->latest].next : PM_NONE;
	if (guess >= p->n_paths)
		return false;
	const struct zts_path *path = &p->paths[guess];
	*ret = (struct step){path->method, guess};
	return path->parent == parent && path->id == call_id(call) && path->id != NO_ID;
}

static int find_step(struct zts_partial *p, struct zts_stores *stores, const struct zts_call *call,
	uint32_t parent, struct step *ret)
{
	if (!guess_step(p, call, parent, ret)) {
		uint32_t method = method_of(p, stores, call);
		uint32_t path = method == PM_NONE ? PM_NONE : path_of(p, parent, method);
		if (path == PM_NONE)
			return -ENOMEM;
		if (path != LEFT_OUT)
			p->paths[path].id = call_id(call);
		if (p->latest < p->n_paths)
			p->paths[p->latest].next = path;
		*ret = (struct step){method, path};
	}
	p->latest = ret->path;
	return 0;
}

/* `way` are the steps from the root to the call before, `*depth` of them. */
static int add_call(struct zts_partial *p, struct zts_stores *stores, const struct zts_call *call,
	zts_sum self_ns, struct step *way, uint32_t *depth)
{
	while (*depth > call->depth)
		p->active[way[--*depth].method]--;
	struct step *step = &way[*depth];
	uint32_t parent = *depth ? way[*depth - 1].path : PM_NONE;
	if (find_step(p, stores, call, parent, step) < 0)
		return -ENOMEM;
	add_to_method(p, step->method, call, self_ns);
	add_to_path(p, step->path, call, self_ns);
	p->active[step->method]++;
	++*depth;
	return 0;
}

int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_moment *moment)
{
	uint32_t depth = 0;
	zts_sum *self = zts_tree_self(tree);
	struct step *way = malloc(PM_LIMIT_CALL_DEPTH * sizeof(*way));
	int r = self && way ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < tree->n && r == 0; i++) {
		const struct zts_call *call = &tree->calls[i];
		r = add_call(p, stores, call, self[i], way, &depth);
		if (r == 0 && begins_trace(call))
			r = count_attrs(p, tree, call);
	}
	while (depth > 0)
		p->active[way[--depth].method]--;
	if (r == 0)
		r = zts_exceptions_add(&p->exceptions, stores, tree, moment, &p->texts);
	free(way);
	free(self);
	return r;
}

void zts_partial_done(struct zts_partial *p)
{
	pm_arena_done(&p->texts);
	pm_map_done(&p->ids);
	pm_map_done(&p->children);
	pm_strtab_done(&p->names);
	pm_strtab_done(&p->attrs);
	pm_text_done(&p->scratch);
	zts_exceptions_done(&p->exceptions);
	free(p->methods);
	free(p->active);
	free(p->paths);
	free(p->attr_counts);
	*p = (struct zts_partial){.n_paths = 0};
}
