/* What pictures in SVG have in common: the frame of the file, numbers, and texts that fit. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_SVG_H
#define PROFMOUNT_FS_VIEWS_PICTURES_SVG_H

#include "formats/common/text.h"

/* Drawn for this width and margin, in px; scripts and viewers scale it. */
#define PMFS_SVG_WIDTH  1200
#define PMFS_SVG_MARGIN 10

/* The root element with the styles of all pictures, and the background. `title` may be hostile. */
void pmfs_svg_open(struct pm_text *out, unsigned height, struct pm_bytes title);

/* The script with what it needs before it, and the end of the file. */
void pmfs_svg_close(struct pm_text *out, struct pm_bytes before, struct pm_bytes script);

/* What scripts use at the right of the heading: buttons, and the share that a search matched. */
void pmfs_svg_controls(struct pm_text *out);

/* `<text id="id" class="style" x= y=>`; the content and pmfs_svg_text_end follow. */
void pmfs_svg_text(struct pm_text *out, const char *id, const char *style, double x, double y);
void pmfs_svg_text_end(struct pm_text *out);

/* The same with its content: what `line` holds, escaped. Empties `line`; its failure is `out`'s. */
void pmfs_svg_line(struct pm_text *out, const char *id, const char *style, double x, double y,
	struct pm_text *line);

/* `<rect x= y= width= height=` without its end, for more attributes. */
void pmfs_svg_rect(struct pm_text *out, double x, double y, double width, double height);

/* ` fill="#rrggbb"` */
void pmfs_svg_fill(struct pm_text *out, unsigned colour);

/* Three decimals at most. */
void pmfs_svg_number(struct pm_text *out, double number);

/* The name, escaped, or its beginning and `…` where it is absurdly long. */
void pmfs_svg_name(struct pm_text *out, struct pm_bytes name);

/*
 * What of a name fits into that many columns and tells it from others: types and arguments go
 * first, then leading components (`…Conf::parse_rules`), then the end of the last one; nothing
 * where less than three letters would be left.
 */
void pmfs_svg_cut(struct pm_text *out, struct pm_bytes name, size_t columns);

/* The same as the label of a box of that width at x, y. */
void pmfs_svg_label(struct pm_text *out, double x, double y, double width, struct pm_bytes name);

struct pmfs_time_axis {
	double left, right, top, bottom; /* px: where its grid lines go */
	double begin_ns, end_ns;
};

/* Grid lines, and times above them. Draws nothing where no time passes. */
void pmfs_svg_time_axis(struct pm_text *out, const struct pmfs_time_axis *axis);

#endif
