/* Commands of recipes.txt for stores, with names and values from this store. */
#include "formats/common/text.h"
#include "formats/zts/parts.h"

/* The columns of traces.csv for some attributes. */
static void add_columns(const struct zts_survey *v, struct pm_text *out)
{
	const struct zts_columns *c = &v->columns;
	if (c->origins)
		pm_text_str(out,
			"  traces.csv has the collector's numbers for the origin of a trace:\n");
	for (uint32_t i = 0; c->origins && i < ZTS_N_ORIGINS; i++)
		pm_text_printf(out, "    $%-3u %s\n", c->first_attr - ZTS_N_ORIGINS + i + 1,
			c->names[c->first_attr - ZTS_N_ORIGINS + i]);
	if (c->n_attrs == 0)
		return;
	pm_text_printf(out,
		"  traces.csv has a column for each of the %u most frequent attributes:\n",
		c->n_attrs);
	for (uint32_t i = 0; i < c->n_attrs; i++) {
		pm_text_printf(out, "    $%-3u %-24s ", c->first_attr + i + 1,
			c->names[c->first_attr + i]);
		pm_text_line(out, v->attr_names.texts.items[c->attrs[i]]);
		pm_text_char(out, '\n');
	}
}

/* Can it be put between double quotes in an awk program between single quotes? */
static bool is_plain(struct pm_bytes text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] < ' ' || text.p[i] > '~' || strchr("'\"\\", text.p[i]))
			return false;
	return text.len > 0 && text.len <= 80;
}

/* ` && $16 == "500"`; false if the trace's value cannot be used in a command. */
static bool add_condition(const struct zts_opened *z, const struct zts_survey *v,
	const struct zts_trace *t, uint32_t column, struct pm_text *out)
{
	struct pm_text value = {.p = NULL};
	const struct zts_kept *attr =
		column == PM_NONE ? NULL : zts_trace_attr(v, t, v->columns.attrs[column]);
	if (!attr)
		return false;
	zts_kept_text(attr, zts_texts_of(z, t->store), &value);
	bool plain = is_plain(pm_text_view(&value));
	if (plain) {
		pm_text_printf(out, " && $%u == \"", v->columns.first_attr + column + 1);
		pm_text_bytes(out, pm_text_view(&value));
		pm_text_char(out, '"');
	}
	pm_text_end(&value, out);
	return plain;
}

/*
 * Traces similar to the longest one: at least half as long, with the same status, for the same
 * request.
 */
static void add_search(const struct zts_opened *z, const struct zts_survey *v, struct pm_text *out)
{
	const struct zts_trace *t = &v->traces[v->slow[0]];
	struct pm_text conditions = {.p = NULL};
	uint32_t telling = zts_columns_telling(v, t), status = zts_columns_find(v, "status");
	bool any = add_condition(z, v, t, status, &conditions);
	if (telling != status)
		any |= add_condition(z, v, t, telling, &conditions);
	if (!any)
		any = add_condition(z, v, t, v->columns.n_attrs ? 0 : PM_NONE, &conditions);
	if (any && t->duration_ns != PM_NO_TIME) {
		pm_text_printf(out,
			"  Which traces with these attributes were slow?\n"
			"$ awk -F'\\t' '$2 > %llu",
			(unsigned long long)(t->duration_ns / 2));
		pm_text_bytes(out, pm_text_view(&conditions));
		pm_text_str(out, "' traces.tsv\n");
	}
	pm_text_end(&conditions, out);
}

static void add_longest(const struct zts_opened *z, const struct zts_survey *v, struct pm_text *out)
{
	const struct zts_trace *t = &v->traces[v->slow[0]];
	pm_text_str(out,
		"  What happened in the longest trace?\n"
		"$ cat ");
	zts_trace_path(z, t, out);
	pm_text_str(out, "/tree.txt\n");
	if (!t->has_exception)
		return;
	pm_text_str(
		out, "$ jq '[.. | objects | select(.exception?) | .exception.class] | unique' ");
	zts_trace_path(z, t, out);
	pm_text_str(out, "/trace.json\n");
}

int zts_recipes(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = zts_opened_of(p);
	const struct zts_aggregate *a;
	const struct zts_survey *v;
	bool thrown = false;
	int r = zts_get_survey(z, &v, err);
	if (r < 0 || v->n == 0)
		return r;
	pm_text_str(out,
		"  Which traces took the longest?\n"
		"$ sort -t, -k2,2nr traces.csv | head\n");
	pm_text_str(out,
		"  Which requests take the most time, and how long does each take?\n"
		"$ head requests.csv\n");
	if (v->n_failed > 0)
		pm_text_str(out,
			"  Which traces failed?\n"
			"$ awk -F, '$7 == 1' traces.csv\n");
	for (uint32_t i = 0; i < v->n; i++)
		thrown |= v->traces[i].has_exception && !v->traces[i].lost;
	if (thrown)
		pm_text_str(out,
			"  Which exceptions were thrown most often, and in which trace first?\n"
			"$ head exceptions.csv\n"
			"  Which calls threw them, and when? (spans.csv has attributes, too)\n"
			"$ grep ',exception,' spans.csv | head\n");
	if ((r = zts_get_aggregate(z, &a, err)) < 0)
		return r;
	if (a->all->statements.texts.n > 0)
		pm_text_str(out,
			"  Which SQL takes the most time, and where was it slowest?\n"
			"$ head statements.csv\n");
	if (a->n_methods > 0)
		pm_text_str(out,
			"  Which methods are the most expensive, and which fail most often?\n"
			"$ head methods.tsv; sort -k 2,2nr methods.tsv | head\n");
	if (!v->traces[v->slow[0]].lost) {
		add_search(z, v, out);
		add_longest(z, v, out);
	}
	add_columns(v, out);
	return 0;
}
