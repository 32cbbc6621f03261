#include "fs/document/segments.h"

#include "formats/common/crew.h"

void pmfs_segment_proceed(struct pmfs_segment *s)
{
	if (__atomic_load_n(&s->all->stop, __ATOMIC_RELAXED))
		pm_build_fail(&s->arena, PM_CANCELLED);
	pm_build_proceed(&s->arena);
}

static struct pmfs_segment *segment_at(const struct pmfs_segments *all, size_t i)
{
	return (void *)((char *)all->items + i * all->size);
}

static void build(void *segment)
{
	struct pmfs_segment *s = segment;
	s->reader = pm_table_read(&s->scratch, s->all->table, s->from, s->err);
	s->all->measure(s, s->all->context);
}

static int measure(void *context, size_t i)
{
	struct pmfs_segments *all = context;
	struct pmfs_segment *s = segment_at(all, i);
	s->scratch.of = &s->arena;
	s->code = pm_build(&s->arena, build, s);
	pm_arena_done(&s->scratch);
	if (s->code < 0)
		__atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
	return s->code;
}

static void free_segments(void *segments)
{
	const struct pmfs_segments *all = segments;
	for (size_t i = 0; all->items && i < all->n; i++)
		pm_arena_done(&segment_at(all, i)->arena);
}

const struct pmfs_segments *pmfs_segments_measure(
	struct pm_arena *a, const struct pmfs_segments *how, struct pm_error *err)
{
	const struct pm_table *table = how->table;
	struct pmfs_segments *all = pm_arena_alloc(a, sizeof(*all));
	uint64_t end = table->end, piece = table->piece ? table->piece : how->piece;
	*all = *how;
	if (table->type->end)
		pm_build_check(a, table->type->end(table, &end, err));
	/* Two halves of a piece are not worth a second one, unless the table says so. */
	bool several = table->type->dense && (table->piece ? end > piece : end / 2 >= piece);
	all->n = several ? (size_t)((end - 1) / piece + 1) : 1;
	pm_arena_owns(a, free_segments, all);
	struct pm_error *errors = pm_arena_array(a, all->n, sizeof(*errors));
	all->items = pm_arena_array(a, all->n, all->size);
	for (size_t i = 0; i < all->n; i++) {
		struct pmfs_segment *s = segment_at(all, i);
		s->from = i * piece;
		s->to = i + 1 < all->n ? (i + 1) * piece : UINT64_MAX;
		s->all = all;
		s->err = &errors[i];
		errors[i].offset = PM_NO_OFFSET;
	}
	int r = pm_crew_each(all->n, measure, all);
	for (size_t i = 0; r < 0 && i < all->n; i++)
		if (segment_at(all, i)->code < 0 && errors[i].code) {
			if (err && !err->code)
				*err = errors[i];
			pm_build_fail(a, segment_at(all, i)->code);
		}
	pm_build_check(a, r);
	return all;
}
