/*
 * Labels: a call's label is a text, or a number that mappings give a text. Mappings may change and
 * may come late: the latest before the call holds, else the first after it, else the number.
 */
#include "formats/htdump/labels.h"

#include <errno.h>
#include <stdlib.h>

/* From this place on the number has this label. */
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

int htd_labels_init(struct htd_labels *l, const struct htd_stream *s)
{
	*l = (struct htd_labels){.n_spans = s->n_mappings};
	if (!l->n_spans)
		return 0;
	l->spans = calloc(l->n_spans, sizeof(*l->spans));
	if (!l->spans)
		return -ENOMEM;
	for (size_t i = 0; i < l->n_spans; i++) {
		const struct htd_mapping *m = &s->mappings[i];
		uint32_t label = pm_strtab_add(&l->texts, m->label);
		if (label == HTD_NONE)
			return -ENOMEM;
		l->spans[i] = (struct htd_label_span){m->number, m->at, label};
	}
	qsort(l->spans, l->n_spans, sizeof(*l->spans), span_order);
	bool fresh;
	for (size_t i = 0; i < l->n_spans; i++)
		if (!pm_map_put(&l->mapped, l->spans[i].number, (uint32_t)i, &fresh))
			return -ENOMEM;
	return 0;
}

void htd_labels_done(struct htd_labels *l)
{
	free(l->spans);
	pm_map_done(&l->mapped);
	pm_map_done(&l->plain);
	pm_strtab_done(&l->texts);
	pm_arena_done(&l->arena);
}

static uint32_t label_at(const struct htd_labels *l, size_t first, uint64_t at)
{
	uint64_t number = l->spans[first].number;
	size_t low = first + 1, high = l->n_spans;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct htd_label_span *m = &l->spans[middle];
		if (m->number == number && m->at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return l->spans[low - 1].label;
}

/* The label where a table knows it, else its text, which may lie in `scratch`. */
static uint32_t look(const struct htd_labels *l, const struct htd_event *call,
	struct pm_text *scratch, struct pm_bytes *ret_text, uint64_t *ret_number)
{
	uint32_t i = call->plan->label;
	*ret_text = (struct pm_bytes){NULL, 0};
	*ret_number = UINT64_MAX;
	if (i != HTD_NONE && call->plan->fields[i].kind == HTD_KIND_UNSIGNED) {
		*ret_number = htd_event_integer(call, i);
		const uint32_t *first = pm_map_find(&l->mapped, *ret_number);
		if (first)
			return label_at(l, *first, call->at);
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
	return pm_strtab_find(&l->texts, *ret_text);
}

uint32_t htd_labels_find(
	const struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch)
{
	struct pm_bytes text;
	uint64_t number;
	return look(l, call, scratch, &text, &number);
}

uint32_t htd_labels_add(struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch)
{
	struct pm_bytes text;
	uint64_t number;
	uint32_t label = look(l, call, scratch, &text, &number);
	if (label != HTD_NONE)
		return label;
	if (text.len && text.p == (const uint8_t *)scratch->p &&
		!(text = pm_arena_copy(&l->arena, text)).p)
		return HTD_NONE;
	label = pm_strtab_add(&l->texts, text);
	bool fresh,
		plain = call->plan->label != HTD_NONE &&
		call->plan->fields[call->plan->label].kind == HTD_KIND_UNSIGNED;
	if (label != HTD_NONE && plain && !pm_map_put(&l->plain, number, label, &fresh))
		return HTD_NONE;
	return label;
}
