/*
 * Walks call trees and adds up. Methods are identified by their full names, because ids differ
 * between stores.
 */
#include "formats/zts/partial.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/attrs.h"
#include "formats/zts/names.h"

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
		pm_list_room(&p->brief, method, &p->brief_room, sizeof(*p->brief)) < 0)
		return PM_NONE;
	p->methods[method] = (struct zts_method){.name = p->names.items[method]};
	p->brief[method] = (struct zts_brief){{0}};
	return method;
}

/* Store and method of a call in one number; NO_ID if they do not fit. */
static uint64_t call_id(const struct zts_call *call)
{
	return call->method >> ID_BITS ? NO_ID : (uint64_t)call->store << ID_BITS | call->method;
}

/* The method with that name in the index of the call's store; PM_NONE if out of memory. */
static uint32_t name_method(
	struct zts_partial *p, struct zts_stores *stores, const struct zts_call *call)
{
	const struct zts_texts *texts;
	if (zts_store_texts(&stores->items[call->store], &texts, NULL) < 0)
		return PM_NONE;
	pm_text_clear(&p->scratch);
	zts_name_method(texts, call->method, &p->scratch);
	return p->scratch.failed ? PM_NONE : add_method(p, pm_text_view(&p->scratch));
}

/* The method with that id, which no recent call had; PM_NONE if out of memory. */
static uint32_t find_method(
	struct zts_partial *p, struct zts_stores *stores, const struct zts_call *call)
{
	bool is_new;
	uint64_t id = call_id(call);
	if (id == NO_ID)
		return name_method(p, stores, call);
	uint32_t *place = pm_map_put(&p->ids, id, PM_NONE, &is_new);
	if (place && *place == PM_NONE)
		*place = name_method(p, stores, call);
	if (!place || *place == PM_NONE)
		return PM_NONE;
	p->recent[id % ZTS_RECENT] = (struct zts_recent){id, *place};
	return *place;
}

static inline uint32_t method_of(
	struct zts_partial *p, struct zts_stores *stores, const struct zts_call *call)
{
	const struct zts_recent *recent = &p->recent[call_id(call) % ZTS_RECENT];
	return recent->id == call_id(call) ? recent->method : find_method(p, stores, call);
}

/* ---- a trace ---- */

/*
 * Counts a call that took `ns`; 0 if the clock was set back during it. A call that was not brief is
 * added to p->timed, of which there are *n.
 */
static inline int count_length(struct zts_partial *p, uint32_t method, int64_t ns, size_t *n)
{
	uint64_t length = ns > 0 ? (uint64_t)ns : 0;
	if (length >= ZTS_BRIEF * ZTS_TICK_NS) {
		p->timed[(*n)++] = (struct pm_timed){length, method};
		return 0;
	}
	uint32_t *calls = &p->brief[method].calls[length / ZTS_TICK_NS];
	if (++*calls < UINT32_MAX)
		return 0;
	*calls = 0;
	return pm_lengths_add(&p->lengths, method, length, UINT32_MAX);
}

static int add_brief(struct zts_partial *p)
{
	int r = 0;
	for (uint32_t method = 0; method < p->names.n; method++)
		for (uint32_t ticks = 0; ticks < ZTS_BRIEF && r == 0; ticks++)
			r = pm_lengths_add(&p->lengths, method, ticks * ZTS_TICK_NS,
				p->brief[method].calls[ticks]);
	return r;
}

/* What is needed of each call. *ret_has: what any of them has. */
static int take_calls(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	uint32_t *ret_has)
{
	size_t n = 0;
	*ret_has = 0;
	if (pm_list_room(&p->timed, tree->n, &p->timed_room, sizeof(*p->timed)) < 0 ||
		zts_tally_room(&p->tally, tree->n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		uint32_t method = method_of(p, stores, call);
		int64_t ns;
		p->tally.steps[i] =
			(struct pm_step){.key = method, .above = call->parent, .from = PM_NONE};
		*ret_has |= call->has;
		if (method == PM_NONE ||
			(zts_call_duration(call, &ns) && count_length(p, method, ns, &n) < 0))
			return -ENOMEM;
	}
	return pm_lengths_add_all(&p->lengths, p->timed, n);
}

int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_moment *moment)
{
	uint32_t has;
	int r = take_calls(p, stores, tree, &has);
	if (r == 0)
		r = zts_tally_add(&p->tally, tree, moment->rank);
	if (r == 0 && tree->n_attrs)
		r = zts_attributes_add(&p->attributes, &p->statements, tree, moment, &p->texts);
	if (r < 0 || !(has & ZTS_HAS_EXCEPTION))
		return r;
	return zts_exceptions_add(&p->exceptions, stores, tree, moment, &p->texts);
}

int zts_partial_init(struct zts_partial *p, bool *lengths_full)
{
	*p = (struct zts_partial){.recent = malloc(ZTS_RECENT * sizeof(*p->recent)),
		.lengths = {.any_full = lengths_full}};
	for (size_t i = 0; p->recent && i < ZTS_RECENT; i++)
		p->recent[i].id = i ^ 1; /* of another slot, so never looked up here */
	int r = zts_tally_init(&p->tally);
	return p->recent ? r : -ENOMEM;
}

int zts_partial_end(struct zts_partial *p)
{
	free(p->recent);
	free(p->timed);
	p->recent = NULL;
	p->timed = NULL;
	pm_map_done(&p->ids);
	int r = add_brief(p);
	if (r == 0)
		r = zts_tally_fold(&p->tally, p->methods, p->names.n);
	free(p->brief);
	p->brief = NULL;
	zts_tally_end(&p->tally);
	return r;
}

void zts_partial_done(struct zts_partial *p)
{
	pm_arena_done(&p->texts);
	pm_map_done(&p->ids);
	zts_tally_done(&p->tally);
	pm_lengths_done(&p->lengths);
	free(p->brief);
	free(p->timed);
	pm_strtab_done(&p->names);
	pm_text_done(&p->scratch);
	zts_attributes_done(&p->attributes);
	zts_attributes_done(&p->statements);
	zts_exceptions_done(&p->exceptions);
	free(p->methods);
	free(p->recent);
	*p = (struct zts_partial){.texts = {.block = NULL}};
}
