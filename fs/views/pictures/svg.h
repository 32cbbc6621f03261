/* Shared by SVG pictures: the frame of the file, numbers, and texts that fit into boxes. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_SVG_H
#define PROFMOUNT_FS_VIEWS_PICTURES_SVG_H

#include "formats/common/text.h"

/* The width and margin of pictures in px; scripts and viewers scale them. */
#define PMFS_SVG_WIDTH  1200
#define PMFS_SVG_MARGIN 10

/*
 * Writes the root element with the styles of all pictures, and the background. `title` may be
 * hostile.
 */
void pmfs_svg_open(struct pm_text *out, unsigned height, struct pm_bytes title);

/* Writes the script with its prerequisites, and the end of the file. */
void pmfs_svg_close(struct pm_text *out, struct pm_bytes before, struct pm_bytes script);

/* Elements for scripts at the right of the heading: buttons, and the share matched by a search. */
void pmfs_svg_controls(struct pm_text *out);

/* `<text id="id" class="style" x= y=>`; the content and pmfs_svg_text_end follow. */
void pmfs_svg_text(struct pm_text *out, const char *id, const char *style, double x, double y);
void pmfs_svg_text_end(struct pm_text *out);

/*
 * The same with `line` as content, escaped. Empties `line`; an error of `line` is passed to `out`.
 */
void pmfs_svg_line(struct pm_text *out, const char *id, const char *style, double x, double y,
	struct pm_text *line);

/* `<rect x= y= width= height=` without the closing `>`, for more attributes. */
void pmfs_svg_rect(struct pm_text *out, double x, double y, double width, double height);

/* ` fill="#rrggbb"` */
void pmfs_svg_fill(struct pm_text *out, unsigned colour);

/* At most three decimals. */
void pmfs_svg_number(struct pm_text *out, double number);

/* The name, escaped; if it is extremely long, its beginning and `…`. */
void pmfs_svg_name(struct pm_text *out, struct pm_bytes name);

/*
 * The most informative part of a name that fits into this many columns: types and arguments are
 * dropped first, then leading components (`…Conf::parse_rules`), then the end of the last one.
 * Empty if less than three letters would remain.
 */
void pmfs_svg_cut(struct pm_text *out, struct pm_bytes name, size_t columns);

/* The same, as the label of a box of this width at x, y. */
void pmfs_svg_label(struct pm_text *out, double x, double y, double width, struct pm_bytes name);

struct pmfs_time_axis {
	double left, right, top, bottom; /* px: extent of the grid lines */
	double begin_ns, end_ns;
};

/* Grid lines with times above them. Draws nothing if the time span is 0. */
void pmfs_svg_time_axis(struct pm_text *out, const struct pmfs_time_axis *axis);

#endif
