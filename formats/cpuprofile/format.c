/* Recognises what V8 writes of processors and heaps (docs/formats/cpuprofile.md), and reads it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/builder/v8.h"
#include "formats/common/folder.h"

static bool is(struct pm_bytes key, const char *name)
{
	return pm_bytes_equal(key, pm_bytes_of(name));
}

/* CPU.DATE.TIME.PID.TID.SEQ.cpuprofile, as node names them. */
static uint32_t add_thread(struct pm_recording *r)
{
	unsigned pid, tid;
	int n = 0;
	const char *name = pm_rec_file(r);
	if (sscanf(name, "CPU.%*[0-9].%*[0-9].%9u.%9u.%*[0-9].cpuprofile%n", &pid, &tid, &n) >= 2 &&
		n > 0) {
		struct pm_rec_key keys[] = {{"process", pid, {0}}, {"thread", tid, {0}}};
		return pm_rec_thread(r, keys, 2, (struct pm_bytes){0});
	}
	struct pm_rec_key key = {"thread", 1, {0}};
	return pm_rec_thread(r, &key, 1, (struct pm_bytes){0});
}

struct reading {
	struct pm_recording *r;
	struct pm_error *err;
	struct pm_arena arena;
};

static void read_all(void *reading)
{
	struct reading *x = reading;
	struct pm_recording *r = x->r;
	struct pm_v8 *v = pm_v8_new(&x->arena, r);
	struct pm_scan s = pm_rec_json(r);
	struct pm_bytes key;
	pm_scan_enter(&s);
	while (pm_scan_key(&s, &key) && pm_rec_goes_on(r))
		if (!pm_v8_read(v, &s, key, false))
			pm_scan_skip(&s);
	if (!pm_rec_json_ends(r, &s))
		pm_build_fail(&x->arena, PM_NO_MEMORY);
	if (!pm_v8_has_functions(v))
		pm_build_check(&x->arena,
			pm_error_set(x->err, -EINVAL, pm_rec_file(r), pm_scan_where(&s),
				"is no profile of V8: it has no nodes with functions"));
	pm_v8_place(v, pm_v8_is_heap(v) ? PM_REC_NONE : add_thread(r));
	pm_v8_node_table(v);
	pm_rec_layout(r, pm_v8_layout(v));
}

static int read(struct pm_recording *r, struct pm_error *err)
{
	struct reading x = {.r = r, .err = err};
	int e = pm_build(&x.arena, read_all, &x);
	pm_arena_done(&x.arena);
	return e;
}

/* ---- the format ---- */

static const struct pm_reader reader = {
	.contexts_are = "samples",
	.layout = "list of nodes",
	.read = read,
};

/* Whether a list of nodes, or a node, begins like V8's: with a function. */
static bool has_function(struct pm_scan s)
{
	struct pm_bytes key;
	if (pm_scan_peek(&s) == PM_SCAN_ARRAY && (!pm_scan_enter(&s) || !pm_scan_item(&s)))
		return false;
	if (pm_scan_peek(&s) != PM_SCAN_OBJECT || !pm_scan_enter(&s))
		return false;
	while (pm_scan_key(&s, &key)) {
		if (is(key, "callFrame") || is(key, "functionName"))
			return true;
		if (!pm_scan_skip(&s))
			return false;
	}
	return false;
}

/* The names that node gives to the profiles of one process's threads: as in add_thread. */
static int run_file(int folder, const char *name, struct pm_run_file *ret)
{
	unsigned pid, sequence;
	int n = 0;
	(void)folder;
	if (sscanf(name, "CPU.%*[0-9].%*[0-9].%9u.%*9u.%9u.cpuprofile%n", &pid, &sequence, &n) !=
			2 ||
		n == 0 || name[n])
		return -1;
	ret->run = pid;
	ret->member = sequence;
	return 1;
}

static int probe(const struct pm_candidate *c)
{
	struct pm_scan s = pm_scan_of(c->text);
	struct pm_bytes key;
	if (c->folder)
		return c->n_files > 1 ? PM_PROBE_CERTAIN : PM_PROBE_NO;
	if (pm_scan_peek(&s) != PM_SCAN_OBJECT || !pm_scan_enter(&s))
		return PM_PROBE_NO;
	while (pm_scan_key(&s, &key)) {
		if ((is(key, "nodes") || is(key, "head")) && has_function(s))
			return PM_PROBE_CERTAIN;
		if (!pm_scan_skip(&s))
			break;
	}
	bool named = strstr(c->path, ".cpuprofile") || strstr(c->path, ".heapprofile");
	return named && s.cut ? PM_PROBE_BY_CONTENT : PM_PROBE_NO;
}

static int open_source(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	return pm_rec_open(&reader, c, options, ret, err);
}

const struct pm_format cpup_format = {
	.name = "cpuprofile",
	.summary = "V8: .cpuprofile of node, Chrome, Deno and others, old and new; .heapprofile",
	.probe = probe,
	.run_file = run_file,
	.open = open_source,
	.close = pm_rec_close,
};
