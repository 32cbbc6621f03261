#include "fs/views/texts/sites.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/sort.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"

enum { MOST_CALLEES = 8 };

static const struct pmfs_call_edge *site(const struct pmfs_sites *s, uint32_t i)
{
	return &s->calls->calls[s->rows[i]];
}

static double cost(const struct pmfs_sites *s, uint32_t i)
{
	const struct pmfs_columns *c = s->calls->columns;
	if (c->first_incl == PM_NONE)
		return NAN;
	return s->calls->cells[(size_t)s->rows[i] * c->n + c->first_incl];
}

struct keyed {
	uint32_t line, order, row;
};

static int by_line(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool is_wanted(const struct pmfs_call_edge *call, const struct pmfs_lines_of *of)
{
	return call->file == of->file && call->line >= of->first && call->line <= of->last &&
		call->line > 0;
}

static int fill(struct pmfs_sites *s, const struct pmfs_lines_of *of)
{
	const struct pmfs_calls *calls = s->calls;
	uint32_t n = 0;
	for (uint32_t i = 0; i < calls->n; i++)
		n += is_wanted(&calls->calls[i], of);
	struct keyed *keys = malloc(((size_t)n + 1) * sizeof(*keys));
	s->rows = malloc(((size_t)n + 1) * sizeof(*s->rows));
	int r = keys && s->rows ? 0 : -ENOMEM;
	if (r == 0) {
		for (uint32_t i = 0; i < calls->n; i++) {
			const struct pmfs_call_edge *call = &calls->calls[calls->order[i]];
			if (is_wanted(call, of))
				keys[s->n++] = (struct keyed){call->line, i, calls->order[i]};
		}
		r = pm_sort(keys, s->n, sizeof(*keys), by_line);
		for (uint32_t i = 0; i < s->n; i++)
			s->rows[i] = keys[i].row;
	}
	free(keys);
	return r;
}

int pmfs_sites_of(struct pmfs_model *m, const struct pmfs_lines_of *of, struct pmfs_sites *ret,
	struct pm_error *err)
{
	*ret = (struct pmfs_sites){.calls = NULL};
	if (of->file == PM_NONE)
		return 0;
	int r = pmfs_calls(m, &ret->calls, err);
	return r < 0 ? r : fill(ret, of) < 0 ? pmfs_no_memory(err) : 0;
}

void pmfs_sites_done(struct pmfs_sites *s)
{
	free(s->rows);
	*s = (struct pmfs_sites){.calls = NULL};
}

double pmfs_sites_cost(struct pmfs_sites *s, uint32_t line)
{
	double sum = NAN;
	while (s->at < s->n && site(s, s->at)->line < line)
		s->at++;
	for (uint32_t i = s->at; i < s->n && site(s, i)->line == line; i++)
		pmfs_add(&sum, cost(s, i));
	return sum;
}

static void add_callee(const struct pmfs_sites *s, uint32_t i, unsigned indent, struct pm_text *out)
{
	const struct pmfs_call_edge *call = site(s, i);
	const struct pm_tree *tree = s->calls->tree;
	pm_text_printf(out, "%*s# ", (int)indent, "");
	if (!isnan(cost(s, i))) {
		const struct pmfs_columns *c = s->calls->columns;
		pmfs_add_amount(out, &c->columns[c->first_incl], cost(s, i));
		pm_text_str(out, " in ");
	}
	if (call->calls == PMFS_UNCOUNTED)
		pm_text_str(out, "calls");
	else
		pm_text_printf(out, "%llu call%s", (unsigned long long)call->calls,
			call->calls == 1 ? "" : "s");
	pm_text_str(out, " of ");
	pm_text_line(out, tree->texts[tree->functions[call->callee].name]);
	pm_text_char(out, '\n');
}

void pmfs_sites_add(const struct pmfs_sites *s, uint32_t line, unsigned indent, struct pm_text *out)
{
	uint32_t n = 0, i = s->at;
	for (; i < s->n && site(s, i)->line == line; i++)
		if (site(s, i)->callee != PM_NONE && n++ < MOST_CALLEES)
			add_callee(s, i, indent, out);
	if (n > MOST_CALLEES)
		pm_text_printf(out, "%*s# … and of %u more: see callers.csv\n", (int)indent, "",
			n - MOST_CALLEES);
}
