#include "fs/windows/chunk.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"

static const struct pmfs_cover nothing = {.first = UINT64_MAX};

static void cover_add(struct pmfs_cover *c, const struct pmfs_cover *more)
{
	c->first = more->first < c->first ? more->first : c->first;
	c->last = more->last > c->last ? more->last : c->last;
	c->end = more->end > c->end ? more->end : c->end;
}

/* Appends the sums to a list if there are few enough of them for the number of records. */
static int keep(struct pmfs_block_sums *sums, const struct pmfs_reading *reading, uint64_t records,
	struct pmfs_block *ret)
{
	const struct pmfs_tally *t = &reading->tally;
	*ret = (struct pmfs_block){
		.cover = reading->cover, .sum = (uint32_t)sums->n, .n_sums = PM_NONE};
	bool fits = !reading->many && t->n <= records / PMFS_A_SUM;
	for (size_t i = 0; fits && i < t->n; i++)
		fits = t->items[i].ns <= UINT64_MAX && t->items[i].calls <= UINT32_MAX;
	if (!fits)
		return 0;
	for (size_t i = 0; i < t->n; i++) {
		if (pm_list_room(&sums->items, sums->n, &sums->room, sizeof(*sums->items)) < 0)
			return -ENOMEM;
		sums->items[sums->n++] = (struct pmfs_sum){.ns = (uint64_t)t->items[i].ns,
			.context = t->items[i].context,
			.calls = (uint32_t)t->items[i].calls};
	}
	ret->n_sums = (uint32_t)t->n;
	return 0;
}

static void shrink(struct pmfs_block_sums *sums)
{
	struct pmfs_sum *fit = sums->n ? realloc(sums->items, sums->n * sizeof(*fit)) : NULL;
	if (fit)
		sums->items = fit;
}

/* The maximum number of sums of any node of the trace. */
static uint64_t most_sums(const struct pmfs_trace_index *t)
{
	return (t->n > PMFS_CHUNK_RECORDS ? t->n : PMFS_CHUNK_RECORDS) / PMFS_A_SUM;
}

/* Adds the sums to the enclosing level; with too many contexts, only the range of times. */
static int join(struct pmfs_reading *to, const struct pmfs_reading *from, uint64_t most)
{
	cover_add(&to->cover, &from->cover);
	if (!to->many && !from->many && pmfs_tally_join(&to->tally, &from->tally) < 0)
		return -ENOMEM;
	to->many = to->many || from->many || to->tally.n > most;
	if (to->many)
		pmfs_tally_done(&to->tally);
	return 0;
}

/* ---- a chunk ---- */

static int block_read(struct pmfs_making *m, uint32_t i)
{
	struct pmfs_trace_chunk *c = m->chunk;
	int r = join(&m->all, &m->block, m->most);
	m->block.many |= m->spilled;
	if (r == 0)
		r = keep(&c->sums, &m->block, PMFS_BLOCK, &c->blocks[i]);
	m->block.many = m->spilled = false;
	m->block.cover = nothing;
	pmfs_tally_clear(&m->block.tally);
	return r == 0 && m->seen == m->n ? keep(&c->sums, &m->all, PMFS_CHUNK_RECORDS, &c->all) : r;
}

int pmfs_making_begin(struct pmfs_making *m, const struct pmfs_trace_index *t, uint64_t n)
{
	*m = (struct pmfs_making){.chunk = calloc(1, sizeof(*m->chunk)),
		.n = n,
		.most = most_sums(t),
		.block.cover = nothing,
		.all.cover = nothing};
	return m->chunk ? 0 : -ENOMEM;
}

static int take_some(struct pmfs_making *m, const struct pm_sample *samples, size_t n)
{
	struct pmfs_tally *tally = m->spilled ? &m->all.tally : &m->block.tally;
	struct pmfs_cover cover = m->block.cover;
	bool adds = !m->spilled || !m->all.many, lent = false;
	for (size_t i = 0; i < n; i++) {
		const struct pm_sample *s = &samples[i];
		const struct pmfs_cover one = {s->time_ns, s->time_ns, pmfs_sample_end(s)};
		cover_add(&cover, &one);
		lent |= s->within != 0;
		if (adds && pmfs_tally_add(tally, s->context, one.end - one.first, 1) < 0)
			return -ENOMEM;
	}
	m->block.cover = cover;
	m->block.many |= lent;
	return 0;
}

/* Records of many contexts are added up only once, without sums of their block. */
static int take(struct pmfs_making *m, const struct pm_sample *samples, size_t n)
{
	enum { SOME = 128 };
	int r = 0;
	while (n > 0 && r == 0) {
		size_t some = n < SOME ? n : SOME;
		r = take_some(m, samples, some);
		samples += some;
		n -= some;
		if (r < 0 || m->spilled || m->block.tally.n <= PMFS_BLOCK / PMFS_A_SUM)
			continue;
		if (!m->all.many)
			r = pmfs_tally_join(&m->all.tally, &m->block.tally);
		pmfs_tally_clear(&m->block.tally);
		m->spilled = true;
	}
	return r;
}

int pmfs_making_take(struct pmfs_making *m, const struct pm_sample *samples, size_t n)
{
	int r = 0;
	while (r == 0 && n > 0) {
		size_t room = PMFS_BLOCK - m->seen % PMFS_BLOCK;
		size_t some = n < room ? n : room;
		r = take(m, samples, some);
		samples += some;
		n -= some;
		m->seen += some;
		if (r == 0 && (some == room || m->seen == m->n))
			r = block_read(m, (uint32_t)((m->seen - 1) / PMFS_BLOCK));
	}
	return r;
}

struct pmfs_trace_chunk *pmfs_making_end(struct pmfs_making *m)
{
	struct pmfs_trace_chunk *c = m->seen == m->n ? m->chunk : NULL;
	if (!c)
		return NULL;
	m->chunk = NULL;
	shrink(&c->sums);
	return c;
}

void pmfs_making_done(struct pmfs_making *m)
{
	pmfs_trace_chunk_free(m->chunk);
	pmfs_tally_done(&m->block.tally);
	pmfs_tally_done(&m->all.tally);
	m->chunk = NULL;
}

void pmfs_trace_chunk_free(struct pmfs_trace_chunk *c)
{
	if (c)
		free(c->sums.items);
	free(c);
}

/* ---- levels ---- */

int pmfs_levels_make(struct pmfs_trace_index *t)
{
	size_t below = pmfs_chunks_of(t);
	for (t->n_levels = 0; below > 1 && t->n_levels < PMFS_LEVELS; t->n_levels++) {
		struct pmfs_level *level = &t->levels[t->n_levels];
		level->n = (below + PMFS_FANOUT - 1) / PMFS_FANOUT;
		level->nodes = calloc(level->n, sizeof(*level->nodes));
		if (!level->nodes) {
			pmfs_levels_done(t);
			return -ENOMEM;
		}
		for (size_t i = 0; i < level->n; i++) {
			size_t rest = below - i * PMFS_FANOUT;
			level->nodes[i].missing = rest < PMFS_FANOUT ? (uint32_t)rest : PMFS_FANOUT;
			level->nodes[i].reading.cover = nothing;
		}
		below = level->n;
	}
	return 0;
}

void pmfs_levels_done(struct pmfs_trace_index *t)
{
	for (unsigned k = 0; k < PMFS_LEVELS; k++) {
		struct pmfs_level *level = &t->levels[k];
		for (size_t i = 0; level->nodes && i < level->n; i++) {
			pmfs_tally_done(&level->nodes[i].reading.tally);
			free(level->nodes[i].sums.items);
		}
		free(level->nodes);
		level->nodes = NULL;
	}
	t->n_levels = 0;
}

/* A node that has become complete is added to the one above it. */
void pmfs_levels_add(struct pmfs_trace_index *t, size_t chunk, const struct pmfs_reading *all)
{
	uint64_t records = PMFS_CHUNK_RECORDS;
	struct pmfs_node *below = NULL;
	for (unsigned k = 0; k < t->n_levels; k++) {
		struct pmfs_node *node = &t->levels[k].nodes[chunk /= PMFS_FANOUT];
		records *= PMFS_FANOUT;
		int r = join(&node->reading, below ? &below->reading : all, most_sums(t));
		if (below)
			pmfs_tally_done(&below->reading.tally);
		uint64_t there =
			t->n - chunk * records < records ? t->n - chunk * records : records;
		if (r == 0 && node->missing == 1)
			r = keep(&node->sums, &node->reading, there, &node->all);
		if (r < 0 || --node->missing > 0)
			return;
		shrink(&node->sums);
		below = node;
	}
	if (below)
		pmfs_tally_done(&below->reading.tally);
}
