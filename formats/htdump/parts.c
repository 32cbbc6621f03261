/* What is built from a stream on first need, and kept. */
#include "formats/htdump/htdump.h"

#include <errno.h>

/* ---- the scan ---- */

/* What is shown of a stream besides its calls. */
static void present(void *opened)
{
	static const char *const keys[] = {"thread"};
	struct htd_opened *src = opened;
	struct htd_stream *s = &src->stream;
	struct pm_thread *list = pm_arena_array(&s->arena, s->n_threads, sizeof(*list));
	struct pm_identity *identity = pm_arena_array(&s->arena, s->n_threads, sizeof(*identity));
	htd_sheets_init(&s->arena, src);
	for (uint32_t i = 0; i < s->n_threads; i++) {
		identity[i].value = s->threads[i].number;
		list[i] = (struct pm_thread){.id = i,
			.n_identity = 1,
			.identity = &identity[i],
			.has_trace = true,
			.n_samples = s->threads[i].calls.n_events};
	}
	bool known = s->origin <= s->last;
	src->span = (struct pm_span){
		known ? s->origin : PM_NO_TIME, known ? s->last - s->origin : PM_NO_TIME};
	src->threads = (struct pm_threads){
		.n = (uint32_t)s->n_threads, .threads = list, .n_keys = 1, .keys = keys};
}

static int scan_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	struct htd_stream *s = &src->stream;
	int r = htd_stream_scan(s, src->input.name, &src->damage_list, err);
	if (r == 0 && pm_input_changed(&src->input))
		r = pm_error_set(err, -EIO, src->input.name, PM_NO_OFFSET,
			"cannot be read, or has changed while it was read");
	if (r == 0)
		r = pm_build(&s->arena, present, src);
	if (r == 0 && src->damage_list.no_memory)
		r = -ENOMEM;
	if (r == 0)
		return 0;
	htd_stream_done(s);
	pm_damage_done(&src->damage_list);
	src->damage_list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory");
}

int htd_scan_get(void *opened, struct pm_error *err)
{
	struct htd_opened *src = opened;
	return pm_lazy_get(&src->scan_lazy, scan_build, src, err);
}

/* ---- the calls ---- */

static void calls_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct htd_opened *src = owner;
	struct htd_calls *c = part;
	pm_build_check(a, htd_scan_get(src, err));
	htd_calls_build(a, c, &src->stream, &src->wanted, err);
	src->parts.tree.it = c->tree;
}

int htd_calls_get(struct htd_opened *src, const struct htd_calls **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(**ret), .build = calls_build, .what = "the calls"};
	return pm_part_get(&src->calls, &type, src, ret, err);
}

static void children_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	const struct htd_calls *c;
	struct pm_map *children = part;
	bool fresh;
	pm_build_check(a, htd_calls_get(owner, &c, err));
	children->arena = a;
	for (uint32_t i = 0; i < c->tree->n_contexts; i++)
		pm_map_put(
			children, htd_child_key(c->tree->parent[i], c->tree->frame[i]), i, &fresh);
}

int htd_children_get(struct htd_opened *src, const struct pm_map **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(**ret), .build = children_build, .what = "traces"};
	return pm_part_get(&src->children, &type, src, ret, err);
}

static void percentiles_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct htd_opened *src = owner;
	struct htd_percentiles *percentiles = part;
	const struct htd_calls *c;
	pm_build_check(a, htd_calls_get(src, &c, err));
	htd_percentiles_find(a, percentiles, c, err);
	src->parts.call_times.it = percentiles->of_function;
}

int htd_percentiles_get(
	struct htd_opened *src, const struct htd_percentiles **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(**ret), .build = percentiles_build, .what = "percentiles"};
	return pm_part_get(&src->percentiles, &type, src, ret, err);
}

/* ---- the damage ---- */

/* The findings of the scan, and calls that cannot be used. */
static int damage_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	const struct htd_calls *calls;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = htd_calls_get(src, &calls, &why);
	if (r < 0 && r != -ENOTSUP)
		return pm_error_set(err, r, why.file, why.offset, "%s", why.text);
	const struct pm_damage_mark before = pm_damage_mark(&src->damage_list);
	if (r < 0)
		pm_damage_add(&src->damage_list, src->input.name, PM_NO_OFFSET, PM_NO_OFFSET,
			"%s: they are not presented as contexts", why.text);
	if (pm_damage_since(&src->damage_list, before) < 0)
		return pm_error_plain(err, -ENOMEM);
	src->damages = pm_damage_rows(&src->damage_list);
	return 0;
}

int htd_damage(void *opened, struct pm_error *err)
{
	struct htd_opened *src = opened;
	return pm_lazy_get(&src->damage_lazy, damage_build, src, err);
}
