#include "formats/nytprof/namesakes.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"

enum {
	BETWEEN_QUESTIONS = 1 << 12, /* subs */
	MOST_KILLED = 64,            /* processes that forked each other, and have no tables */
};

/* Of a name that several files define. */
#define SEVERAL (NYTP_NONE - 1)

struct finding {
	struct nytp *n;
	uint32_t *file_of;      /* by name: the file's name, or NYTP_NONE, or SEVERAL */
	struct pm_map by_place; /* name and file's name → number of a namesake */
	size_t room;
};

/* The file defines the sub. */
static int find_file(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file)
{
	uint32_t *known = &g->file_of[name];
	f->definer = f;
	*known = *known == NYTP_NONE || *known == file ? file : SEVERAL;
	return 0;
}

static int add_number(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file)
{
	struct nytp *n = g->n;
	bool fresh;
	if (g->file_of[name] != SEVERAL)
		return 0;
	uint32_t *number = pm_map_put(
		&g->by_place, (uint64_t)name << 32 | file, n->names.n + n->n_namesakes, &fresh);
	if (!number ||
		(fresh &&
			pm_list_room(&n->namesakes, n->n_namesakes, &g->room,
				sizeof(*n->namesakes)) < 0))
		return -ENOMEM;
	if (fresh)
		n->namesakes[n->n_namesakes++] = name;
	return pm_map_put(&f->namesakes, name, *number, &fresh) ? 0 : -ENOMEM;
}

/* Calls `take` for each sub that a file defines. */
static int each_definition(struct finding *g,
	int (*take)(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file))
{
	int r = 0;
	for (size_t i = 0; i < g->n->n_files; i++) {
		struct nytp_file *f = &g->n->files[i];
		for (size_t k = 0; r == 0 && k < f->n_subs; k++) {
			const struct nytp_sub *sub = &f->subs[k];
			if (k % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
				return -ENOMEM;
			const uint32_t *fid =
				sub->located ? pm_map_find(&f->by_fid, sub->fid) : NULL;
			if (fid)
				r = take(g, f, nytp_folded(g->n, f, sub->name),
					nytp_row_shown(g->n, f, &f->fids[*fid]));
		}
	}
	return r;
}

/* A process that was killed has no table of its subs: they are those of its parent. */
static void find_definers(struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++) {
		const struct nytp_file *from = &n->files[i];
		for (unsigned k = 0; from && from->definer != from && k < MOST_KILLED; k++)
			from = from->parent;
		n->files[i].definer = from && from->definer == from ? from : NULL;
	}
}

int nytp_namesakes_find(struct nytp *n)
{
	struct finding g = {.n = n, .file_of = malloc(((size_t)n->names.n + 1) * sizeof(uint32_t))};
	int r = g.file_of ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n->names.n; i++)
		g.file_of[i] = NYTP_NONE;
	if (r == 0)
		r = each_definition(&g, find_file);
	if (r == 0)
		r = each_definition(&g, add_number);
	if (r == 0)
		find_definers(n);
	free(g.file_of);
	pm_map_done(&g.by_place);
	return r;
}
