/*
 * A formula as it comes from a command line, and metrics/default.yaml of a database with three
 * metrics. Formulas have values: in parentheses the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/formula.h"
#include "formats/hpctoolkit/hpctoolkit.h"

enum { N_METRICS = 3, N_SCOPES = 3, N_QUANTITIES = N_METRICS * N_SCOPES };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static double value_of(const void *self, uint32_t leaf)
{
	(void)self;
	return leaf + 2;
}

static bool same(double a, double b)
{
	return a == b || (a != a && b != b);
}

static void check_formula(struct pm_bytes text)
{
	struct pm_formula f, inner;
	struct pm_formula_fault fault;
	char *copy = malloc(text.len + 2);
	must(copy != NULL);
	copy[0] = '(';
	memcpy(copy + 1, text.p, text.len);
	copy[text.len + 1] = ')';
	int r = pm_formula_read(text, &f, &fault);
	must(r == 0 || (r == -EINVAL && fault.at <= text.len && fault.expected && f.n == 0));
	struct pm_bytes longer = {(const uint8_t *)copy, text.len + 2};
	if (r == 0 && pm_formula_read(longer, &inner, &fault) == 0) {
		double value = pm_formula_value(&f, value_of, NULL);
		must(inner.n == f.n && same(value, pm_formula_value(&inner, value_of, NULL)));
		pm_formula_done(&inner);
	}
	pm_formula_done(&f);
	free(copy);
}

static void check_derived(const struct pm_formula *f)
{
	if (!f)
		return;
	must(f->n > 0);
	for (uint32_t i = 0; i < f->n; i++)
		must(f->ops[i].kind != PM_OP_NAME || f->ops[i].leaf < N_METRICS);
	(void)pm_formula_value(f, value_of, NULL);
}

struct reading {
	struct pm_arena arena;
	struct pm_bytes text;
	struct hpctk_columns columns;
};

static void check_taxonomy(void *context)
{
	struct reading *r = context;
	static const char *const names[N_METRICS] = {"A", "B (sec)", "C"};
	static const char *const scopes[N_SCOPES] = {"function", "lex_aware", "execution"};
	struct hpctk_quantity quantities[N_QUANTITIES];
	struct pm_metric list[N_QUANTITIES];
	uint32_t group_of[N_QUANTITIES];
	bool shown[N_METRICS] = {false}, visible[N_METRICS] = {false};
	struct hpctk_metrics metrics = {.quantities = quantities, .n_quantities = N_QUANTITIES};
	struct hpctk_columns *c = &r->columns;
	*c = (struct hpctk_columns){.metrics = list,
		.shown = shown,
		.visible = visible,
		.list = {.n = N_QUANTITIES, .metrics = list}};
	pm_damage_list_in(&c->damage, &r->arena);
	for (uint32_t i = 0; i < N_QUANTITIES; i++) {
		group_of[i] = i / N_SCOPES;
		quantities[i] = (struct hpctk_quantity){.name = pm_bytes_of(names[i / N_SCOPES]),
			.scope = pm_bytes_of(scopes[i % N_SCOPES])};
		list[i] = (struct pm_metric){.group = i / N_SCOPES, .has_values = true};
	}
	hpctk_taxonomy_read(&r->arena, r->text, &metrics, group_of, c);
	for (uint32_t i = 0; i < c->list.n_derived; i++) {
		must(c->derived[i].own || c->derived[i].inclusive);
		check_derived(c->derived[i].own);
		check_derived(c->derived[i].inclusive);
	}
	bool any = false;
	for (uint32_t i = 0; i < N_QUANTITIES; i++)
		any |= !list[i].hidden;
	must(any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reading r = {.text = {data, size}};
	check_formula(r.text);
	must(pm_build(&r.arena, check_taxonomy, &r) == 0);
	pm_arena_done(&r.arena);
	return 0;
}
