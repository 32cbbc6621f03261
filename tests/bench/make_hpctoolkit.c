/*
 * Writes big valid HPCToolkit databases (released layout), the same bytes every time:
 *
 *     make_hpctoolkit DIR CONTEXTS THREADS VALUED SAMPLES
 *
 * CONTEXTS calling contexts, in breadth-first order functions and lines by turns; THREADS threads,
 * each with values at the first VALUED contexts (a set closed under parents) and a trace of SAMPLES
 * samples. All is written in one pass: sizes follow from the numbers.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	N_FUNCTIONS = 5000,
	N_FILES = 200,
	N_MODULES = 20,
	LINES_PER_FUNCTION = 4,
	N_METRIC_IDS = 4, /* point, function, execution, lex_aware */
	FUNCTION_RECORD = 0x28,
	LINE_RECORD = 0x30,
};

struct tree {
	uint32_t n;
	uint32_t *first; /* child */
	uint8_t *n_children;
	uint8_t *is_line;
	uint64_t *place; /* of the record, from the first record on */
	uint64_t bytes;
	uint32_t *below; /* contexts of the subtree among the valued ones */
};

struct plan {
	const char *dir;
	uint32_t n_contexts, n_threads, n_valued;
	uint64_t n_samples;
	struct tree tree;
};

static FILE *out;

static void die(const char *what)
{
	fprintf(stderr, "make_hpctoolkit: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- little-endian output ---- */

static void put(const void *p, size_t n)
{
	if (fwrite(p, 1, n, out) != n)
		die("cannot write");
}

static void put_int(uint64_t v, unsigned bytes)
{
	uint8_t b[8];
	for (unsigned i = 0; i < bytes; i++)
		b[i] = (uint8_t)(v >> 8 * i);
	put(b, bytes);
}

static void put_f64(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, sizeof(bits));
	put_int(bits, 8);
}

static void put_zeros(uint64_t n)
{
	while (n-- > 0)
		put_int(0, 1);
}

static void open_file(const struct plan *p, const char *name, const char *kind)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", p->dir, name);
	out = fopen(path, "wb");
	if (!out)
		die(path);
	setvbuf(out, NULL, _IOFBF, 1 << 20);
	put("HPCTOOLKIT", 10);
	put(kind, 4);
	put_int(4, 1);
	put_int(0, 1);
}

static void close_file(const char *footer)
{
	put(footer, 8);
	if (fclose(out) != 0)
		die("cannot write");
}

/* ---- the tree ---- */

static uint32_t mix(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x7feb352d;
	x ^= x >> 15;
	x *= 0x846ca68b;
	return x ^ x >> 16;
}

static void tree_make(struct plan *p)
{
	struct tree *t = &p->tree;
	uint32_t n = p->n_contexts, next = 1;
	t->n = n;
	t->first = calloc(n, sizeof(*t->first));
	t->n_children = calloc(n, 1);
	t->is_line = calloc(n, 1);
	t->place = calloc((size_t)n + 1, sizeof(*t->place));
	t->below = calloc(n, sizeof(*t->below));
	if (!t->first || !t->n_children || !t->is_line || !t->place || !t->below)
		die("no memory");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t want = t->is_line[i] ? 1 + mix(i) % 3 : LINES_PER_FUNCTION;
		t->first[i] = next;
		while (want-- > 0 && next < n) {
			t->is_line[next++] = !t->is_line[i];
			t->n_children[i]++;
		}
		t->place[i + 1] = t->place[i] + (t->is_line[i] ? LINE_RECORD : FUNCTION_RECORD);
	}
	t->bytes = t->place[n];
	for (uint32_t i = p->n_valued; i-- > 0;) {
		t->below[i] = 1;
		for (uint32_t k = 0; k < t->n_children[i] && t->first[i] + k < p->n_valued; k++)
			t->below[i] += t->below[t->first[i] + k];
	}
}

/* ---- meta.db ---- */

struct strings {
	char *p;
	size_t n, room;
};

static uint64_t string_add(struct strings *s, const char *format, unsigned i)
{
	char text[256];
	int n = snprintf(text, sizeof(text), format, i) + 1;
	if (s->n + (size_t)n > s->room) {
		s->room = s->room * 2 + sizeof(text);
		s->p = realloc(s->p, s->room);
		if (!s->p)
			die("no memory");
	}
	memcpy(s->p + s->n, text, (size_t)n);
	s->n += (size_t)n;
	return s->n - (size_t)n;
}

enum { GENERAL, ID_NAMES, METRICS, CONTEXT, STRINGS, MODULES, FILES, FUNCTIONS, N_SECTIONS };

struct meta {
	uint64_t at[N_SECTIONS], size[N_SECTIONS];
	struct strings strings;
	uint64_t title, kinds[4], metric, scopes[4], formula, entry;
	uint64_t modules[N_MODULES], files[N_FILES], functions[N_FUNCTIONS];
};

static const char *const kind_names[4] = {"SUMMARY", "NODE", "RANK", "THREAD"};
static const char *const scope_names[4] = {"point", "function", "execution", "lex_aware"};

static void meta_strings(struct meta *m)
{
	static const char *const forms[] = {"solve_%u",
		"std::map<int, double>::find_%u(int const&)",
		"Kernel<%u>::apply(View const&, double*, int)", "exchange_%u"};
	string_add(&m->strings, "", 0);
	m->title = string_add(&m->strings, "benchmark", 0);
	for (unsigned i = 0; i < 4; i++) {
		m->kinds[i] = string_add(&m->strings, kind_names[i], 0);
		m->scopes[i] = string_add(&m->strings, scope_names[i], 0);
	}
	m->metric = string_add(&m->strings, "CPUTIME (sec)", 0);
	m->formula = string_add(&m->strings, "$$", 0);
	m->entry = string_add(&m->strings, "main thread", 0);
	for (unsigned i = 0; i < N_MODULES; i++)
		m->modules[i] = string_add(&m->strings, "/opt/app/lib/libmodule%u.so", i);
	for (unsigned i = 0; i < N_FILES; i++)
		m->files[i] = string_add(&m->strings, "/home/user/src/app/part%u.cpp", i);
	for (unsigned i = 0; i < N_FUNCTIONS; i++)
		m->functions[i] = string_add(&m->strings, forms[i % 4], i);
}

static void meta_plan(const struct plan *p, struct meta *m)
{
	uint64_t at = 0x90;
	m->size[GENERAL] = 0x10;
	m->size[ID_NAMES] = 0x10 + 4 * 8;
	m->size[METRICS] = 0x20 + 32 + 4 * 16 + 4 * 24 + 4 * 16;
	m->size[CONTEXT] = 0x10 + 32 + p->tree.bytes;
	m->size[STRINGS] = m->strings.n;
	m->size[MODULES] = 0x10 + N_MODULES * 16;
	m->size[FILES] = 0x10 + N_FILES * 16;
	m->size[FUNCTIONS] = 0x10 + N_FUNCTIONS * 40;
	for (unsigned i = 0; i < N_SECTIONS; i++) {
		m->at[i] = at;
		at += (m->size[i] + 7) / 8 * 8;
	}
}

static void pad_to(uint64_t at)
{
	put_zeros(at - (uint64_t)ftello(out));
}

static void put_metrics(const struct meta *m)
{
	static const uint8_t types[4] = {1, 3, 2, 0}, bits[4] = {255, 0, 255, 255};
	uint64_t at = m->at[METRICS], metrics = at + 0x20, instances = metrics + 32;
	uint64_t summaries = instances + 4 * 16, scopes = summaries + 4 * 24, s = m->at[STRINGS];
	put_int(metrics, 8);
	put_int(1, 4);
	put("\x20\x10\x18", 3);
	put_zeros(1);
	put_int(scopes, 8);
	put_int(4, 2);
	put_int(16, 1);
	put_zeros(5);
	put_int(s + m->metric, 8);
	put_int(instances, 8);
	put_int(summaries, 8);
	put_int(4, 2);
	put_int(4, 2);
	put_zeros(4);
	for (unsigned i = 0; i < 4; i++) { /* propMetricId = i */
		put_int(scopes + 16 * i, 8);
		put_int(i, 2);
		put_zeros(6);
	}
	for (unsigned i = 0; i < 4; i++) { /* statMetricId = i, the sum */
		put_int(scopes + 16 * i, 8);
		put_int(s + m->formula, 8);
		put_int(0, 2);
		put_int(i, 2);
		put_zeros(4);
	}
	for (unsigned i = 0; i < 4; i++) {
		put_int(s + m->scopes[i], 8);
		put_int(types[i], 1);
		put_int(bits[i], 1);
		put_zeros(6);
	}
}

static void put_context(const struct plan *p, const struct meta *m, uint64_t records, uint32_t i)
{
	const struct tree *t = &p->tree;
	uint64_t bytes = 0;
	if (t->n_children[i])
		bytes = t->place[t->first[i] + t->n_children[i]] - t->place[t->first[i]];
	put_int(bytes, 8);
	put_int(bytes ? records + t->place[t->first[i]] : 0, 8);
	put_int((uint64_t)i + 2, 4); /* 1 is the entry */
	put_int(t->is_line[i] ? 2 : 1, 1);
	put_int(t->is_line[i] ? 0 : 1, 1);
	put_int(t->is_line[i] ? 2 : 0, 1);
	put_int(t->is_line[i] ? 2 : 1, 1);
	put_int(t->is_line[i] ? 1 : 0, 2);
	put_zeros(6);
	if (!t->is_line[i]) {
		put_int(m->at[FUNCTIONS] + 0x10 + (uint64_t)(mix(i) % N_FUNCTIONS) * 40, 8);
		return;
	}
	put_int(m->at[FILES] + 0x10 + (uint64_t)(mix(i) % N_FILES) * 16, 8);
	put_int(1 + mix(i + 7) % 3000, 4);
	put_zeros(4);
}

static void put_contexts(const struct plan *p, const struct meta *m)
{
	uint64_t entry = m->at[CONTEXT] + 0x10, records = entry + 32;
	put_int(entry, 8);
	put_int(1, 2);
	put_int(32, 1);
	put_zeros(5);
	put_int(FUNCTION_RECORD, 8);
	put_int(records, 8);
	put_int(1, 4);
	put_int(1, 2);
	put_zeros(2);
	put_int(m->at[STRINGS] + m->entry, 8);
	for (uint32_t i = 0; i < p->n_contexts; i++)
		put_context(p, m, records, i);
}

static void put_section_header(uint64_t at, uint32_t n, uint16_t stride)
{
	put_int(at + 0x10, 8);
	put_int(n, 4);
	put_int(stride, 2);
	put_zeros(2);
}

static void put_tables(const struct meta *m)
{
	uint64_t s = m->at[STRINGS];
	put(m->strings.p, m->strings.n);
	pad_to(m->at[MODULES]);
	put_section_header(m->at[MODULES], N_MODULES, 16);
	for (unsigned i = 0; i < N_MODULES; i++) {
		put_int(0, 8);
		put_int(s + m->modules[i], 8);
	}
	put_section_header(m->at[FILES], N_FILES, 16);
	for (unsigned i = 0; i < N_FILES; i++) {
		put_int(0, 8);
		put_int(s + m->files[i], 8);
	}
	put_section_header(m->at[FUNCTIONS], N_FUNCTIONS, 40);
	for (unsigned i = 0; i < N_FUNCTIONS; i++) {
		put_int(s + m->functions[i], 8);
		put_int(m->at[MODULES] + 0x10 + i % N_MODULES * 16, 8);
		put_int(0x1000 + i * 64, 8);
		put_int(m->at[FILES] + 0x10 + i % N_FILES * 16, 8);
		put_int(1 + i % 900, 4);
		put_int(0, 4);
	}
}

static void write_meta(const struct plan *p)
{
	struct meta m = {.strings = {.p = NULL}};
	meta_strings(&m);
	meta_plan(p, &m);
	open_file(p, "meta.db", "meta");
	for (unsigned i = 0; i < N_SECTIONS; i++) {
		put_int(m.size[i], 8);
		put_int(m.at[i], 8);
	}
	put_int(m.at[STRINGS] + m.title, 8);
	put_int(m.at[STRINGS], 8);
	put_int(m.at[ID_NAMES] + 0x10, 8);
	put_int(4, 1);
	put_zeros(7);
	for (unsigned i = 0; i < 4; i++)
		put_int(m.at[STRINGS] + m.kinds[i], 8);
	put_metrics(&m);
	put_contexts(p, &m);
	put_tables(&m);
	close_file("_meta.db");
	free(m.strings.p);
}

/* ---- values: three of each valued context, and of the entry ---- */

static double value_of(const struct plan *p, uint32_t context, unsigned metric, uint32_t thread)
{
	double scale = 0.001 * (1 + thread % 7) + thread * 1e-6;
	uint32_t below = context == UINT32_MAX ? p->n_valued : p->tree.below[context];
	return metric == 2 ? below * scale : scale;
}

/* Metric ids of the values of a context, ascending: function, execution, lex_aware. */
enum { VALUES = 3, FIRST_METRIC = 1 };

static double sum_of(const struct plan *p, uint32_t context, unsigned metric)
{
	double sum = 0;
	for (uint32_t t = 1; t <= p->n_threads; t++)
		sum += value_of(p, context, metric, t);
	return sum;
}

static void put_profile(const struct plan *p, uint32_t thread, const double *sums)
{
	uint32_t rows = p->n_valued + 1;
	for (uint32_t r = 0; r < rows; r++)
		for (unsigned k = 0; k < VALUES; k++) {
			unsigned metric = FIRST_METRIC + k;
			put_int(metric, 2);
			put_f64(thread ? value_of(p, r ? r - 1 : UINT32_MAX, metric, thread)
				       : sums[(size_t)r * VALUES + k]);
		}
	for (uint32_t r = 0; r < rows; r++) {
		put_int(r ? (uint64_t)r + 1 : 1, 4); /* the entry is 1, context i is i + 2 */
		put_int((uint64_t)r * VALUES, 8);
	}
}

static void write_profiles(const struct plan *p)
{
	uint64_t n = (uint64_t)p->n_threads + 1, rows = (uint64_t)p->n_valued + 1;
	uint64_t infos = 0x40, tuples = infos + n * 48, tuple = 8 + 3 * 16;
	uint64_t blocks = tuples + n * tuple, values = rows * VALUES * 10;
	uint64_t block = (values + rows * 12 + 7) / 8 * 8;
	double *sums = calloc(rows * VALUES, sizeof(*sums));
	if (!sums)
		die("no memory");
	for (uint32_t r = 0; r < rows; r++)
		for (unsigned k = 0; k < VALUES; k++)
			sums[(size_t)r * VALUES + k] =
				sum_of(p, r ? r - 1 : UINT32_MAX, FIRST_METRIC + k);
	open_file(p, "profile.db", "prof");
	put_int(16 + n * 48, 8);
	put_int(0x30, 8);
	put_int(n * tuple, 8);
	put_int(tuples, 8);
	put_int(infos, 8);
	put_int(n, 4);
	put_int(48, 1);
	put_zeros(3);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = blocks + i * block;
		put_int(rows * VALUES, 8);
		put_int(at, 8);
		put_int(rows, 4);
		put_zeros(4);
		put_int(at + values, 8);
		put_int(i ? tuples + i * tuple : 0, 8);
		put_int(i == 0, 4);
		put_zeros(4);
	}
	for (uint64_t i = 0; i < n; i++) {
		put_int(3, 2);
		put_zeros(6);
		for (unsigned k = 0; k < 3; k++) {
			uint64_t id = k == 0 ? 0 : k == 1 ? (i - 1) / 8 : (i - 1) % 8;
			put_int(k + 1, 1);
			put_zeros(1);
			put_int(k == 0, 2);
			put_int(i ? id : 0, 4);
			put_int(i ? id : 0, 8);
		}
	}
	for (uint64_t i = 0; i < n; i++) {
		put_profile(p, (uint32_t)i, sums);
		put_zeros(block - values - rows * 12);
	}
	close_file("_prof.db");
	free(sums);
}

static void write_cct(const struct plan *p)
{
	uint64_t n = (uint64_t)p->n_contexts + 2, infos = 0x40, blocks = infos + n * 32;
	uint64_t values = (uint64_t)p->n_threads * VALUES * 12, block = values + VALUES * 10;
	block = (block + 7) / 8 * 8;
	open_file(p, "cct.db", "ctxt");
	put_int(16 + n * 32, 8);
	put_int(0x30, 8);
	put_zeros(16);
	put_int(infos, 8);
	put_int(n, 4);
	put_int(32, 1);
	put_zeros(3);
	for (uint64_t i = 0; i < n; i++) {
		bool valued = i >= 1 && i < (uint64_t)p->n_valued + 2;
		uint64_t at = blocks + (i ? i - 1 : 0) * block;
		put_int(valued ? (uint64_t)p->n_threads * VALUES : 0, 8);
		put_int(at, 8);
		put_int(valued ? VALUES : 0, 2);
		put_zeros(6);
		put_int(at + values, 8);
	}
	for (uint32_t r = 0; r <= p->n_valued; r++) {
		for (unsigned k = 0; k < VALUES; k++)
			for (uint32_t t = 1; t <= p->n_threads; t++) {
				put_int(t, 4);
				put_f64(value_of(p, r ? r - 1 : UINT32_MAX, FIRST_METRIC + k, t));
			}
		for (unsigned k = 0; k < VALUES; k++) {
			put_int(FIRST_METRIC + k, 2);
			put_int((uint64_t)k * p->n_threads, 8);
		}
		put_zeros(block - values - VALUES * 10);
	}
	close_file("__ctx.db");
}

static void write_traces(const struct plan *p)
{
	uint64_t n = p->n_threads, lines = 0x40, samples = (lines + n * 24 + 7) / 8 * 8;
	uint64_t origin = 1700000000000000000, step = 5000000;
	uint64_t line = (p->n_samples * 12 + 7) / 8 * 8;
	open_file(p, "trace.db", "trce");
	put_int(0x20 + n * 24, 8);
	put_int(0x20, 8);
	put_int(lines, 8);
	put_int(n, 4);
	put_int(24, 1);
	put_zeros(3);
	put_int(origin, 8);
	put_int(origin + n * 1000 + p->n_samples * step, 8);
	for (uint64_t t = 0; t < n; t++) {
		put_int(t + 1, 4);
		put_zeros(4);
		put_int(samples + t * line, 8);
		put_int(samples + t * line + p->n_samples * 12, 8);
	}
	pad_to(samples);
	for (uint64_t t = 0; t < n; t++) {
		for (uint64_t i = 0; i < p->n_samples; i++) {
			put_int(origin + t * 1000 + i * step + mix((uint32_t)i) % 4000, 8);
			put_int(i % 50 == 49 ? 0 : 2 + mix((uint32_t)(i / 3 + t)) % p->n_valued, 4);
		}
		put_zeros(line - p->n_samples * 12);
	}
	close_file("trace.db");
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);
	if (end == text || *end) {
		fprintf(stderr, "make_hpctoolkit: %s: a number is expected\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: make_hpctoolkit DIR CONTEXTS THREADS VALUED SAMPLES\n");
		return 2;
	}
	struct plan p = {.dir = argv[1],
		.n_contexts = (uint32_t)number(argv[2]),
		.n_threads = (uint32_t)number(argv[3]),
		.n_valued = (uint32_t)number(argv[4]),
		.n_samples = number(argv[5])};
	if (p.n_contexts == 0 || p.n_valued == 0 || p.n_valued > p.n_contexts) {
		fprintf(stderr, "make_hpctoolkit: 0 < VALUED <= CONTEXTS is needed\n");
		return 2;
	}
	if (mkdir(p.dir, 0777) != 0 && errno != EEXIST)
		die(p.dir);
	tree_make(&p);
	write_meta(&p);
	write_profiles(&p);
	write_cct(&p);
	if (p.n_samples > 0)
		write_traces(&p);
	free(p.tree.first);
	free(p.tree.n_children);
	free(p.tree.is_line);
	free(p.tree.place);
	free(p.tree.below);
	return 0;
}
