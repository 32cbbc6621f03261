/*
 * Writes the costliest sources that are consistent: for the counts, references, names, depths and
 * times of each format the value that makes most work, as often as the size allows.
 *
 *     make_costly CASE BYTES PATH         about that many bytes; a file, or a folder of them
 *     make_costly                         lists the cases
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/common/text.h"
#include "tests/cost/costly.h"
#include "tests/hpcrun/fixture.h"
#include "tests/htdump/writer.h"
#include "tests/nytprof/writer.h"
#include "tests/zts/writer.h"

const char *costly_path;
size_t costly_bytes;

_Noreturn void costly_die(const char *what)
{
	fprintf(stderr, "make_costly: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void save(const void *p, size_t n)
{
	FILE *f = fopen(costly_path, "wb");
	if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		costly_die(costly_path);
}

/* ---- NYTProf ---- */

static struct nytpw nyt;

static void nyt_begin(void)
{
	nytpw_header(&nyt, 5);
	nytpw_pid_start(&nyt, 100, 1, 1e9);
	nytpw_fid(&nyt, 1, 0, 0, "/dir/main.pl");
}

static void nyt_end(void)
{
	nytpw_pid_end(&nyt, 100, 1e9 + 1);
	struct pm_bytes b = nytpw_take(&nyt);
	save(b.p, b.len);
	free((void *)(uintptr_t)b.p);
}

static void nyt_same_name(void)
{
	nyt_begin();
	while (nyt.out.len < costly_bytes)
		nytpw_return(&nyt, 1, 1, 1, "main::same");
	nyt_end();
}

static void nyt_numbered_names(void)
{
	char name[32];
	nyt_begin();
	for (unsigned i = 2; nyt.out.len < costly_bytes; i++) {
		snprintf(name, sizeof(name), "same~%u", i);
		nytpw_return(&nyt, 1, 1, 1, name);
		nytpw_return(&nyt, 1, 1, 1, "same");
	}
	nyt_end();
}

static void nyt_deep(void)
{
	nyt_begin();
	size_t one = nyt.out.len;
	nytpw_return(&nyt, 100000, 1, 1, "main::deep");
	one = nyt.out.len - one;
	for (uint32_t n = (uint32_t)(costly_bytes / one); n > 0; n--)
		nytpw_return(&nyt, n, n, 1, "main::deep");
	nyt_end();
}

static void nyt_lines(void)
{
	nyt_begin();
	for (uint32_t i = 0; nyt.out.len < costly_bytes; i++)
		nytpw_time(&nyt, 0, 1, UINT32_MAX - i);
	nyt_end();
}

/* A name of that length; the caller's. */
static char *long_name(size_t length)
{
	char *name = malloc(length + 1);
	if (!name)
		costly_die("memory");
	memset(name, 'f', length);
	name[length] = 0;
	return name;
}

/* What the name of a function is of everything that shares it: 64 KiB of 1 MB. */
static size_t wide_name(void)
{
	return costly_bytes / 16;
}

/* Subs in a file whose name has a length. */
static void nyt_file_of(size_t length)
{
	char *path = long_name(length), name[32];
	nyt = (struct nytpw){.out.p = NULL};
	nyt_begin();
	nytpw_fid(&nyt, 2, 0, 0, path);
	for (unsigned i = 1; nyt.out.len < costly_bytes; i++) {
		snprintf(name, sizeof(name), "main::s%u", i);
		nytpw_sub(&nyt, 2, name, i, i);
		nytpw_time(&nyt, 1, 2, i);
		nytpw_return(&nyt, 1, 1, 1, name);
	}
	nyt_end();
	free(path);
}

/* Whose name is a 1000th of everything. */
static void nyt_long_file(void)
{
	nyt_file_of(costly_bytes / 1000);
}

/* Whose name is a quarter of everything. */
static void nyt_giant_file(void)
{
	nyt_file_of(costly_bytes / 4);
}

static void nyt_evals(void)
{
	nyt_begin();
	for (uint32_t i = 2; nyt.out.len < costly_bytes; i++)
		nytpw_fid(&nyt, i, i - 1, 1, "(eval 1)[/dir/main.pl:1]");
	nyt_end();
}

static void nyt_callers(void)
{
	nyt_begin();
	nytpw_sub(&nyt, 1, "main::b", 1, UINT32_MAX);
	for (uint32_t i = 1; nyt.out.len < costly_bytes; i++) {
		struct nytpw_callers c = {.fid = 1,
			.line = i,
			.count = UINT32_MAX,
			.depth = UINT32_MAX,
			.incl = 1,
			.excl = 1,
			.caller = "main::a",
			.called = "main::b"};
		nytpw_callers(&nyt, &c);
	}
	nyt_end();
}

static void nyt_subs(void)
{
	nyt_begin();
	while (nyt.out.len < costly_bytes)
		nytpw_sub(&nyt, 1, "main::same", 1, UINT32_MAX);
	nyt_end();
}

static void nyt_sources(void)
{
	nyt_begin();
	for (uint32_t i = 0; nyt.out.len < costly_bytes; i++)
		nytpw_source(&nyt, 1, UINT32_MAX - i, "x");
	nyt_end();
}

/* ---- HTDUMP ---- */

static struct htdw ht;

static void ht_end(void)
{
	save(ht.p, ht.len);
	htdw_done(&ht);
}

static void ht_same_time(void)
{
	for (htdw_begin(&ht, false, false); ht.len < costly_bytes;)
		htdw_call_text(&ht, 1, 1000, 1000, "same");
	ht_end();
}

static void ht_nested(void)
{
	htdw_begin(&ht, false, false);
	for (uint64_t i = 0; ht.len < costly_bytes; i++)
		htdw_call_text(&ht, 1, 1000000000 - i, 2 * i, "deep");
	ht_end();
}

static void ht_backwards(void)
{
	htdw_begin(&ht, false, false);
	for (uint64_t i = 0; ht.len < costly_bytes; i++)
		htdw_call_text(&ht, 1, 1000000000 - 2 * i, 1, "back");
	ht_end();
}

static void ht_threads(void)
{
	htdw_begin(&ht, false, false);
	for (uint32_t i = 0; ht.len < costly_bytes; i++)
		htdw_call_text(&ht, i, 1000, 1, "thread");
	ht_end();
}

static void ht_classes(void)
{
	char name[32];
	htdw_begin(&ht, false, false);
	for (uint32_t i = HTDW_OWN; ht.len < costly_bytes; i++) {
		snprintf(name, sizeof(name), "C%u", i);
		htdw_klass(&ht, i, name, 1);
		htdw_field(&ht, i, "HT_Event", "base", 0, HTDW_STRUCT);
	}
	ht_end();
}

/* Each class holds the one before: a chain of bases. */
static void ht_bases(void)
{
	char name[32], last[32] = "HT_Event";
	htdw_begin(&ht, false, false);
	for (uint32_t i = HTDW_OWN; ht.len < costly_bytes; i++) {
		snprintf(name, sizeof(name), "C%u", i);
		htdw_klass(&ht, i, name, 2);
		htdw_field(&ht, i, last, "base", 0, HTDW_STRUCT);
		htdw_field(&ht, i, "uint8_t", "x", 1, HTDW_INTEGER);
		memcpy(last, name, sizeof(last));
	}
	ht_end();
}

static void ht_one_class(void)
{
	htdw_begin(&ht, false, false);
	while (ht.len < costly_bytes) {
		htdw_klass(&ht, HTDW_OWN, "Same", 1);
		htdw_field(&ht, HTDW_OWN, "HT_Event", "base", 0, HTDW_STRUCT);
	}
	ht_end();
}

static void ht_mappings(void)
{
	htdw_begin(&ht, false, false);
	while (ht.len < costly_bytes) {
		htdw_mapping(&ht, 7, "seven");
		htdw_call_int(&ht, 1, 1000, 1, 7);
	}
	ht_end();
}

/* Many labels, and as many threads with a call of the last one each. */
static void ht_labels(void)
{
	char name[32];
	uint32_t n = 0;
	htdw_begin(&ht, false, false);
	for (; ht.len < costly_bytes / 2; n++) {
		snprintf(name, sizeof(name), "L%u", n);
		htdw_mapping(&ht, n, name);
	}
	for (uint32_t i = 0; ht.len < costly_bytes; i++)
		htdw_call_int(&ht, i, 1000, 1 + i, n - 1);
	ht_end();
}

static void ht_name_of(size_t length)
{
	char *name = long_name(length);
	htdw_begin(&ht, false, false);
	htdw_mapping(&ht, 7, name);
	for (uint64_t i = 0; ht.len < costly_bytes; i++)
		htdw_call_int(&ht, (uint32_t)(i % 4), 1000 + 20 * i, 10, 7);
	ht_end();
	free(name);
}

static void ht_long_name(void)
{
	ht_name_of(costly_bytes / 1000);
}

static void ht_giant_name(void)
{
	ht_name_of(wide_name());
}

/* ---- hpcrun ---- */

/* A name that all addresses share is that of their load module: NULL: that of the fixture. */
static void run_tree(bool chain, char *name)
{
	size_t n = costly_bytes / 36;
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	struct fixture_node *nodes = calloc(n, sizeof(*nodes));
	struct pm_text t = {.p = NULL};
	if (!nodes)
		costly_die("memory");
	for (size_t i = 0; i < n; i++)
		nodes[i] = (struct fixture_node){.number = 2 * (uint32_t)i + 2,
			.parent = i == 0 ? 0
				: chain  ? 2 * (uint32_t)i
					 : 2,
			.module = 1,
			.ip = name ? 0x1000 + 16 * i : 0x1000,
			.values = {1}};
	struct fixture_module module = {.name = name, .vaddr = 0};
	if (name) {
		p.modules = &module;
		p.n_modules = 1;
	}
	p.nodes = nodes;
	p.n_nodes = n;
	fixture_profile_write(&p, &t);
	save(t.p, t.len);
	pm_text_done(&t);
	free(nodes);
	free(name);
}

static void run_deep(void)
{
	run_tree(true, NULL);
}

static void run_wide(void)
{
	run_tree(false, NULL);
}

static void run_long_module(void)
{
	run_tree(false, long_name(costly_bytes / 1000));
}

static void run_giant_module(void)
{
	run_tree(false, long_name(wide_name()));
}

static void run_threads(void)
{
	if (mkdir(costly_path, 0777) != 0 && errno != EEXIST)
		costly_die(costly_path);
	if (fixture_run_write(costly_path, (uint32_t)(costly_bytes / 1000000), 60, 60) < 0)
		costly_die(costly_path);
}

/* ---- ZTS ---- */

static void zts_save(struct pm_text *traces, struct pm_text *texts)
{
	bool good = (mkdir(costly_path, 0777) == 0 || errno == EEXIST) &&
		zts_write_file(costly_path, "traces.dat", pm_text_view(traces)) &&
		zts_write_file(costly_path, "text-00000001.wal", pm_text_view(texts));
	if (!good)
		costly_die(costly_path);
	pm_text_done(traces);
	pm_text_done(texts);
}

static void add_trace(struct pm_text *payload, unsigned depth, unsigned attributes)
{
	for (unsigned i = 0; i < depth; i++)
		zts_put_begin(payload, 100, 4);
	for (unsigned i = 0; i < attributes; i++)
		zts_put_attr(payload, 1, 2);
	for (unsigned i = 0; i < depth; i++)
		zts_put_end(payload, 100, UINT32_MAX);
}

static const struct zts_entry few_texts[] = {{1, "key"}, {2, "value"}, {3, "a.B"}, {4, "a.B.m()V"}};

static void zts_chunks_of(
	unsigned depth, unsigned attributes, const struct zts_entry *entries, size_t n)
{
	struct pm_text traces = {.p = NULL}, texts = {.p = NULL}, payload = {.p = NULL};
	add_trace(&payload, depth, attributes);
	zts_put_file_header(&traces, 0);
	do
		zts_put_chunk(&traces, 0, pm_text_view(&payload));
	while (traces.len < costly_bytes);
	zts_put_wal(&texts, entries, n);
	pm_text_done(&payload);
	zts_save(&traces, &texts);
}

enum { N_FEW = sizeof(few_texts) / sizeof(few_texts[0]) };

static void zts_same(void)
{
	zts_chunks_of(1, 1, few_texts, N_FEW);
}

static void zts_deep(void)
{
	zts_chunks_of(1000, 0, few_texts, N_FEW);
}

static void zts_attributes(void)
{
	zts_chunks_of(1, (unsigned)(costly_bytes / 10), few_texts, N_FEW);
}

/* Traces whose method, and the value of an attribute, are long. */
static void zts_name_of(size_t length)
{
	struct zts_entry entries[N_FEW];
	memcpy(entries, few_texts, sizeof(entries));
	char *name = long_name(length);
	entries[1].text = entries[3].text = name;
	zts_chunks_of(1, 1, entries, N_FEW);
	free(name);
}

static void zts_long_name(void)
{
	zts_name_of(costly_bytes / 1000);
}

static void zts_giant_name(void)
{
	zts_name_of(wide_name());
}

static void zts_texts(void)
{
	struct pm_text traces = {.p = NULL}, texts = {.p = NULL}, payload = {.p = NULL};
	size_t n = costly_bytes / 12;
	struct zts_entry *entries = calloc(n, sizeof(*entries));
	if (!entries)
		costly_die("memory");
	for (size_t i = 0; i < n; i++)
		entries[i] = (struct zts_entry){.id = 4, .text = "same"};
	add_trace(&payload, 1, 1);
	zts_put_file_header(&traces, 0);
	zts_put_chunk(&traces, 0, pm_text_view(&payload));
	zts_put_wal(&texts, entries, n);
	pm_text_done(&payload);
	free(entries);
	zts_save(&traces, &texts);
}

/* ---- several runs: folders in a folder, with a profile in each ---- */

/* Makes a file of `each` bytes at a time, until the folder has all. */
static void runs_of(void (*make)(void), size_t each)
{
	static char file[4096];
	const char *folder = costly_path;
	size_t all = costly_bytes, done = 0;
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		costly_die(folder);
	costly_bytes = each;
	for (unsigned i = 0; done < all; i++, done += each) {
		snprintf(file, sizeof(file), "%s/run%u", folder, i);
		if (mkdir(file, 0777) != 0 && errno != EEXIST)
			costly_die(file);
		snprintf(file, sizeof(file), "%s/run%u/nytprof.out", folder, i);
		costly_path = file;
		make();
	}
}

/* All names are one without what a compiler adds. */
static void nyt_clones(void)
{
	char name[64];
	nyt = (struct nytpw){.out.p = NULL};
	nyt_begin();
	for (unsigned i = 0; nyt.out.len < costly_bytes; i++) {
		snprintf(name, sizeof(name), "same.isra.%u.constprop.%u", i, i);
		nytpw_return(&nyt, 1, 1, 1, name);
	}
	nyt_end();
}

/* Each run has names of its own, so every one is looked for by all rules. */
static void nyt_strangers(void)
{
	static unsigned run;
	char name[64];
	nyt = (struct nytpw){.out.p = NULL};
	nyt_begin();
	run++;
	for (unsigned i = 0; nyt.out.len < costly_bytes; i++) {
		snprintf(name, sizeof(name), "0x%x<%u>{%u}::h%016x", i, i, run, i);
		nytpw_return(&nyt, 1, 1, 1, name);
	}
	nyt_end();
}

static void nyt_again_deep(void)
{
	nyt = (struct nytpw){.out.p = NULL};
	nyt_deep();
}

static void runs_clones(void)
{
	runs_of(nyt_clones, costly_bytes / 2);
}

static void runs_strangers(void)
{
	runs_of(nyt_strangers, costly_bytes / 2);
}

static void runs_deep(void)
{
	runs_of(nyt_again_deep, costly_bytes / 2);
}

static void runs_long_file(void)
{
	runs_of(nyt_long_file, costly_bytes / 2);
}

static void runs_many(void)
{
	enum { SMALL = 4000 };
	runs_of(nyt_clones, SMALL);
}

static const struct {
	const char *name;
	void (*make)(void);
} cases[] = {
	{"nytprof-same-name", nyt_same_name},
	{"nytprof-numbered-names", nyt_numbered_names},
	{"nytprof-deep", nyt_deep},
	{"nytprof-lines", nyt_lines},
	{"nytprof-long-file", nyt_long_file},
	{"nytprof-giant-file", nyt_giant_file},
	{"nytprof-evals", nyt_evals},
	{"nytprof-callers", nyt_callers},
	{"nytprof-subs", nyt_subs},
	{"nytprof-sources", nyt_sources},
	{"htdump-same-time", ht_same_time},
	{"htdump-nested", ht_nested},
	{"htdump-backwards", ht_backwards},
	{"htdump-threads", ht_threads},
	{"htdump-classes", ht_classes},
	{"htdump-bases", ht_bases},
	{"htdump-one-class", ht_one_class},
	{"htdump-mappings", ht_mappings},
	{"htdump-labels", ht_labels},
	{"htdump-long-name", ht_long_name},
	{"htdump-giant-name", ht_giant_name},
	{"hpctoolkit-deep", costly_hpctk_deep},
	{"hpctoolkit-wide", costly_hpctk_wide},
	{"hpctoolkit-long-names", costly_hpctk_long_names},
	{"hpctoolkit-ends-of-names", costly_hpctk_ends_of_names},
	{"hpctoolkit-long-module", costly_hpctk_long_module},
	{"hpctoolkit-samples", costly_hpctk_samples},
	{"hpctoolkit-threads", costly_hpctk_threads},
	{"hpctoolkit-shared-samples", costly_hpctk_shared_samples},
	{"hpctoolkit-shared-values", costly_hpctk_shared_values},
	{"hpcrun-deep", run_deep},
	{"hpcrun-wide", run_wide},
	{"hpcrun-threads", run_threads},
	{"hpcrun-long-module", run_long_module},
	{"hpcrun-giant-module", run_giant_module},
	{"zts-same", zts_same},
	{"zts-deep", zts_deep},
	{"zts-attributes", zts_attributes},
	{"zts-texts", zts_texts},
	{"zts-long-name", zts_long_name},
	{"zts-giant-name", zts_giant_name},
	{"traceevents-names", costly_events_names},
	{"traceevents-threads", costly_events_threads},
	{"traceevents-deep", costly_events_deep},
	{"traceevents-overlap", costly_events_overlap},
	{"traceevents-crossed", costly_events_crossed},
	{"traceevents-async", costly_events_async},
	{"traceevents-counters", costly_events_counters},
	{"traceevents-sampled", costly_events_sampled},
	{"cpuprofile-nested", costly_v8_nested},
	{"cpuprofile-chain", costly_v8_chain},
	{"speedscope-deep", costly_speedscope_deep},
	{"speedscope-profiles", costly_speedscope_profiles},
	{"speedscope-open", costly_speedscope_open},
	{"folded-deep", costly_folded_deep},
	{"folded-names", costly_folded_names},
	{"script-threads", costly_script_threads},
	{"script-inlined", costly_script_inlined},
	{"pprof-labels", costly_pprof_labels},
	{"perf-runs", costly_perf_runs},
	{"perf-forks", costly_perf_forks},
	{"callgrind-orders", costly_callgrind_orders},
	{"runs-clones", runs_clones},
	{"runs-strangers", runs_strangers},
	{"runs-deep", runs_deep},
	{"runs-long-file", runs_long_file},
	{"runs-many", runs_many},
};

int main(int argc, char **argv)
{
	size_t n = sizeof(cases) / sizeof(cases[0]), i = 0;
	if (argc == 1) {
		for (i = 0; i < n; i++)
			puts(cases[i].name);
		return 0;
	}
	while (i < n && strcmp(cases[i].name, argv[1]) != 0)
		i++;
	if (argc != 4 || i == n) {
		fprintf(stderr, "usage: make_costly [CASE BYTES PATH]\n");
		return 2;
	}
	costly_bytes = (size_t)strtoull(argv[2], NULL, 10);
	costly_path = argv[3];
	cases[i].make();
	return 0;
}
