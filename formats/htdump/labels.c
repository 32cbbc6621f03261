/*
 * Labels: a call's label is a text, or a number that mappings give a text. Mappings may change and
 * may come late: the last one before the call is used, else the first one after it, else the
 * number.
 */
#include "formats/htdump/htdump.h"

#include <errno.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"

/* From this position on, the number has this label. */
struct htd_label_span {
	uint64_t number, at;
	uint32_t label;
};

static int span_order(const void *a, const void *b)
{
	const struct htd_label_span *x = a, *y = b;
	if (x->number != y->number)
		return (x->number > y->number) - (x->number < y->number);
	return (x->at > y->at) - (x->at < y->at);
}

void htd_mapped_init(struct pm_arena *a, struct htd_mapped *m, const struct htd_stream *s)
{
	bool fresh;
	*m = (struct htd_mapped){.texts.home = a, .n_spans = s->n_mappings, .first.arena = a};
	m->spans = pm_arena_array(a, m->n_spans, sizeof(*m->spans));
	for (size_t i = 0; i < m->n_spans; i++)
		m->spans[i] = (struct htd_label_span){s->mappings[i].number, s->mappings[i].at,
			pm_strtab_add(&m->texts, s->mappings[i].label)};
	pm_build_check(a, pm_sort(m->spans, m->n_spans, sizeof(*m->spans), span_order));
	for (size_t i = 0; i < m->n_spans; i++)
		pm_map_put(&m->first, m->spans[i].number, (uint32_t)i, &fresh);
}

/* Whether the number of this span has no other span: few numbers have several. */
static bool is_only(const struct htd_mapped *m, size_t first)
{
	return first + 1 == m->n_spans || m->spans[first + 1].number != m->spans[first].number;
}

static uint32_t label_at(const struct htd_mapped *mapped, size_t first, uint64_t at)
{
	const struct htd_label_span *spans = mapped->spans;
	uint64_t number = spans[first].number;
	if (is_only(mapped, first))
		return spans[first].label;
	size_t next = PM_LOWER_BOUND(
		i, first + 1, mapped->n_spans, spans[i].number == number && spans[i].at <= at);
	return spans[next - 1].label;
}

static uint32_t text_find(const struct htd_labels *l, struct pm_bytes text)
{
	uint32_t label = pm_strtab_find(&l->mapped->texts, text);
	if (label != HTD_NONE)
		return label;
	label = pm_strtab_find(&l->texts, text);
	return label == HTD_NONE ? HTD_NONE : l->mapped->texts.n + label;
}

static bool is_number(const struct htd_event *call)
{
	uint32_t i = call->plan->label;
	return i != HTD_NONE && call->plan->fields[i].kind == HTD_KIND_UNSIGNED;
}

/* The label if a table has it, else its text, which may be in `scratch`. */
static uint32_t look(const struct htd_labels *l, const struct htd_event *call,
	struct pm_text *scratch, struct pm_bytes *ret_text, uint64_t *ret_number)
{
	uint32_t i = call->plan->label;
	*ret_text = (struct pm_bytes){NULL, 0};
	*ret_number = 0;
	if (is_number(call)) {
		*ret_number = htd_event_integer(call, i);
		const uint32_t *first = pm_map_find(&l->mapped->first, *ret_number);
		if (first)
			return label_at(l->mapped, *first, call->at);
		const uint32_t *plain = pm_map_find(&l->plain, *ret_number);
		if (plain)
			return *plain;
	}
	if (i != HTD_NONE && call->plan->fields[i].kind == HTD_KIND_TEXT) {
		*ret_text = htd_event_text(call, i);
	} else if (i != HTD_NONE) {
		pm_text_clear(scratch);
		htd_event_show(scratch, call, i);
		*ret_text = pm_text_view(scratch);
	}
	return text_find(l, *ret_text);
}

uint32_t htd_labels_find(
	const struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch)
{
	struct pm_bytes text;
	uint64_t number;
	return look(l, call, scratch, &text, &number);
}

uint32_t htd_labels_take(struct htd_labels *l, struct pm_bytes text)
{
	uint32_t label = text_find(l, text);
	return label != HTD_NONE ? label : l->mapped->texts.n + pm_strtab_add(&l->texts, text);
}

void htd_lasting_init(struct htd_lasting *slots)
{
	for (size_t i = 0; i < HTD_N_LASTING; i++)
		slots[i].label = HTD_NONE;
}

/* Whether the number has another label elsewhere. */
static bool is_lasting(const struct htd_labels *l, uint64_t number)
{
	const uint32_t *first = pm_map_find(&l->mapped->first, number);
	return !first || is_only(l->mapped, *first);
}

static uint32_t label_add(
	struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch)
{
	struct pm_bytes text;
	uint64_t number;
	bool fresh;
	uint32_t label = look(l, call, scratch, &text, &number);
	if (scratch->failed) /* the label is too long */
		pm_build_fail(l->arena, -ENOMEM);
	if (label != HTD_NONE)
		return label;
	label = htd_labels_take(l, text);
	if (is_number(call))
		pm_map_put(&l->plain, number, label, &fresh);
	return label;
}

uint32_t htd_labels_add(struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch)
{
	uint64_t number;
	if (!htd_event_label(call, &number))
		return label_add(l, call, scratch);
	if (!l->lasting) {
		l->lasting = pm_arena_realloc(l->arena, NULL, HTD_N_LASTING * sizeof(*l->lasting));
		htd_lasting_init(l->lasting);
	}
	struct htd_lasting *lasting = &l->lasting[number % HTD_N_LASTING];
	if (lasting->label != HTD_NONE && lasting->number == number)
		return lasting->label;
	uint32_t label = label_add(l, call, scratch);
	if (is_lasting(l, number))
		*lasting = (struct htd_lasting){number, label};
	return label;
}

uint32_t htd_labels_find_often(const struct htd_labels *l, struct htd_lasting *slots,
	const struct htd_event *call, struct pm_text *scratch)
{
	uint64_t number;
	if (!htd_event_label(call, &number))
		return htd_labels_find(l, call, scratch);
	struct htd_lasting *lasting = &slots[number % HTD_N_LASTING];
	if (lasting->label != HTD_NONE && lasting->number == number)
		return lasting->label;
	uint32_t label = htd_labels_find(l, call, scratch);
	if (label != HTD_NONE && is_lasting(l, number))
		*lasting = (struct htd_lasting){number, label};
	return label;
}
