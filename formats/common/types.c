/*
 * Types of columns. Names are an interface (docs/namespace.md), and a name means the same in every
 * table, so types follow from names. A table states the types of the columns whose names do not
 * tell.
 */
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/sheet.h"
#include "profmount/table.h"

/* Integers whose names have no unit at the end. */
static const char *const integers[] = {"async", "bytes", "calls", "children", "chunk", "contexts",
	"core", "count", "depth", "epoch", "error", "errors", "evals", "exceptions", "functions",
	"gpucontext", "gpudevice", "gpustream", "id", "index", "lane", "launches", "line", "lines",
	"node", "peers", "process", "profile", "rank", "records", "sampled", "samples", "seq",
	"size", "slowest_rank", "spans", "statements", "stack", "thread", "threads", "time",
	"timestamp", "trace_errors", "traces", "tstart", "tstop", "values", "waiting"};

static const char *const floats[] = {"computation_scaling", "imbalance", "load_balance", "lost",
	"rank_lost", "share", "speedup"};

/* Longer names come before their own suffixes. */
static const struct {
	const char *end;
	enum pm_type type;
} ends[] = {
	{"mean_ns", PM_TYPE_FLOAT},
	{"bytes_per_sec", PM_TYPE_FLOAT},
	{"trace_id", PM_TYPE_TEXT},
	{"span_id", PM_TYPE_TEXT},
	{"_id", PM_TYPE_INTEGER},
	{"_ns", PM_TYPE_INTEGER},
	{"_bytes", PM_TYPE_INTEGER},
	{"ranks", PM_TYPE_INTEGER},
	{"speedup", PM_TYPE_FLOAT},
	{"load_balance", PM_TYPE_FLOAT},
	{"_efficiency", PM_TYPE_FLOAT},
	{"computation_scaling", PM_TYPE_FLOAT},
	{"_index", PM_TYPE_INTEGER},
	{"_offset", PM_TYPE_INTEGER},
	{"_incl", PM_TYPE_FLOAT},
	{"_excl", PM_TYPE_FLOAT},
	{"_self", PM_TYPE_FLOAT},
	{"_min", PM_TYPE_FLOAT},
	{"_mean", PM_TYPE_FLOAT},
	{"_max", PM_TYPE_FLOAT},
	{"_stddev", PM_TYPE_FLOAT},
	{"_efficiency", PM_TYPE_FLOAT},
};

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static enum pm_type type_of_name(const char *name)
{
	if (is_one_of(name, integers, sizeof(integers) / sizeof(*integers)))
		return PM_TYPE_INTEGER;
	if (is_one_of(name, floats, sizeof(floats) / sizeof(*floats)))
		return PM_TYPE_FLOAT;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (pm_ends_with(pm_bytes_of(name), ends[i].end))
			return ends[i].type;
	return PM_TYPE_TEXT;
}

static enum pm_type type_of_letter(char letter)
{
	switch (letter) {
	case 'i': return PM_TYPE_INTEGER;
	case 'f': return PM_TYPE_FLOAT;
	case 'a': return PM_TYPE_ANY;
	default: return PM_TYPE_TEXT;
	}
}

static enum pm_type type_of_sheet(const struct pm_column *c)
{
	if (c->type)
		return type_of_letter(c->type);
	if (c->cell)
		return type_of_name(c->name);
	if (c->hex || c->write)
		return PM_TYPE_TEXT;
	if (c->field == PM_FIELD_CELL)
		return type_of_name(c->name);
	if (c->field == PM_FIELD_F64)
		return PM_TYPE_FLOAT;
	bool is_text =
		c->field == PM_FIELD_TEXT || c->field == PM_FIELD_STR || c->field == PM_FIELD_CHARS;
	return is_text ? PM_TYPE_TEXT : PM_TYPE_INTEGER;
}

enum pm_type pm_table_type_of(const struct pm_table *table, uint32_t i)
{
	if (table->types && table->types[i] != '?')
		return type_of_letter(table->types[i]);
	return table->columns ? type_of_name(table->columns[i])
			      : type_of_sheet(&table->sheet->columns[i]);
}

struct pm_bytes pm_column_unit(const char *name)
{
	static const char *const roles[] = {"_incl", "_excl", "_min", "_mean", "_max", "_stddev"};
	static const char *const units[] = {
		"ns", "us", "usec", "ms", "msec", "s", "sec", "seconds", "bytes", "cycles"};
	struct pm_bytes rest = pm_bytes_of(name);
	for (size_t twice = 0; twice < 2; twice++)
		for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++)
			if (pm_ends_with(rest, roles[i]))
				rest.len -= strlen(roles[i]);
	size_t at = rest.len;
	while (at > 0 && rest.p[at - 1] != '_')
		at--;
	struct pm_bytes last = {rest.p + at, rest.len - at};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (pm_bytes_equal(last, pm_bytes_of(units[i])))
			return last;
	return (struct pm_bytes){NULL, 0};
}
