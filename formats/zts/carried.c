/*
 * What calls carry: attributes, the statements among them, and exceptions. They are identified by
 * their texts, because ids differ between stores.
 */

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/zts/meta.h"
#include "formats/zts/names.h"
#include "formats/zts/sums.h"

enum { BETWEEN_QUESTIONS = 4096, LENGTH_DIGITS = 8 };

/* Two texts as one, and back. */
static void join_texts(struct pm_text *out, struct pm_bytes first, struct pm_bytes second)
{
	pm_text_hex(out, first.len, LENGTH_DIGITS);
	pm_text_bytes(out, first);
	pm_text_bytes(out, second);
}

static void split_texts(struct pm_bytes joined, struct pm_bytes *ret_first, struct pm_bytes *ret)
{
	uint64_t len = 0;
	for (size_t i = 0; i < LENGTH_DIGITS; i++) {
		uint8_t digit = joined.p[i];
		len = len << 4 | (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
	}
	pm_bytes_sub(joined, LENGTH_DIGITS, len, ret_first);
	pm_bytes_sub(joined, LENGTH_DIGITS + len, joined.len - LENGTH_DIGITS - len, ret);
}

/* ==== attributes ==== */

static void free_durations(void *durations)
{
	pm_durations_done(durations);
}

void zts_attributes_init(struct zts_attributes *a, struct pm_arena *arena)
{
	*a = (struct zts_attributes){
		.arena = arena, .texts = pm_strtab_in(arena), .scratch.arena = arena};
	pm_arena_owns(arena, free_durations, &a->durations);
}

/* The item of that key and value, in one text; its counts are 0 if it is new. */
static struct zts_attr_sums *item_of(struct zts_attributes *a, struct pm_bytes joined)
{
	uint32_t known = a->texts.n, i = pm_strtab_add(&a->texts, joined);
	pm_list_grow(a->arena, &a->items, i, &a->room, sizeof(*a->items));
	if (i == known) {
		a->items[i] = (struct zts_attr_sums){
			.slowest = PM_NONE, .last_tree = PM_NONE, .statement = PM_NONE};
		split_texts(a->texts.items[i], &a->items[i].key, &a->items[i].value);
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

static void add_duration(struct zts_attributes *a, const struct zts_attr_sums *item, uint64_t ns)
{
	pm_build_check(
		a->arena, pm_durations_add(&a->durations, (uint32_t)(item - a->items), ns, 1));
}

static void count(struct zts_attributes *a, struct zts_attr_sums *item, const struct zts_tree *tree,
	uint32_t i, const struct zts_moment *moment, bool is_statement)
{
	const struct zts_call *call = &tree->calls[i];
	bool again = item->last_tree == a->n_trees;
	bool below = again && i < item->end;
	bool outer = is_statement || call->parent == PM_NONE;
	bool failed = (call->flags & ZTS_FLAG_ERROR) != 0;
	int64_t ns;
	if (again && item->last_call == i)
		return; /* under another key */
	if (is_statement ? !again : begins_trace(call)) {
		item->traces++;
		item->trace_errors += outer ? moment->error : failed;
	}
	item->calls++;
	item->errors += failed;
	item->last_tree = a->n_trees;
	item->last_call = i;
	if (!below)
		item->end = call->end;
	if (!zts_call_duration(call, &ns))
		return;
	if (!below)
		item->time_ns += ns;
	take_slowest(item, ns, moment->trace, moment->all);
	add_duration(a, item, ns > 0 ? (uint64_t)ns : 0);
}

/* The item of an attribute; a new one knows its statement. */
static struct zts_attr_sums *find(
	struct zts_attributes *a, struct zts_attributes *statements, const struct zts_attr *attr)
{
	const struct pm_bytes none = {NULL, 0};
	uint32_t known = a->texts.n;
	pm_text_clear(&a->scratch);
	join_texts(&a->scratch, attr->key, attr->value);
	struct zts_attr_sums *item = item_of(a, pm_text_view(&a->scratch));
	if (a->texts.n > known && zts_is_statement(item->value)) {
		struct pm_text *shape = &statements->scratch;
		pm_text_clear(shape);
		join_texts(shape, none, none);
		zts_statement_shape(item->value, shape);
		item->statement =
			(uint32_t)(item_of(statements, pm_text_view(shape)) - statements->items);
	}
	return item;
}

void zts_attributes_add(struct zts_attributes *a, struct zts_attributes *statements,
	const struct zts_tree *tree, const struct zts_moment *moment)
{
	for (size_t k = 0; k < tree->n_attrs; k++) {
		uint32_t call = tree->attrs[k].call;
		struct zts_attr_sums *item = find(a, statements, &tree->attrs[k]);
		count(a, item, tree, call, moment, false);
		if (item->statement != PM_NONE)
			count(statements, &statements->items[item->statement], tree, call, moment,
				true);
	}
	a->n_trees++;
	statements->n_trees++;
}

void zts_attributes_add_trace(struct zts_attributes *a, struct pm_bytes value, uint64_t duration_ns,
	const struct zts_moment *moment)
{
	pm_text_clear(&a->scratch);
	join_texts(&a->scratch, (struct pm_bytes){NULL, 0}, value);
	struct zts_attr_sums *item = item_of(a, pm_text_view(&a->scratch));
	item->traces++;
	item->trace_errors += moment->error;
	if (duration_ns == PM_NO_TIME)
		return;
	item->time_ns += duration_ns;
	take_slowest(item, duration_ns < INT64_MAX ? (int64_t)duration_ns : INT64_MAX,
		moment->trace, moment->all);
	add_duration(a, item, duration_ns);
}

void zts_attributes_join(struct zts_attributes *to, const struct zts_attributes *from)
{
	uint32_t *places = pm_arena_realloc(to->arena, NULL, from->texts.n * sizeof(*places) + 1);
	for (uint32_t i = 0; i < from->texts.n; i++) {
		const struct zts_attr_sums *more = &from->items[i];
		struct zts_attr_sums *item = item_of(to, from->texts.items[i]);
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(to->arena);
		places[i] = (uint32_t)(item - to->items);
		item->traces += more->traces;
		item->trace_errors += more->trace_errors;
		item->calls += more->calls;
		item->errors += more->errors;
		item->time_ns += more->time_ns;
		if (more->slowest != PM_NONE)
			take_slowest(item, more->slowest_ns, more->slowest, NULL);
	}
	pm_build_check(to->arena, pm_durations_join(&to->durations, &from->durations, places));
	pm_arena_free(to->arena, places);
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

void zts_attributes_again(
	struct zts_attributes *a, const struct pm_strtab *texts, const struct pm_durations *found)
{
	a->durations.only = found->only;
	for (uint32_t i = 0; i < texts->n; i++) {
		item_of(a, texts->items[i]);
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(a->arena);
	}
}

void zts_attributes_end(struct zts_attributes *a, bool by_time_alone, pm_pass pass, void *context)
{
	uint32_t n = a->texts.n;
	struct pm_call_times *times =
		pm_arena_realloc(a->arena, NULL, ((size_t)n + 1) * sizeof(*times));
	pm_build_check(a->arena, pm_percentiles(&a->durations, times, n, pass, context));
	for (uint32_t i = 0; i < n; i++)
		a->items[i].times = times[i];
	pm_arena_free(a->arena, times);
	pm_build_check(a->arena,
		pm_sort(a->items, n, sizeof(*a->items), by_time_alone ? by_time : by_key));
	pm_text_done(&a->scratch);
}

/* ==== exceptions ==== */

/* The item of that class and message, in one text; its counts are 0 if it is new. */
static struct zts_thrown *thrown_of(struct zts_exceptions *e, struct pm_bytes joined)
{
	uint32_t known = e->texts.n, i = pm_strtab_add(&e->texts, joined);
	pm_list_grow(e->arena, &e->items, i, &e->room, sizeof(*e->items));
	if (i == known) {
		e->items[i] = (struct zts_thrown){.first_ns = UINT64_MAX, .trace = PM_NONE};
		split_texts(e->texts.items[i], &e->items[i].class, &e->items[i].message);
	}
	return &e->items[i];
}

static void count_thrown(
	struct zts_thrown *item, const struct zts_thrown *more, const struct zts_added *all)
{
	item->count += more->count;
	if (item->trace == PM_NONE || more->first_ns < item->first_ns ||
		(more->first_ns == item->first_ns && zts_earlier(all, more->trace, item->trace))) {
		item->first_ns = more->first_ns;
		item->trace = more->trace;
	}
	if (more->last_ns > item->last_ns)
		item->last_ns = more->last_ns;
}

void zts_exception_names(
	const struct zts_texts *t, uint64_t id, struct pm_text *class, struct pm_text *message)
{
	struct zts_exception x;
	if (zts_exception_find(t, id, &x)) {
		zts_name_string(t, x.class_id, class);
		zts_name_string(t, x.message_id, message);
	} else {
		zts_name_unknown(t, id, class);
	}
}

/* The index of a call's exception in e->items. */
static uint32_t place_of(
	struct zts_exceptions *e, struct zts_stores *stores, const struct zts_call *call)
{
	enum { ID_BITS = 40 };
	const struct zts_texts *texts;
	bool fresh = true;
	uint32_t other = PM_NONE, *place = &other;
	if (call->exception >> ID_BITS == 0)
		place = pm_map_put(&e->ids, (uint64_t)call->store << ID_BITS | call->exception,
			PM_NONE, &fresh);
	if (*place != PM_NONE)
		return *place;
	pm_build_check(e->arena, zts_store_texts(&stores->items[call->store], &texts, NULL));
	struct pm_text class = {.arena = e->arena}, message = {.arena = e->arena};
	struct pm_text joined = {.arena = e->arena};
	zts_exception_names(texts, call->exception, &class, &message);
	join_texts(&joined, pm_text_view(&class), pm_text_view(&message));
	*place = (uint32_t)(thrown_of(e, pm_text_view(&joined)) - e->items);
	pm_text_done(&class);
	pm_text_done(&message);
	pm_text_done(&joined);
	return *place;
}

void zts_exceptions_add(struct zts_exceptions *e, struct zts_stores *stores,
	const struct zts_tree *tree, const struct zts_moment *moment)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		if (!(call->has & ZTS_HAS_EXCEPTION))
			continue;
		uint32_t place = place_of(e, stores, call);
		struct zts_thrown one = {.count = 1, .trace = moment->trace};
		one.first_ns = one.last_ns = zts_call_time(moment->timestamp_ns, tree->calls, call);
		count_thrown(&e->items[place], &one, moment->all);
	}
}

void zts_exceptions_join(struct zts_exceptions *to, const struct zts_exceptions *from)
{
	for (uint32_t i = 0; i < from->texts.n; i++)
		count_thrown(thrown_of(to, from->texts.items[i]), &from->items[i], NULL);
}

static int by_count(const void *a, const void *b)
{
	const struct zts_thrown *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	int order = pm_bytes_compare(x->class, y->class);
	return order ? order : pm_bytes_compare(x->message, y->message);
}

static int by_class_count(const void *a, const void *b)
{
	const struct zts_thrown_class *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return (x->most > y->most) - (x->most < y->most);
}

void zts_exceptions_sort(struct zts_exceptions *e)
{
	struct pm_strtab names = pm_strtab_in(e->arena);
	pm_build_check(e->arena, pm_sort(e->items, e->texts.n, sizeof(*e->items), by_count));
	e->classes = pm_arena_array(e->arena, (size_t)e->texts.n + 1, sizeof(*e->classes));
	for (uint32_t i = 0; i < e->texts.n; i++) {
		uint32_t known = names.n, at = pm_strtab_add(&names, e->items[i].class);
		if (at == known)
			e->classes[at].most = i; /* the first one of a class */
		e->classes[at].count += e->items[i].count;
		e->classes[at].n_messages++;
	}
	e->n_classes = names.n;
	pm_build_check(
		e->arena, pm_sort(e->classes, e->n_classes, sizeof(*e->classes), by_class_count));
}
