#include "tests/bench/program.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/paths.h"
#include "tests/bench/make.h"

enum { CHOICES = 1 << 16, TRIES = 8, PATIENCE = 1000000 };
#define NONE UINT32_MAX

struct program {
	struct program_shape shape;
	struct pm_paths paths;
	uint32_t *first, *next; /* children: see pm_paths_link */
	uint32_t *due;          /* as `first`: the child that is next called for its first time */
	uint32_t *stack;        /* paths of the calls that have not returned */
	uint32_t depth;
	uint32_t *choices; /* functions, each as often as it is chosen */
	uint64_t seed;
	bool complete, ended;
};

struct program_shape program_parse(const char *text)
{
	struct program_shape s = {.functions = 2000, .depth = 30, .skew = 1};
	if (sscanf(text, "%u,%u,%u,%lf", &s.paths, &s.functions, &s.depth, &s.skew) < 1 ||
		s.functions == 0 || s.depth == 0 || s.paths == 0) {
		errno = EINVAL;
		make_die(text);
	}
	return s;
}

static uint32_t roll(struct program *w)
{
	w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->seed >> 32);
}

static uint32_t function(struct program *w)
{
	return w->choices[roll(w) % CHOICES];
}

static void *array(size_t n)
{
	uint32_t *p = malloc((n + 1) * sizeof(*p));
	if (!p)
		make_die("memory");
	memset(p, 0xff, (n + 1) * sizeof(*p));
	return p;
}

static void fill_choices(struct program *w)
{
	double whole = 0, sum = 0;
	uint32_t n = 0;
	w->choices = array(CHOICES);
	for (uint32_t i = 0; i < w->shape.functions; i++)
		whole += pow(i + 1, -w->shape.skew);
	for (uint32_t i = 0; i < w->shape.functions; i++) {
		sum += pow(i + 1, -w->shape.skew);
		while (n < CHOICES && n < sum / whole * CHOICES)
			w->choices[n++] = i;
	}
	while (n < CHOICES)
		w->choices[n++] = w->shape.functions - 1;
}

/* ---- the tree: what a random walk meets ---- */

static void grow(struct program *w)
{
	uint32_t vain = 0;
	while (w->paths.n < w->shape.paths && vain < PATIENCE) {
		uint32_t before = w->paths.n;
		if (w->depth == w->shape.depth || (w->depth && roll(w) % 2)) {
			w->depth--;
			continue;
		}
		uint32_t parent = w->depth ? w->stack[w->depth - 1] : NONE;
		w->stack[w->depth++] = pm_paths_child(&w->paths, parent, function(w));
		vain = w->paths.n > before ? 0 : vain + 1;
	}
	w->depth = 0;
	if (w->paths.n < w->shape.paths) {
		errno = EDOM;
		make_die("not so many paths of this shape");
	}
}

/* Where the lists of a path begin; of the top for NONE. */
static size_t at(uint32_t path)
{
	return (uint32_t)(path + 1);
}

static void link_children(struct program *w)
{
	size_t n = w->paths.n + 1;
	w->first = array(n);
	w->next = array(n);
	w->due = array(n);
	pm_paths_link(&w->paths, w->first, w->next);
	memcpy(w->due, w->first, n * sizeof(*w->due));
	w->paths.most = w->paths.n;
}

struct program *program_new(struct program_shape shape)
{
	struct program *w = calloc(1, sizeof(*w));
	if (!w || pm_paths_init(&w->paths, UINT32_MAX) < 0)
		make_die("memory");
	w->shape = shape;
	w->stack = array(shape.depth);
	fill_choices(w);
	grow(w);
	link_children(w);
	return w;
}

struct program *program_free(struct program *w)
{
	pm_paths_done(&w->paths);
	free(w->first);
	free(w->next);
	free(w->due);
	free(w->stack);
	free(w->choices);
	free(w);
	return NULL;
}

/* ---- the stream ---- */

/* A child of a path that has some, by Zipf's law; NONE where the first choices have no path. */
static uint32_t choose(struct program *w, uint32_t path)
{
	for (int tries = 0; tries < TRIES; tries++) {
		uint32_t child = pm_paths_child(&w->paths, path, function(w));
		if (child != PM_PATHS_FULL)
			return child;
	}
	return path == NONE ? w->first[0] : NONE;
}

/* The path to call now, or NONE to return: first each child once, then as it comes. */
static uint32_t decide(struct program *w, uint32_t path)
{
	uint32_t child = w->due[at(path)];
	if (w->ended)
		return NONE;
	if (!w->complete && child != NONE) {
		w->due[at(path)] = w->next[child];
		return child;
	}
	if (!w->complete && path != NONE)
		return NONE;
	w->complete = true;
	if (w->first[at(path)] == NONE || (path != NONE && roll(w) % 2))
		return NONE;
	return choose(w, path);
}

bool program_next(struct program *w, struct program_event *ret)
{
	uint32_t path = w->depth ? w->stack[w->depth - 1] : NONE, child = decide(w, path);
	if (child != NONE) {
		w->stack[w->depth++] = child;
		*ret = (struct program_event){true, w->paths.items[child].key, w->depth};
		return true;
	}
	if (w->depth == 0)
		return false;
	*ret = (struct program_event){false, w->paths.items[path].key, w->depth--};
	return true;
}

void program_end(struct program *w)
{
	w->ended = true;
}

bool program_is_complete(const struct program *w)
{
	return w->complete;
}
