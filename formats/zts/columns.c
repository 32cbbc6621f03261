/*
 * Counts the traces with each attribute. Column names are made like those of metrics: lower case,
 * everything except letters and digits as one `_`, a number if names clash.
 */

#include "formats/common/sort.h"
#include "formats/zts/survey.h"
#include "profmount/profile.h"

static const char *const before[] = {"time_ns", "duration_ns", "timestamp_ns", "calls", "records",
	"errors", "error", "trace_id", "span_id", "parent_id", "store", "chunk", "path"};
static const char *const origins[ZTS_N_ORIGINS] = {[ZTS_APPLICATION] = "application_id",
	[ZTS_ENVIRONMENT] = "environment_id",
	[ZTS_TRACE_TYPE] = "type_id",
	[ZTS_HOST] = "host_id"};
static const char method[] = "method";

enum { N_BEFORE = sizeof(before) / sizeof(before[0]), PARENT_ID = 9, LONGEST_NAME = 64 };

const struct zts_kept *zts_trace_attr(
	const struct zts_survey *v, const struct zts_trace *t, uint32_t name)
{
	const struct zts_kept *attrs = v->scans[t->store].attrs;
	for (uint32_t i = t->n_attrs; i-- > 0;)
		if (attrs[t->attr + i].name == name)
			return &attrs[t->attr + i];
	return NULL;
}

/* ---- how many traces have which ---- */

struct count {
	uint64_t traces;
	uint32_t name;
	struct pm_bytes text;
};

static int by_traces(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	if (x->traces != y->traces)
		return x->traces > y->traces ? -1 : 1;
	return pm_bytes_compare(x->text, y->text);
}

static void count_traces(const struct zts_survey *v, struct count *counts)
{
	for (uint32_t i = 0; i < v->n; i++) {
		const struct zts_trace *t = &v->traces[i];
		const struct zts_kept *attrs = v->scans[t->store].attrs;
		for (uint32_t k = 0; k < t->n_attrs; k++) {
			uint32_t name = attrs[t->attr + k].name;
			const struct zts_kept *attr = &attrs[t->attr + k];
			bool empty = attr->len == 0 || (attr->len == ZTS_KEPT_REF && attr->u == 0);
			if (name != PM_NONE && !empty && zts_trace_attr(v, t, name) == attr)
				counts[name].traces++;
		}
	}
}

/* ---- names of columns ---- */

static bool is_taken(const struct zts_columns *c, const char *name)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (strcmp(c->names[i], name) == 0)
			return true;
	return strcmp(name, method) == 0;
}

static size_t make_slug(struct pm_bytes text, char ret[static LONGEST_NAME])
{
	size_t n = 0;
	for (size_t i = 0; i < text.len && n < LONGEST_NAME - 1; i++) {
		uint8_t c = text.p[i];
		bool upper = c >= 'A' && c <= 'Z';
		bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || upper;
		if (plain)
			ret[n++] = (char)(upper ? c + ('a' - 'A') : c);
		else if (n > 0 && ret[n - 1] != '_')
			ret[n++] = '_';
	}
	while (n > 0 && ret[n - 1] == '_')
		n--;
	if (n == 0) {
		memcpy(ret, "attribute", 9);
		n = 9;
	}
	ret[n] = '\0';
	return n;
}

static void add_attr(struct zts_columns *c, struct pm_arena *arena, const struct count *count)
{
	char slug[LONGEST_NAME];
	make_slug(count->text, slug);
	const char *name = pm_arena_printf(arena, "%s", slug);
	for (unsigned number = 2; is_taken(c, name); number++)
		name = pm_arena_printf(arena, "%s_%u", slug, number);
	c->attrs[c->n_attrs++] = count->name;
	c->types[c->n] = 'a';
	c->names[c->n++] = name;
}

/* ---- which says what a trace was about ---- */

uint32_t zts_columns_find(const struct zts_survey *v, const char *word)
{
	const struct zts_columns *c = &v->columns;
	for (uint32_t i = 0; i < c->n_attrs; i++)
		if (strstr(c->names[c->first_attr + i], word))
			return i;
	return PM_NONE;
}

uint32_t zts_columns_telling(const struct zts_survey *v, const struct zts_trace *t)
{
	static const char *const words[] = {
		"sql", "statement", "url", "uri", "query", "topic", "queue", "path"};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint32_t column = zts_columns_find(v, words[i]);
		if (column != PM_NONE && zts_trace_attr(v, t, v->columns.attrs[column]))
			return column;
	}
	return PM_NONE;
}

void zts_columns_choose(struct zts_survey *v)
{
	struct zts_columns *c = &v->columns;
	uint32_t n = v->attr_names.texts.n;
	struct count *counts = pm_arena_realloc(&v->arena, NULL, ((size_t)n + 1) * sizeof(*counts));
	*c = (struct zts_columns){.n = 0};
	memset(c->types, '?', sizeof(c->types));
	for (uint32_t i = 0; i < v->n; i++)
		c->origins |= v->traces[i].has_origin;
	for (uint32_t i = 0; i < N_BEFORE; i++)
		c->names[c->n++] = before[i];
	c->types[PARENT_ID] = 't';
	for (uint32_t i = 0; c->origins && i < ZTS_N_ORIGINS; i++)
		c->names[c->n++] = origins[i];
	c->first_attr = c->n;
	for (uint32_t i = 0; i < n; i++)
		counts[i] = (struct count){0, i, v->attr_names.texts.items[i]};
	count_traces(v, counts);
	pm_build_check(&v->arena, pm_sort(counts, n, sizeof(*counts), by_traces));
	for (uint32_t i = 0; i < n && i < ZTS_ATTR_COLUMNS && counts[i].traces > 0; i++)
		add_attr(c, &v->arena, &counts[i]);
	c->names[c->n++] = method;
	pm_arena_free(&v->arena, counts);
}
