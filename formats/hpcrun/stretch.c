#include "formats/hpcrun/stretch.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/pipeline.h"
#include "formats/hpcrun/harvest.h"

/* Large enough that joining takes a small part of the time, and small compared with free memory. */
#define STRETCH_BYTES ((uint64_t)8 << 20)

/*
 * Of the files whose tries exist at the same time. If no two nodes are equal, tries take twice
 * that.
 */
#define MOST_BYTES ((uint64_t)96 << 20)

struct reading {
	struct hpcrun_trie *trie;
	struct hpcrun_folder *folder;
	struct pm_thread_counts *counts;
	struct pm_damage_list *damage;
	uint32_t *starts; /* of stretches, in folder->sources; n + 1 */
	uint32_t n;
	size_t room;
};

/* ---- one stretch ---- */

struct stretch {
	struct hpcrun_trie trie;
	struct pm_damage_list damage;
	uint32_t *seen; /* by node: the last source with a value there, + 1 */
	size_t seen_room, n_seen;
};

static int count_values(struct stretch *s, uint32_t source, const struct hpcrun_harvest *h,
	const uint32_t *nodes, struct pm_thread_counts *ret)
{
	if (s->trie.n > 0 &&
		pm_list_room(&s->seen, s->trie.n - 1, &s->seen_room, sizeof(*s->seen)) < 0)
		return -ENOMEM;
	while (s->n_seen < s->trie.n)
		s->seen[s->n_seen++] = 0;
	ret->values = h->n_values;
	for (size_t i = 0; i < h->n_values; i++) {
		uint32_t *seen = &s->seen[nodes[h->values[i].node]];
		ret->contexts += *seen != source + 1;
		*seen = source + 1;
	}
	return 0;
}

static int read_source(const struct reading *reading, struct stretch *s, uint32_t source)
{
	const struct hpcrun_file *file = &reading->folder->sources[source].profile;
	struct hpcrun_harvest h = {.n_nodes = 0};
	reading->counts[source] = (struct pm_thread_counts){.contexts = 0};
	int r = file->name ? hpcrun_harvest_read(&h, reading->folder, file, &s->damage) : 0;
	uint32_t *nodes = r == 0 ? malloc((h.n_nodes + 1) * sizeof(*nodes)) : NULL;
	if (r == 0)
		r = nodes ? hpcrun_trie_enter(&s->trie, &h, nodes) : -ENOMEM;
	if (r == 0)
		r = hpcrun_trie_add(&s->trie, &h, nodes);
	if (r == 0)
		r = count_values(s, source, &h, nodes, &reading->counts[source]);
	free(nodes);
	hpcrun_harvest_done(&h);
	return r;
}

static int make_stretch(void *context, uint32_t i, void *result)
{
	const struct reading *reading = context;
	struct stretch *s = result;
	int r = 0;
	s->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	for (uint32_t k = reading->starts[i]; k < reading->starts[i + 1] && r == 0; k++)
		r = read_source(reading, s, k);
	free(s->seen);
	s->seen = NULL;
	return r;
}

/* ---- all of them ---- */

static uint64_t weigh_stretch(void *context, uint32_t i)
{
	const struct reading *reading = context;
	uint64_t bytes = 0;
	for (uint32_t k = reading->starts[i]; k < reading->starts[i + 1]; k++)
		bytes += reading->folder->sources[k].profile.size;
	return bytes;
}

/* The first one becomes the whole. */
static int take_stretch(void *context, uint32_t i, void *result)
{
	const struct reading *reading = context;
	struct stretch *s = result;
	struct pm_damages all = pm_damage_rows(&s->damage);
	for (size_t k = 0; k < all.n; k++)
		pm_damage_add(reading->damage, all.rows[k].file, all.rows[k].offset,
			all.rows[k].bytes, "%s", all.rows[k].what);
	if (i > 0)
		return hpcrun_trie_join(reading->trie, &s->trie);
	*reading->trie = s->trie;
	s->trie = (struct hpcrun_trie){.nodes = NULL};
	return 0;
}

static void drop_stretch(void *result)
{
	struct stretch *s = result;
	free(s->seen);
	hpcrun_trie_done(&s->trie);
	pm_damage_done(&s->damage);
}

static int add_start(struct reading *reading, uint32_t start)
{
	if (pm_list_room(&reading->starts, reading->n, &reading->room, sizeof(start)) < 0)
		return -ENOMEM;
	reading->starts[reading->n++] = start;
	return 0;
}

static int plan(struct reading *reading)
{
	const struct hpcrun_folder *f = reading->folder;
	uint64_t bytes = 0;
	int r = add_start(reading, 0);
	for (uint32_t i = 0; i < f->n && r == 0; i++) {
		bytes += f->sources[i].profile.size;
		if (bytes < STRETCH_BYTES || i + 1 == f->n)
			continue;
		r = add_start(reading, i + 1);
		bytes = 0;
	}
	if (r == 0)
		r = add_start(reading, f->n);
	reading->n--; /* the last entry is an end */
	return r;
}

int hpcrun_stretches_read(struct hpcrun_trie *ret, struct hpcrun_folder *folder,
	struct pm_thread_counts *counts, struct pm_damage_list *damage)
{
	struct reading reading = {
		.trie = ret, .folder = folder, .counts = counts, .damage = damage};
	int r = plan(&reading);
	struct pm_pipeline pipeline = {.n = reading.n,
		.size = sizeof(struct stretch),
		.make = make_stretch,
		.take = take_stretch,
		.drop = drop_stretch,
		.weigh = weigh_stretch,
		.most = MOST_BYTES,
		.context = &reading};
	if (r == 0)
		r = pm_pipeline_run(&pipeline);
	free(reading.starts);
	return r;
}
