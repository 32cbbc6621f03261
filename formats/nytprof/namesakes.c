#include "formats/nytprof/namesakes.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"

enum { BETWEEN_QUESTIONS = 1 << 12 /* subs */ };

struct finding {
	struct nytp *n;
	uint32_t *file_of;      /* by name: the file's name where it is defined first */
	struct pm_map by_place; /* name and file's name → number of a namesake */
	size_t room;
};

/* The number of the sub, which is defined in that file; NYTP_NONE if out of memory. */
static uint32_t number_of(struct finding *g, uint32_t name, uint32_t file)
{
	struct nytp *n = g->n;
	bool fresh;
	if (g->file_of[name] == NYTP_NONE)
		g->file_of[name] = file;
	if (g->file_of[name] == file)
		return name;
	uint32_t *at = pm_map_put(
		&g->by_place, (uint64_t)name << 32 | file, n->names.n + n->n_namesakes, &fresh);
	if (!at ||
		(fresh &&
			pm_list_room(&n->namesakes, n->n_namesakes, &g->room,
				sizeof(*n->namesakes)) < 0))
		return NYTP_NONE;
	if (fresh)
		n->namesakes[n->n_namesakes++] = name;
	return *at;
}

static int find_in_file(struct finding *g, struct nytp_file *f)
{
	for (size_t i = 0; i < f->n_subs; i++) {
		const struct nytp_sub *sub = &f->subs[i];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		const uint32_t *fid = sub->located ? pm_map_find(&f->by_fid, sub->fid) : NULL;
		if (!fid)
			continue;
		uint32_t name = nytp_folded(g->n, sub->name);
		uint32_t number = number_of(g, name, nytp_folded(g->n, f->fids[*fid].name));
		bool fresh;
		if (number == NYTP_NONE ||
			(number != name && !pm_map_put(&f->namesakes, name, number, &fresh)))
			return -ENOMEM;
	}
	return 0;
}

int nytp_namesakes_find(struct nytp *n)
{
	struct finding g = {.n = n, .file_of = malloc(((size_t)n->names.n + 1) * sizeof(uint32_t))};
	int r = g.file_of ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n->names.n; i++)
		g.file_of[i] = NYTP_NONE;
	for (size_t i = 0; r == 0 && i < n->n_files; i++)
		r = find_in_file(&g, &n->files[i]);
	free(g.file_of);
	pm_map_done(&g.by_place);
	return r;
}
