#include "formats/hpcrun/gpunames.h"

#include "formats/common/crew.h"
#include "formats/hpcrun/dialect.h"

struct looking {
	struct hpcrun_folder *folder;
	bool found; /* atomic: the others need not be read any more */
};

/* GKER, GXCOPY … */
static bool has_name(const struct hpcrun_profile *p)
{
	for (size_t e = 0; e < p->n_epochs; e++)
		for (size_t i = 0; i < p->epochs[e].metrics.n; i++) {
			struct pm_bytes name = p->epochs[e].metrics.items[i].name;
			if (name.len > 0 && name.p[0] == 'G')
				return true;
		}
	return false;
}

static int look(void *context, size_t i)
{
	struct looking *l = context;
	const struct hpcrun_file *file = &l->folder->sources[i].profile;
	struct hpcrun_report silent = {.file = NULL};
	struct hpcrun_profile p = {.family = HPCRUN_FAMILY_NONE};
	struct pm_input in = {.name = NULL};
	if (!file->name || __atomic_load_n(&l->found, __ATOMIC_RELAXED))
		return 0;
	int r = hpcrun_file_open(l->folder, file, &in, NULL);
	if (r == 0)
		r = hpcrun_profile_read(&p, in.bytes, HPCRUN_METRICS, &silent, NULL);
	if (r == 0 && has_name(&p))
		__atomic_store_n(&l->found, true, __ATOMIC_RELAXED);
	hpcrun_profile_done(&p);
	hpcrun_file_close(l->folder, &in);
	return r == -ENOMEM ? r : 0; /* an unreadable file has no metrics */
}

int hpcrun_has_gpu_names(struct hpcrun_folder *folder)
{
	struct looking l = {.folder = folder};
	int r = pm_crew_each_waiting(folder->n, look, &l);
	return r < 0 ? r : l.found;
}
