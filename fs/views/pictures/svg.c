/*
 * Pieces of SVG. Boxes are labelled in type of one width, so what fits is known without a font.
 * Names come from measured programs: only pm_text_xml writes them.
 */
#include "fs/views/pictures/svg.h"

#include <math.h>

#include "formats/common/utf8.h"
#include "fs/views/model/model.h"
#include "fs/views/pictures/assets.h"

/* Width of a character in boxes: 11 px of any common monospaced font, rounded up. */
#define COLUMN_WIDTH 6.65

/* Bytes of a name in a tooltip; longer template names are useless there. */
#define NAME_BYTES 4000

void pmfs_svg_number(struct pm_text *out, double number)
{
	double thousandths = nearbyint(number * 1000);
	pm_text_f64(out, fabs(thousandths) < 0x1p53 ? thousandths / 1000 : 0);
}

static void add_attribute(struct pm_text *out, const char *name, double number)
{
	pm_text_char(out, ' ');
	pm_text_str(out, name);
	pm_text_str(out, "=\"");
	pmfs_svg_number(out, number);
	pm_text_char(out, '"');
}

void pmfs_svg_rect(struct pm_text *out, double x, double y, double width, double height)
{
	pm_text_str(out, "<rect");
	add_attribute(out, "x", x);
	add_attribute(out, "y", y);
	add_attribute(out, "width", width);
	add_attribute(out, "height", height);
}

void pmfs_svg_fill(struct pm_text *out, unsigned colour)
{
	pm_text_str(out, " fill=\"#");
	pm_text_hex(out, colour, 6);
	pm_text_char(out, '"');
}

void pmfs_svg_open(struct pm_text *out, unsigned height, struct pm_bytes title)
{
	pm_text_str(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\"");
	add_attribute(out, "width", PMFS_SVG_WIDTH);
	add_attribute(out, "height", height);
	pm_text_printf(out, " viewBox=\"0 0 %d %u\">\n<title>", PMFS_SVG_WIDTH, height);
	pm_text_xml(out, title);
	pm_text_str(out, "</title>\n<style>\n");
	pm_text_bytes(out, pmfs_asset_picture_css);
	pm_text_str(out, "</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n");
}

void pmfs_svg_close(struct pm_text *out, struct pm_bytes before, struct pm_bytes script)
{
	pm_text_str(out, "<script><![CDATA[\n");
	pm_text_bytes(out, before);
	pm_text_bytes(out, script);
	pm_text_str(out, "]]></script>\n</svg>\n");
}

void pmfs_svg_text(struct pm_text *out, const char *id, const char *style, double x, double y)
{
	pm_text_str(out, "<text");
	if (id)
		pm_text_printf(out, " id=\"%s\"", id);
	if (style)
		pm_text_printf(out, " class=\"%s\"", style);
	add_attribute(out, "x", x);
	add_attribute(out, "y", y);
	pm_text_char(out, '>');
}

void pmfs_svg_text_end(struct pm_text *out)
{
	pm_text_str(out, "</text>\n");
}

void pmfs_svg_line(struct pm_text *out, const char *id, const char *style, double x, double y,
	struct pm_text *line)
{
	pmfs_svg_text(out, id, style, x, y);
	pm_text_xml(out, pm_text_view(line));
	pmfs_svg_text_end(out);
	out->failed |= line->failed;
	pm_text_clear(line);
}

void pmfs_svg_controls(struct pm_text *out)
{
	double right = PMFS_SVG_WIDTH - PMFS_SVG_MARGIN;
	pmfs_svg_text(out, "reset", "button right", right - 100, 29);
	pm_text_str(out, "Reset zoom");
	pmfs_svg_text_end(out);
	pmfs_svg_text(out, "search", "button right", right, 29);
	pm_text_str(out, "Search");
	pmfs_svg_text_end(out);
	pmfs_svg_text(out, "matched", "right", right, 49);
	pmfs_svg_text_end(out);
}

/*
 * Bytes of a name's characters that fill at most `columns`; wide scripts take two each. Each
 * invalid byte is shown as one replacement character.
 */
static size_t fitting(struct pm_bytes name, size_t columns)
{
	size_t at = 0;
	while (at < name.len) {
		size_t len = pm_utf8_next(name, at) ?: 1;
		bool wide = len == 4 || (len == 3 && name.p[at] > 0xe0);
		if (columns < (wide ? 2u : 1u))
			break;
		columns -= wide ? 2 : 1;
		at += len;
	}
	return at;
}

void pmfs_svg_name(struct pm_text *out, struct pm_bytes name)
{
	struct pm_bytes start = {name.p, name.len};
	if (name.len > NAME_BYTES)
		start.len = fitting((struct pm_bytes){name.p, NAME_BYTES}, NAME_BYTES);
	pm_text_xml(out, start);
	if (start.len < name.len)
		pm_text_str(out, "…");
}

static bool fits(struct pm_bytes text, size_t columns)
{
	return fitting(text, columns) == text.len;
}

/* Whether a part of a name is informative by itself: three letters, and not a number. */
static bool is_telling(struct pm_bytes part)
{
	bool is_hex = part.len > 2 && part.p[0] == '0' && part.p[1] == 'x';
	bool starts = part.len > 0 && (is_hex || part.p[0] < '0' || part.p[0] > '9');
	return starts && !fits(part, 2);
}

enum { SHORTEST = 4 /* columns of a part of a name */ };

/* The last components after `…`, the beginning of the last one before `…`, or nothing. */
static void add_shortened(struct pm_text *out, struct pm_bytes bare, size_t columns)
{
	struct pm_bytes last = bare, best = {NULL, 0};
	for (size_t at = bare.len; columns >= SHORTEST && at > 0;) {
		at = pmfs_name_component(bare, at);
		struct pm_bytes part = {bare.p + at, bare.len - at};
		if (at == 0 || !is_telling(part))
			continue;
		if (last.len == bare.len && part.p[0] != '+') /* part of an address is useless */
			last = part;
		if (!fits(part, columns - 1))
			break;
		best = part;
	}
	if (best.len > 0) {
		pm_text_str(out, "…");
		pm_text_bytes(out, best);
	} else if (columns >= SHORTEST && last.len > 0) {
		pm_text_add(out, last.p, fitting(last, columns - 1));
		pm_text_str(out, "…");
	}
}

/* By what marks of compilers differ: the last number with what follows, else the last word. */
static struct pm_bytes number_of(struct pm_bytes mark)
{
	size_t last = mark.len;
	for (size_t i = mark.len; i-- > 0;) {
		if (mark.p[i] != '.')
			continue;
		if (last == mark.len)
			last = i;
		if (mark.p[0] != '.')
			break; /* a note */
		if (i + 1 < mark.len && mark.p[i + 1] >= '0' && mark.p[i + 1] <= '9') {
			last = i;
			break;
		}
	}
	return (struct pm_bytes){mark.len ? mark.p + last : NULL, mark.len - last};
}

/*
 * Tries in this order: all of the name; the name without types and arguments; a part of that, and
 * the end of what a compiler added, `.0`, by which copies differ. labels.js does the same.
 */
void pmfs_svg_cut(struct pm_text *out, struct pm_bytes name, size_t columns)
{
	struct pm_bytes mark, bare = pmfs_name_original(name, &mark);
	if (fits(name, columns)) {
		pm_text_bytes(out, name);
		return;
	}
	if (mark.len <= columns && fits(bare, columns - mark.len)) {
		pm_text_bytes(out, bare);
		pm_text_bytes(out, mark);
		return;
	}
	struct pm_bytes end = number_of(mark);
	end.len -= end.len && end.p[end.len - 1] == ']';
	const uint8_t *more = end.len > 1 ? memchr(end.p + 1, '.', end.len - 1) : NULL;
	if (more && columns < end.len + SHORTEST)
		end.len = (size_t)(more - end.p);
	size_t room = columns > end.len ? columns - end.len : 0, before = out->len;
	if (end.len && room > 0 && fits(bare, room - 1)) {
		pm_text_bytes(out, bare);
		pm_text_str(out, "…");
	} else {
		add_shortened(out, bare, room);
	}
	if (out->len > before)
		pm_text_bytes(out, end);
}

void pmfs_svg_label(struct pm_text *out, double x, double y, double width, struct pm_bytes name)
{
	size_t columns = width < 12 ? 0 : (size_t)((width - 5) / COLUMN_WIDTH);
	struct pm_text label = {.arena = out->arena};
	pmfs_svg_cut(&label, name, columns);
	if (label.len > 0) {
		pmfs_svg_text(out, NULL, NULL, x + 3, y + 12.5);
		pm_text_xml(out, pm_text_view(&label));
		pm_text_str(out, "</text>");
	}
	pm_text_end(&label, out);
}
