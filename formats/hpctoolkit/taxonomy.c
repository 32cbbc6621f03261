/*
 * metrics/default.yaml: the metrics that hpcprof derives from others (GPU occupancy, registers of a
 * thread, …), by formulas over metrics of meta.db. Of YAML it is read what hpcprof writes: maps and
 * lists by indentation, one line each; expressions on one line, as lists and maps in brackets.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <string.h>

#include "formats/common/formula.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/quantity.h"
#include "formats/common/text.h"
#include "profmount/limits.h"

enum {
	MOST_LEVELS = 32, /* of indentation; hpcprof writes 8, and 3 for each level of children */
	MOST_NESTED = 64, /* brackets of an expression */
	MOST_DERIVED = 1000, /* hpcprof writes 30 for a GPU */
};

/* A key, or an item of a list, that encloses what follows deeper. */
struct level {
	size_t indent;
	struct pm_bytes key;
};

/* A metric of `roots:`, or a child of one. */
struct item {
	size_t indent; /* of its keys */
	struct pm_bytes name, description;
	bool invisible; /* by default */
};

struct alias {
	struct pm_bytes metric, scope, formula, combine;
};

enum side { OWN, INCLUSIVE, N_SIDES };

/* The formulas of one side of a variant, as far as they have been read. */
struct pending {
	struct pm_bytes name, description, variant, custom, standard;
	enum side side;
	bool invisible;
	uint64_t at; /* in the file */
};

struct reader {
	struct pm_arena *a; /* has the derived metrics; that of `text` has the rest */
	const struct hpctk_metrics *metrics;
	const uint32_t *group_of; /* by quantity */
	struct hpctk_columns *c;
	struct pm_strtab quantities; /* name, NUL, scope → number of its first one in `quantity` */
	uint32_t *quantity;
	struct pm_strtab anchors;
	struct alias *aliases; /* by anchor */
	size_t room_aliases, room_derived;
	struct level levels[MOST_LEVELS];
	struct item items[MOST_LEVELS];
	unsigned n_levels, n_items;
	uint32_t alias; /* the last one */
	bool has_roots;
	struct pending pending;
	uint64_t at; /* of the line */
	struct pm_text text;
};

static void fault(struct reader *r, uint64_t at, struct pm_bytes name, const char *what)
{
	int len = name.len < 80 ? (int)name.len : 80;
	pm_damage_add(&r->c->damage, HPCTK_FORMULAS, at, PM_NO_OFFSET, "%.*s: %s", len,
		(const char *)name.p, what);
}

/* ---- expressions ---- */

static bool is_anchor(uint8_t c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		c == '_' || c == '-';
}

/* `{/: [` and `{min: [` become `(`, with `/` between what follows, and `min(`, with commas. */
struct bracket {
	char close;     /* what ends it in the text: `]` or `}` */
	char separator; /* what stands for a comma */
};

/* The key of a map, behind its `{`: an operator or function. Returns bytes read; 0: it is none. */
static size_t read_key(struct pm_bytes rest, struct pm_text *out, char *ret_separator)
{
	static const char *const operators = "+-*/^";
	size_t n = 0, begin, end;
	while (n < rest.len && (rest.p[n] == ' ' || rest.p[n] == '"'))
		n++;
	begin = n;
	while (n < rest.len && rest.p[n] != ':' && rest.p[n] != '"')
		n++;
	end = n;
	while (n < rest.len && rest.p[n] != '[')
		if (rest.p[n] != ':' && rest.p[n] != '"' && rest.p[n] != ' ')
			return 0;
		else
			n++;
	if (n == rest.len || end == begin)
		return 0;
	*ret_separator = ',';
	if (end - begin == 1 && strchr(operators, rest.p[begin]))
		*ret_separator = (char)rest.p[begin];
	else
		for (size_t i = begin; i < end; i++)
			pm_text_char(out, rest.p[i] == ' ' ? '_' : (char)rest.p[i]);
	pm_text_char(out, '(');
	return n + 1;
}

/* As a formula over aliases. False: it is none. */
static bool write_formula(const struct reader *r, struct pm_bytes from, struct pm_text *out)
{
	struct bracket open[MOST_NESTED];
	unsigned n = 0;
	for (size_t i = 0, used; i < from.len; i += used) {
		uint8_t c = from.p[i], before = i ? from.p[i - 1] : ' ';
		struct pm_bytes rest = {from.p + i + 1, from.len - i - 1};
		used = 1;
		if ((c == '[' || c == '{') && n == MOST_NESTED)
			return false;
		if (c == '{') {
			char separator = ' ';
			size_t key = read_key(rest, out, &separator);
			if (key == 0)
				return false;
			open[n++] = (struct bracket){'}', separator};
			used += key;
		} else if (c == '[') {
			pm_text_char(out, '(');
			open[n++] = (struct bracket){']', ' '};
		} else if (c == ']') {
			if (n-- == 0)
				return false;
			pm_text_char(out, ')');
			while (open[n].close == '}' && used <= rest.len && from.p[i + used] == ' ')
				used++;
			if (open[n].close == '}' && (used > rest.len || from.p[i + used++] != '}'))
				return false;
		} else if (c == ',') {
			if (n == 0)
				return false;
			pm_text_char(out, open[n - 1].separator);
		} else if (c == '*' && memchr(" [,{", before, 4) && rest.len &&
			is_anchor(rest.p[0])) {
			/* What the anchor names, as `$3`: the alias with number 3. */
			struct pm_bytes name = {rest.p, 0};
			while (name.len < rest.len && is_anchor(name.p[name.len]))
				name.len++;
			uint32_t alias = pm_strtab_find(&r->anchors, name);
			if (alias == UINT32_MAX)
				return false;
			pm_text_printf(out, "$%u", alias);
			used += name.len;
		} else if (c != '"') {
			pm_text_char(out, (char)c);
		}
	}
	return n == 0;
}

/* The group of metrics that an alias stands for, in own or inclusive costs; or a reason. */
static const char *find_group(
	struct reader *r, const struct alias *a, enum side side, bool flat, uint32_t *ret)
{
	static const char *const scopes[N_SIDES] = {"function", "execution"};
	bool fits = pm_bytes_equal(a->scope, pm_bytes_of(scopes[side])) ||
		(side == OWN && !flat && pm_bytes_equal(a->scope, pm_bytes_of("lex_aware")));
	bool sums = pm_bytes_equal(a->combine, pm_bytes_of("sum")) &&
		pm_bytes_equal(a->formula, pm_bytes_of("$$"));
	if (!sums)
		return "its formula is of another statistic than the sum";
	if (!fits)
		return "its formula is of costs in a scope that no column has";
	pm_text_clear(&r->text);
	pm_text_bytes(&r->text, a->metric);
	pm_text_char(&r->text, '\0');
	pm_text_bytes(&r->text, a->scope);
	uint32_t known = pm_strtab_find(&r->quantities, pm_text_view(&r->text));
	if (known == UINT32_MAX || r->group_of[r->quantity[known]] == HPCTK_NONE)
		return "its formula is of a metric that is not in meta.db";
	*ret = r->group_of[r->quantity[known]];
	return NULL;
}

/* Reads an expression; *ret is empty where it is none. Returns a reason, or NULL. */
static const char *read_formula(
	struct reader *r, struct pm_bytes from, enum side side, bool flat, struct pm_formula *ret)
{
	struct pm_text text = {.limit = 1 << 16, .arena = r->text.arena};
	struct pm_formula_fault where;
	const char *why = NULL;
	*ret = (struct pm_formula){.n = 0};
	bool good = write_formula(r, from, &text) && !text.failed;
	int status = good ? pm_formula_read_in(r->a, pm_text_view(&text), ret, &where) : -EINVAL;
	if (pm_is_passing(status))
		pm_build_fail(r->a, status);
	if (status < 0)
		why = "its formula is none that can be computed";
	for (uint32_t i = 0; !why && i < ret->n; i++) {
		struct pm_op *op = &ret->ops[i];
		uint64_t alias = 0;
		if (op->kind != PM_OP_NAME)
			continue;
		for (size_t k = 1; k < op->name.len && alias < r->anchors.n; k++)
			alias = alias * 10 + (uint64_t)(op->name.p[k] - '0');
		if (op->name.p[0] != '$' || op->name.len < 2 || alias >= r->anchors.n)
			why = "its formula has a name that is none of a metric";
		else
			why = find_group(r, &r->aliases[alias], side, flat, &op->leaf);
		op->name = (struct pm_bytes){NULL, 0};
	}
	pm_text_done(&text);
	return why;
}

static bool same_formula(const struct pm_formula *a, const struct pm_formula *b)
{
	bool same = a->n == b->n;
	for (uint32_t i = 0; same && i < a->n; i++)
		same = a->ops[i].kind == b->ops[i].kind && a->ops[i].n == b->ops[i].n &&
			a->ops[i].leaf == b->ops[i].leaf && a->ops[i].number == b->ops[i].number;
	return same;
}

/* ---- metrics ---- */

/* The derived metric of a variant, which is the first one's if it has no name of its own. */
static struct pm_derived *derived_of(struct reader *r, const struct pending *p)
{
	struct hpctk_columns *c = r->c;
	bool plain = p->variant.len == 0 || pm_bytes_equal(p->variant, pm_bytes_of("Sum"));
	struct pm_bytes name = pm_bytes_of(pm_arena_printf(r->a, "%.*s%s%.*s", (int)p->name.len,
		(const char *)p->name.p, plain ? "" : " ", plain ? 0 : (int)p->variant.len,
		(const char *)p->variant.p));
	if (c->list.n_derived > 0 && pm_bytes_equal(c->derived[c->list.n_derived - 1].name, name))
		return &c->derived[c->list.n_derived - 1];
	pm_list_grow(r->a, &c->derived, c->list.n_derived, &r->room_derived, sizeof(*c->derived));
	struct pm_derived *d = &c->derived[c->list.n_derived++];
	*d = (struct pm_derived){.name = name,
		.unit = hpctk_unit_of(name),
		.description = pm_arena_copy(r->a, p->description)};
	return d;
}

static void flush(struct reader *r)
{
	struct pending p = r->pending;
	struct pm_formula *tree, flat = {.n = 0};
	r->pending = (struct pending){.at = 0};
	if (p.custom.len == 0 && p.standard.len == 0)
		return;
	tree = pm_arena_alloc(r->a, sizeof(*tree));
	const char *why = p.standard.len ? NULL : "it has no formula for flat tables";
	if (!why)
		why = read_formula(r, p.custom.len ? p.custom : p.standard, p.side, false, tree);
	if (!why)
		why = read_formula(r, p.standard, p.side, true, &flat);
	if (!why && !same_formula(tree, &flat))
		why = "its formulas for trees and for flat tables differ";
	pm_arena_free(r->a, flat.ops);
	if (r->c->list.n_derived == MOST_DERIVED)
		why = "is one derived metric too many";
	if (why) {
		fault(r, p.at, p.name, why);
	} else if (tree->n == 1 && tree->ops[0].kind == PM_OP_NAME) {
		/* What is a metric as it is has its columns anyway. */
		r->c->shown[tree->ops[0].leaf] = true;
		r->c->visible[tree->ops[0].leaf] |= !p.invisible;
	} else {
		struct pm_derived *d = derived_of(r, &p);
		*(p.side == OWN ? &d->own : &d->inclusive) = tree;
		return;
	}
	pm_arena_free(r->a, tree->ops);
}

/* ---- lines ---- */

struct line {
	size_t indent; /* of the key */
	bool dash;     /* it begins an item of a list */
	struct pm_bytes anchor, key, value;
};

static struct pm_bytes trimmed(struct pm_bytes b)
{
	while (b.len && (b.p[0] == ' ' || b.p[0] == '\t'))
		b.p++, b.len--;
	while (b.len && memchr(" \t\r", b.p[b.len - 1], 3))
		b.len--;
	return b;
}

/* A text in quotes is what is between them; escapes stay as they are, hpcprof writes none. */
static struct pm_bytes unquoted(struct pm_bytes b)
{
	if (b.len >= 2 && b.p[0] == '"' && b.p[b.len - 1] == '"')
		return (struct pm_bytes){b.p + 1, b.len - 2};
	return b;
}

/* Cuts `&anchor` off, and what follows it. */
static struct pm_bytes take_anchor(struct pm_bytes b, struct pm_bytes *ret)
{
	*ret = (struct pm_bytes){b.p, 0};
	if (b.len == 0 || b.p[0] != '&')
		return b;
	ret->p++;
	while (1 + ret->len < b.len && is_anchor(ret->p[ret->len]))
		ret->len++;
	return trimmed((struct pm_bytes){ret->p + ret->len, b.len - 1 - ret->len});
}

/* False: there is nothing in it. */
static bool split(struct pm_bytes text, struct line *l)
{
	size_t colon = 0;
	*l = (struct line){.indent = 0};
	while (l->indent < text.len && text.p[l->indent] == ' ')
		l->indent++;
	while (l->indent + 1 < text.len && text.p[l->indent] == '-' &&
		text.p[l->indent + 1] == ' ') {
		l->dash = true;
		l->indent += 2;
	}
	struct pm_bytes rest = trimmed((struct pm_bytes){text.p + l->indent, text.len - l->indent});
	struct pm_bytes of_value;
	rest = take_anchor(rest, &l->anchor);
	if (rest.len == 0 || rest.p[0] == '#')
		return l->dash;
	bool quoted = rest.p[0] == '"';
	for (colon = quoted; quoted && colon < rest.len && rest.p[colon] != '"';)
		colon++;
	while (colon < rest.len &&
		!(rest.p[colon] == ':' && (colon + 1 == rest.len || rest.p[colon + 1] == ' ')))
		colon++;
	l->key = unquoted((struct pm_bytes){rest.p, colon});
	if (colon < rest.len)
		l->value = take_anchor(
			trimmed((struct pm_bytes){rest.p + colon + 1, rest.len - colon - 1}),
			&of_value);
	return true;
}

static bool level_is(const struct reader *r, unsigned from_end, const char *key)
{
	return r->n_levels >= from_end &&
		pm_bytes_equal(r->levels[r->n_levels - from_end].key, pm_bytes_of(key));
}

/* A key of an input. */
static void take_input(struct reader *r, const struct line *l)
{
	if (l->dash) {
		pm_list_grow(r->anchors.home, &r->aliases, r->anchors.n, &r->room_aliases,
			sizeof(*r->aliases));
		uint32_t n = r->anchors.n;
		r->alias = pm_strtab_add(&r->anchors, l->anchor);
		if (r->alias == n)
			r->aliases[n] = (struct alias){
				.formula = pm_bytes_of("$$"), .combine = pm_bytes_of("sum")};
	}
	if (r->anchors.n == 0)
		return;
	struct alias *a = &r->aliases[r->alias];
	const struct {
		const char *key;
		struct pm_bytes *value;
	} keys[] = {{"metric", &a->metric}, {"scope", &a->scope}, {"formula", &a->formula},
		{"combine", &a->combine}};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (pm_bytes_equal(l->key, pm_bytes_of(keys[i].key)))
			*keys[i].value = unquoted(l->value);
}

/* A formula of a variant: `inclusive` or `exclusive`, or `custom` and `standard` below it. */
static void take_formula(struct reader *r, const struct line *l)
{
	bool split_up = level_is(r, 1, "custom") || level_is(r, 1, "standard");
	unsigned side = split_up ? 2 : 1;
	bool own = level_is(r, side, "exclusive"), inclusive = level_is(r, side, "inclusive");
	struct item none = {.name = pm_bytes_of(""), .description = pm_bytes_of("")};
	const struct item *item = r->n_items ? &r->items[r->n_items - 1] : &none;
	struct pm_bytes name = item->name;
	if (level_is(r, 1, "formula") && level_is(r, 3, "variants") && l->value.len) {
		flush(r);
		fault(r, r->at, name, "its formula, from those of its children, is not computed");
		return;
	}
	if ((!own && !inclusive) || !level_is(r, side + 1, "formula") ||
		!level_is(r, side + 3, "variants") || l->value.len == 0)
		return;
	struct pm_bytes variant = r->levels[r->n_levels - side - 2].key;
	struct pending *p = &r->pending;
	enum side of = own ? OWN : INCLUSIVE;
	if (p->side != of || p->name.p != name.p || p->variant.p != variant.p) {
		flush(r);
		*p = (struct pending){.name = name,
			.description = item->description,
			.variant = variant,
			.side = of,
			.invisible = item->invisible,
			.at = r->at};
	}
	if (level_is(r, 1, "custom") || !split_up)
		p->custom = l->value;
	if (level_is(r, 1, "standard") || !split_up)
		p->standard = l->value;
}

static void take_line(struct reader *r, const struct line *l)
{
	while (r->n_levels > 0 && r->levels[r->n_levels - 1].indent >= l->indent - 2 * l->dash)
		r->n_levels--;
	bool input = r->n_levels == 1 && level_is(r, 1, "inputs");
	bool root = level_is(r, 1, "roots") || level_is(r, 1, "children");
	while (r->n_items > 0 && r->items[r->n_items - 1].indent > l->indent - l->dash)
		r->n_items--;
	if (input && l->indent > 0) {
		take_input(r, l);
		return;
	}
	if (r->n_levels == MOST_LEVELS || r->n_items == MOST_LEVELS) {
		fault(r, r->at, l->key, "is nested too deeply");
		return;
	}
	r->has_roots |= l->indent == 0 && pm_bytes_equal(l->key, pm_bytes_of("roots"));
	if (root && l->dash)
		r->items[r->n_items++] = (struct item){.indent = l->indent};
	struct item *item = r->n_items ? &r->items[r->n_items - 1] : NULL;
	if (item && item->indent == l->indent && pm_bytes_equal(l->key, pm_bytes_of("name")))
		item->name = unquoted(l->value);
	if (item && item->indent == l->indent && pm_bytes_equal(l->key, pm_bytes_of("description")))
		item->description = unquoted(l->value);
	if (item && item->indent == l->indent &&
		pm_bytes_equal(l->key, pm_bytes_of("visible by default")))
		item->invisible = pm_bytes_equal(l->value, pm_bytes_of("false"));
	r->levels[r->n_levels++] = (struct level){l->indent, l->key};
	take_formula(r, l);
}

/* ---- the file ---- */

/* Marks the metrics that a formula is over. */
static void take_leaves(const struct pm_formula *f, bool *input)
{
	for (uint32_t i = 0; f && i < f->n; i++)
		if (f->ops[i].kind == PM_OP_NAME)
			input[f->ops[i].leaf] = true;
}

/*
 * Inputs of formulas that are no metric of the list as they are: registers summed over launches,
 * and such. A table without any cost would be of no use.
 */
static void hide(struct reader *r)
{
	const struct hpctk_columns *c = r->c;
	bool *input = pm_arena_array(r->text.arena, pm_metrics_groups(&c->list), sizeof(*input));
	bool any = false;
	for (uint32_t i = 0; i < c->list.n_derived; i++) {
		take_leaves(c->derived[i].own, input);
		take_leaves(c->derived[i].inclusive, input);
	}
	for (uint32_t i = 0; i < c->list.n; i++) {
		uint32_t group = c->metrics[i].group;
		input[group] = input[group] && !c->shown[group];
		any |= c->metrics[i].has_values && !input[group];
	}
	for (uint32_t i = 0; i < c->list.n; i++) {
		uint32_t group = c->metrics[i].group;
		c->metrics[i].hidden = any && input[group];
		c->metrics[i].minor = c->shown[group] && !c->visible[group];
	}
}

static void read_file(struct reader *r, struct pm_bytes file)
{
	for (uint32_t i = 0; i < r->metrics->n_quantities; i++) {
		const struct hpctk_quantity *q = &r->metrics->quantities[i];
		uint32_t n = r->quantities.n;
		pm_text_clear(&r->text);
		pm_text_bytes(&r->text, q->name);
		pm_text_char(&r->text, '\0');
		pm_text_bytes(&r->text, q->scope);
		if (pm_strtab_add(&r->quantities, pm_text_view(&r->text)) == n)
			r->quantity[n] = i;
	}
	for (size_t at = 0; at < file.len;) {
		const uint8_t *end = memchr(file.p + at, '\n', file.len - at);
		size_t len = end ? (size_t)(end - file.p) - at : file.len - at;
		struct line line;
		r->at = at;
		if (split((struct pm_bytes){file.p + at, len}, &line))
			take_line(r, &line);
		at += len + 1;
	}
	flush(r);
	if (!r->has_roots)
		fault(r, 0, pm_bytes_of("roots"), "is not in the file: no metric is derived");
	hide(r);
}

void hpctk_taxonomy_read(struct pm_arena *a, struct pm_bytes file,
	const struct hpctk_metrics *metrics, const uint32_t *group_of, struct hpctk_columns *c)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct reader r = {.a = a,
		.metrics = metrics,
		.group_of = group_of,
		.c = c,
		.quantities = pm_strtab_in(scratch),
		.quantity = pm_arena_array(scratch, metrics->n_quantities, sizeof(*r.quantity)),
		.anchors = {.home = scratch, .lasting = {.arena = scratch}},
		.text = {.arena = scratch}};
	if (file.len > PM_LIMIT_STRING)
		fault(&r, 0, pm_bytes_of(HPCTK_FORMULAS),
			"has more than 1 MiB: no metric is derived");
	else
		read_file(&r, file);
	c->list.derived = c->derived;
	pm_arena_done(scratch);
}
