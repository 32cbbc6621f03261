/*
 * Writes big valid HPCToolkit databases (released layout), the same bytes every time:
 *
 *     make_hpctoolkit DIR CONTEXTS THREADS VALUED SAMPLES
 *
 * CONTEXTS calling contexts, in breadth-first order functions and lines by turns; THREADS threads,
 * each with values at the first VALUED contexts (a set closed under parents) and a trace of SAMPLES
 * samples. All is written in one pass: sizes follow from the numbers.
 */
#include "tests/bench/make_hpctoolkit.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/make.h"

enum { LINES_PER_FUNCTION = 4 };

void hpctoolkit_open(const struct plan *p, const char *name, const char *kind)
{
	out_open(p->dir, name);
	out_bytes("HPCTOOLKIT", 10);
	out_bytes(kind, 4);
	out_int(4, 1);
	out_int(0, 1);
}

void hpctoolkit_close(const char *footer)
{
	out_bytes(footer, 8);
	out_close();
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
		make_die("no memory");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t want = t->is_line[i] ? 1 + make_mix(i) % 3 : LINES_PER_FUNCTION;
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
			out_int(metric, 2);
			out_f64(thread ? value_of(p, r ? r - 1 : UINT32_MAX, metric, thread)
				       : sums[(size_t)r * VALUES + k]);
		}
	for (uint32_t r = 0; r < rows; r++) {
		out_int(r ? (uint64_t)r + 1 : 1, 4); /* the entry is 1, context i is i + 2 */
		out_int((uint64_t)r * VALUES, 8);
	}
}

/* The identity of profile i: node, rank and thread; zeros for the summary. */
static void put_tuple(uint64_t i)
{
	out_int(3, 2);
	out_zeros(6);
	for (unsigned k = 0; k < 3; k++) {
		uint64_t id = i == 0 || k == 0 ? 0 : k == 1 ? (i - 1) / 8 : (i - 1) % 8;
		out_int(k + 1, 1);
		out_zeros(1);
		out_int(k == 0, 2);
		out_int(id, 4);
		out_int(id, 8);
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
		make_die("no memory");
	for (uint32_t r = 0; r < rows; r++)
		for (unsigned k = 0; k < VALUES; k++)
			sums[(size_t)r * VALUES + k] =
				sum_of(p, r ? r - 1 : UINT32_MAX, FIRST_METRIC + k);
	hpctoolkit_open(p, "profile.db", "prof");
	out_int(16 + n * 48, 8);
	out_int(0x30, 8);
	out_int(n * tuple, 8);
	out_int(tuples, 8);
	out_int(infos, 8);
	out_int(n, 4);
	out_int(48, 1);
	out_zeros(3);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = blocks + i * block;
		out_int(rows * VALUES, 8);
		out_int(at, 8);
		out_int(rows, 4);
		out_zeros(4);
		out_int(at + values, 8);
		out_int(i ? tuples + i * tuple : 0, 8);
		out_int(i == 0, 4);
		out_zeros(4);
	}
	for (uint64_t i = 0; i < n; i++)
		put_tuple(i);
	for (uint64_t i = 0; i < n; i++) {
		put_profile(p, (uint32_t)i, sums);
		out_zeros(block - values - rows * 12);
	}
	hpctoolkit_close("_prof.db");
	free(sums);
}

static void write_cct(const struct plan *p)
{
	uint64_t n = (uint64_t)p->n_contexts + 2, infos = 0x40, blocks = infos + n * 32;
	uint64_t values = (uint64_t)p->n_threads * VALUES * 12, block = values + VALUES * 10;
	block = (block + 7) / 8 * 8;
	hpctoolkit_open(p, "cct.db", "ctxt");
	out_int(16 + n * 32, 8);
	out_int(0x30, 8);
	out_zeros(16);
	out_int(infos, 8);
	out_int(n, 4);
	out_int(32, 1);
	out_zeros(3);
	for (uint64_t i = 0; i < n; i++) {
		bool valued = i >= 1 && i < (uint64_t)p->n_valued + 2;
		uint64_t at = blocks + (i ? i - 1 : 0) * block;
		out_int(valued ? (uint64_t)p->n_threads * VALUES : 0, 8);
		out_int(at, 8);
		out_int(valued ? VALUES : 0, 2);
		out_zeros(6);
		out_int(at + values, 8);
	}
	for (uint32_t r = 0; r <= p->n_valued; r++) {
		for (unsigned k = 0; k < VALUES; k++)
			for (uint32_t t = 1; t <= p->n_threads; t++) {
				out_int(t, 4);
				out_f64(value_of(p, r ? r - 1 : UINT32_MAX, FIRST_METRIC + k, t));
			}
		for (unsigned k = 0; k < VALUES; k++) {
			out_int(FIRST_METRIC + k, 2);
			out_int((uint64_t)k * p->n_threads, 8);
		}
		out_zeros(block - values - VALUES * 10);
	}
	hpctoolkit_close("__ctx.db");
}

static void write_traces(const struct plan *p)
{
	uint64_t n = p->n_threads, lines = 0x40, samples = (lines + n * 24 + 7) / 8 * 8;
	uint64_t origin = 1700000000000000000, step = 5000000;
	uint64_t line = (p->n_samples * 12 + 7) / 8 * 8;
	hpctoolkit_open(p, "trace.db", "trce");
	out_int(0x20 + n * 24, 8);
	out_int(0x20, 8);
	out_int(lines, 8);
	out_int(n, 4);
	out_int(24, 1);
	out_zeros(3);
	out_int(origin, 8);
	out_int(origin + n * 1000 + p->n_samples * step, 8);
	for (uint64_t t = 0; t < n; t++) {
		out_int(t + 1, 4);
		out_zeros(4);
		out_int(samples + t * line, 8);
		out_int(samples + t * line + p->n_samples * 12, 8);
	}
	out_pad_to(samples);
	for (uint64_t t = 0; t < n; t++) {
		for (uint64_t i = 0; i < p->n_samples; i++) {
			out_int(origin + t * 1000 + i * step + make_mix((uint32_t)i) % 4000, 8);
			out_int(i % 50 == 49 ? 0
					     : 2 + make_mix((uint32_t)(i / 3 + t)) % p->n_valued,
				4);
		}
		out_zeros(line - p->n_samples * 12);
	}
	hpctoolkit_close("trace.db");
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: make_hpctoolkit DIR CONTEXTS THREADS VALUED SAMPLES\n");
		return 2;
	}
	struct plan p = {.dir = argv[1],
		.n_contexts = (uint32_t)make_number(argv[2]),
		.n_threads = (uint32_t)make_number(argv[3]),
		.n_valued = (uint32_t)make_number(argv[4]),
		.n_samples = make_number(argv[5])};
	if (p.n_contexts == 0 || p.n_valued == 0 || p.n_valued > p.n_contexts) {
		fprintf(stderr, "make_hpctoolkit: 0 < VALUED <= CONTEXTS is needed\n");
		return 2;
	}
	make_folder(p.dir);
	tree_make(&p);
	hpctoolkit_write_meta(&p);
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
