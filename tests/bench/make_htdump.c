/*
 * Writes a big valid HTDUMP stream, the same bytes every time:
 *
 *     make_htdump FILE CALLS [PATHS[,FUNCTIONS[,DEPTH[,SKEW]]] | texts]
 *
 * Eight threads by turns, each a request at a time: a root, four calls under it, three leaves under
 * each; with PATHS, calls of a wide tree (program.h); with `texts`, each fifth label is stored as a
 * string. A call is written when it ends, as the library does, so leaves come first.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/make.h"
#include "tests/bench/program.h"
#include "tests/htdump/writer.h"

enum {
	THREADS = 8,
	BUFFERED = 25,
	LABELS = 200,
	TEXT_EACH = 5,
	MIDDLES = 4,
	LEAVES = 3,
	LEAF_NS = 100, /* with the time between two of them */
	MIDDLE_NS = (LEAVES + 1) * LEAF_NS,
	ROOT_NS = (MIDDLES + 1) * MIDDLE_NS,
	BEGIN_NS = 2000000000,
	FLUSH = 1 << 20,
};

struct stream {
	struct htdw w;
	uint64_t left;
	bool texts;
};

struct label {
	char text[32];
};

static struct label label_of(uint32_t number)
{
	struct label label;
	snprintf(label.text, sizeof(label.text), "Renderer::pass_%u", number);
	return label;
}

static void flush(struct stream *s)
{
	out_bytes(s->w.p, s->w.len);
	s->w.len = 0;
}

static void put_label(
	struct stream *s, uint32_t thread, uint64_t start, uint64_t ns, uint32_t label)
{
	s->left -= s->left > 0;
	if (s->texts && label % TEXT_EACH == 0)
		htdw_call_text(&s->w, thread, start, ns, label_of(label).text);
	else
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

/* The library writes the calls of a thread in a row when its buffer is full. */
struct buffer {
	struct call {
		uint64_t start, ns;
		uint32_t label;
	} calls[BUFFERED];
	uint32_t n;
};

static void put_buffer(struct stream *s, uint32_t thread, struct buffer *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		put_label(s, thread + 1, b->calls[i].start, b->calls[i].ns, b->calls[i].label);
	b->n = 0;
}

/* As many calls as are left, and all paths once. */
static void put_wide_tree(struct stream *s, struct program_shape shape)
{
	struct program *program = program_new(shape);
	struct program_event e;
	struct buffer buffers[THREADS] = {{.n = 0}}, *b = buffers;
	uint64_t clock[THREADS], *start = malloc((shape.depth + 1) * sizeof(*start));
	uint32_t thread = 0;
	if (!start)
		make_die("no memory");
	for (uint32_t i = 0; i < THREADS; i++)
		clock[i] = BEGIN_NS;
	for (; program_next(program, &e); b = &buffers[thread]) {
		uint64_t now = clock[thread];
		clock[thread] += own_ns(now);
		if (e.call) {
			start[e.depth] = now;
			continue;
		}
		b->calls[b->n++] = (struct call){start[e.depth], now - start[e.depth], e.function};
		if (b->n == BUFFERED)
			put_buffer(s, thread, b);
		if (e.depth == 1)
			thread = (thread + 1) % THREADS;
		if (s->left == 0 && program_is_complete(program))
			program_end(program);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		put_buffer(s, i, &buffers[i]);
	free(start);
	program_free(program);
}

static void put_request(struct stream *s, uint64_t n)
{
	uint32_t thread = 1 + (uint32_t)(n % THREADS), what = (uint32_t)n / THREADS % 16 * 32;
	uint64_t root = BEGIN_NS + n / THREADS * ROOT_NS;
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
	if (argc != 3 && argc != 4) {
		fprintf(stderr,
			"usage: make_htdump FILE CALLS [PATHS[,FUNCTIONS[,DEPTH[,SKEW]]] | "
			"texts]\n");
		return 2;
	}
	struct stream s = {
		.left = make_number(argv[2]), .texts = argc == 4 && strcmp(argv[3], "texts") == 0};
	struct program_shape shape = {.functions = LABELS};
	if (argc == 4 && !s.texts)
		shape = program_parse(argv[3]);
	out_open(NULL, argv[1]);
	htdw_begin(&s.w, false, false);
	for (unsigned i = 0; i < shape.functions; i++) {
		struct label label = label_of(i);
		htdw_mapping(&s.w, i, label.text);
	}
	if (shape.paths)
		put_wide_tree(&s, shape);
	for (uint64_t n = 0; s.left > 0; n++)
		put_request(&s, n);
	flush(&s);
	htdw_done(&s.w);
	out_close();
	return 0;
}
