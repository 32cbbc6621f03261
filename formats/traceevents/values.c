/*
 * Numbers in `args` of calls that are quantities of their own (-o values): 16 bytes each, by the
 * number of their event, until it is known where its call lies.
 */
#include "formats/common/quantity.h"
#include "formats/common/search.h"
#include "formats/traceevents/traceevents.h"

enum { REAL = UINT8_MAX, MOST_SHOWN = 32 };

struct value {
	uint32_t seq;
	uint16_t field;
	uint8_t decimals; /* of `i`; REAL: a double */
	union {
		int64_t i;
		double f;
	};
};

struct tev_values {
	struct pm_strtab fields; /* those that are asked for, then others that there are */
	uint32_t n;
	uint32_t event[PM_LIMIT_COUNTER_FIELDS];
	bool found[PM_LIMIT_COUNTER_FIELDS];
	struct value *items; /* by seq */
	size_t n_items, room;
};

struct tev_values *tev_values_new(struct tev_reading *t)
{
	const char *at = pm_rec_options(t->r)->values;
	if (!at)
		return NULL;
	struct tev_values *v = pm_arena_alloc(&t->arena, sizeof(*v));
	struct pm_error why = {.offset = PM_NO_OFFSET};
	v->fields = pm_strtab_in(&t->arena);
	int r = pm_quantity_fields(at, &v->fields, &why);
	if (r < 0)
		pm_build_check(&t->arena,
			pm_error_set(t->err, r, pm_rec_file(t->r), PM_NO_OFFSET, "%s", why.text));
	v->n = v->fields.n;
	return v;
}

/* Integers and decimals are exact, other numbers doubles. */
static struct value value_of(struct pm_bytes number)
{
	static const uint8_t scales[] = {0, 3, 6, 9, 12};
	struct value v = {.decimals = REAL};
	for (size_t i = 0; i < sizeof(scales); i++)
		if (pm_scan_decimal(number, scales[i], &v.i) == PM_DECIMAL_EXACT) {
			v.decimals = scales[i];
			return v;
		}
	v.f = pm_scan_double(number);
	return v;
}

void tev_values_take(struct tev_reading *t, const struct tev_event *e)
{
	struct tev_values *v = t->values;
	struct pm_scan s = pm_scan_of(e->args.text);
	struct pm_scan_value number;
	struct pm_bytes key;
	if (e->args.kind != PM_SCAN_OBJECT || e->args.too_long)
		return;
	pm_scan_enter(&s);
	while (pm_scan_key(&s, &key)) {
		if (pm_scan_value(&s, &number) != PM_SCAN_NUMBER)
			continue;
		struct pm_scan_value name = {.kind = PM_SCAN_TEXT, .text = key};
		name.escaped = key.len && memchr(key.p, '\\', key.len);
		key = pm_rec_json_text(&name, &t->scratch);
		uint32_t field = pm_strtab_find(&v->fields, key);
		if (field == PM_NONE && v->fields.n < v->n + MOST_SHOWN)
			pm_strtab_add(&v->fields, key);
		if (field >= v->n)
			continue;
		/* Of equal keys the last one holds. */
		size_t at = v->n_items;
		while (at > 0 && v->items[at - 1].seq == t->n_events &&
			v->items[at - 1].field != field)
			at--;
		bool again = at > 0 && v->items[at - 1].seq == t->n_events;
		if (!again)
			pm_items_grow(
				&t->arena, &v->items, v->n_items, &v->room, sizeof(*v->items));
		struct value *to = &v->items[again ? at - 1 : v->n_items++];
		*to = value_of(number.text);
		to->seq = t->n_events;
		to->field = (uint16_t)field;
		v->found[field] = true;
	}
}

void tev_values_check(struct tev_reading *t)
{
	const struct tev_values *v = t->values;
	struct pm_text known = {.arena = &t->arena};
	uint32_t lacks = 0;
	while (v && lacks < v->n && v->found[lacks])
		lacks++;
	if (!v || lacks == v->n)
		return;
	for (uint32_t i = 0; i < v->fields.n; i++) {
		if (i < v->n && !v->found[i])
			continue;
		pm_text_str(&known, known.len ? ", " : "");
		pm_text_bytes(&known, v->fields.items[i]);
	}
	pm_build_check(&t->arena,
		pm_error_set(t->err, -EINVAL, pm_rec_file(t->r), PM_NO_OFFSET,
			"no call has a number `%.*s` in its args, for -o values; there are: %.*s",
			(int)v->fields.items[lacks].len, (const char *)v->fields.items[lacks].p,
			known.len ? (int)known.len : 4, known.len ? known.p : "none"));
}

void tev_values_quantities(struct tev_reading *t)
{
	struct tev_values *v = t->values;
	for (uint32_t i = 0; v && i < v->n; i++) {
		uint32_t quantity = pm_rec_metric(t->r, v->fields.items[i], (struct pm_bytes){0});
		pm_rec_no_zeros(t->r, quantity);
		v->event[i] = pm_rec_event(t->r, v->fields.items[i], quantity, PM_REC_NONE);
	}
}

static void add(struct tev_reading *t, const struct value *value, uint32_t thread, uint32_t context)
{
	uint32_t event = t->values->event[value->field];
	if (value->decimals == REAL)
		pm_rec_number_f64(t->r, thread, context, event, value->f);
	else
		pm_rec_number(t->r, thread, context, event, value->i, value->decimals);
}

void tev_values_add(struct tev_reading *t, const struct tev_calls *calls, uint32_t call,
	uint32_t thread, uint32_t context)
{
	const struct tev_values *v = t->values;
	uint32_t seq = calls->items[call].seq, end_seq = tev_call_end_seq(calls, call);
	size_t first = PM_LOWER_BOUND(i, 0, v->n_items, v->items[i].seq < seq), at = first;
	bool has[PM_LIMIT_COUNTER_FIELDS] = {false};
	for (; at < v->n_items && v->items[at].seq == seq; at++) {
		has[v->items[at].field] = true;
		add(t, &v->items[at], thread, context);
	}
	if (end_seq == PM_NONE)
		return;
	/* What its end says, too, is said once. */
	at = PM_LOWER_BOUND(i, 0, v->n_items, v->items[i].seq < end_seq);
	for (; at < v->n_items && v->items[at].seq == end_seq; at++)
		if (!has[v->items[at].field])
			add(t, &v->items[at], thread, context);
}
