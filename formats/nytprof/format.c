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

/* A build in the arena of what is opened. */
struct opening {
	struct nytp_opened *o;
	const struct pm_candidate *c;
	struct nytp_head head; /* of the first file */
	struct pm_error *err;
};

/* Looks at the beginning of what may be the next file. Allocates nothing: `in` is open. */
static int look_at_part(struct nytp_opened *o, const struct pm_input *in,
	struct nytp_head *ret_head, struct pm_error *err)
{
	struct pm_watch *watch = &o->inputs[o->native.n_files].watch;
	int r = nytp_head_read(in->bytes, in->name, ret_head, err);
	if (r < 0)
		return r;
	pm_watch_init(watch, &in->stamp, false);
	pm_watch_ends(watch, in->bytes);
	return 0;
}

static void add_part(struct nytp_opened *o, const char *name, const struct nytp_head *head)
{
	struct nytp *n = &o->native;
	size_t i = n->n_files++;
	struct nytp_file *f = &n->files[i];
	o->inputs[i].name = pm_arena_printf(&o->arena, "%s", name);
	*f = (struct nytp_file){.name = o->inputs[i].name, .layout = head->layout};
	nytp_tables_make(&o->arena, n, f, head->blocks, &o->docs[i]);
	o->may_have_text |= head->layout != NYTP_LAYOUT_CHUNKS;
}

/* One of several files; if it is damaged, the others are used. */
static void open_one(struct opening *x, const char *name)
{
	struct nytp_opened *o = x->o;
	struct pm_input in = {.fd = -1};
	struct nytp_head head;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = pm_input_open(&in, x->c->fd, name, &why);
	o->bytes += in.bytes.len;
	if (r == 0)
		r = look_at_part(o, &in, &head, &why);
	pm_input_close(&in);
	if (pm_is_lasting(r)) {
		pm_damage_add(&o->unread, name, why.offset, PM_NO_OFFSET, "%s", why.text);
		r = o->unread.no_memory ? PM_NO_MEMORY : 0;
	} else if (r == 0) {
		x->head = o->native.n_files == 0 ? head : x->head;
		add_part(o, name, &head);
	}
	pm_build_check(&o->arena, r);
}

static void open_all(void *opening)
{
	struct opening *x = opening;
	struct nytp_opened *o = x->o;
	const struct pm_candidate *c = x->c;
	size_t n = c->folder ? c->n_files : 1;
	o->native.files = pm_arena_array(&o->arena, n, sizeof(*o->native.files));
	o->inputs = pm_arena_array(&o->arena, n, sizeof(*o->inputs));
	o->docs = pm_arena_array(&o->arena, n, sizeof(*o->docs));
	if (!c->folder) {
		const char *name = pm_path_name(c->path);
		int fd = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);
		pm_build_check(&o->arena, pm_input_take(&o->input, fd, name, x->err));
		pm_build_check(&o->arena, look_at_part(o, &o->input, &x->head, x->err));
		add_part(o, name, &x->head);
		o->input.watch = &o->inputs[0].watch;
		return;
	}
	if ((o->folder = fcntl(c->fd, F_DUPFD_CLOEXEC, 0)) < 0)
		pm_build_check(&o->arena,
			pm_error_set(x->err, -EIO, c->path, PM_NO_OFFSET, "cannot be opened"));
	for (size_t i = 0; i < n; i++)
		open_one(x, c->files[i]);
	if (o->native.n_files == 0)
		pm_build_check(&o->arena,
			pm_error_set(x->err, -EINVAL, c->path, PM_NO_OFFSET,
				"contains no readable profile: %s",
				pm_damage_rows(&o->unread).rows[0].what));
	nytp_processes_make(&o->arena, &o->native, &o->all_processes, &o->processes);
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
	struct opening x = {.o = o, .c = c, .head = {.start = NAN}, .err = err};
	if (!o)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	o->unread = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	o->folder = o->input.fd = -1;
	o->bytes = c->size;
	nytp_init(&o->native);
	o->native.fill = nytp_scan;
	o->native.keep_evals = options->keep_evals;
	int r = pm_build(&o->arena, open_all, &x);
	if (r < 0) {
		free_opened(o);
		return pm_error_plain(err, r);
	}
	o->alone = o->native.n_files == 1 && !isnan(x.head.start);
	o->native.bytes_all = o->bytes;
	describe(o, c, &x.head, ret);
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
