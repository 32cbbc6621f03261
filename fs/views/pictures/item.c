/*
 * The calls of one item, drawn: by cost as a flame graph, by time as Chrome trace events. The calls
 * are asked of the format for each rendering; nothing is kept.
 */
#include "fs/views/pictures/item.h"

#include <stdlib.h>

#include "formats/common/json.h"
#include "formats/common/map.h"
#include "formats/common/tree.h"
#include "fs/views/exports/chrome.h"
#include "fs/views/model/parts.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/flame.h"
#include "fs/views/sums/stacks.h"
#include "profmount/limits.h"

static int calls_of(const struct pm_doc *doc, struct pm_item_tree *ret, struct pm_error *err)
{
	const struct pm_collection *c = doc->text.self;
	return c->tree(c, (uint32_t)doc->text.a, ret, err);
}

/* ---- flamegraph.svg ---- */

/* The calls as a tree of names: calls of one name below one caller are one box. */
struct boxes {
	uint32_t n;
	uint32_t *parent, *name;
	double *self;
	struct pm_bytes *names; /* by frame */
	struct pm_arena arena;
};

static void boxes_done(struct boxes *b)
{
	free(b->parent);
	free(b->name);
	free(b->self);
	free(b->names);
	pm_arena_done(&b->arena);
}

static int name_frames(struct boxes *b, const struct pm_tree *tree)
{
	struct pm_text scratch = {.p = NULL};
	bool good = true;
	for (uint32_t i = 0; good && i < tree->n_frames; i++) {
		pm_text_clear(&scratch);
		struct pm_bytes name = pmfs_stacks_name(tree, &tree->frames[i], &scratch);
		b->names[i] = pm_arena_copy(&b->arena, name);
		good = !scratch.failed && b->names[i].p;
	}
	pm_text_done(&scratch);
	return good ? 0 : -ENOMEM;
}

/* `box`: by context, the box that it is part of. Box 0 is the whole. */
static int merge(struct boxes *b, const struct pm_item_tree *calls, uint32_t *box)
{
	const struct pm_tree *tree = calls->tree;
	struct pm_map known = {.slots = NULL};
	bool fresh, good = true;
	b->n = 1;
	for (uint32_t i = 0; good && i < tree->n_contexts; i++) {
		uint32_t above = tree->parent[i] == PM_NONE ? 0 : box[tree->parent[i]];
		uint64_t key = (uint64_t)above << 32 | tree->frame[i];
		const uint32_t *place = pm_map_put(&known, key, b->n, &fresh);
		good = place != NULL;
		if (!good)
			break;
		box[i] = *place;
		if (fresh) {
			b->parent[b->n] = above;
			b->name[b->n++] = tree->frame[i];
		}
		if (calls->exclusive_ns[i] > 0)
			b->self[box[i]] += (double)calls->exclusive_ns[i];
	}
	pm_map_done(&known);
	return good ? 0 : -ENOMEM;
}

static int boxes_make(struct boxes *b, const struct pm_item_tree *calls)
{
	size_t n = (size_t)calls->tree->n_contexts + 1;
	uint32_t *box = calloc(n, sizeof(*box));
	b->parent = calloc(n, sizeof(*b->parent));
	b->name = calloc(n, sizeof(*b->name));
	b->self = calloc(n, sizeof(*b->self));
	b->names = calloc((size_t)calls->tree->n_frames + 1, sizeof(*b->names));
	bool room = box && b->parent && b->name && b->self && b->names;
	int r = room ? name_frames(b, calls->tree) : -ENOMEM;
	if (r == 0)
		r = merge(b, calls, box);
	free(box);
	return r;
}

static int draw(const struct pm_doc *doc, const struct pm_item_tree *calls, struct pm_text *out,
	struct pm_error *err)
{
	const struct pm_collection *c = doc->text.self;
	struct boxes b = {.n = 0};
	struct pm_text scratch = {.p = NULL};
	const struct pmfs_colours *colours;
	int r = pmfs_colours((struct pmfs_model *)(uintptr_t)doc->text.b, &colours, err);
	if (r == 0)
		r = boxes_make(&b, calls);
	if (r == 0) {
		struct pmfs_flame flame = {.n = b.n,
			.parent = b.parent,
			.name = b.name,
			.names = b.names,
			.n_names = calls->tree->n_frames,
			.self = b.self};
		struct pmfs_caption caption = {.title = c->name(c, (uint32_t)doc->text.a, &scratch),
			.of = pm_bytes_of("this item"),
			.source = pm_bytes_of(c->path),
			.metric = pm_bytes_of("time"),
			.unit = pm_bytes_of("ns"),
			.colours = colours};
		r = pmfs_flamegraph_draw(&flame, &caption, out, err);
	}
	pm_text_end(&scratch, out);
	boxes_done(&b);
	return r == -ENOMEM ? pmfs_no_memory(err) : r;
}

static int render_flamegraph(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pm_item_tree calls;
	int r = calls_of(doc, &calls, err);
	if (r < 0)
		return r;
	r = draw(doc, &calls, out, err);
	pm_item_tree_done(&calls);
	return r;
}

/* ---- trace.chrome.json ---- */

/*
 * Slices of one track must nest: a call ends with its caller at the latest, and begins where the
 * call before it ended at the earliest.
 */
static void write_calls(struct pmfs_chrome *chrome, const struct pm_item_tree *calls, uint64_t *end,
	uint64_t *busy_until)
{
	const struct pm_tree *tree = calls->tree;
	struct pm_text scratch = {.p = NULL};
	uint64_t top = 0;
	for (uint32_t i = 0; i < tree->n_contexts && i < PM_LIMIT_TRACE_SLICES; i++) {
		uint32_t parent = tree->parent[i];
		uint64_t limit = parent == PM_NONE ? UINT64_MAX : end[parent];
		uint64_t *before = parent == PM_NONE ? &top : &busy_until[parent];
		uint64_t start = calls->start_ns[i], length = calls->inclusive_ns[i];
		if (length == PM_NO_TIME || __builtin_add_overflow(start, length, &end[i]))
			end[i] = limit == UINT64_MAX ? start : limit;
		if (start < *before)
			start = *before;
		if (start > limit)
			start = limit;
		if (end[i] > limit)
			end[i] = limit;
		if (end[i] < start)
			end[i] = start;
		*before = end[i];
		busy_until[i] = start;
		pm_text_clear(&scratch);
		const struct pmfs_chrome_slice slice = {.pid = 1,
			.tid = 1,
			.start_ns = start,
			.length_ns = end[i] - start,
			.name = pmfs_stacks_name(tree, pm_tree_frame(tree, i), &scratch)};
		pmfs_chrome_slice(chrome, &slice);
	}
	pm_text_end(&scratch, chrome->out);
}

static void write_other_data(const struct pm_tree *tree, struct pm_bytes title, struct pm_text *out)
{
	struct pm_json j = {.out = out, .first = true};
	pm_json_open(&j, '{');
	pm_json_key(&j, "title");
	pm_json_text(&j, title);
	if (tree->n_contexts > PM_LIMIT_TRACE_SLICES) {
		pm_json_key(&j, "slices_left_out");
		pm_json_u64(&j, tree->n_contexts - PM_LIMIT_TRACE_SLICES);
	}
	pm_json_close(&j, '}');
}

static int write_chrome(const struct pm_doc *doc, const struct pm_item_tree *calls,
	struct pm_text *out, struct pm_error *err)
{
	const struct pm_collection *c = doc->text.self;
	size_t n = (size_t)calls->tree->n_contexts + 1;
	uint64_t *end = calloc(n, sizeof(*end)), *busy_until = calloc(n, sizeof(*busy_until));
	struct pm_text scratch = {.p = NULL};
	if (end && busy_until) {
		struct pmfs_chrome chrome = {.out = out};
		struct pm_bytes title = c->name(c, (uint32_t)doc->text.a, &scratch);
		pmfs_chrome_begin(&chrome);
		write_other_data(calls->tree, title, out);
		pmfs_chrome_events(&chrome);
		pmfs_chrome_name(&chrome, "process", 1, 0, title);
		write_calls(&chrome, calls, end, busy_until);
		pmfs_chrome_end(&chrome);
	}
	bool good = end && busy_until;
	pm_text_end(&scratch, out);
	free(end);
	free(busy_until);
	return good ? 0 : pmfs_no_memory(err);
}

static int render_chrome(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pm_item_tree calls;
	int r = calls_of(doc, &calls, err);
	if (r < 0)
		return r;
	r = write_chrome(doc, &calls, out, err);
	pm_item_tree_done(&calls);
	return r;
}

static const struct {
	const char *name;
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
} views[] = {
	{"flamegraph.svg", render_flamegraph},
	{"trace.chrome.json", render_chrome},
};

int pmfs_item_view(struct pmfs_model *m, const struct pm_collection *c, uint32_t item, uint32_t k,
	struct pm_named_doc *ret)
{
	if (!c->tree || k >= sizeof(views) / sizeof(views[0]))
		return 0;
	*ret = (struct pm_named_doc){.path = views[k].name,
		.doc = {.kind = PM_DOC_TEXT,
			.text = {.render = views[k].render,
				.self = c,
				.a = item,
				.b = (uintptr_t)m}}};
	return 1;
}
