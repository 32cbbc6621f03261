/*
 * M.collapsedstack.txt: `frame;frame;frame COST`, one line a path, for flamegraph.pl, speedscope,
 * inferno, the Firefox Profiler and anything else that reads folded stacks.
 *
 * The format cannot escape anything: `;` in a name becomes `:`. Costs are whole numbers, because
 * readers drop or cut others, unless the source itself has decimals. Paths are sorted bytewise,
 * which is not the order of a walk with sorted siblings: `a b` comes before `a;c`. Each node
 * therefore stands twice among its siblings, as itself, `a`, and as the beginning of the paths
 * below it, `a;`.
 */
#include "formats/common/list.h"
#include "formats/common/number.h"
#include "formats/common/sort.h"
#include "fs/views/exports/export.h"
#include "fs/views/model/catalog.h"
#include "fs/views/sums/stacks.h"

/* A node's line, or with `below` all lines of paths through it. */
struct item {
	uint32_t node;
	bool below;
};

struct level {
	size_t next, end; /* of items */
	size_t prefix;    /* bytes of the path so far */
};

struct folding {
	struct pm_arena *a;
	const struct pmfs_stacks *stacks;
	struct pmfs_name_paths *paths;
	const double *before; /* by node of paths: of the run it is compared with; or NULL */
	struct item *items;   /* two for each child, in the order of paths.children */
	struct level *levels;
	size_t n_levels, room_levels;
	struct pm_text path;
};

static void clean(struct pm_text *out, struct pm_bytes name)
{
	size_t start = out->len;
	pm_text_tsv(out, name);
	for (size_t i = start; !out->failed && i < out->len; i++)
		if (out->p[i] == ';')
			out->p[i] = ':';
}

/* The byte of an item's path at `at`, or -1 beyond its end. */
static int byte_at(struct pm_bytes name, const struct item *item, size_t at)
{
	if (at < name.len)
		return name.p[at];
	return item->below ? ';' : -1;
}

/* Names contain no `;`, so the first difference is at the end of the shorter name at the latest. */
static int by_path(const void *a, const void *b, void *paths)
{
	const struct item *x = a, *y = b;
	struct pm_bytes left = pmfs_name_paths_name(paths, x->node);
	struct pm_bytes right = pmfs_name_paths_name(paths, y->node);
	size_t n = left.len < right.len ? left.len : right.len;
	int order = n ? memcmp(left.p, right.p, n) : 0;
	return order ? order : byte_at(left, x, n) - byte_at(right, y, n);
}

static void sort_items(struct folding *f)
{
	struct pmfs_name_paths *p = f->paths;
	f->items = pm_arena_array(f->a, 2 * (size_t)p->n, sizeof(*f->items));
	for (size_t i = 0; i + 1 < p->n; i++) {
		f->items[2 * i] = (struct item){p->children[i], false};
		f->items[2 * i + 1] = (struct item){p->children[i], true};
	}
	for (uint32_t i = 0; i < p->n; i++) {
		size_t start = p->child_start[i], end = p->child_start[i + 1];
		pm_build_check(f->a,
			pm_sort_with(f->items + 2 * start, 2 * (end - start), sizeof(*f->items),
				by_path, p));
	}
}

static void push(struct folding *f, uint32_t node)
{
	pm_list_grow(f->a, &f->levels, f->n_levels, &f->room_levels, sizeof(*f->levels));
	f->levels[f->n_levels++] = (struct level){
		.next = 2 * (size_t)f->paths->child_start[node],
		.end = 2 * (size_t)f->paths->child_start[node + 1],
		.prefix = f->path.len,
	};
}

/* What is written of a cost: 0 if it is not positive. */
static double shown(const struct folding *f, double cost)
{
	if (f->stacks->column->fractions)
		return cost > 0 ? cost : 0;
	return (double)pmfs_stacks_units(f->stacks, cost);
}

static void write_cost(const struct folding *f, double cost, struct pm_text *out)
{
	pm_text_char(out, ' ');
	if (f->stacks->column->fractions)
		pm_text_f64(out, shown(f, cost));
	else
		pm_text_u64(out, pmfs_stacks_units(f->stacks, cost));
}

static void write_line(struct folding *f, uint32_t node, struct pm_text *out)
{
	double cost = f->paths->self[node], before = f->before ? f->before[node] : 0;
	if (!(shown(f, cost) > 0) && !(shown(f, before) > 0))
		return;
	pm_text_bytes(out, pm_text_view(&f->path));
	if (f->before)
		write_cost(f, before, out);
	write_cost(f, cost, out);
	pm_text_char(out, '\n');
}

/* All lines together, before one is written: parents come before children. */
static uint64_t count_bytes(const struct folding *f)
{
	const struct pmfs_name_paths *p = f->paths;
	uint64_t *prefix = pm_arena_zeroed(f->a, (size_t)p->n + 1, sizeof(*prefix)), all = 0;
	for (uint32_t i = 1; i < p->n; i++) {
		uint64_t cost = pmfs_stacks_units(f->stacks, p->self[i]);
		prefix[i] = prefix[p->parent[i]] + pmfs_name_paths_name(p, i).len + 1;
		if (f->before)
			cost = pmfs_stacks_add(cost, pmfs_stacks_units(f->stacks, f->before[i]));
		if (f->stacks->column->fractions)
			all = pmfs_stacks_add(all, prefix[i] + PM_NUMBER_SIZE);
		else if (cost > 0)
			all = pmfs_stacks_add(all, prefix[i] + pm_u64_length(cost) + 1);
	}
	pm_arena_free(f->a, prefix);
	return all;
}

static void write_lines(struct folding *f, struct pm_text *out)
{
	push(f, 0);
	while (f->n_levels > 0 && !out->failed) {
		struct level *level = &f->levels[f->n_levels - 1];
		if (level->next == level->end) {
			f->n_levels--;
			continue;
		}
		/* Lines without cost are not written: the text does not ask for all of them. */
		if (level->next % 1024 == 0)
			pm_build_proceed(f->a);
		const struct item *item = &f->items[level->next++];
		f->path.len = level->prefix;
		pm_text_bytes(&f->path, pmfs_name_paths_name(f->paths, item->node));
		if (item->below) {
			pm_text_char(&f->path, ';');
			push(f, item->node);
		} else {
			write_line(f, item->node, out);
		}
		pm_build_check(f->a, pm_text_status(&f->path));
	}
}

void pmfs_folded_write(const struct pmfs_writing *w, const struct pmfs_stacks *before,
	const struct pmfs_stacks *stacks)
{
	struct folding f = {.a = w->a,
		.stacks = stacks,
		.paths = pmfs_name_paths_make(w->a, stacks, clean),
		.path.arena = w->a};
	if (before) /* nodes of both have the same numbers */
		f.before = pmfs_name_paths_make(w->a, before, clean)->self;
	pmfs_export_check_length(w, count_bytes(&f));
	sort_items(&f);
	write_lines(&f, w->out);
}

static void write_run(const struct pmfs_writing *w)
{
	struct pmfs_stacks *stacks = pmfs_stacks_make(w->a, w->model, pmfs_export_column(w->doc),
		pmfs_export_thread(w->doc), PM_NONE, w->err);
	pmfs_stacks_cut(w->a, stacks);
	pmfs_folded_write(w, NULL, stacks);
}

int pmfs_folded_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_run, out, err);
}
