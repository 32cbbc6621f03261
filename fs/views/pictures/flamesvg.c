/*
 * flamegraph.svg: callers above what they call, the widest boxes only. Boxes are selected by cost
 * only, and a box never costs more than its parent, so every box has its parent drawn. Written in
 * pre-order: assets/flamegraph.js relies on that for zooming.
 */
#include "formats/common/sort.h"
#include "fs/views/model/screen.h"
#include "fs/views/pictures/assets.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/flame.h"
#include "fs/views/pictures/shades.h"
#include "fs/views/pictures/svg.h"
#include "profmount/limits.h"

enum {
	ROW = 18,          /* px from one level to the next */
	TOP = 82,          /* of the first level */
	BOTTOM = 34,       /* below the last */
	MAX_LEVELS = 1000, /* renderers give up at 32767 px */
	INNER = PMFS_SVG_WIDTH - 2 * PMFS_SVG_MARGIN,
};

/* Boxes narrower than a hundredth of a px are never drawn. */
#define MIN_SHARE 1e-5

/*
 * The same if colours are differences, which cannot be seen in boxes narrower than a tenth of a px.
 */
#define MIN_SHADED_SHARE 1e-4

/* The box that is not a function. */
#define WHOLE_COLOUR 0xe9e4dc

/* Exclusive costs are differences: values below this share of the total count as 0. */
#define ROUNDING 1e-9

struct drawing {
	struct pm_arena *a;
	const struct pmfs_flame *flame;
	const struct pmfs_caption *caption;
	struct pmfs_flame_layout *layout;
	double whole;
	uint32_t *boxes; /* nodes to be drawn, in pre-order */
	uint32_t n_boxes;
	uint32_t levels;
	uint32_t n_omitted; /* boxes with a cost that are not drawn, and what they cost */
	double omitted;
	struct pm_text *out;
};

struct box {
	double x, y, width;
	unsigned colour;
};

/* ---- what is drawn ---- */

static int compare_costs(const void *a, const void *b, void *layout)
{
	const struct pmfs_flame_layout *l = layout;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (l->total[x] != l->total[y])
		return l->total[x] < l->total[y] ? 1 : -1;
	return l->place[x] < l->place[y] ? -1 : 1;
}

static int compare_places(const void *a, const void *b, void *layout)
{
	const struct pmfs_flame_layout *l = layout;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return l->place[x] < l->place[y] ? -1 : 1;
}

/* Adds up the boxes below drawn ones that are not drawn themselves. */
static void count_omitted(struct drawing *d)
{
	const struct pmfs_flame *f = d->flame;
	bool *drawn = pm_arena_array(d->a, f->n, sizeof(*drawn));
	drawn[0] = true;
	for (uint32_t i = 0; i < d->n_boxes; i++)
		drawn[d->boxes[i]] = true;
	for (uint32_t i = 1; i < f->n; i++) {
		if (drawn[i] || !(d->layout->total[i] > 0))
			continue;
		d->n_omitted++;
		if (drawn[f->parent[i]])
			d->omitted += d->layout->total[i];
	}
}

static void choose_boxes(struct drawing *d)
{
	struct pmfs_flame_layout *l = d->layout;
	uint32_t n = d->flame->n, first = d->caption->whole.len ? 0 : 1;
	uint32_t most = PM_LIMIT_SVG_RECTS - 1 - d->caption->n_above; /* 1: the background */
	double least = d->whole * (d->flame->shade ? MIN_SHADED_SHARE : MIN_SHARE);
	d->boxes = pm_arena_array(d->a, n, sizeof(*d->boxes));
	for (uint32_t i = first; i < n && d->whole > 0; i++)
		if (l->total[i] >= least && l->depth[i] < MAX_LEVELS)
			d->boxes[d->n_boxes++] = i;
	if (d->n_boxes > most) {
		pm_build_check(d->a,
			pm_sort_with(d->boxes, d->n_boxes, sizeof(*d->boxes), compare_costs, l));
		d->n_boxes = most;
	}
	pm_build_check(
		d->a, pm_sort_with(d->boxes, d->n_boxes, sizeof(*d->boxes), compare_places, l));
	for (uint32_t i = 0; i < d->n_boxes; i++)
		if (l->depth[d->boxes[i]] - first >= d->levels)
			d->levels = l->depth[d->boxes[i]] - first + 1;
	count_omitted(d);
}

/* ---- boxes ---- */

static double width_of(const struct drawing *d, double cost)
{
	return INNER * (cost / d->whole);
}

static void add_costs(const struct drawing *d, uint32_t node, struct pm_text *out)
{
	const struct pmfs_flame *f = d->flame;
	double cost = d->layout->total[node], own = pmfs_flame_own(f, node);
	pmfs_print_amount(out, cost, d->caption->unit);
	if (node != 0) {
		pm_text_str(out, ", ");
		pmfs_print_share(out, cost, d->whole);
		pm_text_str(out, " of all");
	}
	if (node != 0 && f->parent[node] != 0) {
		pm_text_str(out, ", ");
		pmfs_print_share(out, cost, d->layout->total[f->parent[node]]);
		pm_text_str(out, " of its caller");
	}
	if (own > cost * ROUNDING && own < cost) {
		pm_text_str(out, "; ");
		pmfs_print_amount(out, own, d->caption->unit);
		pm_text_str(out, " its own");
	}
	if (f->before && node != 0) {
		pm_text_str(out, "; its own in the other run: ");
		pmfs_print_amount(out, f->before[node], d->caption->unit);
	}
}

static unsigned colour_of(const struct drawing *d, uint32_t node, struct pm_bytes name)
{
	if (node == 0)
		return WHOLE_COLOUR;
	if (d->flame->shade)
		return pmfs_shade_colour(d->flame->shade[node]);
	return pmfs_palette[pmfs_colour_of(d->caption->colours, name)];
}

/* A box with its tooltip and as much of its name as fits. */
static void draw_bar(struct drawing *d, const char *style, struct pm_bytes name,
	struct pm_bytes facts, const struct box *box)
{
	pm_text_printf(d->out, "<g class=\"%s\"><title>", style);
	pmfs_svg_name(d->out, name);
	pm_text_char(d->out, '\n');
	pm_text_xml(d->out, facts);
	pm_text_str(d->out, "</title>");
	pmfs_svg_rect(d->out, box->x, box->y, box->width, ROW - 1);
	pm_text_str(d->out, " rx=\"2\"");
	pmfs_svg_fill(d->out, box->colour);
	pm_text_str(d->out, "/>");
	pmfs_svg_label(d->out, box->x, box->y, box->width, name);
	pm_text_str(d->out, "</g>\n");
}

static void draw_box(struct drawing *d, uint32_t node, struct pm_text *facts)
{
	const struct pmfs_caption *c = d->caption;
	struct pm_bytes name = node ? d->flame->names[d->flame->name[node]] : c->whole;
	uint32_t level = d->layout->depth[node] - (c->whole.len ? 0 : 1) + c->n_above;
	struct box box = {.x = PMFS_SVG_MARGIN + width_of(d, d->layout->start[node]),
		.y = TOP + level * ROW,
		.width = width_of(d, d->layout->total[node]),
		.colour = colour_of(d, node, name)};
	pm_text_clear(facts);
	add_costs(d, node, facts);
	draw_bar(d, "box", name, pm_text_view(facts), &box);
}

/* Callers of the subtree are bars, because they have no cost here. */
static void draw_boxes(struct drawing *d)
{
	const struct pmfs_caption *c = d->caption;
	struct pm_text facts = {.arena = d->a};
	for (uint32_t i = 0; i < c->n_above; i++) {
		struct box box = {PMFS_SVG_MARGIN, TOP + i * ROW, INNER,
			pmfs_palette[pmfs_colour_of(c->colours, c->above[i])]};
		draw_bar(d, "box faded", c->above[i], pm_bytes_of("a caller"), &box);
	}
	for (uint32_t i = 0; i < d->n_boxes; i++)
		draw_box(d, d->boxes[i], &facts);
}

/* ---- the texts around them ---- */

static void add_facts(const struct drawing *d, struct pm_text *out)
{
	const struct pm_bytes more[] = {d->caption->of, d->caption->source};
	if (d->whole > 0) {
		pmfs_print_amount(out, d->whole, d->caption->unit);
		pm_text_str(out, " in all");
	} else {
		pm_text_str(out, "no values");
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (more[i].len) {
			pm_text_str(out, " · ");
			pmfs_add_cut(out, more[i], 80);
		}
}

static void add_legend(const struct drawing *d, struct pm_text *out)
{
	pm_text_str(out, "Width is the cost of a call path");
	if (d->caption->unit.len) {
		pm_text_str(out, " in ");
		pmfs_add_cut(out, d->caption->unit, 20);
	}
	if (d->caption->legend.len) {
		pm_text_str(out, ". ");
		pmfs_add_cut(out, d->caption->legend, 140);
		return;
	}
	pm_text_str(out,
		"; callers stand above what they call, siblings in alphabetical order; a "
		"function has one colour.");
}

static uint32_t rows_of(const struct drawing *d)
{
	return d->caption->n_above + (d->levels ? d->levels : 1);
}

static void draw_header(struct drawing *d)
{
	struct pm_text line = {.arena = d->a};
	pmfs_add_cut(&line, d->caption->title, 60);
	if (d->caption->title.len && d->caption->metric.len)
		pm_text_str(&line, " · ");
	pmfs_add_cut(&line, d->caption->metric, 40);
	pmfs_svg_open(d->out, TOP + BOTTOM + ROW * rows_of(d), pm_text_view(&line));
	pmfs_svg_line(d->out, NULL, "title", PMFS_SVG_MARGIN, 29, &line);
	add_facts(d, &line);
	pmfs_svg_line(d->out, NULL, NULL, PMFS_SVG_MARGIN, 49, &line);
	add_legend(d, &line);
	pmfs_svg_line(d->out, "details", NULL, PMFS_SVG_MARGIN, 70, &line);
	pmfs_svg_controls(d->out);
}

static void draw_footer(struct drawing *d)
{
	pmfs_svg_text(d->out, NULL, NULL, PMFS_SVG_MARGIN, TOP + ROW * rows_of(d) + 20);
	if (!(d->whole > 0)) {
		pm_text_str(d->out, "There are no values to draw.");
	} else if (d->n_omitted == 0) {
		pm_text_str(d->out, "Every box is drawn.");
	} else {
		pmfs_print_count(d->out, d->n_omitted);
		pm_text_str(d->out,
			d->n_omitted == 1
				? " box, too narrow or too deep, is not drawn: "
				: " boxes, too narrow or too deep, are not drawn: together ");
		pmfs_print_share(d->out, d->omitted, d->whole);
		pm_text_str(d->out, " of all.");
	}
	pmfs_svg_text_end(d->out);
	pmfs_svg_close(d->out, pmfs_asset_labels_js, pmfs_asset_flamegraph_js);
}

void pmfs_flamegraph_draw(struct pm_arena *a, const struct pmfs_flame *flame,
	const struct pmfs_caption *caption, struct pm_text *out)
{
	struct drawing d = {.a = a,
		.flame = flame,
		.caption = caption,
		.layout = pmfs_flame_lay_out(a, flame),
		.out = out};
	d.whole = d.layout->total[0];
	choose_boxes(&d);
	draw_header(&d);
	draw_boxes(&d);
	draw_footer(&d);
}
