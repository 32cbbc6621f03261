/*
 * The format `nytprof`: what is recognised, and how a source is opened: all of its files are read
 * once, from beginning to end.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/input.h"
#include "formats/nytprof/folder.h"
#include "formats/nytprof/opened.h"
#include "formats/nytprof/read.h"
#include "formats/nytprof/tables.h"

/* ---- opening ---- */

static int read_file(struct nytp_opened *o, struct pm_input *in, struct pm_error *err)
{
	struct nytp *n = &o->native;
	struct nytp_file *f = &n->files[n->n_files];
	*f = (struct nytp_file){.name = pm_arena_printf(&n->arena, "%s", in->name)};
	n->input = in;
	int r = f->name ? nytp_file_read(n, f, in->bytes, err) : pm_error_plain(err, -ENOMEM);
	n->input = NULL;
	if (r == 0 && pm_input_changed(in))
		r = pm_error_set(err, -EIO, in->name, PM_NO_OFFSET,
			"cannot be read, or has changed while it was read");
	n->bytes_done += in->bytes.len;
	nytp_progress(n, 0);
	if (r < 0)
		nytp_file_done(f);
	else
		n->n_files++;
	return r;
}

static int open_file(struct nytp_opened *o, const struct pm_candidate *c, struct pm_error *err)
{
	struct pm_input in = {.fd = -1};
	const char *slash = strrchr(c->path, '/');
	o->native.files = calloc(1, sizeof(*o->native.files));
	o->native.bytes_all = c->size;
	if (!o->native.files)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	int r = pm_input_take(
		&in, fcntl(c->fd, F_DUPFD_CLOEXEC, 0), slash ? slash + 1 : c->path, err);
	if (r == 0)
		r = read_file(o, &in, err);
	pm_input_close(&in);
	return r;
}

/* One of several files; what is wrong with it spoils it alone. */
static int open_one(struct nytp_opened *o, int folder, const char *name, struct pm_error *err)
{
	struct pm_input in = {.fd = -1};
	struct pm_error why = {0};
	int r = pm_input_open(&in, folder, name, &why);
	if (r == 0)
		r = read_file(o, &in, &why);
	pm_input_close(&in);
	if (r == -ENOMEM)
		return pm_error_set(err, r, name, PM_NO_OFFSET, "no memory");
	if (r < 0)
		pm_damage_add(&o->native.damage, name, why.offset, PM_NO_OFFSET, "%s", why.text);
	return 0;
}

static int open_folder(struct nytp_opened *o, const struct pm_candidate *c, struct pm_error *err)
{
	struct nytp_folder folder = {.names = NULL};
	int r = nytp_folder_list(&folder, c->fd, c->path, err);
	o->native.bytes_all = folder.bytes;
	o->native.files = calloc(folder.n + 1, sizeof(*o->native.files));
	if (r == 0 && !o->native.files)
		r = pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	for (size_t i = 0; r == 0 && i < folder.n; i++)
		r = open_one(o, c->fd, folder.names[i], err);
	nytp_folder_done(&folder);
	if (r == 0 && o->native.n_files == 0) {
		const struct pm_damages damages = pm_damage_rows(&o->native.damage);
		r = pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"holds no profile that can be read: %s", damages.rows[0].what);
	}
	return r;
}

static int make_docs(struct nytp_opened *o, struct pm_error *err)
{
	struct nytp *n = &o->native;
	int r = nytp_threads_build(&o->threads, n);
	o->docs = calloc(n->n_files, sizeof(*o->docs));
	if (!o->docs)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < n->n_files; i++)
		r = nytp_tables_make(n, &n->files[i], &o->docs[i].docs, &o->docs[i].n);
	if (r == 0)
		r = nytp_processes_make(n, &o->processes);
	if (r == 0)
		r = nytp_facts_make(&o->facts, n);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for its tables") : 0;
}

static void free_opened(struct nytp_opened *o)
{
	nytp_sources_done(&o->sources);
	nytp_model_done(&o->model);
	nytp_threads_done(&o->threads);
	nytp_done(&o->native);
	free(o->docs);
	free(o);
}

static bool has_edges(const struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++)
		if (n->files[i].n_edges || n->files[i].py.n_edges)
			return true;
	return false;
}

static void describe(struct nytp_opened *o, const struct pm_candidate *c, struct pm_profile *ret)
{
	static const char *const layouts[] = {
		"nytprof-4", "nytprof-5", "pynytprof-chunks", "pynytprof-tokens"};
	const struct nytp *n = &o->native;
	double known = isnan(o->facts.end) ? o->facts.start : o->facts.end;
	o->ops = nytp_ops;
	/* A killed program left no table of call places: views then derive edges from the tree. */
	if (nytp_has_calls(n) && !has_edges(n))
		o->ops.edges = NULL;
	ret->ops = &o->ops;
	ret->layout = layouts[n->files[0].layout];
	ret->title = nytp_attribute(n, &n->files[0], "application");
	ret->mtime_ns = isnan(known) ? c->mtime_ns : nytp_ns_of(known);
	ret->input_bytes = n->bytes_all;
	ret->kind_of_tree = nytp_has_calls(n) ? "calls" : "edges";
	ret->has_lines = true;
	ret->self = o;
}

static int open_source(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	static const struct pm_lazy lazy = PM_LAZY_INIT;
	struct nytp_opened *o = calloc(1, sizeof(*o));
	if (!o)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	o->model_once = o->sources_once = o->damage_once = lazy;
	nytp_init(&o->native, options);
	int r = c->folder ? open_folder(o, c, err) : open_file(o, c, err);
	if (r == 0)
		r = make_docs(o, err);
	o->native.options = NULL;
	if (r < 0) {
		free_opened(o);
		return r;
	}
	describe(o, c, ret);
	return 0;
}

static void close_source(struct pm_profile *p)
{
	free_opened(p->self);
}

/* ---- recognising ---- */

enum { SURE = 100, A_FOLDER = 60, UNLISTED = 1 };

static int probe(const struct pm_candidate *c)
{
	int found = c->folder ? nytp_folder_matches(c->fd) : 0;
	if (c->folder)
		return found < 0 ? UNLISTED : found ? A_FOLDER : 0;
	return nytp_head_matches(c->head) ? SURE : 0;
}

const struct pm_format nytp_format = {
	.name = "nytprof",
	.summary = "Devel::NYTProf profiles, versions 4 and 5, and those of Pynytprof",
	.probe = probe,
	.open = open_source,
	.close = close_source,
};
