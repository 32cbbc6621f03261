/*
 * timeline.svg: what ran when. Of all threads: a band for each, showing the functions at one level
 * of the call path. Of one thread: a band for each level, callers on top. Legible without scripts.
 */
#include <math.h>
#include <string.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/model.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/pictures/assets.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/svg.h"
#include "fs/views/pictures/timeline.h"
#include "fs/views/sums/threads.h"
#include "profmount/limits.h"

enum {
	N = PMFS_TIMELINE_POINTS,
	TOP = 106,       /* px above the first band */
	LABELS = 158,    /* px left of the bands, for the names of threads */
	LABEL_STEP = 12, /* px between labels at least */
	LEGEND = 12,     /* functions in the legend; two more places are for the rest */
	LEGEND_ROWS = 5,
	LEGEND_STEP = 18, /* px from one to the next */
	LEGEND_COLUMNS = 40,
};

struct drawing {
	struct pm_arena *a;
	struct pmfs_model *model;
	uint32_t only; /* the thread, or PM_NONE for all */
	const struct pmfs_timeline *timeline;
	struct pmfs_bands *bands;
	const struct pmfs_thread_names *names;
	const struct pmfs_colours *colours;
	uint32_t joined; /* cells that are drawn alike */
	double left;     /* px left of the bands */
	double step;     /* px from one band to the next */
	double first_ns; /* from the origin of times to the first sample */
	struct pm_text *out;
};

static double span_ns(const struct drawing *d)
{
	return (double)(d->timeline->end - d->timeline->begin);
}

/* ns since the origin. */
static double time_of(const struct drawing *d, uint32_t point)
{
	return (double)(pmfs_timeline_time(d->timeline, point) - d->timeline->begin) + d->first_ns;
}

static double x_of(const struct drawing *d, double point)
{
	return d->left + (PMFS_SVG_WIDTH - PMFS_SVG_MARGIN - d->left) * point / N;
}

static double bottom_of(const struct drawing *d)
{
	return TOP + d->step * (d->bands->n_rows ? d->bands->n_rows : 1);
}

static struct pm_bytes name_of(const struct drawing *d, uint32_t name)
{
	return d->bands->names.items[name];
}

/* ---- bands ---- */

static void draw_run(struct drawing *d, uint32_t band, uint32_t begin, uint32_t end, uint32_t name)
{
	double x = x_of(d, begin), y = TOP + band * d->step, width = x_of(d, end) - x;
	pm_text_str(d->out, "<g class=\"box run\"><title>");
	pmfs_svg_name(d->out, name_of(d, name));
	pm_text_char(d->out, '\n');
	pmfs_print_ns(d->out, time_of(d, begin));
	pm_text_str(d->out, " – ");
	pmfs_print_ns(d->out, time_of(d, end));
	pm_text_str(d->out, ", ");
	pmfs_print_ns(d->out, time_of(d, end) - time_of(d, begin));
	pm_text_str(d->out, "</title>");
	pmfs_svg_rect(d->out, x, y, width, d->step - 1);
	pmfs_svg_fill(d->out, pmfs_palette[pmfs_colour_of(d->colours, name_of(d, name))]);
	pm_text_str(d->out, "/>");
	if (d->step >= 16)
		pmfs_svg_label(d->out, x, y, width, name_of(d, name));
	pm_text_str(d->out, "</g>\n");
}

static void draw_band(struct drawing *d, uint32_t band)
{
	const uint32_t *cells = d->bands->name + (size_t)band * N;
	for (uint32_t i = 0, end; i < N; i = end) {
		for (end = i + 1; end < N && cells[end] == cells[i];)
			end++;
		if (cells[i] != PM_NONE)
			draw_run(d, band, i, end, cells[i]);
	}
}

/* A thread's directory below threads/. */
static struct pm_bytes thread_label(const struct drawing *d, uint32_t thread)
{
	return pm_bytes_of(d->names->paths[thread] + strlen("threads/"));
}

/* How much of the labels' beginning is the same for all: whole levels. */
static size_t shared_start(const struct drawing *d)
{
	const struct pmfs_timeline *t = d->timeline;
	struct pm_bytes first = thread_label(d, t->thread[0]);
	size_t len = first.len;
	for (uint32_t row = 1; row < t->n_rows; row++) {
		struct pm_bytes label = thread_label(d, t->thread[row]);
		for (size_t i = 0; i < len; i++)
			if (i >= label.len || label.p[i] != first.p[i])
				len = i;
	}
	while (len > 0 && (len == first.len || first.p[len - 1] != '/'))
		len--;
	return len;
}

static void draw_labels(struct drawing *d)
{
	const struct pmfs_timeline *t = d->timeline;
	struct pm_text cut = {.arena = d->a};
	size_t skip = t->n_rows ? shared_start(d) : 0;
	uint32_t every = d->step >= LABEL_STEP ? 1 : (uint32_t)ceil(LABEL_STEP / d->step);
	for (uint32_t row = 0; row < t->n_rows; row += every) {
		struct pm_bytes label = thread_label(d, t->thread[row]);
		pmfs_add_cut(&cut, (struct pm_bytes){label.p + skip, label.len - skip}, 24);
		pmfs_svg_line(d->out, NULL, "small right", d->left - 6,
			TOP + row * d->step + (d->step - 1) / 2 + 4, &cut);
	}
}

/* ---- the texts around it ---- */

/* `style` is how the swatch looks that has no colour of its own; NULL: that of the name. */
static void draw_legend_entry(
	struct drawing *d, unsigned place, const char *style, double share, struct pm_bytes name)
{
	double x = PMFS_SVG_MARGIN + (place / LEGEND_ROWS) * 392.0;
	double y = bottom_of(d) + 16 + (place % LEGEND_ROWS) * LEGEND_STEP;
	struct pm_text cut = {.arena = d->a};
	pmfs_svg_rect(d->out, x, y, 12, 12);
	pm_text_str(d->out, " rx=\"2\"");
	if (style)
		pm_text_printf(d->out, " class=\"%s\"", style);
	else
		pmfs_svg_fill(d->out, pmfs_palette[pmfs_colour_of(d->colours, name)]);
	pm_text_str(d->out, "/>");
	pmfs_svg_text(d->out, NULL, "right", x + 62, y + 10.5);
	pmfs_print_share(d->out, share, (double)d->bands->n_cells);
	pmfs_svg_text_end(d->out);
	pmfs_svg_cut(&cut, name, LEGEND_COLUMNS);
	pmfs_svg_line(d->out, NULL, NULL, x + 70, y + 10.5, &cut);
}

/*
 * The most frequent function that has no place yet and a colour unlike that of the entry before, if
 * possible one that no entry has; n_names if there is none.
 */
static uint32_t next_entry(
	const struct drawing *d, const bool *has_place, uint64_t used, unsigned before)
{
	const struct pmfs_bands *b = d->bands;
	uint32_t other = b->n_names;
	uint64_t near = before < PMFS_N_COLOURS ? pmfs_colours_near[before] : 0;
	for (uint32_t i = 0; i < b->n_names && i < 2 * LEGEND; i++) {
		unsigned colour = pmfs_colour_of(d->colours, name_of(d, b->top[i].name));
		if (has_place[i] || colour == before || near >> colour & 1)
			continue;
		if (!(used >> colour & 1))
			return i;
		if (other == b->n_names)
			other = i;
	}
	return other;
}

/*
 * The most frequent functions, neighbours in different colours; the last places are for the others
 * and for nothing at all.
 */
static void draw_legend(struct drawing *d)
{
	const struct pmfs_bands *b = d->bands;
	bool has_place[2 * LEGEND] = {false};
	unsigned place = 0, before = PMFS_N_COLOURS;
	uint64_t used = 0;
	double others = (double)b->n_busy;
	for (uint32_t i; place < LEGEND; place++) {
		i = next_entry(d, has_place, used, before);
		if (i == b->n_names)
			break;
		struct pm_bytes name = name_of(d, b->top[i].name);
		has_place[i] = true;
		before = pmfs_colour_of(d->colours, name);
		used |= UINT64_C(1) << before;
		draw_legend_entry(d, place, NULL, b->top[i].n_busy, name);
		others -= b->top[i].n_busy;
	}
	if (others > 0)
		draw_legend_entry(d, place++, "others", others, pm_bytes_of("other functions"));
	if (b->n_cells > b->n_busy)
		draw_legend_entry(d, place++, "idle", (double)(b->n_cells - b->n_busy),
			pm_bytes_of("nothing"));
}

static void add_facts(struct drawing *d, struct pm_text *out)
{
	const struct pmfs_timeline *t = d->timeline;
	pmfs_print_ns(out, span_ns(d));
	if (d->only == PM_NONE) {
		pm_text_str(out, " · ");
		if (t->n_rows < t->n_threads) {
			pmfs_print_count(out, t->n_rows);
			pm_text_str(out, " of ");
		}
		pmfs_print_count(out, t->n_threads);
		pm_text_str(out, t->n_threads == 1 ? " thread" : " threads");
	}
	pm_text_str(out, " · ");
	pm_text_line(out, pm_bytes_of(pmfs_model_profile(d->model)->source));
}

static void add_method(struct drawing *d, struct pm_text *out)
{
	if (d->only == PM_NONE) {
		pm_text_str(out, "The innermost function that has 1% or more; ");
	} else {
		pm_text_str(out, "Callers stand above what they call; ");
	}
	pm_text_str(out, "looked up at 1,000 points in time, one every ");
	pmfs_print_ns(out, span_ns(d) / N);
	if (d->joined > 1) {
		pm_text_str(out, "; a block shows one of ");
		pmfs_print_count(out, d->joined);
		pm_text_str(out, " points, picked at random");
	}
	if (d->bands->n_seen > d->bands->n_busy)
		pm_text_str(out, "; what is shorter is widened to be seen");
	pm_text_char(out, '.');
}

static void draw_header(struct drawing *d, struct pm_bytes title)
{
	const struct pm_profile *p = pmfs_model_profile(d->model);
	struct pm_text line = {.arena = d->a};
	pmfs_add_cut(&line, title.len ? title : pmfs_base_name(pm_bytes_of(p->source)), 60);
	pm_text_str(&line, " · ");
	pm_text_line(&line,
		d->only == PM_NONE ? pm_bytes_of("what ran when") : thread_label(d, d->only));
	pmfs_svg_open(d->out, (unsigned)(bottom_of(d) + 16 + LEGEND_ROWS * LEGEND_STEP + 4),
		pm_text_view(&line));
	pmfs_svg_line(d->out, NULL, "title", PMFS_SVG_MARGIN, 29, &line);
	add_facts(d, &line);
	pmfs_svg_line(d->out, NULL, NULL, PMFS_SVG_MARGIN, 49, &line);
	if (d->bands->n_seen)
		add_method(d, &line);
	else
		pm_text_str(&line, "There is nothing to draw.");
	pmfs_svg_line(d->out, "details", NULL, PMFS_SVG_MARGIN, 70, &line);
	pmfs_svg_controls(d->out);
}

static void draw(const struct pmfs_writing *w)
{
	struct pmfs_model *m = w->model;
	struct drawing d = {.a = w->a,
		.model = m,
		.only = w->doc->text.c == PMFS_OF_THREAD ? (uint32_t)w->doc->text.a : PM_NONE,
		.out = w->out};
	struct pm_bytes title;
	uint64_t origin;
	pm_build_check(w->a, pmfs_time_origin(m, &origin, w->err));
	pm_build_check(w->a, pmfs_model_thread_names(m, &d.names, w->err));
	pm_build_check(w->a, pmfs_colours(m, &d.colours, w->err));
	pm_build_check(w->a, pm_profile_title(pmfs_model_profile(m), &title, w->err));
	d.timeline = pmfs_timeline_read(w->a, m, d.only, w->err);
	d.bands = pmfs_bands_make(w->a, d.timeline, d.only != PM_NONE && d.timeline->n_rows == 1);
	d.joined = pmfs_bands_fit(d.bands, PM_LIMIT_SVG_RECTS - LEGEND - 3);
	uint32_t rows = d.bands->n_rows;
	d.left = d.only == PM_NONE ? LABELS : PMFS_SVG_MARGIN;
	d.step = d.only != PM_NONE || rows <= 32 ? 18 : rows <= 100 ? 9 : 6;
	if (origin != PM_NO_TIME)
		d.first_ns = origin <= d.timeline->begin ? (double)(d.timeline->begin - origin)
							 : -(double)(origin - d.timeline->begin);
	draw_header(&d, title);
	const struct pmfs_time_axis axis = {.left = d.left,
		.right = PMFS_SVG_WIDTH - PMFS_SVG_MARGIN,
		.top = TOP - 8,
		.bottom = bottom_of(&d),
		.begin_ns = time_of(&d, 0),
		.end_ns = time_of(&d, 0) + span_ns(&d)};
	pmfs_svg_time_axis(d.out, &axis);
	if (d.only == PM_NONE)
		draw_labels(&d);
	for (uint32_t i = 0; i < rows; i++)
		draw_band(&d, i);
	draw_legend(&d);
	pmfs_svg_close(d.out, pm_bytes_of(""), pmfs_asset_timeline_js);
}

int pmfs_timeline_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, draw, out, err);
}
