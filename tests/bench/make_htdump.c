/*
 * Writes a big valid HTDUMP stream, the same bytes every time:
 *
 *     make_htdump FILE CALLS [PATHS [FUNCTIONS [DEPTH]]]
 *
 * Eight threads by turns, each a request at a time: a root, four calls under it, three leaves under
 * each; with PATHS, calls of a wide tree (wide.h). A call is written when it ends, as the library
 * does, so leaves come first.
 */
#include <stdio.h>

#include "tests/bench/make.h"
#include "tests/bench/wide.h"
#include "tests/htdump/writer.h"

enum {
	THREADS = 8,
	LABELS = 200,
	MIDDLES = 4,
	LEAVES = 3,
	LEAF_NS = 100, /* with the time between two of them */
	MIDDLE_NS = (LEAVES + 1) * LEAF_NS,
	ROOT_NS = (MIDDLES + 1) * MIDDLE_NS,
	FLUSH = 1 << 20,
};

struct stream {
	struct htdw w;
	uint64_t left;
	struct wide wide;
	uint64_t clock[THREADS]; /* of a wide tree */
};

static void flush(struct stream *s)
{
	out_bytes(s->w.p, s->w.len);
	s->w.len = 0;
}

static void put_label(
	struct stream *s, uint32_t thread, uint64_t start, uint64_t ns, uint32_t label)
{
	if (s->left == 0)
		return;
	s->left--;
	htdw_call_int(&s->w, thread, start, ns, label);
	if (s->w.len >= FLUSH)
		flush(s);
}

static void put_call(struct stream *s, uint32_t thread, uint64_t start, uint64_t ns, uint32_t what)
{
	put_label(s, thread, start, ns, make_mix(what) % LABELS);
}

/* The time before and after the calls that a call makes. */
static uint64_t own_ns(uint64_t clock)
{
	return LEAF_NS / 2 + make_mix((uint32_t)clock) % LEAF_NS;
}

static void put_wide_call(struct stream *s, uint32_t thread, uint32_t path)
{
	uint64_t *clock = &s->clock[thread - 1], start = *clock;
	*clock += own_ns(start);
	for (uint32_t i = wide_calls(&s->wide); i-- > 0;) {
		uint32_t child = wide_child(&s->wide, path);
		if (child)
			put_wide_call(s, thread, child);
	}
	put_label(s, thread, start, *clock - start, wide_function(&s->wide, path));
	*clock += own_ns(*clock);
}

static void put_wide_request(struct stream *s, uint64_t n)
{
	uint32_t thread = 1 + (uint32_t)(n % THREADS);
	put_wide_call(s, thread, wide_child(&s->wide, 0));
}

static void put_request(struct stream *s, uint64_t n)
{
	uint32_t thread = 1 + (uint32_t)(n % THREADS), what = (uint32_t)n / THREADS % 16 * 32;
	uint64_t root = 2000000000 + n / THREADS * ROOT_NS;
	for (uint32_t m = 0; m < MIDDLES; m++) {
		uint64_t middle = root + m * MIDDLE_NS + LEAF_NS;
		for (uint32_t k = 0; k < LEAVES; k++)
			put_call(s, thread, middle + k * LEAF_NS + 10, LEAF_NS - 20 - thread,
				what + 8 * m + k + 2);
		put_call(s, thread, middle, MIDDLE_NS - LEAF_NS, what + 8 * m + 1);
	}
	put_call(s, thread, root, ROOT_NS - LEAF_NS, what);
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc > 6) {
		fprintf(stderr, "usage: make_htdump FILE CALLS [PATHS [FUNCTIONS [DEPTH]]]\n");
		return 2;
	}
	struct stream s = {.left = make_number(argv[2])};
	wide_init(&s.wide, argc - 3, argv + 3);
	uint32_t labels = s.wide.paths ? s.wide.functions : LABELS;
	for (unsigned i = 0; i < THREADS; i++)
		s.clock[i] = 2000000000;
	out_open(NULL, argv[1]);
	htdw_begin(&s.w, false, false);
	for (unsigned i = 0; i < labels; i++) {
		char label[32];
		snprintf(label, sizeof(label), "Renderer::pass_%u", i);
		htdw_mapping(&s.w, i, label);
	}
	for (uint64_t n = 0; s.left > 0; n++) {
		if (s.wide.paths)
			put_wide_request(&s, n);
		else
			put_request(&s, n);
	}
	flush(&s);
	htdw_done(&s.w);
	out_close();
	return 0;
}
