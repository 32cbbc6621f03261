/* What is built from a stream on first need, and kept. */
#include "formats/htdump/htdump.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the scan ---- */

static int threads_init(struct htd_opened *src)
{
	static const char *const keys[] = {"thread"};
	const struct htd_stream *s = &src->stream;
	struct pm_thread *list = pm_arena_array(&src->arena, s->n_threads + 1, sizeof(*list));
	struct pm_identity *identity =
		pm_arena_array(&src->arena, s->n_threads + 1, sizeof(*identity));
	if (!list || !identity)
		return -ENOMEM;
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
	return 0;
}

void htd_scan_done(struct htd_opened *src)
{
	htd_sheets_done(src);
	htd_stream_done(&src->stream);
	pm_damage_done(&src->damage_list);
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
		r = htd_sheets_init(src);
	if (r == 0)
		r = threads_init(src);
	if (r == 0 && src->damage_list.no_memory)
		r = -ENOMEM;
	if (r == 0)
		return 0;
	htd_scan_done(src);
	src->damage_list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	*s = (struct htd_stream){.bytes = s->bytes, .watch = s->watch, .dialect = s->dialect};
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory");
}

int htd_scan_get(void *opened, struct pm_error *err)
{
	struct htd_opened *src = opened;
	return pm_lazy_get(&src->scan_lazy, scan_build, src, err);
}

/* ---- the calls ---- */

static int calls_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	int r = htd_scan_get(src, err);
	if (r < 0)
		return r;
	r = htd_calls_build(&src->calls, &src->stream, &src->wanted, err);
	src->parts.tree.it = src->calls.tree;
	if (r < 0)
		htd_calls_done(&src->calls);
	return r;
}

int htd_calls_get(struct htd_opened *src, const struct htd_calls **ret, struct pm_error *err)
{
	int r = pm_lazy_get(&src->calls_lazy, calls_build, src, err);
	*ret = r < 0 ? NULL : &src->calls;
	return r;
}

static int children_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	const struct htd_calls *c;
	int r = htd_calls_get(src, &c, err);
	if (r < 0)
		return r;
	r = htd_children_build(&src->children, c);
	if (r < 0)
		pm_map_done(&src->children);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for traces") : 0;
}

int htd_children_get(struct htd_opened *src, const struct pm_map **ret, struct pm_error *err)
{
	*ret = &src->children;
	return pm_lazy_get(&src->children_lazy, children_build, src, err);
}

static int percentiles_build(void *context, struct pm_error *err)
{
	struct htd_opened *src = context;
	const struct htd_calls *c;
	int r = htd_calls_get(src, &c, err);
	if (r == 0)
		r = htd_percentiles_find(&src->percentiles, &src->calls, err);
	src->parts.call_times.it = src->percentiles.of_function;
	return r;
}

int htd_percentiles_get(
	struct htd_opened *src, const struct htd_percentiles **ret, struct pm_error *err)
{
	*ret = &src->percentiles;
	return pm_lazy_get(&src->percentiles_lazy, percentiles_build, src, err);
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
