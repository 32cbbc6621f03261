/*
 * hpcrun measurements: a directory of .hpcrun and .hpctrace files, or a single file with the files
 * beside it. Recognises and opens them; docs/formats/hpcrun.md describes the bytes.
 */
#include "profmount/format.h"

#include <string.h>

#include "formats/common/affix.h"
#include "formats/hpcrun/hpcrun.h"
#include "formats/hpcrun/profile.h"

enum { SURE = 100, FOLDER = 90, BY_NAME = 10, UNLISTED = PM_PROBE_IF_ASKED + 1 };

static bool path_ends(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);
	return len > end_len && strcmp(path + len - end_len, end) == 0;
}

static bool is_trace(const struct pm_candidate *c)
{
	return pm_begins_with(c->head, "HPCRUN-trace______");
}

/*
 * By name alone: empty files get a reason when they are opened, and traces of 2009 have no magic.
 */
static int probe(const struct pm_candidate *c)
{
	unsigned version;
	int found = c->folder ? hpcrun_folder_probe(c->fd) : 0;
	if (c->folder)
		return found < 0 ? UNLISTED : found ? FOLDER : 0;
	if (is_trace(c) || hpcrun_family_of(c->head, &version) != HPCRUN_FAMILY_NONE)
		return SURE;
	return path_ends(c->path, ".hpcrun") || path_ends(c->path, ".hpctrace") ? BY_NAME : 0;
}

/* Why a single file has no content, as an error message. */
struct explaining {
	struct pm_arena arena;
	const struct pm_candidate *c;
	struct pm_error *err;
};

static void explain_profile(void *context)
{
	struct explaining *e = context;
	struct hpcrun_report silent = {.file = e->c->path};
	struct hpcrun_profile p;
	hpcrun_profile_read(&p, &e->arena, e->c->head, HPCRUN_WHO, &silent, e->err);
}

static void explain(const struct pm_candidate *c, bool trace, struct pm_error *err)
{
	struct hpcrun_report silent = {.file = c->path};
	struct explaining e = {.c = c, .err = err};
	struct hpcrun_trace t;
	if (trace)
		hpcrun_trace_read(&t, c->head, &silent, err);
	else if (pm_build(&e.arena, explain_profile, &e) < 0)
		pm_error_plain(err, PM_NO_MEMORY);
	pm_arena_done(&e.arena);
}

static int format_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct hpcrun_folder folder;
	bool trace = !c->folder && (is_trace(c) || path_ends(c->path, ".hpctrace"));
	int r = c->folder ? hpcrun_folder_open(&folder, c->fd, c->path, err)
			  : hpcrun_folder_open_file(&folder, c->path, trace, err);
	if (r < 0)
		return r;
	folder.no_symbols = options->no_symbols;
	if (!options->no_symbols) /* before there is a mount of our own to look into */
		r = sym_root_open(&folder.root, options->sysroot, err);
	if (r < 0) {
		hpcrun_folder_close(&folder);
		return r;
	}
	struct pm_error general = {.offset = PM_NO_OFFSET};
	struct hpcrun_opened *o;
	r = hpcrun_opened_new(&folder, c->path, &o, &general);
	if (r == -EINVAL && !c->folder)
		explain(c, trace, err);
	if (r < 0)
		return pm_error_set(err, r, c->path, general.offset, "%s", general.text);
	hpcrun_model_init(o, ret);
	return 0;
}

static void format_close(struct pm_profile *p)
{
	hpcrun_opened_free(hpcrun_opened_of(p));
}

const struct pm_format hpcrun_format = {
	.name = "hpcrun",
	.summary = "HPCToolkit measurements: hpcrun profiles 01.98 to 04.00 and of 2009, traces",
	.probe = probe,
	.open = format_open,
	.close = format_close,
};
