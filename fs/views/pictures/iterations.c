/*
 * iterations.svg: how long each iteration took, over time. Of the iterations in one column of
 * pixels, only the longest is drawn.
 */
#include "fs/views/sums/iterations.h"

#include "formats/common/sort.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/pictures/svg.h"

/* When an iteration begins, since the time origin, for pictures. */
static double iteration_begin(const struct pmfs_iterations *all, const struct pmfs_iteration *it)
{
	uint64_t origin = all->origin_ns == PM_NO_TIME ? 0 : all->origin_ns;
	return it->time_ns < origin ? -(double)(origin - it->time_ns)
				    : (double)(it->time_ns - origin);
}

enum { TOP = 106, HEIGHT = 300, LEFT = 90, WIDTH = PMFS_SVG_WIDTH - PMFS_SVG_MARGIN - LEFT };

#define USUAL   0x4c78a8u
#define OUTLIER 0xd1495bu

struct plot {
	struct pm_arena *a;
	const struct pmfs_iterations *all;
	double begin, end; /* ns since the origin */
	double most, median, limit;
	uint32_t n_outliers;
	struct pm_text *out;
};

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* What is longer than the upper quartile by one and a half times the middle half is an outlier. */
static void find_limits(struct plot *p)
{
	uint32_t n = p->all->n;
	uint64_t *lengths = pm_arena_array(p->a, n, sizeof(*lengths));
	p->begin = p->end = iteration_begin(p->all, &p->all->items[0]);
	for (uint32_t i = 0; i < n; i++) {
		const struct pmfs_iteration *it = &p->all->items[i];
		double start = iteration_begin(p->all, it);
		double end = start + (double)it->duration_ns;
		lengths[i] = it->duration_ns;
		p->begin = start < p->begin ? start : p->begin;
		p->end = end > p->end ? end : p->end;
	}
	pm_build_check(p->a, pm_sort(lengths, n, sizeof(*lengths), by_length));
	double lower = (double)lengths[n / 4], upper = (double)lengths[(uint64_t)n * 3 / 4];
	p->most = (double)lengths[n - 1];
	p->median = (double)lengths[n / 2];
	p->limit = upper + 1.5 * (upper - lower);
	for (uint32_t i = 0; i < n; i++)
		p->n_outliers += (double)lengths[i] > p->limit;
}

static double y_of(const struct plot *p, double ns)
{
	return TOP + HEIGHT - (p->most > 0 ? HEIGHT * ns / p->most : 0);
}

static unsigned column_of(const struct plot *p, const struct pmfs_iteration *it)
{
	double span = p->end - p->begin;
	double part = span > 0 ? (iteration_begin(p->all, it) - p->begin) / span : 0;
	return (unsigned)(part * (WIDTH - 2));
}

static void draw_one(const struct plot *p, uint32_t i)
{
	const struct pmfs_iteration *it = &p->all->items[i];
	double ns = (double)it->duration_ns, x = LEFT + column_of(p, it), y = y_of(p, ns);
	pm_text_printf(p->out, "<g class=\"box\"><title>iteration %u\n", i + 1);
	pmfs_print_ns(p->out, iteration_begin(p->all, it));
	pm_text_str(p->out, ", ");
	pmfs_print_ns(p->out, ns);
	pm_text_str(p->out, "</title>");
	pmfs_svg_rect(p->out, x, y - 2, 4, TOP + HEIGHT - y + 2);
	pmfs_svg_fill(p->out, ns > p->limit ? OUTLIER : USUAL);
	pm_text_str(p->out, "/></g>\n");
}

static void draw_all(const struct plot *p)
{
	uint32_t longest[WIDTH];
	for (unsigned x = 0; x < WIDTH; x++)
		longest[x] = PM_NONE;
	for (uint32_t i = 0; i < p->all->n; i++) {
		uint32_t *at = &longest[column_of(p, &p->all->items[i])];
		if (*at == PM_NONE || p->all->items[i].duration_ns > p->all->items[*at].duration_ns)
			*at = i;
	}
	for (unsigned x = 0; x < WIDTH; x++)
		if (longest[x] != PM_NONE)
			draw_one(p, longest[x]);
}

static void draw_level(const struct plot *p, const char *name, double ns)
{
	double y = y_of(p, ns);
	struct pm_text line = {.arena = p->a};
	pm_text_str(p->out, "<path class=\"grid\" d=\"M");
	pmfs_svg_number(p->out, LEFT);
	pm_text_char(p->out, ' ');
	pmfs_svg_number(p->out, y);
	pm_text_char(p->out, 'H');
	pmfs_svg_number(p->out, PMFS_SVG_WIDTH - PMFS_SVG_MARGIN);
	pm_text_str(p->out, "\"/>\n");
	pm_text_printf(&line, "%s ", name);
	pmfs_print_ns(&line, ns);
	pmfs_svg_line(p->out, NULL, "small", PMFS_SVG_MARGIN, y + 4, &line);
}

static void draw_head(const struct plot *p, const char *name)
{
	struct pm_text line = {.arena = p->a};
	pmfs_add_cut(&line, pm_bytes_of(name), 60);
	pm_text_str(&line, " · duration of each iteration");
	pmfs_svg_open(p->out, TOP + HEIGHT + 20, pm_text_view(&line));
	pmfs_svg_line(p->out, NULL, "title", PMFS_SVG_MARGIN, 29, &line);
	pmfs_print_count(&line, p->all->n);
	pm_text_str(&line, p->all->n == 1 ? " iteration" : " iterations");
	if (p->all->n) {
		pm_text_str(&line, " · median ");
		pmfs_print_ns(&line, p->median);
		pm_text_str(&line, " · ");
		pmfs_print_count(&line, p->n_outliers);
		pm_text_str(&line, p->n_outliers == 1 ? " outlier" : " outliers");
		pm_text_str(&line, " (red: more than 1.5 times the middle half above it)");
	}
	pmfs_svg_line(p->out, NULL, NULL, PMFS_SVG_MARGIN, 49, &line);
}

static void draw(const struct pmfs_writing *w)
{
	struct pmfs_model *m = w->model;
	struct plot p = {.a = w->a, .out = w->out};
	pm_build_check(w->a, pmfs_iterations(m, &p.all, w->err));
	if (p.all->n)
		find_limits(&p);
	draw_head(&p, pmfs_model_iterations(m));
	if (p.all->n) {
		const struct pmfs_time_axis axis = {.left = LEFT,
			.right = PMFS_SVG_WIDTH - PMFS_SVG_MARGIN,
			.top = TOP,
			.bottom = TOP + HEIGHT,
			.begin_ns = p.begin,
			.end_ns = p.end};
		pmfs_svg_time_axis(w->out, &axis);
		draw_all(&p);
		draw_level(&p, "median", p.median);
		if (y_of(&p, p.most) < y_of(&p, p.median) - 14)
			draw_level(&p, "max", p.most);
	}
	pm_text_str(w->out, "</svg>\n");
}

int pmfs_iterations_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, draw, out, err);
}
