/* Exceptions are identified by class and message, because ids differ between stores. */
#include "formats/zts/exceptions.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/zts/attrs.h"
#include "formats/zts/names.h"
#include "formats/zts/records.h"
#include "profmount/profile.h"

enum { ID_BITS = 40 };

/* The item of that class and message, in one text; its counts are 0 if it is new. */
static struct zts_thrown *item_of(
	struct zts_exceptions *e, struct pm_bytes joined, struct pm_arena *arena)
{
	uint32_t known = e->texts.n;
	e->texts.arena = arena;
	uint32_t i = pm_strtab_add(&e->texts, joined);
	if (i == PM_NONE || pm_list_room(&e->items, i, &e->room, sizeof(*e->items)) < 0)
		return NULL;
	if (i == known) {
		e->items[i] = (struct zts_thrown){.first_ns = UINT64_MAX, .trace = PM_NONE};
		zts_attr_split(e->texts.items[i], &e->items[i].class, &e->items[i].message);
	}
	return &e->items[i];
}

static void count(
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

static int join_names(const struct zts_texts *t, uint64_t id, struct pm_text *out)
{
	struct pm_text class = {.p = NULL}, message = {.p = NULL};
	zts_exception_names(t, id, &class, &message);
	zts_attr_join(out, pm_text_view(&class), pm_text_view(&message));
	pm_text_end(&class, out);
	pm_text_end(&message, out);
	return out->failed ? -ENOMEM : 0;
}

/* The index of a call's exception in e->items; PM_NONE if out of memory. */
static uint32_t place_of(struct zts_exceptions *e, struct zts_stores *stores,
	const struct zts_call *call, struct pm_arena *arena)
{
	const struct zts_texts *texts;
	struct pm_text joined = {.p = NULL};
	bool fresh = true;
	uint32_t other = PM_NONE, *place = &other;
	if (call->exception >> ID_BITS == 0)
		place = pm_map_put(&e->ids, (uint64_t)call->store << ID_BITS | call->exception,
			PM_NONE, &fresh);
	if (!place || (!fresh && *place != PM_NONE))
		return place ? *place : PM_NONE;
	if (zts_store_texts(&stores->items[call->store], &texts, NULL) < 0)
		return PM_NONE;
	const struct zts_thrown *item = join_names(texts, call->exception, &joined) < 0
		? NULL
		: item_of(e, pm_text_view(&joined), arena);
	*place = item ? (uint32_t)(item - e->items) : PM_NONE;
	pm_text_done(&joined);
	return *place;
}

int zts_exceptions_add(struct zts_exceptions *e, struct zts_stores *stores,
	const struct zts_tree *tree, const struct zts_moment *moment, struct pm_arena *arena)
{
	const struct zts_call *root = &tree->calls[0];
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		if (!(call->has & ZTS_HAS_EXCEPTION))
			continue;
		uint32_t place = place_of(e, stores, call, arena);
		if (place == PM_NONE)
			return -ENOMEM;
		struct zts_thrown one = {.count = 1, .trace = moment->trace};
		one.first_ns = one.last_ns = zts_call_time(moment->timestamp_ns, root, call);
		count(&e->items[place], &one, moment->all);
	}
	return 0;
}

int zts_exceptions_join(
	struct zts_exceptions *to, const struct zts_exceptions *from, struct pm_arena *arena)
{
	for (uint32_t i = 0; i < from->texts.n; i++) {
		struct zts_thrown *item = item_of(to, from->texts.items[i], arena);
		if (!item)
			return -ENOMEM;
		count(item, &from->items[i], NULL);
	}
	return 0;
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

/* The items are sorted: the first one of a class has its most frequent message. */
static int sum_classes(struct zts_exceptions *e)
{
	struct pm_strtab names = {.arena = NULL};
	bool good = true;
	e->classes = calloc((size_t)e->texts.n + 1, sizeof(*e->classes));
	for (uint32_t i = 0; good && e->classes && i < e->texts.n; i++) {
		uint32_t known = names.n, at = pm_strtab_add(&names, e->items[i].class);
		good = at != PM_NONE;
		if (!good)
			break;
		if (at == known)
			e->classes[at].most = i;
		e->classes[at].count += e->items[i].count;
		e->classes[at].n_messages++;
	}
	e->n_classes = names.n;
	pm_strtab_done(&names);
	return good && e->classes
		? pm_sort(e->classes, e->n_classes, sizeof(*e->classes), by_class_count)
		: -ENOMEM;
}

int zts_exceptions_sort(struct zts_exceptions *e)
{
	int r = pm_sort(e->items, e->texts.n, sizeof(*e->items), by_count);
	return r < 0 ? r : sum_classes(e);
}

void zts_exceptions_done(struct zts_exceptions *e)
{
	pm_strtab_done(&e->texts);
	pm_map_done(&e->ids);
	free(e->items);
	free(e->classes);
	*e = (struct zts_exceptions){.items = NULL};
}
