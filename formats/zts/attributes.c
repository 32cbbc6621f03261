/* Attributes are identified by key and value as text, because ids differ between stores. */
#include "formats/zts/attributes.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/zts/attrs.h"
#include "formats/zts/meta.h"
#include "formats/zts/statements.h"
#include "profmount/profile.h"

enum { BETWEEN_QUESTIONS = 4096 };

/* The item of that key and value, in one text; its counts are 0 if it is new. */
static struct zts_attr_sums *item_of(
	struct zts_attributes *a, struct pm_bytes joined, struct pm_arena *arena)
{
	uint32_t known = a->texts.n;
	a->texts.arena = arena;
	uint32_t i = pm_strtab_add(&a->texts, joined);
	if (i == PM_NONE || pm_list_room(&a->items, i, &a->room, sizeof(*a->items)) < 0)
		return NULL;
	if (i == known) {
		a->items[i] = (struct zts_attr_sums){
			.slowest = PM_NONE, .last_tree = PM_NONE, .statement = PM_NONE};
		zts_attr_split(a->texts.items[i], &a->items[i].key, &a->items[i].value);
	}
	return &a->items[i];
}

/* Of equal ones the first, so that it does not depend on how traces were divided. */
static void take_slowest(
	struct zts_attr_sums *item, int64_t ns, uint32_t trace, const struct zts_added *all)
{
	if (item->slowest != PM_NONE &&
		(ns < item->slowest_ns ||
			(ns == item->slowest_ns && !zts_earlier(all, trace, item->slowest))))
		return;
	item->slowest = trace;
	item->slowest_ns = ns;
}

/* First-generation stores have no nested traces: such records are plain calls. */
static bool begins_trace(const struct zts_call *call)
{
	return call->parent == PM_NONE ||
		((call->has & ZTS_HAS_TIMESTAMP) &&
			(!(call->has & ZTS_HAS_TYPE) || (call->has & ZTS_HAS_SPAN)));
}

static void count_trace(struct zts_attributes *a, struct zts_attr_sums *item,
	const struct zts_call *call, const struct zts_moment *moment, bool is_statement)
{
	bool own = is_statement ? item->last_tree != a->n_trees : begins_trace(call);
	bool outer = is_statement || call->parent == PM_NONE;
	if (!own)
		return;
	item->traces++;
	item->trace_errors += outer ? moment->error : (call->flags & ZTS_FLAG_ERROR) != 0;
}

static int count(struct zts_attributes *a, struct zts_attr_sums *item, const struct zts_tree *tree,
	uint32_t i, const struct zts_moment *moment, bool is_statement)
{
	const struct zts_call *call = &tree->calls[i];
	bool again = item->last_tree == a->n_trees;
	bool below = again && i < item->end;
	int64_t ns;
	if (again && item->last_call == i)
		return 0; /* under another key */
	count_trace(a, item, call, moment, is_statement);
	item->calls++;
	item->errors += (call->flags & ZTS_FLAG_ERROR) != 0;
	item->last_tree = a->n_trees;
	item->last_call = i;
	if (!below)
		item->end = call->end;
	if (!zts_call_duration(call, &ns))
		return 0;
	if (!below)
		item->time_ns += ns;
	take_slowest(item, ns, moment->trace, moment->all);
	return pm_durations_add(
		&a->durations, (uint32_t)(item - a->items), ns > 0 ? (uint64_t)ns : 0, 1);
}

/* The item of an attribute; a new one knows its statement. */
static struct zts_attr_sums *find(struct zts_attributes *a, struct zts_attributes *statements,
	const struct zts_attr *attr, struct pm_arena *arena)
{
	uint32_t known = a->texts.n;
	pm_text_clear(&a->scratch);
	zts_attr_join(&a->scratch, attr->key, attr->value);
	struct zts_attr_sums *item =
		a->scratch.failed ? NULL : item_of(a, pm_text_view(&a->scratch), arena);
	if (!item || a->texts.n == known || !zts_is_statement(item->value))
		return item;
	struct pm_bytes none = {NULL, 0};
	struct pm_text *shape = &statements->scratch;
	pm_text_clear(shape);
	zts_attr_join(shape, none, none);
	zts_statement_shape(item->value, shape);
	const struct zts_attr_sums *statement =
		shape->failed ? NULL : item_of(statements, pm_text_view(shape), arena);
	if (!statement)
		return NULL;
	item->statement = (uint32_t)(statement - statements->items);
	return item;
}

int zts_attributes_add(struct zts_attributes *a, struct zts_attributes *statements,
	const struct zts_tree *tree, const struct zts_moment *moment, struct pm_arena *arena)
{
	int r = 0;
	for (size_t k = 0; k < tree->n_attrs && r == 0; k++) {
		const struct zts_attr *attr = &tree->attrs[k];
		struct zts_attr_sums *item = find(a, statements, attr, arena);
		r = item ? count(a, item, tree, attr->call, moment, false) : -ENOMEM;
		if (r == 0 && item->statement != PM_NONE)
			r = count(statements, &statements->items[item->statement], tree, attr->call,
				moment, true);
	}
	a->n_trees++;
	statements->n_trees++;
	return r;
}

int zts_attributes_add_trace(struct zts_attributes *a, struct pm_bytes value, uint64_t duration_ns,
	const struct zts_moment *moment, struct pm_arena *arena)
{
	pm_text_clear(&a->scratch);
	zts_attr_join(&a->scratch, (struct pm_bytes){NULL, 0}, value);
	struct zts_attr_sums *item =
		a->scratch.failed ? NULL : item_of(a, pm_text_view(&a->scratch), arena);
	if (!item)
		return -ENOMEM;
	item->traces++;
	item->trace_errors += moment->error;
	if (duration_ns == PM_NO_TIME)
		return 0;
	item->time_ns += duration_ns;
	take_slowest(item, duration_ns < INT64_MAX ? (int64_t)duration_ns : INT64_MAX,
		moment->trace, moment->all);
	return pm_durations_add(&a->durations, (uint32_t)(item - a->items), duration_ns, 1);
}

static void add(struct zts_attr_sums *to, const struct zts_attr_sums *from)
{
	to->traces += from->traces;
	to->trace_errors += from->trace_errors;
	to->calls += from->calls;
	to->errors += from->errors;
	to->time_ns += from->time_ns;
	if (from->slowest != PM_NONE)
		take_slowest(to, from->slowest_ns, from->slowest, NULL);
}

int zts_attributes_join(
	struct zts_attributes *to, const struct zts_attributes *from, struct pm_arena *arena)
{
	uint32_t *places = malloc(from->texts.n * sizeof(*places) + 1);
	int r = places ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < from->texts.n && r == 0; i++) {
		struct zts_attr_sums *item = i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()
			? NULL
			: item_of(to, from->texts.items[i], arena);
		r = item ? 0 : -ENOMEM;
		if (!item)
			break;
		places[i] = (uint32_t)(item - to->items);
		add(item, &from->items[i]);
	}
	if (r == 0)
		r = pm_durations_join(&to->durations, &from->durations, places);
	free(places);
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct zts_attr_sums *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return pm_bytes_compare(x->value, y->value);
}

static int by_key(const void *a, const void *b)
{
	const struct zts_attr_sums *x = a, *y = b;
	int order = pm_bytes_compare(x->key, y->key);
	if (order == 0 && x->traces != y->traces)
		return x->traces > y->traces ? -1 : 1;
	return order ? order : by_time(x, y);
}

int zts_attributes_again(struct zts_attributes *a, const struct pm_strtab *texts,
	const struct pm_durations *found, struct pm_arena *arena)
{
	a->durations.only = found->only;
	for (uint32_t i = 0; i < texts->n; i++)
		if ((i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()) ||
			!item_of(a, texts->items[i], arena))
			return -ENOMEM;
	return 0;
}

int zts_attributes_end(struct zts_attributes *a, bool by_time_alone, pm_pass pass, void *context)
{
	uint32_t n = a->texts.n;
	struct pm_call_times *times = calloc((size_t)n + 1, sizeof(*times));
	int r = times ? pm_percentiles(&a->durations, times, n, pass, context) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i++)
		a->items[i].times = times[i];
	free(times);
	return r < 0 ? r
		     : pm_sort(a->items, n, sizeof(*a->items), by_time_alone ? by_time : by_key);
}

void zts_attributes_done(struct zts_attributes *a)
{
	pm_strtab_done(&a->texts);
	pm_durations_done(&a->durations);
	pm_text_done(&a->scratch);
	free(a->items);
	*a = (struct zts_attributes){.items = NULL};
}
