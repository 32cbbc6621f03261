/*
 * The format `nytprof`: how a source is recognised and opened. Opening reads the beginnings of its
 * files; the rest is read on first need (model.c).
 *
 * A process that forks leaves X for itself and X.PID for each child; with addpid=1 all are X.PID;
 * with addtimestamp=1 there is also a time. So files of a directory belong to one run if their
 * names are equal except for numbers at the end.
 */
#include "formats/nytprof/nytprof.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/common/input.h"
#include "formats/common/map.h"
#include "profmount/format.h"

/* ==== directories ==== */

/* The length of a name without the numbers at its end: nytprof.out of nytprof.out.123.456. */
static size_t stem_length(const char *name)
{
	size_t len = strlen(name);
	for (;;) {
		size_t digits = 0;
		while (digits < len && name[len - 1 - digits] >= '0' &&
			name[len - 1 - digits] <= '9')
			digits++;
		if (digits == 0 || len < digits + 2 || name[len - 1 - digits] != '.')
			return len;
		len -= digits + 1;
	}
}

/* A regular file that begins like a profile. */
static int run_file(int folder, const char *name, struct pm_run_file *ret)
{
	uint8_t head[8];
	struct stat st;
	int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	bool found = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		read(fd, head, sizeof(head)) == sizeof(head) &&
		nytp_head_matches((struct pm_bytes){head, sizeof(head)});
	close(fd);
	ret->run = pm_hash_bytes((struct pm_bytes){(const uint8_t *)name, stem_length(name)});
	ret->member = pm_hash_bytes(pm_bytes_of(name));
	return found;
}

/* ---- opening ---- */

/* Some file of the source begins correctly. */
static int add_part(struct nytp_opened *o, struct pm_input *in, struct nytp_head *ret_head,
	struct pm_error *err)
{
	struct nytp *n = &o->native;
	struct nytp_input *part = &o->inputs[n->n_files];
	struct nytp_file *f = &n->files[n->n_files];
	int r = nytp_head_read(in->bytes, in->name, ret_head, err);
	if (r < 0)
		return r;
	part->name = pm_arena_printf(&o->arena, "%s", in->name);
	if (!part->name)
		return pm_error_plain(err, -ENOMEM);
	pm_watch_init(&part->watch, &in->stamp, false);
	pm_watch_ends(&part->watch, in->bytes);
	*f = (struct nytp_file){.name = part->name, .layout = ret_head->layout};
	r = nytp_tables_make(&o->arena, n, f, ret_head->blocks, &o->docs[n->n_files]);
	n->n_files++;
	o->may_have_text |= ret_head->layout != NYTP_LAYOUT_CHUNKS;
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static int make_room(struct nytp_opened *o, size_t n)
{
	o->native.files = pm_arena_array(&o->arena, n, sizeof(*o->native.files));
	o->inputs = pm_arena_array(&o->arena, n, sizeof(*o->inputs));
	o->docs = pm_arena_array(&o->arena, n, sizeof(*o->docs));
	return o->native.files && o->inputs && o->docs ? 0 : -ENOMEM;
}

static int open_file(struct nytp_opened *o, const struct pm_candidate *c,
	struct nytp_head *ret_head, struct pm_error *err)
{
	int r = make_room(o, 1);
	if (r == 0)
		r = pm_input_take(
			&o->input, fcntl(c->fd, F_DUPFD_CLOEXEC, 0), pm_path_name(c->path), err);
	if (r == 0)
		r = add_part(o, &o->input, ret_head, err);
	if (r == 0)
		o->input.watch = &o->inputs[0].watch;
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* One of several files; if it is damaged, the others are used. */
static int open_one(struct nytp_opened *o, int folder, const char *name, struct nytp_head *ret_head,
	struct pm_error *err)
{
	struct pm_input in = {.fd = -1};
	struct nytp_head head;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	size_t before = o->native.n_files;
	int r = pm_input_open(&in, folder, name, &why);
	o->bytes += in.bytes.len;
	if (r == 0)
		r = add_part(o, &in, &head, &why);
	pm_input_close(&in);
	if (pm_is_passing(r))
		return pm_error_set(err, r, name, PM_NO_OFFSET, "no memory");
	if (r == 0 && before == 0)
		*ret_head = head;
	if (r < 0)
		pm_damage_add(&o->unread, name, why.offset, PM_NO_OFFSET, "%s", why.text);
	return o->unread.no_memory ? pm_error_set(err, -ENOMEM, name, PM_NO_OFFSET, "no memory")
				   : 0;
}

static int open_folder(struct nytp_opened *o, const struct pm_candidate *c,
	struct nytp_head *ret_head, struct pm_error *err)
{
	int r = make_room(o, c->n_files);
	if (r < 0)
		r = pm_error_set(err, r, c->path, PM_NO_OFFSET, "no memory");
	if (r == 0 && (o->folder = fcntl(c->fd, F_DUPFD_CLOEXEC, 0)) < 0)
		r = pm_error_set(err, -EIO, c->path, PM_NO_OFFSET, "cannot be opened");
	for (size_t i = 0; r == 0 && i < c->n_files; i++)
		r = open_one(o, c->fd, c->files[i], ret_head, err);
	if (r == 0 && o->native.n_files == 0) {
		const struct pm_damages damages = pm_damage_rows(&o->unread);
		r = pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"contains no readable profile: %s", damages.rows[0].what);
	}
	if (r == 0)
		r = nytp_processes_make(&o->arena, &o->native, &o->all_processes, &o->processes);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void free_opened(struct nytp_opened *o)
{
	pm_part_done(&o->sources);
	pm_part_done(&o->times);
	pm_part_done(&o->model);
	pm_input_close(&o->input);
	for (size_t i = 0; i < o->native.n_files; i++)
		pm_watch_done(&o->inputs[i].watch);
	nytp_done(&o->native);
	pm_damage_done(&o->unread);
	pm_arena_done(&o->arena);
	if (o->folder >= 0)
		close(o->folder);
	free(o);
}

static void describe(struct nytp_opened *o, const struct pm_candidate *c,
	const struct nytp_head *head, struct pm_profile *ret)
{
	static const char *const layouts[] = {
		"nytprof-4", "nytprof-5", "pynytprof-chunks", "pynytprof-tokens"};
	nytp_model_init(o, ret);
	ret->layout = layouts[head->layout];
	ret->measured_ns = nytp_time_is_sane(head->start) ? nytp_ns_of(head->start) : 0;
	ret->mtime_ns = ret->measured_ns ? ret->measured_ns : c->mtime_ns;
	ret->input_bytes = o->bytes;
	ret->has_lines = true;
	ret->has_files = true;
	ret->inclusive_overlaps = true;
	ret->module_end = "::";
}

static int open_source(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct nytp_opened *o = calloc(1, sizeof(*o));
	struct nytp_head head = {.start = NAN};
	if (!o)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	o->unread = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	o->folder = o->input.fd = -1;
	o->bytes = c->size;
	nytp_init(&o->native);
	o->native.fill = nytp_scan;
	o->native.keep_evals = options->keep_evals;
	int r = c->folder ? open_folder(o, c, &head, err) : open_file(o, c, &head, err);
	if (r < 0) {
		free_opened(o);
		return r;
	}
	o->alone = o->native.n_files == 1 && !isnan(head.start);
	o->native.bytes_all = o->bytes;
	describe(o, c, &head, ret);
	return 0;
}

static void close_source(struct pm_profile *p)
{
	free_opened(nytp_opened_of(p));
}

/* ---- recognising ---- */

static int probe(const struct pm_candidate *c)
{
	enum { A_FOLDER = 60 };
	if (c->folder)
		return c->n_files > 0 ? A_FOLDER : PM_PROBE_NO;
	return nytp_head_matches(c->head) ? PM_PROBE_CERTAIN : PM_PROBE_NO;
}

const struct pm_format nytp_format = {
	.name = "nytprof",
	.summary = "Devel::NYTProf profiles, versions 4 and 5, and those of Pynytprof",
	.probe = probe,
	.run_file = run_file,
	.open = open_source,
	.close = close_source,
};
