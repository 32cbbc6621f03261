/*
 * The parts of an opened source that are built on first need: native tables from all files, then
 * the model, the list of sources, damage. Files are read as they were when the source was opened,
 * or everything is -EIO; they are not needed after that.
 */
#include "formats/nytprof/parts.h"

#include <errno.h>
#include <math.h>

#include "formats/nytprof/build.h"
#include "formats/nytprof/evals.h"
#include "formats/nytprof/namesakes.h"
#include "formats/nytprof/read.h"
#include "formats/nytprof/runs.h"

/* Counters of all files that limits apply to. */
struct counts {
	size_t rows, source_bytes, log_bytes;
	bool logs_full;
};

static struct counts counts_of(const struct nytp *n)
{
	return (struct counts){n->rows, n->source_bytes, n->log_bytes, n->logs_full};
}

/*
 * Restores the counters as if the file had not been read, so that later files can use the limits.
 */
static void forget(struct nytp *n, struct nytp_file *f, struct nytp_file was, struct counts before)
{
	nytp_file_done(f);
	*f = was;
	n->rows = before.rows;
	n->source_bytes = before.source_bytes;
	n->log_bytes = before.log_bytes;
	n->logs_full = before.logs_full;
}

/* A file that begins correctly but cannot be presented is damage. */
static int read_input(struct nytp_opened *o, size_t i, struct pm_input *in, struct pm_error *err)
{
	struct nytp *n = &o->native;
	struct nytp_file *f = &n->files[i], was = *f;
	struct counts before = counts_of(n);
	struct pm_error why = {.offset = PM_NO_OFFSET};
	n->input = in;
	int r = nytp_file_read(n, f, in->bytes, &why);
	n->input = NULL;
	n->bytes_done += in->bytes.len;
	if (pm_input_changed(in))
		return pm_error_set(err, -EIO, in->name, PM_NO_OFFSET,
			"cannot be read, or has changed while it was read");
	if (r == -EINVAL || r == -ENOTSUP) {
		forget(n, f, was, before);
		pm_damage_add(&n->damage, f->name, why.offset, PM_NO_OFFSET, "%s", why.text);
		return 0;
	}
	return r < 0 ? pm_error_set(err, r, in->name, why.offset, "%s", why.text) : 0;
}

static int read_part(struct nytp_opened *o, size_t i, struct pm_error *err)
{
	struct nytp_part *part = &o->parts[i];
	struct pm_input in = {.fd = -1};
	if (o->folder < 0)
		return read_input(o, i, &o->input, err);
	int r = pm_input_open_watched(&in, o->folder, part->name, &part->watch, err);
	if (r == 0)
		r = read_input(o, i, &in, err);
	pm_input_close(&in);
	return r == -ENOENT ? pm_error_set(err, -EIO, part->name, PM_NO_OFFSET, "is gone") : r;
}

static int finish(struct nytp_opened *o)
{
	struct nytp *n = &o->native;
	for (size_t i = 0; i < o->unread.n; i++)
		pm_damage_add(&n->damage, o->unread.rows[i].file, o->unread.rows[i].offset,
			PM_NO_OFFSET, "%s", o->unread.rows[i].what);
	nytp_logs_settle(n);
	int r = nytp_runs_find(n);
	if (r == 0)
		r = nytp_threads_build(&o->threads, n);
	if (r == 0)
		r = nytp_evals_name(n);
	if (r == 0)
		r = nytp_namesakes_find(n);
	if (r == 0)
		r = nytp_processes_fill(n, &o->all_processes);
	if (r == 0)
		r = nytp_facts_make(&o->facts, n);
	return r;
}

int nytp_scan(struct nytp *n, struct pm_error *err)
{
	struct nytp_opened *o = (struct nytp_opened *)n; /* native is its first member */
	int r = 0;
	for (size_t i = 0; r == 0 && i < n->n_files; i++)
		r = read_part(o, i, err);
	if (r == 0)
		r = finish(o);
	if (r == 0) {
		pm_input_close(&o->input);
		return 0;
	}
	if (r == -EIO)
		__atomic_store_n(&o->changed, true, __ATOMIC_RELEASE);
	nytp_threads_done(&o->threads);
	o->threads = (struct nytp_threads){.threads = NULL};
	nytp_reset(n);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for its tables");
}

/* ---- built on first need ---- */

static int build_model(void *context, struct pm_error *err)
{
	struct nytp_opened *o = context;
	int r = nytp_ready(&o->native, err);
	if (r < 0)
		return r;
	r = nytp_model_build(&o->model, &o->native, &o->threads, err);
	if (r < 0)
		nytp_model_done(&o->model);
	return r;
}

int nytp_opened_model(struct nytp_opened *o, struct nytp_model **ret, struct pm_error *err)
{
	*ret = &o->model;
	return pm_lazy_get(&o->model_once, build_model, o, err);
}

static int build_times(void *context, struct pm_error *err)
{
	struct nytp_opened *o = context;
	struct nytp_model *m;
	int r = nytp_opened_model(o, &m, err);
	if (r < 0)
		return r;
	r = nytp_times_build(&o->native, m, &o->times);
	if (r < 0)
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the times of calls");
	nytp_logs_done(&o->native); /* nothing else needs them */
	return 0;
}

int nytp_opened_times(struct nytp_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->times_once, build_times, o, err);
}

static int build_sources(void *context, struct pm_error *err)
{
	struct nytp_opened *o = context;
	int r = nytp_ready(&o->native, err);
	if (r < 0)
		return r;
	if (nytp_sources_build(&o->sources, &o->native) == 0)
		return 0;
	nytp_sources_done(&o->sources);
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the list of sources");
}

static int build_damage(void *context, struct pm_error *err)
{
	struct nytp_opened *o = context;
	int r = nytp_ready(&o->native, err);
	if (r < 0)
		return r;
	o->damages = pm_damage_rows(&o->native.damage);
	return 0;
}

int nytp_opened_sources(struct nytp_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->sources_once, build_sources, o, err);
}

int nytp_opened_damage(struct nytp_opened *o, struct pm_error *err)
{
	return pm_lazy_get(&o->damage_once, build_damage, o, err);
}

uint64_t nytp_ns_of(double seconds)
{
	return (uint64_t)round(seconds * 1e6) * 1000;
}
