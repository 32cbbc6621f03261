/* Formatting of amounts and names in readable texts. Not used by tables, which are exact. */
#include "fs/views/model/screen.h"

#include <math.h>

#include "formats/common/affix.h"
#include "formats/common/utf8.h"
#include "fs/views/model/amounts.h"

/* Where character n of the line begins. */
static size_t character_at(struct pm_bytes line, unsigned n)
{
	size_t at = 0;
	for (; n > 0 && at < line.len; n--)
		at += pm_utf8_next(line, at);
	return at;
}

static unsigned count_characters(struct pm_bytes line)
{
	unsigned n = 0;
	for (size_t at = 0; at < line.len; n++)
		at += pm_utf8_next(line, at);
	return n;
}

/* Returns its length in characters. */
static unsigned add_cut(struct pm_text *out, struct pm_bytes text, unsigned width)
{
	struct pm_text clean = {.p = NULL};
	pm_text_line(&clean, text);
	struct pm_bytes line = pm_text_view(&clean);
	unsigned n = count_characters(line);
	if (n <= width) {
		pm_text_bytes(out, line);
	} else {
		unsigned tail = (width - 1) / 3, head = width - 1 - tail;
		size_t end = character_at(line, head), from = character_at(line, n - tail);
		pm_text_add(out, line.p, end);
		pm_text_str(out, "…");
		pm_text_add(out, line.p + from, line.len - from);
		n = width;
	}
	out->failed |= clean.failed;
	pm_text_done(&clean);
	return n;
}

void pmfs_add_cut(struct pm_text *out, struct pm_bytes text, unsigned width)
{
	add_cut(out, text, width);
}

void pmfs_add_cut_padded(struct pm_text *out, struct pm_bytes text, unsigned width)
{
	unsigned n = add_cut(out, text, width);
	pm_text_printf(out, "%*s", (int)(width - n), "");
}

void pmfs_add_right(struct pm_text *out, struct pm_bytes text, unsigned width)
{
	unsigned n = count_characters(text);
	pm_text_printf(out, "%*s", n < width ? (int)(width - n) : 0, "");
	add_cut(out, text, width);
}

/* Units as export names have them: the columns of compare have nothing else. */
static struct pm_bytes unit_of(const struct pmfs_column *column)
{
	struct pm_bytes name = pm_bytes_of(column->export);
	if (column->export_scale != 1 || pm_ends_with(name, "_ns"))
		return pm_bytes_of("ns");
	return pm_bytes_of(pm_ends_with(name, "bytes") ? "bytes" : "");
}

void pmfs_add_amount(struct pm_text *out, const struct pmfs_column *column, double value)
{
	struct pm_text text = {.p = NULL};
	if (!isnan(value))
		pmfs_print_amount(&text, value * column->export_scale, unit_of(column));
	pmfs_add_right(out, pm_text_view(&text), PMFS_AMOUNT_WIDTH);
	out->failed |= text.failed;
	pm_text_done(&text);
}

void pmfs_add_share(struct pm_text *out, double part, double whole)
{
	if (isnan(part) || !(whole > 0))
		pm_text_printf(out, "%6s", "");
	else if (part / whole < 10)
		pm_text_printf(out, "%5.1f%%", 100 * part / whole);
	else /* costs that contradict each other */
		pm_text_str(out, " >999%");
}

void pmfs_add_place(struct pm_text *out, struct pm_bytes file, uint32_t line)
{
	pm_text_line(out, file);
	if (line == 0)
		return;
	pm_text_char(out, ':');
	pm_text_u64(out, line);
}

void pmfs_add_fact(struct pm_text *out, const char *key, struct pm_bytes value)
{
	if (value.len == 0)
		return;
	pm_text_printf(out, "%s: ", key);
	pm_text_line(out, value);
	pm_text_char(out, '\n');
}

void pmfs_add_name(struct pm_text *out, const struct pm_tree *tree, const struct pm_frame *frame,
	struct pm_text *scratch)
{
	pm_text_clear(scratch);
	pm_text_line(out, pmfs_frame_name(tree, frame, scratch));
}

void pmfs_add_stop(
	struct pm_text *out, const struct pm_tree *tree, uint32_t context, struct pm_text *scratch)
{
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	pmfs_add_name(out, tree, frame, scratch);
	pm_text_char(out, '\t');
	pmfs_add_place(out, tree->texts[frame->file], frame->line);
	pm_text_char(out, '\n');
}
