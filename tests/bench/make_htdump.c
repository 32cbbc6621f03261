/*
 * Writes a big valid HTDUMP stream, the same bytes every time:
 *
 *     make_htdump FILE CALLS
 *
 * Eight threads by turns, each a request at a time: a root, four calls under it, three leaves under
 * each. A call is written when it ends, as the library does, so leaves come first.
 */
#include <stdio.h>

#include "tests/bench/make.h"
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
};

static void flush(struct stream *s)
{
	out_bytes(s->w.p, s->w.len);
	s->w.len = 0;
}

static void put_call(struct stream *s, uint32_t thread, uint64_t start, uint64_t ns, uint32_t what)
{
	if (s->left == 0)
		return;
	s->left--;
	htdw_call_int(&s->w, thread, start, ns, make_mix(what) % LABELS);
	if (s->w.len >= FLUSH)
		flush(s);
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
	if (argc != 3) {
		fprintf(stderr, "usage: make_htdump FILE CALLS\n");
		return 2;
	}
	struct stream s = {.left = make_number(argv[2])};
	out_open(NULL, argv[1]);
	htdw_begin(&s.w, false, false);
	for (unsigned i = 0; i < LABELS; i++) {
		char label[32];
		snprintf(label, sizeof(label), "Renderer::pass_%u", i);
		htdw_mapping(&s.w, i, label);
	}
	for (uint64_t n = 0; s.left > 0; n++)
		put_request(&s, n);
	flush(&s);
	htdw_done(&s.w);
	out_close();
	return 0;
}
