#include "fs/suboptions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/log.h"
#include "fs/tree/names.h"

/* Passed to libfuse unchanged. */
static const char *const fuse_options[] = {"allow_other", "allow_root"};

/*
 * Options that mount(8), mount.fuse3 and fstab add: always true here, or meaningless for files that
 * nobody can write or execute. `rw`, `suid` and `dev` are added by default.
 */
static const char *const ignored_options[] = {"ro", "rw", "defaults", "auto", "noauto", "nofail",
	"user", "nouser", "users", "owner", "noowner", "group", "nogroup", "_netdev", "suid",
	"nosuid", "dev", "nodev", "exec", "noexec", "async", "sync", "dirsync", "atime", "noatime",
	"diratime", "nodiratime", "relatime", "norelatime", "strictatime", "nostrictatime",
	"lazytime", "nolazytime", "silent", "loud", "default_permissions"};
static const char *const ignored_prefixes[] = {"x-", "X-", "comment=", "user="};

static bool is_one_of(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(name, list[i]) == 0)
			return true;
	return false;
}

#define IS_ONE_OF(name, list) is_one_of(name, list, sizeof(list) / sizeof((list)[0]))

static bool parse_size(const char *text, uint64_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (errno || end == text || text[0] == '-')
		return false;
	unsigned shift = 0;
	if (*end)
		shift = strchr("kK", *end)   ? 10
			: strchr("mM", *end) ? 20
			: strchr("gG", *end) ? 30
					     : 0;
	if (*end && (!shift || end[1]))
		return false;
	*ret = (uint64_t)n << shift;
	return *ret >> shift == n;
}

static bool add_fuse_option(struct pmfs_options *o, const char *option)
{
	size_t had = o->fuse ? strlen(o->fuse) : 0;
	char *all = realloc(o->fuse, had + strlen(option) + 2);
	if (!all)
		return false;
	if (had)
		all[had++] = ',';
	strcpy(all + had, option);
	o->fuse = all;
	return true;
}

/* `uid=N` and `gid=N`. */
static bool take_id(const char *option, uint32_t *ret)
{
	char *end;
	errno = 0;
	unsigned long n = strtoul(option + 4, &end, 10);
	bool good = !errno && end > option + 4 && !*end && option[4] != '-' && n < UINT32_MAX;
	if (good)
		*ret = (uint32_t)n;
	else
		pmfs_log("-o %s: a number is expected, like %.4s1000", option, option);
	return good;
}

static bool take_size(const char *option, const char *text, uint64_t *ret)
{
	if (parse_size(text, ret) && *ret > 0)
		return true;
	pmfs_log("-o %s: a number of bytes is expected, like 512M", option);
	return false;
}

/* A number of seconds, minutes, hours or days. */
static bool take_time(const char *option, const char *text, uint64_t *ret_ms)
{
	static const char units[] = "smhd";
	static const uint64_t ms[] = {1000, 60000, 3600000, 86400000};
	char *end;
	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : units;
	bool good = !errno && end > text && text[0] != '-' && unit && (!*end || !end[1]) && n > 0 &&
		n <= UINT32_MAX;
	if (good)
		*ret_ms = n * ms[unit - units];
	else
		pmfs_log("-o %s: a time is expected, like 30m (s, m, h, d)", option);
	return good;
}

static bool is_ignored(const char *option)
{
	for (size_t i = 0; i < sizeof(ignored_prefixes) / sizeof(ignored_prefixes[0]); i++)
		if (strncmp(option, ignored_prefixes[i], strlen(ignored_prefixes[i])) == 0)
			return true;
	return !*option || IS_ONE_OF(option, ignored_options);
}

static bool take_yes_no(const char *option, const char *value, bool *ret_no)
{
	*ret_no = strcmp(value, "no") == 0;
	if (*ret_no || strcmp(value, "yes") == 0)
		return true;
	pmfs_log("-o %s: `yes` or `no` is expected", option);
	return false;
}

static bool take_scaling(const char *value, bool *ret_weak)
{
	*ret_weak = strcmp(value, "weak") == 0;
	if (*ret_weak || strcmp(value, "strong") == 0)
		return true;
	pmfs_log("-o scaling=%s: strong or weak is expected", value);
	return false;
}

bool pmfs_add_source(struct pmfs_options *o, const char *source)
{
	const char **all = realloc(o->sources, ((size_t)o->n_sources + 1) * sizeof(*all));
	if (!all)
		return false;
	o->sources = all;
	o->sources[o->n_sources++] = source;
	return true;
}

/* Options that only say something, and those that give a text: true if it is one of them. */
static bool take_plain(struct pmfs_options *o, const char *option)
{
	const struct {
		const char *name;
		bool *set;
	} flags[] = {{"evals", &o->keep_evals}, {"xattr", &o->xattr}, {"follow", &o->follow},
		{"auto_unmount", &o->auto_unmount}, {"debug", &o->debug}, {"exact", &o->exact},
		{"normalize", &o->normalize}, {"parquet", &o->parquet}, {"lean", &o->lean},
		{"tsv", &o->tsv}};
	const struct {
		const char *name;
		const char **text;
	} texts[] = {{"format=", &o->format}, {"metric=", &o->metric}, {"sysroot=", &o->sysroot},
		{"base=", &o->base}, {"iterations=", &o->iterations}, {"values=", &o->values}};
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(option, flags[i].name) == 0)
			return *flags[i].set = true;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		size_t len = strlen(texts[i].name);
		if (strncmp(option, texts[i].name, len) == 0) {
			*texts[i].text = option + len;
			return true;
		}
	}
	return false;
}

/* `focus=PATTERN` and its like: true if it is one, with *ret_good if it is right. */
static bool take_filter(struct pmfs_options *o, const char *option, bool *ret_good)
{
	const char *value = strchr(option, '=');
	struct pmfs_pattern pattern;
	for (unsigned i = 0; value && i < PMFS_N_FILTERS; i++) {
		size_t len = strlen(pmfs_filter_names[i]);
		if (option + len != value || strncmp(option, pmfs_filter_names[i], len) != 0)
			continue;
		struct pm_bytes text = pm_bytes_of(value + 1);
		*ret_good = pmfs_pattern_read(&pattern, text) && o->n_filters < PMFS_MOST_FILTERS;
		if (!*ret_good)
			pmfs_log("-o %s: %s", option,
				o->n_filters < PMFS_MOST_FILTERS
					? "a pattern is expected, like solve* (1 to 255 bytes, without a leading .)"
					: "there are more than 16 filters");
		else
			o->filters[o->n_filters++] =
				(struct pmfs_filter_what){.kind = (enum pmfs_filter_kind)i,
					.pattern = text,
					.thread = PM_NONE,
					.entry_name = pmfs_name_legal};
		return true;
	}
	return false;
}

/* A name as stems are: lower case letters, digits and `_`, the first one a letter. */
static bool is_stem(struct pm_bytes name)
{
	bool good = name.len > 0 && name.len <= 60 && name.p[0] >= 'a' && name.p[0] <= 'z';
	for (size_t i = 0; good && i < name.len; i++)
		good = (name.p[i] >= 'a' && name.p[i] <= 'z') ||
			(name.p[i] >= '0' && name.p[i] <= '9') || name.p[i] == '_';
	return good;
}

/* The value of `derive=NAME=FORMULA`. */
static bool take_definition(struct pmfs_options *o, const char *option, const char *value)
{
	const char *equals = strchr(value, '=');
	struct pmfs_definition d = {.name = {(const uint8_t *)value, 0}};
	struct pm_formula_fault fault;
	bool named = false;
	if (!o->derived)
		o->derived = calloc(1, sizeof(*o->derived));
	if (!o->derived)
		return false;
	d.name.len = equals ? (size_t)(equals - value) : 0;
	bool good = is_stem(d.name) && o->derived->n < PM_LIMIT_DERIVED;
	for (uint32_t i = 0; good && i < o->derived->n; i++)
		good = !pm_bytes_equal(d.name, o->derived->items[i].name);
	if (!good) {
		pmfs_log(
			"-o %s: NAME=FORMULA is expected, like ipc=papi_tot_ins/papi_tot_cyc, with a new NAME (a-z, 0-9, _; at most 100 of 60 letters)",
			option);
		return false;
	}
	d.text = pm_bytes_of(equals + 1);
	int r = pm_formula_read(d.text, &d.formula, &fault);
	if (r == -EINVAL)
		pmfs_log("-o derive=%.*s: at letter %zu of the formula%s%.20s: expected %s",
			(int)d.name.len, (const char *)d.name.p, fault.at + 1,
			fault.at < d.text.len ? ", " : "", equals + 1 + fault.at, fault.expected);
	if (r < 0)
		return false;
	for (uint32_t i = 0; i < d.formula.n; i++)
		named |= d.formula.ops[i].kind == PM_OP_NAME;
	o->derived->items[o->derived->n++] = d;
	if (!named)
		pmfs_log("-o %s: no metric is named in it", option);
	return named;
}

static bool parse_one(struct pmfs_options *o, char *option)
{
	bool good;
	if (take_filter(o, option, &good))
		return good;
	if (strncmp(option, "derive=", 7) == 0)
		return take_definition(o, option, option + 7);
	if (take_plain(o, option)) {
		o->foreground |= o->debug;
		return true;
	}
	if (strncmp(option, "cache=", 6) == 0)
		return take_size(option, option + 6, &o->cache_bytes);
	if (strncmp(option, "memory=", 7) == 0)
		return take_size(option, option + 7, &o->memory_bytes);
	if (strncmp(option, "idle=", 5) == 0)
		return take_time(option, option + 5, &o->idle_ms);
	if (strncmp(option, "max=", 4) == 0)
		return take_size(option, option + 4, &o->max_bytes);
	if (strncmp(option, "uid=", 4) == 0)
		return take_id(option, &o->uid);
	if (strncmp(option, "gid=", 4) == 0)
		return take_id(option, &o->gid);
	if (strncmp(option, "symbols=", 8) == 0)
		return take_yes_no(option, option + 8, &o->no_symbols);
	if (strncmp(option, "repetitions=", 12) == 0) {
		bool no = true, good_value = take_yes_no(option, option + 12, &no);
		o->repetitions = !no;
		return good_value;
	}
	if (strncmp(option, "scaling=", 8) == 0)
		return take_scaling(option + 8, &o->weak);
	if (strncmp(option, "run=", 4) == 0)
		return pmfs_add_source(o, option + 4);
	if (IS_ONE_OF(option, fuse_options))
		return add_fuse_option(o, option);
	if (is_ignored(option))
		return true;
	pmfs_log("-o %s: no such option (see -h)", option);
	return false;
}

/* The next option of a list, which ends at a comma; `\,` is a comma in it. NULL behind the last. */
static char *next_option(char **rest)
{
	char *option = *rest, *to = option, *from = option;
	for (; from && *from && *from != ','; *to++ = *from++)
		if (from[0] == '\\' && from[1] == ',')
			from++;
	if (!from)
		return NULL;
	*rest = *from ? from + 1 : NULL;
	*to = '\0';
	return option;
}

bool pmfs_suboptions_take(struct pmfs_options *o, char *list)
{
	for (char *rest = list, *option; (option = next_option(&rest));)
		if (!parse_one(o, option))
			return false;
	return true;
}
