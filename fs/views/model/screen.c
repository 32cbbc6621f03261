/* Formatting of amounts and names in readable texts. Not used by tables, which are exact. */
#include "fs/views/model/screen.h"

#include <math.h>
#include <stdio.h>

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

/* Three to four digits and a unit, at most 12 characters. */
static int format_duration(char *text, size_t size, double ns)
{
	const struct pmfs_unit *unit = pmfs_unit_of_time(ns);
	if (fabs(ns) >= 999999.99e9) /* 11 days: seven digits and a sign would not fit */
		return snprintf(text, size, "%.4g s", ns / 1e9);
	if (fabs(ns) >= 1)
		return snprintf(text, size, "%.2f %s", ns / unit->size, unit->name);
	return snprintf(text, size, "%.4g %s", ns, ns == 0 ? "s" : "ns");
}

void pmfs_add_duration(struct pm_text *out, double ns)
{
	char text[64];
	format_duration(text, sizeof(text), ns);
	pm_text_str(out, text);
}

static bool is_time(const struct pmfs_column *column)
{
	size_t len = strlen(column->export);
	return column->export_scale != 1 ||
		(len > 3 && strcmp(column->export + len - 3, "_ns") == 0);
}

void pmfs_add_amount(struct pm_text *out, const struct pmfs_column *column, double value)
{
	char text[64] = "";
	if (isnan(value))
		text[0] = '\0';
	else if (is_time(column))
		format_duration(text, sizeof(text), value * column->export_scale);
	else if (value == floor(value) && fabs(value) < 1e13)
		snprintf(text, sizeof(text), "%.0f", value);
	else
		snprintf(text, sizeof(text), "%.6g", value);
	bool micro = strchr(text, '\xc2') != NULL; /* two bytes, one column */
	pm_text_printf(out, "%*s", PMFS_AMOUNT_WIDTH + micro, text);
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
