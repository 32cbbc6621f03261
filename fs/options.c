#include "fs/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/instance.h"
#include "fs/log.h"
#include "fs/runs/words.h"
#include "fs/suboptions.h"

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
		if (!pmfs_add_source(o, o->words[i]))
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
	case 'o': return pmfs_suboptions_take(o, optarg);
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
