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

#include "formats/common/cursor.h"
#include "formats/common/text.h"
#include "tests/hpcrun/fixture.h"
#include "tests/hpctoolkit/writer.h"
#include "tests/htdump/writer.h"
#include "tests/nytprof/writer.h"
#include "tests/zts/writer.h"

static const char *path;
static size_t bytes;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "make_costly: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void save(const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(p, 1, n, f) != n || fclose(f) != 0)
		die(path);
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
	while (nyt.out.len < bytes)
		nytpw_return(&nyt, 1, 1, 1, "main::same");
	nyt_end();
}

static void nyt_numbered_names(void)
{
	char name[32];
	nyt_begin();
	for (unsigned i = 2; nyt.out.len < bytes; i++) {
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
	for (uint32_t n = (uint32_t)(bytes / one); n > 0; n--)
		nytpw_return(&nyt, n, n, 1, "main::deep");
	nyt_end();
}

static void nyt_lines(void)
{
	nyt_begin();
	for (uint32_t i = 0; nyt.out.len < bytes; i++)
		nytpw_time(&nyt, 0, 1, UINT32_MAX - i);
	nyt_end();
}

static void nyt_evals(void)
{
	nyt_begin();
	for (uint32_t i = 2; nyt.out.len < bytes; i++)
		nytpw_fid(&nyt, i, i - 1, 1, "(eval 1)[/dir/main.pl:1]");
	nyt_end();
}

static void nyt_callers(void)
{
	nyt_begin();
	nytpw_sub(&nyt, 1, "main::b", 1, UINT32_MAX);
	for (uint32_t i = 1; nyt.out.len < bytes; i++) {
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
	while (nyt.out.len < bytes)
		nytpw_sub(&nyt, 1, "main::same", 1, UINT32_MAX);
	nyt_end();
}

static void nyt_sources(void)
{
	nyt_begin();
	for (uint32_t i = 0; nyt.out.len < bytes; i++)
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
	for (htdw_begin(&ht, false, false); ht.len < bytes;)
		htdw_call_text(&ht, 1, 1000, 1000, "same");
	ht_end();
}

static void ht_nested(void)
{
	htdw_begin(&ht, false, false);
	for (uint64_t i = 0; ht.len < bytes; i++)
		htdw_call_text(&ht, 1, 1000000000 - i, 2 * i, "deep");
	ht_end();
}

static void ht_backwards(void)
{
	htdw_begin(&ht, false, false);
	for (uint64_t i = 0; ht.len < bytes; i++)
		htdw_call_text(&ht, 1, 1000000000 - 2 * i, 1, "back");
	ht_end();
}

static void ht_threads(void)
{
	htdw_begin(&ht, false, false);
	for (uint32_t i = 0; ht.len < bytes; i++)
		htdw_call_text(&ht, i, 1000, 1, "thread");
	ht_end();
}

static void ht_classes(void)
{
	char name[32];
	htdw_begin(&ht, false, false);
	for (uint32_t i = HTDW_OWN; ht.len < bytes; i++) {
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
	for (uint32_t i = HTDW_OWN; ht.len < bytes; i++) {
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
	while (ht.len < bytes) {
		htdw_klass(&ht, HTDW_OWN, "Same", 1);
		htdw_field(&ht, HTDW_OWN, "HT_Event", "base", 0, HTDW_STRUCT);
	}
	ht_end();
}

static void ht_mappings(void)
{
	htdw_begin(&ht, false, false);
	while (ht.len < bytes) {
		htdw_mapping(&ht, 7, "seven");
		htdw_call_int(&ht, 1, 1000, 1, 7);
	}
	ht_end();
}

/* ---- HPCToolkit ---- */

/* About what a context, a value and a sample take in all files. */
enum { CONTEXT_BYTES = 120, VALUE_BYTES = 60, SAMPLE_BYTES = 12 };

static void hpctk_save_files(struct hpctkw_files *files)
{
	if ((mkdir(path, 0777) != 0 && errno != EEXIST) || hpctkw_save(files, path) != 0)
		die(path);
	hpctkw_files_free(files);
}

static void hpctk_save(struct hpctkw_database *w)
{
	struct hpctkw_files files;
	hpctkw_write(w, &files);
	hpctk_save_files(&files);
	hpctkw_free(w);
}

/* Contexts of one function, `chain` below each other or all below one, with a value each. */
static struct hpctkw_database *hpctk_tree(size_t n, bool chain)
{
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	struct hpctkw_database *w = hpctkw_new(&style);
	uint32_t metric = hpctkw_metric(w, "CPUTIME (sec)");
	uint32_t module = hpctkw_module(w, "/bin/app"), file = hpctkw_file(w, "a.c", 0);
	uint32_t function = hpctkw_function(w, "same", module, 0, file, 1);
	struct hpctkw_context c = {.parent = HPCTKW_NONE, .id = 1, .entry = "main thread"};
	uint32_t last = hpctkw_context(w, &c);
	for (size_t i = 1; i < n; i++) {
		c = (struct hpctkw_context){.parent = last,
			.id = (uint32_t)i + 1,
			.relation = 1,
			.has_function = true,
			.function = function};
		uint32_t made = hpctkw_context(w, &c);
		last = chain ? made : last;
	}
	for (unsigned profile = 0; profile < 2; profile++) {
		hpctkw_profile(w);
		if (profile > 0)
			hpctkw_identity(w, 1, 0, 0, true);
		for (size_t i = 0; i < n; i++)
			hpctkw_value(w, (uint32_t)i + 1,
				profile ? hpctkw_prop_id(metric, HPCTKW_EXECUTION)
					: hpctkw_stat_id(metric, HPCTKW_EXECUTION),
				1);
	}
	return w;
}

/* The rows of a table of meta.db say what the first one says at `at`, an offset of a string. */
static void hpctk_share_string(struct hpctkw_files *files, size_t section, size_t at)
{
	uint8_t *p = files->file[HPCTKW_META].p;
	const uint8_t *table = p + pm_le64(p + 0x18 + 16 * section);
	size_t n = pm_le32(table + 8), stride = pm_le16(table + 0x0c);
	uint8_t *row = p + pm_le64(table);
	for (size_t i = 1; i < n; i++)
		memcpy(row + i * stride + at, row + at, 8);
}

/* As many functions as contexts, and files: all of one long name. */
static void hpctk_long_names(void)
{
	enum { FUNCTION_BYTES = 270, FILES = 6, FUNCTIONS = 7, LONGEST = 4000 };
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	static char name[LONGEST + 1];
	struct hpctkw_database *w = hpctkw_new(&style);
	struct hpctkw_files files;
	memset(name, 'n', LONGEST);
	uint32_t metric = hpctkw_metric(w, "CPUTIME (sec)"), module = hpctkw_module(w, name);
	struct hpctkw_context c = {.parent = HPCTKW_NONE, .id = 1, .entry = "main thread"};
	uint32_t root = hpctkw_context(w, &c), n = (uint32_t)(bytes / FUNCTION_BYTES);
	hpctkw_profile(w);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t file = hpctkw_file(w, i ? "f" : name, 0);
		c = (struct hpctkw_context){.parent = root,
			.id = i + 2,
			.relation = 1,
			.has_function = true,
			.function = hpctkw_function(w, i ? "f" : name, module, i, file, i)};
		hpctkw_context(w, &c);
		hpctkw_value(w, i + 2, hpctkw_stat_id(metric, HPCTKW_EXECUTION), 1);
	}
	hpctkw_write(w, &files);
	hpctk_share_string(&files, FILES, 8);
	hpctk_share_string(&files, FUNCTIONS, 0);
	hpctk_save_files(&files);
	hpctkw_free(w);
}

static void hpctk_deep(void)
{
	hpctk_save(hpctk_tree(bytes / CONTEXT_BYTES, true));
}

static void hpctk_wide(void)
{
	hpctk_save(hpctk_tree(bytes / CONTEXT_BYTES, false));
}

static void hpctk_samples(void)
{
	struct hpctkw_database *w = hpctk_tree(1000, true);
	hpctkw_trace(w);
	for (size_t i = 0; i < bytes / SAMPLE_BYTES; i++)
		hpctkw_sample(w, 1000, i % 2 ? 1000 : 1);
	hpctk_save(w);
}

static void hpctk_threads(void)
{
	struct hpctkw_database *w = hpctk_tree(10, true);
	for (size_t i = 0; i < bytes / 100; i++) {
		hpctkw_profile(w);
		hpctkw_identity(w, 1, 0, 0, true);
		hpctkw_value(w, 10, hpctkw_prop_id(0, HPCTKW_EXECUTION), 1);
	}
	hpctk_save(w);
}

/* All rows of a file's table behind row `from` say what that one says from `at` on. */
static void hpctk_share(struct hpctkw_files *files, enum hpctkw_file file, size_t from, size_t at)
{
	uint8_t *p = files->file[file].p;
	const uint8_t *table = p + pm_le64(p + 0x18);
	size_t n = pm_le32(table + 8), stride = table[0x0c];
	uint8_t *row = p + pm_le64(table) + from * stride;
	for (size_t i = 1; i < n - from; i++)
		memcpy(row + i * stride + at, row + at, stride - at);
}

static void hpctk_save_shared(
	struct hpctkw_database *w, enum hpctkw_file file, size_t row, size_t at)
{
	struct hpctkw_files files;
	hpctkw_write(w, &files);
	hpctk_share(&files, file, row, at);
	hpctk_save_files(&files);
	hpctkw_free(w);
}

/* A thread has half of it as samples, and all the others claim those. */
static void hpctk_shared_samples(void)
{
	struct hpctkw_database *w = hpctk_tree(10, true);
	for (size_t i = 0; i < bytes / 300; i++) {
		hpctkw_profile(w);
		hpctkw_identity(w, 1, (uint32_t)i, 0, true);
		hpctkw_trace(w);
		for (size_t k = i == 0 ? bytes / 2 / SAMPLE_BYTES : 0; k > 0; k--)
			hpctkw_sample(w, 1000, 1);
	}
	hpctk_save_shared(w, HPCTKW_TRACE, 0, 8);
}

/* A context has values of many threads, and all the others claim those. */
static void hpctk_shared_values(void)
{
	struct hpctkw_database *w = hpctk_tree(bytes / 2 / CONTEXT_BYTES, false);
	for (size_t i = 0; i < bytes / 400; i++) {
		hpctkw_profile(w);
		hpctkw_identity(w, 1, (uint32_t)i, 0, true);
		hpctkw_value(w, 1, hpctkw_prop_id(0, HPCTKW_EXECUTION), 1);
	}
	hpctk_save_shared(w, HPCTKW_CCT, 1, 0);
}

/* ---- hpcrun ---- */

static void run_tree(bool chain)
{
	size_t n = bytes / 36;
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	struct fixture_node *nodes = calloc(n, sizeof(*nodes));
	struct pm_text t = {.p = NULL};
	if (!nodes)
		die("memory");
	for (size_t i = 0; i < n; i++)
		nodes[i] = (struct fixture_node){.number = 2 * (uint32_t)i + 2,
			.parent = i == 0 ? 0
				: chain  ? 2 * (uint32_t)i
					 : 2,
			.module = 1,
			.ip = 0x1000,
			.values = {1}};
	p.nodes = nodes;
	p.n_nodes = n;
	fixture_profile_write(&p, &t);
	save(t.p, t.len);
	pm_text_done(&t);
	free(nodes);
}

static void run_deep(void)
{
	run_tree(true);
}

static void run_wide(void)
{
	run_tree(false);
}

static void run_threads(void)
{
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		die(path);
	if (fixture_run_write(path, (uint32_t)(bytes / 4000), 60, 60) < 0)
		die(path);
}

/* ---- ZTS ---- */

static void zts_save(struct pm_text *traces, struct pm_text *texts)
{
	bool good = (mkdir(path, 0777) == 0 || errno == EEXIST) &&
		zts_write_file(path, "traces.dat", pm_text_view(traces)) &&
		zts_write_file(path, "text-00000001.wal", pm_text_view(texts));
	if (!good)
		die(path);
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

static void zts_chunks_of(unsigned depth, unsigned attributes)
{
	struct pm_text traces = {.p = NULL}, texts = {.p = NULL}, payload = {.p = NULL};
	add_trace(&payload, depth, attributes);
	zts_put_file_header(&traces, 0);
	do
		zts_put_chunk(&traces, 0, pm_text_view(&payload));
	while (traces.len < bytes);
	zts_put_wal(&texts, few_texts, sizeof(few_texts) / sizeof(few_texts[0]));
	pm_text_done(&payload);
	zts_save(&traces, &texts);
}

static void zts_same(void)
{
	zts_chunks_of(1, 1);
}

static void zts_deep(void)
{
	zts_chunks_of(1000, 0);
}

static void zts_attributes(void)
{
	zts_chunks_of(1, (unsigned)(bytes / 10));
}

static void zts_texts(void)
{
	struct pm_text traces = {.p = NULL}, texts = {.p = NULL}, payload = {.p = NULL};
	size_t n = bytes / 12;
	struct zts_entry *entries = calloc(n, sizeof(*entries));
	if (!entries)
		die("memory");
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

static const struct {
	const char *name;
	void (*make)(void);
} cases[] = {
	{"nytprof-same-name", nyt_same_name},
	{"nytprof-numbered-names", nyt_numbered_names},
	{"nytprof-deep", nyt_deep},
	{"nytprof-lines", nyt_lines},
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
	{"hpctoolkit-deep", hpctk_deep},
	{"hpctoolkit-wide", hpctk_wide},
	{"hpctoolkit-long-names", hpctk_long_names},
	{"hpctoolkit-samples", hpctk_samples},
	{"hpctoolkit-threads", hpctk_threads},
	{"hpctoolkit-shared-samples", hpctk_shared_samples},
	{"hpctoolkit-shared-values", hpctk_shared_values},
	{"hpcrun-deep", run_deep},
	{"hpcrun-wide", run_wide},
	{"hpcrun-threads", run_threads},
	{"zts-same", zts_same},
	{"zts-deep", zts_deep},
	{"zts-attributes", zts_attributes},
	{"zts-texts", zts_texts},
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
	bytes = (size_t)strtoull(argv[2], NULL, 10);
	path = argv[3];
	cases[i].make();
	return 0;
}
