/*
 * Events: the columns of a part, and the quantities of the recording that their costs are added to,
 * an event's own and the sums over several that the file defines.
 */
#include <errno.h>

#include "formats/callgrind/callgrind.h"
#include "profmount/limits.h"

/* Terms of one quantity are one: a sum of sums may name an event very often. */
static void add_term(struct cg_reader *c, struct cg_event *e, uint32_t quantity, int64_t factor)
{
	size_t i = 0;
	while (i < e->n_terms && e->terms[i].quantity != quantity)
		i++;
	if (i < e->n_terms) {
		if (__builtin_add_overflow(e->terms[i].factor, factor, &factor))
			cg_add_fault(c, &c->at.malformed);
		else
			e->terms[i].factor = factor;
		return;
	}
	pm_list_grow(&c->kept, &e->terms, e->n_terms, &e->room, sizeof(*e->terms));
	e->terms[e->n_terms++] = (struct cg_term){quantity, factor};
}

/* Adds `factor` times a term of the event to a sum. */
static void add_times(struct cg_reader *c, struct cg_event *e, uint32_t sum, int64_t factor,
	const struct cg_term *term)
{
	if (__builtin_mul_overflow(factor, term->factor, &factor))
		cg_add_fault(c, &c->at.malformed);
	else
		add_term(c, e, sum, factor);
}

/* The quantity of an event: units stand in parentheses, or are the whole name. */
static uint32_t quantity_of(struct cg_reader *c, struct pm_bytes name, int64_t *ret_factor)
{
	static const char *const units[] = {"ns", "us", "\xc2\xb5s", "ms", "s", "bytes"};
	const uint8_t *open = name.len ? memrchr(name.p, '(', name.len) : NULL;
	struct pm_bytes stem = name, unit = {NULL, 0};
	uint64_t factor = 1;
	if (open && name.p[name.len - 1] == ')') {
		unit = (struct pm_bytes){open + 1, name.len - 2 - (size_t)(open - name.p)};
		size_t digits = 0;
		while (digits < unit.len && digits < 9 && unit.p[digits] >= '0' &&
			unit.p[digits] <= '9')
			digits++;
		if (digits && cg_whole((struct pm_bytes){unit.p, digits}, &factor) && factor > 0) {
			unit.p += digits;
			unit.len -= digits;
		} else {
			factor = 1;
		}
		stem.len = (size_t)(open - name.p);
		while (stem.len && (stem.p[stem.len - 1] == '_' || stem.p[stem.len - 1] == ' '))
			stem.len--;
	} else {
		unit = name;
		stem = pm_bytes_of("time");
	}
	bool known = false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && stem.len; i++)
		known |= pm_bytes_equal(unit, pm_bytes_of(units[i])) && (open || i < 5);
	*ret_factor = known ? (int64_t)factor : 1;
	return known ? pm_rec_metric(c->r, stem, unit)
		     : pm_rec_metric(c->r, name, (struct pm_bytes){NULL, 0});
}

/* The k-th event of that name, which is added if there are fewer. */
static uint32_t event_of(struct cg_reader *c, struct pm_bytes name, unsigned k)
{
	int64_t factor;
	for (size_t i = 0; i < c->n_events; i++)
		if (pm_bytes_equal(c->events[i].name, name) && k-- == 0)
			return (uint32_t)i;
	pm_list_grow(&c->kept, &c->events, c->n_events, &c->events_room, sizeof(*c->events));
	struct cg_event *e = &c->events[c->n_events];
	*e = (struct cg_event){.name = pm_rec_copy(c->r, name)};
	uint32_t quantity = quantity_of(c, name, &factor);
	add_term(c, e, quantity, factor);
	if (c->n_events == 0)
		pm_rec_primary(c->r, quantity);
	return (uint32_t)c->n_events++;
}

/* Which quantities the columns are, once their events have all that they are part of. */
static void name_columns(struct cg_reader *c)
{
	c->at.is_plain = true;
	for (size_t i = 0; i < c->at.n_columns; i++) {
		const struct cg_event *e = &c->events[c->columns[i]];
		c->amounts[i].quantity = e->terms[0].quantity;
		c->at.is_plain &= e->n_terms == 1 && e->terms[0].factor == 1;
	}
}

/* The part at hand ends: its sums go to those of the file. */
void cg_end_sums(struct cg_reader *c)
{
	for (size_t i = 0; i < c->n_own; i++) {
		c->all[i].whole += c->own[i].whole;
		c->all[i].rest += c->own[i].rest;
		c->own[i] = (struct cg_total){.whole = 0};
	}
}

/* `events: Ir Dr …`: the columns of this part. */
void cg_take_events(struct cg_reader *c, struct pm_bytes line)
{
	c->at.n_columns = 0;
	for (struct pm_bytes w; (w = cg_word(&line)).len;) {
		unsigned k = 0;
		for (size_t i = 0; i < c->at.n_columns; i++)
			k += pm_bytes_equal(c->events[c->columns[i]].name, w);
		if (c->at.n_columns >= PM_LIMIT_COLUMNS / 3) {
			pm_rec_fail(c->r, -ENOTSUP, c->lines->offset, "has more than %d events",
				PM_LIMIT_COLUMNS / 3);
			pm_build_fail(&c->arena, -ENOTSUP);
		}
		size_t n = c->at.n_columns;
		pm_list_grow(&c->arena, &c->columns, n, &c->columns_room, sizeof(*c->columns));
		pm_list_grow(&c->arena, &c->amounts, n, &c->amounts_room, sizeof(*c->amounts));
		pm_list_grow(&c->arena, &c->cells, n, &c->cells_room, sizeof(*c->cells));
		uint32_t event = event_of(c, w, k);
		if (!pm_rec_goes_on(c->r))
			pm_build_fail(&c->arena, PM_NO_MEMORY);
		c->columns[c->at.n_columns++] = event;
	}
	struct cg_total *sums = pm_arena_array(&c->arena, c->n_events * 2, sizeof(*sums));
	cg_end_sums(c);
	for (size_t i = 0; i < c->n_own; i++)
		sums[c->n_events + i] = c->all[i];
	c->own = sums;
	c->all = sums + c->n_events;
	c->n_own = c->n_events;
	name_columns(c);
}

/* Adds `factor` times the event or sum of that name to the sum; false if there is none. */
static bool add_named(struct cg_reader *c, uint32_t sum, struct pm_bytes name, int64_t factor)
{
	for (size_t i = 0; i < c->n_events; i++)
		if (pm_bytes_equal(c->events[i].name, name)) {
			add_times(c, &c->events[i], sum, factor, &c->events[i].terms[0]);
			return true;
		}
	for (size_t s = 0; s < c->n_sums; s++) {
		if (!pm_bytes_equal(c->sums[s].name, name) || c->sums[s].quantity >= sum)
			continue;
		for (size_t i = 0; i < c->n_events && pm_rec_goes_on(c->r); i++) {
			struct cg_event *e = &c->events[i];
			for (size_t t = 0; t < e->n_terms; t++)
				if (e->terms[t].quantity == c->sums[s].quantity) {
					add_times(c, e, sum, factor, &e->terms[t]);
					break;
				}
		}
		return true;
	}
	return false;
}

/* `NAME = A + 2 B`, once all events are known. */
void cg_define_sums(struct cg_reader *c)
{
	for (size_t s = 0; s < c->n_sums && pm_rec_goes_on(c->r); s++) {
		struct cg_sum *sum = &c->sums[s];
		struct pm_bytes rest = sum->terms, w;
		int64_t factor = 1;
		if (sum->quantity != PM_REC_NONE)
			continue;
		sum->quantity = pm_rec_metric(c->r, sum->name, (struct pm_bytes){NULL, 0});
		while (pm_rec_goes_on(c->r) && (w = cg_word(&rest)).len) {
			uint64_t n;
			if (w.len == 1 && (w.p[0] == '+' || w.p[0] == '*'))
				continue;
			if (cg_whole(w, &n) && n <= INT32_MAX) {
				factor = (int64_t)n;
				continue;
			}
			if (!add_named(c, sum->quantity, w, factor))
				cg_add_fault(c, &c->at.malformed);
			factor = 1;
		}
	}
	name_columns(c);
}

/* `event: NAME = TERMS : TEXT`; without a sum, it is only a longer name. */
void cg_take_sum(struct cg_reader *c, struct pm_bytes line)
{
	const uint8_t *equals = line.len ? memchr(line.p, '=', line.len) : NULL;
	const uint8_t *colon = line.len ? memchr(line.p, ':', line.len) : NULL;
	if (!equals || (colon && colon < equals))
		return;
	struct pm_bytes name = cg_trimmed((struct pm_bytes){line.p, (size_t)(equals - line.p)});
	struct pm_bytes terms = {equals + 1, line.len - 1 - (size_t)(equals - line.p)};
	if (colon)
		terms.len = (size_t)(colon - terms.p);
	for (size_t i = 0; i < c->n_sums; i++)
		if (pm_bytes_equal(c->sums[i].name, name))
			return;
	if (c->n_sums >= PM_LIMIT_COLUMNS / 3)
		pm_build_fail(&c->kept, PM_NO_MEMORY);
	pm_list_grow(&c->kept, &c->sums, c->n_sums, &c->sums_room, sizeof(*c->sums));
	c->sums[c->n_sums++] =
		(struct cg_sum){pm_rec_copy(c->r, name), pm_rec_copy(c->r, terms), PM_REC_NONE};
}

/* ---- costs ---- */

void cg_cost(struct cg_reader *c, uint32_t context, bool through, uint32_t event,
	const struct cg_number *n)
{
	const struct cg_event *e = &c->events[event];
	for (size_t i = 0; i < e->n_terms; i++) {
		uint32_t quantity = e->terms[i].quantity;
		int64_t factor = e->terms[i].factor, digits;
		quantity = through ? pm_rec_through(quantity) : quantity;
		if (n->real || __builtin_mul_overflow(n->digits, factor, &digits))
			pm_rec_cost_f64(c->r, c->at.thread, context, quantity,
				cg_value(n) * (double)factor);
		else if (n->decimals)
			pm_rec_cost_decimal(
				c->r, c->at.thread, context, quantity, digits, n->decimals);
		else
			pm_rec_cost(c->r, c->at.thread, context, quantity, digits);
	}
}

/* The cost of the line at hand in a column. */
struct cg_number cg_cell(const struct cg_reader *c, size_t i)
{
	return c->is_whole ? (struct cg_number){.digits = c->amounts[i].cost} : c->cells[i];
}

/* Adds the costs of the line at hand. */
void cg_add_costs(struct cg_reader *c, uint32_t context, bool through)
{
	if (c->is_whole && c->at.is_plain) {
		pm_rec_costs(c->r, c->at.thread, context, through, c->amounts, c->at.n_columns);
		return;
	}
	for (size_t i = 0; i < c->at.n_columns; i++) {
		struct cg_number n = cg_cell(c, i);
		cg_cost(c, context, through, c->columns[i], &n);
	}
}
