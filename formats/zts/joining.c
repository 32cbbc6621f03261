/*
 * Contexts, methods and attributes of all ranges of traces. Paths are joined in any order of their
 * ranges, and numbered by where each was first.
 */
#include "formats/zts/joining.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

int zts_joining_init(struct zts_joining *j, struct zts_aggregate *a)
{
	*j = (struct zts_joining){
		.a = a, .builder = pm_tree_builder_new(), .names = {.arena = &a->texts}};
	int r = pm_paths_init(&j->paths, PM_LIMIT_CALL_PATHS);
	return j->builder ? r : -ENOMEM;
}

void zts_joining_done(struct zts_joining *j)
{
	pm_tree_builder_free(j->builder);
	pm_paths_done(&j->paths);
	pm_strtab_done(&j->names);
	pm_durations_done(&j->durations);
	free(j->frames);
	free(j->sums);
	free(j->first);
}

/* ---- methods, paths ---- */

static void add_method(struct zts_method *to, const struct zts_method *from)
{
	zts_sums_add(&to->sums, &from->sums);
	if (from->ended)
		zts_method_ended(to, from->min_ns, from->max_ns);
}

/* Adds a method; PM_NONE if out of memory. */
static uint32_t join_method(struct zts_joining *j, const struct zts_method *method)
{
	struct zts_aggregate *a = j->a;
	uint32_t index = pm_strtab_add(&j->names, method->name);
	if (index == PM_NONE || index < a->n_methods) {
		if (index != PM_NONE)
			add_method(&a->methods[index], method);
		return index;
	}
	if (pm_list_room(&a->methods, index, &j->method_room, sizeof(*a->methods)) < 0 ||
		pm_list_room(&j->frames, index, &j->frame_room, sizeof(*j->frames)) < 0)
		return PM_NONE;
	j->frames[index] = PM_NONE;
	a->methods[index] = *method;
	a->methods[index].name = j->names.items[index];
	a->n_methods++;
	return index;
}

/*
 * `methods` maps the partial's methods to the joined ones; `places` gets the method of each of its
 * paths.
 */
static int join_paths(struct zts_joining *j, const struct zts_partial *p, const uint32_t *methods,
	uint32_t *places)
{
	uint32_t known = j->paths.n;
	if (pm_paths_join(&j->paths, PM_NONE, &p->tally.paths, methods, places) < 0 ||
		(j->paths.n > 0 &&
			(pm_list_room(&j->sums, j->paths.n - 1, &j->sum_room, sizeof(*j->sums)) <
					0 ||
				pm_list_room(&j->first, j->paths.n - 1, &j->first_room,
					sizeof(*j->first)) < 0)))
		return -ENOMEM;
	for (uint32_t i = known; i < j->paths.n; i++) {
		j->sums[i] = (struct zts_sums){0};
		j->first[i] = UINT64_MAX;
	}
	for (uint32_t i = 0; i < p->tally.paths.n; i++) {
		uint32_t place = places[i];
		if (place == PM_PATHS_FULL) {
			j->a->left_out += p->tally.sums[i].sums.calls;
			continue;
		}
		zts_sums_add(&j->sums[place], &p->tally.sums[i].sums);
		if (p->tally.first[i] < j->first[place])
			j->first[place] = p->tally.first[i];
	}
	return 0;
}

int zts_joining_add(struct zts_joining *j, const struct zts_partial *p)
{
	uint32_t *methods = malloc(p->names.n * sizeof(*methods) + 1);
	uint32_t *places = malloc(p->tally.paths.n * sizeof(*places) + 1);
	int r = methods && places ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < p->names.n && r == 0; i++) {
		methods[i] = join_method(j, &p->methods[i]);
		r = methods[i] == PM_NONE ? -ENOMEM : 0;
	}
	if (r == 0)
		r = join_paths(j, p, methods, places);
	if (r == 0)
		r = pm_durations_join(&j->durations, &p->durations, methods);
	if (r == 0)
		r = zts_attributes_join(&j->a->attributes, &p->attributes, &j->a->texts);
	if (r == 0)
		r = zts_attributes_join(&j->a->statements, &p->statements, &j->a->texts);
	if (r == 0)
		r = zts_exceptions_join(&j->a->exceptions, &p->exceptions, &j->a->texts);
	j->a->left_out += p->tally.left_out;
	free(methods);
	free(places);
	return r;
}

/* ---- the tree ---- */

/* A path by where it was first. */
struct place {
	uint64_t first;
	uint32_t path;
};

static int by_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return (x->first > y->first) - (x->first < y->first);
}

/* All paths in order of first use, parents before children; NULL if out of memory. */
static struct place *sort_paths(const struct zts_joining *j)
{
	struct place *places = malloc(j->paths.n * sizeof(*places) + 1);
	bool sorted = true;
	for (uint32_t i = 0; places && i < j->paths.n; i++) {
		places[i] = (struct place){j->first[i], i};
		sorted = sorted && (i == 0 || places[i - 1].first <= places[i].first);
	}
	if (places && (sorted || pm_sort(places, j->paths.n, sizeof(*places), by_first) == 0))
		return places;
	free(places);
	return NULL;
}

static uint32_t frame_of(struct zts_joining *j, uint32_t method)
{
	if (j->frames[method] == PM_NONE) {
		uint32_t name = pm_tree_text(j->builder, j->a->methods[method].name, true);
		struct pm_function function = {.name = name, .id = PM_NONE};
		struct pm_frame frame = {.kind = PM_KIND_FUNCTION,
			.function = pm_tree_function(j->builder, &function),
			.name = name};
		j->frames[method] = pm_tree_intern(j->builder, &frame);
	}
	return j->frames[method];
}

/* Gives the paths to the builder; the sums are in its order afterwards. 0 or -ENOMEM. */
static int add_paths(struct zts_joining *j, double *weight)
{
	uint32_t n = j->paths.n;
	struct place *places = sort_paths(j);
	struct zts_sums *sums = malloc(n * sizeof(*sums) + 1);
	uint32_t *place_of = malloc(n * sizeof(*place_of) + 1);
	int r = places && sums && place_of ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < j->a->n_methods && j->a->left_out && r == 0; i++)
		frame_of(j, i); /* some may have no path */
	for (uint32_t i = 0; i < n && r == 0; i++) {
		const struct pm_path *path = &j->paths.items[places[i].path];
		uint32_t parent = path->parent == PM_NONE ? PM_NONE : place_of[path->parent];
		place_of[places[i].path] = i;
		sums[i] = j->sums[places[i].path];
		weight[i] = (double)sums[i].inclusive_ns;
		pm_tree_add(j->builder, parent, frame_of(j, path->key), 0);
	}
	free(places);
	free(place_of);
	free(j->sums);
	j->sums = sums;
	return r;
}

static int freeze(struct zts_joining *j, struct pm_error *err)
{
	struct zts_aggregate *a = j->a;
	uint32_t n = j->paths.n, *index = NULL;
	double *weight = malloc(n * sizeof(*weight) + 1);
	a->sums = malloc(n * sizeof(*a->sums) + 1);
	int r = weight && a->sums ? add_paths(j, weight) : -ENOMEM;
	pm_paths_done(&j->paths);
	if (r == 0) {
		r = pm_tree_freeze(j->builder, weight, &a->tree, &index, err);
		j->builder = NULL;
	}
	for (uint32_t i = 0; i < n && r == 0; i++)
		a->sums[index[i]] = j->sums[i];
	free(index);
	free(weight);
	return r;
}

/* What the methods were, before they are sorted. A method is a function. */
static int list_times(struct zts_joining *j, pm_pass pass, void *context)
{
	struct zts_aggregate *a = j->a;
	struct pm_call_times *times = malloc((a->n_methods + 1) * sizeof(*times));
	a->times = calloc((size_t)a->tree->n_functions + 1, sizeof(*a->times));
	int r = times && a->times
		? pm_percentiles(&j->durations, times, (uint32_t)a->n_methods, pass, context)
		: -ENOMEM;
	for (size_t i = 0; r == 0 && i < a->n_methods; i++) {
		uint32_t function = a->tree->frames[j->frames[i]].function;
		a->methods[i].function = function;
		a->methods[i].times = times[i];
		a->times[function] = times[i];
	}
	free(times);
	return r;
}

const struct pm_strtab *zts_joining_texts(const struct zts_joining *j)
{
	const struct pm_strtab *texts[] = {[ZTS_AGAIN_METHODS] = &j->names,
		[ZTS_AGAIN_ATTRIBUTES] = &j->a->attributes.texts,
		[ZTS_AGAIN_STATEMENTS] = &j->a->statements.texts};
	return texts[j->again];
}

int zts_joining_end(struct zts_joining *j, pm_pass pass, void *context, struct pm_error *err)
{
	struct zts_aggregate *a = j->a;
	int r = freeze(j, err);
	j->again = ZTS_AGAIN_METHODS;
	if (r == 0)
		r = list_times(j, pass, context);
	if (r == 0)
		r = pm_sort(a->methods, a->n_methods, sizeof(*a->methods), zts_method_by_time);
	j->again = ZTS_AGAIN_ATTRIBUTES;
	if (r == 0)
		r = zts_attributes_end(&a->attributes, false, pass, context);
	j->again = ZTS_AGAIN_STATEMENTS;
	if (r == 0)
		r = zts_attributes_end(&a->statements, true, pass, context);
	return r < 0 ? r : zts_exceptions_sort(&a->exceptions);
}
