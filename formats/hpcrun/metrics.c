/*
 * The metrics of all files. Formulas name metrics by their place in the file's own table
 * (`#28/#27`), so they are kept as `$0/$1` and the names that these stand for.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "formats/common/cursor.h"
#include "formats/common/formula.h"
#include "formats/common/list.h"
#include "formats/common/text.h"
#include "formats/hpcrun/hpcrun.h"

enum {
	LONGEST = 1 << 12, /* of a formula, which has 29 bytes at most, or a text beside it */
};

/* How a viewer shows a metric; 1: both costs. */
enum show { SHOW_INCLUSIVE = 2, SHOW_EXCLUSIVE = 3, SHOW_NEVER = 4 };

/* ==== of one file ==== */

/* `#28` in a formula → `$0`, and the name behind the others. False if there is no such metric. */
static bool write_reference(const struct hpcrun_metrics *metrics, uint64_t number, unsigned n,
	struct pm_text *formula, struct pm_text *names)
{
	if (number >= metrics->n)
		return false;
	struct pm_bytes name = metrics->items[number].name;
	pm_text_printf(formula, "$%u", n);
	pm_text_char(names, '\0');
	pm_text_bytes(names, name);
	return name.len < LONGEST && !memchr(name.p, 0, name.len);
}

static void write_field(struct pm_text *out, struct pm_bytes text)
{
	for (size_t i = 0; i < text.len && i < LONGEST; i++)
		pm_text_char(out, text.p[i] ? (char)text.p[i] : ' ');
	pm_text_char(out, '\0');
}

/*
 * What of a formula is the same in all files: name, description, how it is shown, the formula and
 * the names of its metrics, with NUL between them. The formula is empty if it cannot be one.
 */
static struct pm_bytes make_record(
	struct pm_arena *a, const struct hpcrun_metrics *metrics, const struct hpcrun_metric *of)
{
	struct pm_text out = {.arena = a}, formula = {.limit = LONGEST, .arena = a};
	struct pm_text names = formula;
	bool good = of->formula.len < LONGEST && !memchr(of->formula.p, 0, of->formula.len);
	unsigned n = 0;
	for (size_t i = 0; good && i < of->formula.len; i++) {
		uint64_t number = 0;
		size_t k = i + 1;
		if (of->formula.p[i] != '#') {
			pm_text_char(
				&formula, of->formula.p[i] == '$' ? '?' : (char)of->formula.p[i]);
			continue;
		}
		for (; k < of->formula.len && of->formula.p[k] >= '0' && of->formula.p[k] <= '9' &&
			number < UINT32_MAX;
			k++)
			number = number * 10 + (uint64_t)(of->formula.p[k] - '0');
		good = k > i + 1 && write_reference(metrics, number, n++, &formula, &names);
		i = k - 1;
	}
	write_field(&out, of->name);
	write_field(&out, of->description);
	pm_text_printf(&out, "%u%c", of->show, 0);
	if (good && !formula.failed && !names.failed) {
		pm_text_bytes(&out, pm_text_view(&formula));
		pm_text_bytes(&out, pm_text_view(&names));
	}
	pm_text_done(&formula);
	pm_text_done(&names);
	return pm_text_view(&out);
}

struct hpcrun_file_metric hpcrun_metric_crop(
	struct pm_arena *a, const struct hpcrun_metrics *metrics, size_t i, bool with_formula)
{
	const struct hpcrun_metric *from = &metrics->items[i];
	struct hpcrun_file_metric ret = {.name = pm_arena_copy(a, from->name),
		.period = from->period,
		.moves = from->has_flags && from->move_to_proc,
		.invisible = from->has_flags && from->show == SHOW_NEVER,
		.real = hpcrun_value_is_real(from)};
	if (with_formula && from->formula.len && from->has_flags && !ret.invisible)
		ret.formula = make_record(a, metrics, from);
	return ret;
}

double hpcrun_cost(const struct hpcrun_file_metric *metric, uint64_t bits)
{
	double value = metric->real ? pm_f64_of_bits(bits) : (double)bits;
	double cost = value * (double)metric->period;
	return isfinite(cost) ? cost : NAN;
}

/* ==== of all ==== */

void hpcrun_metric_names_init(struct hpcrun_metric_names *ret, struct pm_arena *a)
{
	*ret = (struct hpcrun_metric_names){
		.arena = a, .names = pm_strtab_in(a), .formulas = pm_strtab_in(a)};
}

static uint32_t add_name(struct hpcrun_metric_names *n, struct pm_bytes name, uint8_t flags)
{
	uint32_t known = n->names.n, index = pm_strtab_add(&n->names, name);
	if (index == known) {
		pm_list_grow(n->arena, &n->flags, index, &n->room, sizeof(*n->flags));
		n->flags[index] = 0;
	}
	n->flags[index] |= flags;
	return index;
}

uint32_t hpcrun_metric_names_add(
	struct hpcrun_metric_names *n, const struct hpcrun_file_metric *metric)
{
	if (metric->formula.len)
		pm_strtab_add(&n->formulas, metric->formula);
	return add_name(n, metric->name,
		(metric->moves ? HPCRUN_METRIC_MOVES : 0) |
			(metric->invisible ? 0 : HPCRUN_METRIC_SHOWN));
}

void hpcrun_metric_names_join(
	struct hpcrun_metric_names *n, const struct hpcrun_metric_names *from, uint32_t *ret)
{
	for (uint32_t i = 0; i < from->formulas.n; i++)
		pm_strtab_add(&n->formulas, from->formulas.items[i]);
	for (uint32_t i = 0; i < from->names.n; i++)
		ret[i] = add_name(n, from->names.items[i], from->flags[i]);
}

/* The two metrics of the group. */
static void make_metrics(
	struct pm_arena *arena, struct pm_metric *metrics, uint32_t group, struct pm_bytes name)
{
	struct pm_metric metric = {.id = 2 * group,
		.group = group,
		.role = PM_ROLE_EXCLUSIVE,
		.in_tree = true,
		.in_flat = true,
		.has_values = true,
		.name = pm_arena_copy(arena, name),
		.scope = pm_bytes_of("exclusive")};
	metric.unit = hpcrun_metric_unit(metric.name);
	metrics[metric.id] = metric;
	metric.id++;
	metric.role = PM_ROLE_INCLUSIVE;
	metric.scope = pm_bytes_of("inclusive");
	metrics[metric.id] = metric;
}

/* ---- formulas ---- */

static struct pm_bytes take_field(struct pm_bytes *rest)
{
	const uint8_t *end = rest->len ? memchr(rest->p, 0, rest->len) : NULL;
	size_t len = end ? (size_t)(end - rest->p) : rest->len;
	struct pm_bytes field = {rest->p, len};
	rest->p += len + (end != NULL);
	rest->len -= len + (end != NULL);
	return field;
}

struct deriving {
	const struct hpcrun_metric_names *names;
	const uint32_t *groups; /* by name */
	struct pm_arena *arena;
	struct pm_derived *list;
	uint32_t n;
	bool *defined; /* by name: a formula was read */
};

/*
 * The formula over groups; NULL if a metric has no values, or if it cannot be computed, which
 * *ret_why says.
 */
static struct pm_formula *read_formula(
	const struct deriving *d, struct pm_bytes text, struct pm_bytes names, const char **ret_why)
{
	struct pm_formula_fault where;
	struct pm_formula *formula = pm_arena_alloc(d->arena, sizeof(*formula));
	int r = pm_formula_read_in(d->arena, text, formula, &where);
	if (r == -EINVAL) {
		*ret_why = "its formula is none that can be computed";
		return NULL;
	}
	pm_build_check(d->arena, r);
	bool has_values = true;
	for (uint32_t i = 0; i < formula->n; i++) {
		struct pm_op *op = &formula->ops[i];
		if (op->kind != PM_OP_NAME)
			continue;
		/* `$0`, `$1` … come in this order. */
		uint32_t name = pm_strtab_find(&d->names->names, take_field(&names));
		if (op->name.p[0] != '$' || name == PM_NONE)
			*ret_why = "its formula has a name that is none of a metric";
		op->name = (struct pm_bytes){NULL, 0};
		op->leaf = name == PM_NONE ? PM_NONE : d->groups[name];
		has_values &= op->leaf != PM_NONE;
	}
	return has_values && !*ret_why ? formula : NULL;
}

/* A metric, unless another file has defined it. */
static void derive(struct deriving *d, struct pm_bytes record, struct pm_damage_list *damage)
{
	struct pm_bytes name = take_field(&record), description = take_field(&record);
	struct pm_bytes show = take_field(&record), text = take_field(&record);
	uint32_t index = pm_strtab_find(&d->names->names, name);
	struct pm_formula *formula = NULL;
	const char *why = NULL;
	if (d->n == HPCRUN_MOST_DERIVED)
		why = "is one derived metric too many";
	else if (index != PM_NONE && d->defined[index])
		why = "has another formula in another file";
	else if (index != PM_NONE && d->groups[index] != PM_NONE)
		why = "has values and a formula, which is not computed";
	else
		formula = read_formula(d, text, record, &why);
	if (why)
		pm_damage_add(damage, NULL, PM_NO_OFFSET, PM_NO_OFFSET, "metric %.*s: %s",
			name.len < 80 ? (int)name.len : 80, (const char *)name.p, why);
	if (index != PM_NONE)
		d->defined[index] = true;
	if (!formula)
		return;
	struct pm_derived *derived = &d->list[d->n++];
	uint8_t shown = show.p[0] - '0';
	*derived = (struct pm_derived){.name = pm_arena_copy(d->arena, name),
		.description = pm_arena_copy(d->arena, description),
		.own = shown == SHOW_INCLUSIVE ? NULL : formula,
		.inclusive = shown == SHOW_EXCLUSIVE ? NULL : formula};
	derived->unit = hpcrun_metric_unit(derived->name);
}

/* ---- the list ---- */

const uint32_t *hpcrun_metric_names_list(struct pm_arena *a, const struct hpcrun_metric_names *n,
	struct pm_damage_list *damage, struct pm_metrics *ret)
{
	enum { BOTH = HPCRUN_METRIC_USED | HPCRUN_METRIC_SHOWN };
	uint32_t n_groups = 0, count = 0;
	bool any = false; /* a table without any cost would be of no use */
	for (uint32_t i = 0; i < n->names.n; i++) {
		count += n->flags[i] & HPCRUN_METRIC_USED;
		any |= (n->flags[i] & BOTH) == BOTH;
	}
	uint32_t *groups = pm_arena_array(a, n->names.n, sizeof(*groups));
	struct pm_metric *metrics = pm_arena_array(a, 2 * (size_t)count, sizeof(*metrics));
	for (uint32_t i = 0; i < n->names.n; i++) {
		bool used = n->flags[i] & HPCRUN_METRIC_USED;
		bool hidden = any && !(n->flags[i] & HPCRUN_METRIC_SHOWN);
		groups[i] = used ? n_groups++ : PM_NONE;
		if (!used)
			continue;
		make_metrics(a, metrics, groups[i], n->names.items[i]);
		metrics[2 * groups[i]].hidden = metrics[2 * groups[i] + 1].hidden = hidden;
	}
	uint32_t most = n->formulas.n < HPCRUN_MOST_DERIVED ? n->formulas.n : HPCRUN_MOST_DERIVED;
	struct deriving d = {.names = n,
		.groups = groups,
		.arena = a,
		.list = pm_arena_array(a, most, sizeof(*d.list)),
		.defined = pm_arena_array(a, n->names.n, sizeof(*d.defined))};
	for (uint32_t i = 0; i < n->formulas.n; i++)
		derive(&d, n->formulas.items[i], damage);
	*ret = (struct pm_metrics){
		.n = 2 * n_groups, .metrics = metrics, .derived = d.list, .n_derived = d.n};
	return groups;
}
