/* The command line, and what -h and -V print of it. */
#include "fs/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/confine.h"
#include "fs/instance.h"
#include "fs/log.h"
#include "fs/runs/words.h"
#include "fs/tree/names.h"

/*
 * What -h and -V print. profmount(1), the completions and this name the same options
 * (test_install.py).
 */

const char pmfs_usage[] =
	"usage: profmount [options] SOURCE MOUNTPOINT\n"
	"       profmount [options] [NAME=]SOURCE [NAME=]SOURCE... MOUNTPOINT\n"
	"       profmount --ls SOURCE [PATH]\n"
	"       profmount --cat SOURCE PATH...\n"
	"       profmount --extract SOURCE DIR [PATH...]\n"
	"       profmount --check SOURCE\n"
	"       profmount --formats\n"
	"       profmount -u MOUNTPOINT\n"
	"\n"
	"Mounts the performance profile or trace store SOURCE as read-only files. Unmount with\n"
	"`profmount -u MOUNTPOINT`. README.txt in the mount describes its contents.\n"
	"\n"
	"Several SOURCEs, or a folder that holds some, are runs, which are compared with the first\n"
	"one; runs of one NAME are repetitions. The commands take several as `[NAME=]SOURCE... --`.\n"
	"\n"
	"    -f                  stay in the foreground\n"
	"    -d                  the same, and print each FUSE request\n"
	"    -s                  single-threaded: build one document at a time\n"
	"    -o format=NAME      treat SOURCE as this format (see --formats)\n"
	"    -o metric=NAME      primary quantity (a column of metrics.csv or its stem): comes first\n"
	"                        in tables, and sorts them; used by pictures and summary.txt\n"
	"    -o cache=SIZE       cache at most SIZE bytes of rendered files (k, M, G; 256M)\n"
	"    -o memory=SIZE      keep at most SIZE bytes in memory (default: a quarter of the machine's)\n"
	"    -o lean             no directory for each context, function and iteration\n"
	"    -o idle=TIME        unmount after that time without a request (s, m, h, d)\n"
	"    -o evals            NYTProf: keep evals of the same line and text separate\n"
	"    -o max=SIZE         limit --extract to SIZE bytes (default: the larger of 1G and 64 times\n"
	"                        the size of SOURCE)\n"
	"    -o iterations=NAME  a function, label or method, or a pattern of names: its calls are\n"
	"                        iterations, each a row of iterations.csv and a window\n"
	"    -o values=FIELD     trace events, HTDUMP: a number of calls (several: FIELD\\,FIELD) is a\n"
	"                        quantity\n"
	"    -o focus=PATTERN    call paths on which a function matches (also ignore=, hide=, from=;\n"
	"                        several, in their order; a comma in PATTERN is \\,)\n"
	"    -o derive=NAME=FORMULA  a metric computed in each row, like ipc=papi_tot_ins/papi_tot_cyc\n"
	"                        (several; a comma in FORMULA is \\,)\n"
	"    -o metrics=all      HPCToolkit: columns of sums that only serve derived metrics, too\n"
	"    -o tsv              list tables as TSV, too: X.tsv beside X.csv, otherwise found by name\n"
	"    -o parquet          --extract writes each X.csv as X.parquet, too\n"
	"    -o symbols=no       hpcrun, perf, pprof: no names but those in SOURCE itself\n"
	"    -o sysroot=DIR      hpcrun, perf, pprof: measured programs and libraries are below DIR\n"
	"    -o xattr            provide extended attributes user.profmount.*\n"
	"    -o allow_other      allow access by other users (-o allow_root: by root)\n"
	"    -o uid=N,gid=N      owner of all files (default: the mounting user)\n"
	"    -o auto_unmount     unmount when the process dies\n"
	"    -o follow           follow SOURCE while it is being written\n"
	"    -o run=[NAME=]SOURCE  one more SOURCE, for fstab\n"
	"    -o base=NAME        compare with the runs of that name\n"
	"    -o repetitions=yes  runs whose names differ only in a last number, counted from 0 or 1,\n"
	"                        are repetitions\n"
	"    -o exact            compare names as they are, without what builds add to them\n"
	"    -o normalize        compare shares of the whole, for runs of unequal length\n"
	"    -o scaling=strong|weak  how work grows with threads in scaling.csv (strong: not at all)\n"
	"    -u, --unmount       unmount MOUNTPOINT\n"
	"    -h, --help          print this\n"
	"    -V, --version       print the version, the libraries, and how reading is confined here\n"
	"\n"
	"Without a mount, the same files:\n"
	"    --ls                list a directory\n"
	"    --cat               write files to standard output\n"
	"    --extract           write everything, or the PATHs, to DIR; unreadable files are reported\n"
	"                        on standard error and skipped (exit 1)\n"
	"    --check             read all of SOURCE and report damage: exit 0 sound, 1 damaged,\n"
	"                        2 unusable\n"
	"    --formats           list the formats\n";

void pmfs_print_version(void)
{
	struct pmfs_confinement confinement;
	pmfs_confinement(&confinement);
	printf("profmount " PMFS_VERSION "\n"
	       "built with: " PMFS_WITH "\n"
	       "built without: " PMFS_WITHOUT "\n"
	       "reading is confined by: %s\n",
		confinement.layers[0] ? confinement.layers : "nothing");
	if (confinement.missing[0])
		printf("and not by: %s\n", confinement.missing);
}

/*
 * ---- what stands behind -o: options with a name, and perhaps a value, with commas between
 * them ----
 */

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

/* Adds a source, as `run=` does: [NAME=]PATH, which must last as long as `o`. False: no memory. */
static bool add_source(struct pmfs_options *o, const char *source)
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
			pmfs_log("-o %.60s: %s", option,
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

static bool need_definitions(struct pmfs_options *o)
{
	if (!o->derived)
		o->derived = calloc(1, sizeof(*o->derived));
	return o->derived != NULL;
}

/* The value of `derive=NAME=FORMULA`. */
static bool take_definition(struct pmfs_options *o, const char *option, const char *value)
{
	const char *equals = strchr(value, '=');
	struct pmfs_definition d = {.name = {(const uint8_t *)value, 0}};
	struct pm_formula_fault fault;
	bool named = false;
	if (!need_definitions(o))
		return false;
	d.name.len = equals ? (size_t)(equals - value) : 0;
	bool good = is_stem(d.name) && o->derived->n < PM_LIMIT_DERIVED;
	for (uint32_t i = 0; good && i < o->derived->n; i++)
		good = !pm_bytes_equal(d.name, o->derived->items[i].name);
	if (!good) {
		pmfs_log(
			"-o %s: NAME=FORMULA is expected, like ipc=papi_tot_ins/papi_tot_cyc, with a new NAME (a-z, 0-9, _; at most 100 of 60 characters)",
			option);
		return false;
	}
	d.text = pm_bytes_of(equals + 1);
	int r = pm_formula_read(d.text, &d.formula, &fault);
	if (r == -EINVAL)
		pmfs_log("-o derive=%.*s: at character %zu of the formula%s%.20s: expected %s",
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
	if (strcmp(option, "metrics=all") == 0)
		return need_definitions(o) && (o->derived->all_metrics = true);
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
		return add_source(o, option + 4);
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

/*
 * Takes those of a list, which is changed and must last as long as `o`, whose strings are in it.
 * False where one is wrong: a line on standard error has then said which.
 */
static bool suboptions_take(struct pmfs_options *o, char *list)
{
	for (char *rest = list, *option; (option = next_option(&rest));)
		if (!parse_one(o, option))
			return false;
	return true;
}

/* ---- the command line ---- */

/*
 * How many words each mode takes after the options. The first is the source, and of `many` all that
 * leave enough for what must follow; where there is a `--`, all before it are sources.
 */
static const struct {
	int least, most; /* beside the sources */
	bool many;
	const char *what;
} words[] = {
	[PMFS_MODE_MOUNT] = {1, 1, true, "SOURCE and MOUNTPOINT are expected"},
	[PMFS_MODE_LS] = {0, 1, false, "--ls takes SOURCE and perhaps a PATH"},
	[PMFS_MODE_CAT] = {1, INT32_MAX, false, "--cat takes SOURCE and PATHs"},
	[PMFS_MODE_EXTRACT] = {1, INT32_MAX, false,
		"--extract takes SOURCE, DIR and perhaps PATHs"},
	[PMFS_MODE_CHECK] = {0, 0, true, "--check takes SOURCE"},
	[PMFS_MODE_UNMOUNT] = {1, 1, false, "-u takes MOUNTPOINT"},
};

static bool wrong_words(const struct pmfs_options *o)
{
	pmfs_log("%s (see -h)", words[o->mode].what);
	return false;
}

/* Of many words, one more than meant is likelier than a source more and no mountpoint. */
static bool ends_with_mountpoint(const struct pmfs_options *o)
{
	struct stat st;
	const char *last = o->paths[0];
	int r = stat(last, &st);
	if (r == 0 ? S_ISDIR(st.st_mode) : errno != ENOENT)
		return true;
	pmfs_log("%s: the mountpoint comes last and is a directory (see -h)", last);
	return false;
}

/*
 * A second word that names a run cannot be a path of a mount: the sources end with `--`, which is
 * missing.
 */
static bool lacks_end(const struct pmfs_options *o, int n)
{
	const char *second = n > 1 ? o->words[1] : "";
	size_t name = pmfs_word_name(second);
	if (name == 0 || access(second, F_OK) == 0 || access(second + name + 1, F_OK) < 0)
		return false;
	pmfs_log("%s: several sources end with `--`, then come PATHs (see -h)", second);
	return true;
}

/* The words of the command line, `before` of them before a `--`; 0: all are one list. */
static bool take_words(struct pmfs_options *o, int n, int before)
{
	if (o->mode == PMFS_MODE_HELP || o->mode == PMFS_MODE_VERSION)
		return true;
	if (o->mode == PMFS_MODE_FORMATS) {
		if (n > 0)
			pmfs_log("--formats takes nothing (see -h)");
		return n == 0;
	}
	if (o->mode == PMFS_MODE_UNMOUNT) {
		o->paths = o->words;
		o->n_paths = n;
		return n == 1 || wrong_words(o);
	}
	bool many = words[o->mode].many;
	if (before == 0 && !many && lacks_end(o, n))
		return false;
	int sources = before > 0 ? before : many ? n - words[o->mode].least : 1;
	int rest = n - sources;
	if (sources < 1 || rest < words[o->mode].least || rest > words[o->mode].most)
		return wrong_words(o);
	/* Those of -o run= follow those that stand as words. */
	int named = o->n_sources;
	for (int i = 0; i < sources; i++)
		if (!add_source(o, o->words[i]))
			return false;
	memmove(o->sources + sources, o->sources, (size_t)named * sizeof(*o->sources));
	memcpy(o->sources, o->words, (size_t)sources * sizeof(*o->sources));
	o->paths = o->words + sources;
	o->n_paths = rest;
	return o->mode != PMFS_MODE_MOUNT || sources < 2 || ends_with_mountpoint(o);
}

enum {
	WORD = 1,     /* what getopt returns for what is no option */
	LONG = 0x100, /* tells `--ls` from `-l` in optopt */
};

static const struct option long_options[] = {
	{"ls", no_argument, NULL, LONG | 'l'},
	{"cat", no_argument, NULL, LONG | 'c'},
	{"extract", no_argument, NULL, LONG | 'x'},
	{"check", no_argument, NULL, LONG | 'k'},
	{"unmount", no_argument, NULL, LONG | 'u'},
	{"formats", no_argument, NULL, LONG | 'F'},
	{"help", no_argument, NULL, LONG | 'h'},
	{"version", no_argument, NULL, LONG | 'V'},
	{NULL, 0, NULL, 0},
};

/* Amid the letters of `-xyz`, argv[optind - 1] is still the argument before it. */
static bool refuse_option(char **argv)
{
	if (optopt && !(optopt & LONG))
		pmfs_log("-%c: no such option (see -h)", optopt);
	else
		pmfs_log("%s: no such option (see -h)", argv[optind - 1]);
	return false;
}

static bool take_option(struct pmfs_options *o, int c, char **argv)
{
	switch (c & ~LONG) {
	case 'f': o->foreground = true; return true;
	case 'd': o->foreground = o->debug = true; return true;
	case 's': o->single_thread = true; return true;
	case 'o': return suboptions_take(o, optarg);
	case 'l': o->mode = PMFS_MODE_LS; return true;
	case 'c': o->mode = PMFS_MODE_CAT; return true;
	case 'x': o->mode = PMFS_MODE_EXTRACT; return true;
	case 'k': o->mode = PMFS_MODE_CHECK; return true;
	case 'u': o->mode = PMFS_MODE_UNMOUNT; return true;
	case 'F': o->mode = PMFS_MODE_FORMATS; return true;
	case 'h': o->mode = PMFS_MODE_HELP; return true;
	case 'V': o->mode = PMFS_MODE_VERSION; return true;
	case ':': pmfs_log("%s: an argument is missing (see -h)", argv[optind - 1]); return false;
	default: return refuse_option(argv);
	}
}

bool pmfs_options_parse(int argc, char **argv, struct pmfs_options *ret)
{
	int c, n = 0, before = 0;
	*ret = (struct pmfs_options){.mode = PMFS_MODE_MOUNT,
		.cache_bytes = PMFS_CACHE_DEFAULT,
		.uid = getuid(),
		.gid = getgid(),
		.words = calloc((size_t)argc + 1, sizeof(*ret->words))};
	if (!ret->words)
		return false;
	/*
	 * The colon: getopt says nothing itself. The minus: words come in their order, since
	 * options may follow SOURCE, as mount(8) puts them.
	 */
	while ((c = getopt_long(argc, argv, "-:fdso:uhV", long_options, NULL)) != -1) {
		if (c == WORD)
			ret->words[n++] = optarg;
		else if (!take_option(ret, c, argv))
			return false;
	}
	if (strcmp(argv[optind - 1], "--") == 0)
		before = n;
	while (optind < argc)
		ret->words[n++] = argv[optind++];
	return take_words(ret, n, before);
}

void pmfs_options_done(struct pmfs_options *o)
{
	for (uint32_t i = 0; o->derived && i < o->derived->n; i++)
		pm_formula_done(&o->derived->items[i].formula);
	free(o->derived);
	free(o->fuse);
	free(o->sources);
	free(o->words);
	*o = (struct pmfs_options){.mode = PMFS_MODE_MOUNT};
}
