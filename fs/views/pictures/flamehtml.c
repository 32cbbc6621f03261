/*
 * flamegraph.html: the whole tree with every metric; the page (assets/page.html) draws it. Boxes
 * are in pre-order, siblings by name, as pairs `name, levels climbed since the previous box`. The
 * exclusive costs of a metric are in the same order, from box 0; -n means n boxes without a cost.
 * A metric that does not add up has `shown`, a number of each box, [n] for n boxes without one, and
 * the widths of another metric.
 */
#include <math.h>

#include "fs/views/pictures/assets.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/flame.h"
#include "fs/views/pictures/page.h"
#include "fs/views/pictures/shades.h"

static void add_member(
	struct pmfs_flame_page *page, const char *before, const char *key, struct pm_bytes value)
{
	pm_text_str(page->out, before);
	pm_text_char(page->out, '"');
	pm_text_str(page->out, key);
	pm_text_str(page->out, "\":");
	pm_text_script(page->out, value);
}

/* Small numbers as letters of base64url. */
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* The colours of differences, for metrics that have a shade for each box. */
static void add_shades(struct pmfs_flame_page *page)
{
	pm_text_str(page->out, ",\n\"shades\":[");
	for (unsigned i = 0; i < PMFS_N_SHADES_ALL; i++) {
		pm_text_str(page->out, i ? ",\"#" : "\"#");
		pm_text_hex(page->out, pmfs_shade_colour((uint8_t)i), 6);
		pm_text_char(page->out, '"');
	}
	pm_text_char(page->out, ']');
}

/* Names, the number of each name's colour as a letter, and the colours. */
static void add_names(struct pmfs_flame_page *page, const struct pmfs_colours *colours)
{
	const struct pmfs_flame *f = page->flame;
	pm_text_str(page->out, ",\n\"names\":[");
	for (uint32_t i = 0; i < f->n_names; i++) {
		pm_text_str(page->out, i ? ",\n" : "\n");
		pm_text_script(page->out, f->names[i]);
	}
	pm_text_str(page->out, "],\n\"colours\":\"");
	for (uint32_t i = 0; i < f->n_names; i++)
		pm_text_char(page->out, letters[pmfs_colour_of(colours, f->names[i])]);
	pm_text_str(page->out, "\",\n\"palette\":[");
	for (unsigned i = 0; i < PMFS_N_COLOURS; i++) {
		pm_text_str(page->out, i ? ",\"#" : "\"#");
		pm_text_hex(page->out, pmfs_palette[i], 6);
		pm_text_char(page->out, '"');
	}
	pm_text_char(page->out, ']');
}

static void add_tree(const struct pmfs_flame_page *page)
{
	const struct pmfs_flame *f = page->flame;
	const struct pmfs_flame_layout *l = page->layout;
	uint32_t depth = 0;
	pm_text_str(page->out, ",\n\"tree\":[");
	for (uint32_t i = 1; i < f->n; i++) {
		uint32_t node = l->order[i];
		if (i > 1)
			pm_text_char(page->out, ',');
		pm_text_u64(page->out, f->name[node]);
		pm_text_char(page->out, ',');
		pm_text_u64(page->out, depth + 1 - l->depth[node]);
		depth = l->depth[node];
	}
	pm_text_char(page->out, ']');
}

void pmfs_flame_page_begin(struct pmfs_flame_page *page, const struct pmfs_caption *caption)
{
	struct pm_bytes html = pmfs_page_until(page->out, pmfs_asset_page_html, "{{title}}");
	pm_text_xml(page->out, caption->title);
	html = pmfs_page_until(page->out, html, "{{style}}");
	pm_text_bytes(page->out, pmfs_asset_page_css);
	page->rest = pmfs_page_until(page->out, html, "{{data}}");
	add_member(page, "{", "title", caption->title);
	add_member(page, ",", "of", caption->of);
	add_member(page, ",", "source", caption->source);
	add_member(page, ",", "whole", caption->whole);
	add_names(page, caption->colours);
	if (page->flame->shade || page->has_colours)
		add_shades(page);
	add_tree(page);
	pm_text_str(page->out, ",\n\"metrics\":[");
}

static void begin_metric(
	struct pmfs_flame_page *page, const struct pmfs_caption *caption, const char *column)
{
	add_member(page, page->n_metrics++ ? ",\n{" : "\n{", "name", caption->metric);
	add_member(page, ",", "unit", caption->unit);
	add_member(page, ",", "column", pm_bytes_of(column));
}

void pmfs_flame_page_metric(struct pmfs_flame_page *page, const struct pmfs_caption *caption,
	const char *column, bool first, const double *self)
{
	struct pmfs_flame costs = *page->flame;
	uint32_t gap = 0;
	costs.self = self;
	begin_metric(page, caption, column);
	if (page->shade) {
		pm_text_str(page->out, ",\"shades\":\"");
		for (uint32_t i = 0; i < costs.n; i++)
			pm_text_char(page->out, letters[page->shade[page->layout->order[i]]]);
		pm_text_char(page->out, '"');
	}
	pm_text_str(page->out, first ? ",\"first\":true,\"values\":[" : ",\"values\":[");
	for (uint32_t i = 0; i < costs.n; i++) {
		double own = pmfs_flame_own(&costs, page->layout->order[i]);
		if (!(own > 0)) {
			gap++;
			continue;
		}
		if (gap > 0) {
			pm_text_i64(page->out, -(int64_t)gap);
			pm_text_char(page->out, ',');
		}
		gap = 0;
		pm_text_f64(page->out, own);
		pm_text_char(page->out, ',');
	}
	pm_text_i64(page->out, -(int64_t)gap);
	pm_text_str(page->out, "]}");
}

void pmfs_flame_page_colours(struct pmfs_flame_page *page, const struct pmfs_caption *caption,
	const char *column, uint32_t widths, const double *value)
{
	const uint32_t *order = page->layout->order;
	double whole = value[order[0]];
	begin_metric(page, caption, column);
	pm_text_str(page->out, ",\"widths\":");
	pm_text_u64(page->out, widths);
	pm_text_str(page->out, ",\"shades\":\"");
	for (uint32_t i = 0; i < page->flame->n; i++) {
		/* Half and double are as far from it; signs are the farthest. */
		double v = value[order[i]];
		pm_text_char(page->out, letters[pmfs_shade_of(v - whole, fabs(v) + fabs(whole))]);
	}
	pm_text_str(page->out, "\",\"shown\":[");
	for (uint32_t i = 0, without = 0; i < page->flame->n; i++) {
		double v = value[order[i]];
		bool last = i + 1 == page->flame->n;
		bool has = isfinite(v) && (i == 0 || page->layout->total[order[i]] > 0);
		without += !has;
		if (without > 0 && (has || last)) {
			pm_text_char(page->out, '[');
			pm_text_u64(page->out, without);
			pm_text_str(page->out, has || !last ? "]," : "]");
			without = 0;
		}
		if (!has)
			continue;
		pm_text_f64(page->out, v);
		pm_text_str(page->out, last ? "" : ",");
	}
	pm_text_str(page->out, "]}");
}

void pmfs_flame_page_end(struct pmfs_flame_page *page)
{
	pm_text_str(page->out, "]}");
	page->rest = pmfs_page_until(page->out, page->rest, "{{script}}");
	pm_text_bytes(page->out, pmfs_asset_labels_js);
	pm_text_bytes(page->out, pmfs_asset_page_js);
	pm_text_bytes(page->out, page->rest);
}
