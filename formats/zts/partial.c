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
	p->brief[method] = (struct zts_brief){{0}};
	p->methods[method] = (struct zts_method){.name = p->names.items[method]};
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
 * added to p->ended, of which there are *n.
 */
static inline int count_duration(struct zts_partial *p, uint32_t method, int64_t ns, size_t *n)
{
	uint64_t duration = ns > 0 ? (uint64_t)ns : 0;
	if (duration >= ZTS_BRIEF * ZTS_TICK_NS) {
		p->ended[(*n)++] = (struct pm_duration){duration, method};
		return 0;
	}
	uint32_t *calls = &p->brief[method].calls[duration / ZTS_TICK_NS];
	if (++*calls < UINT32_MAX)
		return 0;
	*calls = 0;
	return pm_durations_add(&p->durations, method, duration, UINT32_MAX);
}

static int add_brief(struct zts_partial *p)
{
	int r = 0;
	for (uint32_t method = 0; method < p->names.n; method++)
		for (uint32_t ticks = 0; ticks < ZTS_BRIEF && r == 0; ticks++)
			r = pm_durations_add(&p->durations, method, ticks * ZTS_TICK_NS,
				p->brief[method].calls[ticks]);
	return r;
}

/* Of a window, whose calls are not added up by path. */
static void count_alone(struct zts_method *m, const struct zts_call *call)
{
	int64_t ns;
	m->sums.calls++;
	m->sums.errors += (call->flags & ZTS_FLAG_ERROR) != 0;
	if (zts_call_duration(call, &ns))
		zts_method_ended(m, ns, ns);
}

/* What is needed of each call. *ret_has: what any of them has. */
static int take_calls(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	uint64_t trace_ns, uint32_t *ret_has)
{
	size_t n = 0;
	*ret_has = 0;
	if (pm_list_room(&p->ended, tree->n, &p->ended_room, sizeof(*p->ended)) < 0 ||
		zts_tally_room(&p->tally, tree->n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		if (p->window &&
			!pm_window_has(p->window, zts_call_time(trace_ns, tree->calls, call)))
			continue;
		uint32_t method = method_of(p, stores, call);
		int64_t ns;
		p->tally.steps[i] =
			(struct pm_step){.key = method, .above = call->parent, .from = PM_NONE};
		*ret_has |= call->has;
		if (method == PM_NONE ||
			(zts_call_duration(call, &ns) && count_duration(p, method, ns, &n) < 0))
			return -ENOMEM;
		if (p->window)
			count_alone(&p->methods[method], call);
	}
	return pm_durations_add_all(&p->durations, p->ended, n);
}

int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_added *trace, bool error)
{
	uint32_t has = ZTS_HAS_EXCEPTION, number = (uint32_t)p->n_added;
	if (pm_list_room(&p->added, number, &p->added_room, sizeof(*p->added)) < 0)
		return -ENOMEM;
	p->added[p->n_added++] = *trace;
	p->added[number].calls = tree->n;
	const struct zts_moment moment = {p->added, number, trace->timestamp_ns, error};
	bool no_calls = p->only_carried || p->again > ZTS_AGAIN_METHODS;
	int r = no_calls ? 0 : take_calls(p, stores, tree, trace->timestamp_ns, &has);
	if (r < 0 || p->window || p->again == ZTS_AGAIN_METHODS)
		return r;
	if (!no_calls)
		r = zts_tally_add(&p->tally, tree, p->added, number);
	if (r == 0 && tree->n_attrs)
		r = zts_attributes_add(&p->attributes, &p->statements, tree, &moment, &p->texts);
	if (r < 0 || p->again || !(has & ZTS_HAS_EXCEPTION))
		return r;
	return zts_exceptions_add(&p->exceptions, stores, tree, &moment, &p->texts);
}

int zts_partial_init(struct zts_partial *p)
{
	*p = (struct zts_partial){.recent = malloc(ZTS_RECENT * sizeof(*p->recent))};
	for (size_t i = 0; p->recent && i < ZTS_RECENT; i++)
		p->recent[i].id = i ^ 1; /* of another slot, so never looked up here */
	int r = zts_tally_init(&p->tally);
	return p->recent ? r : -ENOMEM;
}

/* ---- a pass for percentiles ---- */

int zts_partial_again(struct zts_partial *p, enum zts_again again, const struct pm_strtab *texts,
	const struct pm_durations *found)
{
	p->again = again;
	if (again != ZTS_AGAIN_METHODS)
		return zts_attributes_again(
			again == ZTS_AGAIN_ATTRIBUTES ? &p->attributes : &p->statements, texts,
			found, &p->texts);
	p->durations.only = found->only;
	for (uint32_t i = 0; i < texts->n; i++)
		if (add_method(p, texts->items[i]) == PM_NONE)
			return -ENOMEM;
	return 0;
}

int zts_partial_join_again(struct pm_durations *found, const struct zts_partial *p)
{
	const struct pm_durations *of[] = {[ZTS_AGAIN_METHODS] = &p->durations,
		[ZTS_AGAIN_ATTRIBUTES] = &p->attributes.durations,
		[ZTS_AGAIN_STATEMENTS] = &p->statements.durations};
	return pm_durations_join(found, of[p->again], NULL);
}

/* ---- the end ---- */

int zts_partial_end(struct zts_partial *p)
{
	free(p->recent);
	free(p->ended);
	p->recent = NULL;
	p->ended = NULL;
	pm_map_done(&p->ids);
	int r = add_brief(p);
	if (r == 0)
		r = zts_tally_fold(&p->tally, p->methods, p->names.n);
	free(p->brief);
	p->brief = NULL;
	p->brief_room = 0;
	zts_tally_end(&p->tally);
	return r;
}

int zts_partial_join(struct zts_partial *to, const struct zts_partial *from)
{
	uint32_t *methods = malloc(from->names.n * sizeof(*methods) + 1);
	int r = methods ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < from->names.n && r == 0; i++) {
		methods[i] = add_method(to, from->methods[i].name);
		if (methods[i] == PM_NONE)
			r = -ENOMEM;
		else
			zts_method_add(&to->methods[methods[i]], &from->methods[i]);
	}
	if (r == 0)
		r = zts_tally_join(&to->tally, &from->tally, methods);
	if (r == 0)
		r = pm_durations_join(&to->durations, &from->durations, methods);
	if (r == 0)
		r = zts_attributes_join(&to->attributes, &from->attributes, &to->texts);
	if (r == 0)
		r = zts_attributes_join(&to->statements, &from->statements, &to->texts);
	if (r == 0)
		r = zts_exceptions_join(&to->exceptions, &from->exceptions, &to->texts);
	free(methods);
	return r;
}

void zts_partial_done(struct zts_partial *p)
{
	pm_arena_done(&p->texts);
	pm_map_done(&p->ids);
	zts_tally_done(&p->tally);
	pm_durations_done(&p->durations);
	free(p->brief);
	free(p->ended);
	pm_strtab_done(&p->names);
	pm_text_done(&p->scratch);
	zts_attributes_done(&p->attributes);
	zts_attributes_done(&p->statements);
	zts_exceptions_done(&p->exceptions);
	free(p->methods);
	free(p->recent);
	free(p->added);
	*p = (struct zts_partial){.texts = {.block = NULL}};
}

/* ---- of all threads ---- */

struct zts_adders *zts_adders_new(struct zts_stores *stores)
{
	struct zts_adders *s = malloc(sizeof(*s));
	if (!s)
		return NULL;
	*s = (struct zts_adders){
		.stores = stores, .n = pm_crew_width(), .lock = PTHREAD_MUTEX_INITIALIZER};
	s->items = calloc(s->n, sizeof(*s->items));
	int r = s->items ? 0 : -ENOMEM;
	for (unsigned i = 0; i < s->n && r == 0; i++) {
		struct zts_adder *a = &s->items[i];
		zts_growing_init(&a->growing, &a->tree);
		zts_records_init(&a->values);
		s->free[s->n_free++] = (uint8_t)i;
		r = zts_partial_init(&a->partial);
	}
	if (r == 0)
		return s;
	zts_adders_free(s);
	return NULL;
}

void zts_adders_free(struct zts_adders *s)
{
	for (unsigned i = 0; s && s->items && i < s->n; i++) {
		struct zts_adder *a = &s->items[i];
		zts_partial_done(&a->partial);
		zts_growing_done(&a->growing);
		zts_tree_done(&a->tree);
		zts_records_done(&a->values);
	}
	if (s) {
		free(s->items);
		pthread_mutex_destroy(&s->lock);
	}
	free(s);
}

uint8_t zts_adders_lend(struct zts_adders *s)
{
	pthread_mutex_lock(&s->lock);
	uint8_t adder = s->free[--s->n_free];
	pthread_mutex_unlock(&s->lock);
	return adder;
}

void zts_adders_give_back(struct zts_adders *s, uint8_t adder)
{
	pthread_mutex_lock(&s->lock);
	s->free[s->n_free++] = adder;
	pthread_mutex_unlock(&s->lock);
}
