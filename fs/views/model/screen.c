/* Formatting of amounts and names in readable texts. Not used by tables, which are exact. */
#include "fs/views/model/screen.h"

#include <math.h>

#include "formats/common/affix.h"
#include "formats/common/utf8.h"
#include "fs/views/model/amounts.h"
#include "fs/views/model/model.h"

/* The length of the character at a place; bytes that are none count as one. */
static size_t step_at(struct pm_bytes text, size_t at)
{
	size_t step = pm_utf8_next(text, at);
	return step ? step : 1;
}

/* Where character n of the text begins. */
static size_t character_at(struct pm_bytes text, unsigned n)
{
	size_t at = 0;
	for (; n > 0 && at < text.len; n--)
		at += step_at(text, at);
	return at;
}

static unsigned count_characters(struct pm_bytes text)
{
	unsigned n = 0;
	for (size_t at = 0; at < text.len; n++)
		at += step_at(text, at);
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

/* Whether the text, cut, looks like another name of the list, each shortened by `bare` or not. */
static bool looks_alike(
	const struct pm_bytes *names, uint32_t n, uint32_t i, bool bare, unsigned width)
{
	struct pm_text own = {.p = NULL}, other = {.p = NULL};
	bool alike = false;
	add_cut(&own, bare ? pmfs_name_bare(names[i]) : names[i], width);
	for (uint32_t k = 0; k < n && !alike; k++) {
		if (k == i || pm_bytes_equal(names[k], names[i]))
			continue;
		pm_text_clear(&other);
		add_cut(&other, bare ? pmfs_name_bare(names[k]) : names[k], width);
		alike = pm_bytes_equal(pm_text_view(&own), pm_text_view(&other));
	}
	pm_text_done(&own);
	pm_text_done(&other);
	return alike;
}

/* Where the name ceases to be like the others of the list that look like it; a whole character. */
static size_t first_difference(const struct pm_bytes *names, uint32_t n, uint32_t i, unsigned width)
{
	size_t most = 0;
	for (uint32_t k = 0; k < n; k++) {
		const struct pm_bytes pair[] = {names[i], names[k]};
		size_t at = 0;
		if (k == i || !looks_alike(pair, 2, 0, false, width))
			continue;
		while (at < pair[0].len && at < pair[1].len && pair[0].p[at] == pair[1].p[at])
			at++;
		most = at > most ? at : most;
	}
	while (most > 0 && most < names[i].len && (names[i].p[most] & 0xc0) == 0x80)
		most--;
	return most;
}

void pmfs_add_told_apart(
	struct pm_text *out, const struct pm_bytes *names, uint32_t n, uint32_t i, unsigned width)
{
	enum { BEFORE = 4 }; /* characters before the difference */
	if (count_characters(names[i]) <= width || !looks_alike(names, n, i, true, width)) {
		bool fits = count_characters(names[i]) <= width;
		add_cut(out, fits ? names[i] : pmfs_name_bare(names[i]), width);
		return;
	}
	if (!looks_alike(names, n, i, false, width)) {
		add_cut(out, names[i], width);
		return;
	}
	unsigned head = width / 3, at = 0;
	size_t difference = first_difference(names, n, i, width);
	for (size_t p = 0; p < difference; at++)
		p += step_at(names[i], p);
	at = at > BEFORE ? at - BEFORE : 0;
	unsigned all = count_characters(names[i]);
	if (all - at < width - head - 1)
		at = all - (width - head - 1);
	size_t from = character_at(names[i], at);
	pm_text_line(out, (struct pm_bytes){names[i].p, character_at(names[i], head)});
	pm_text_str(out, "…");
	struct pm_bytes rest = {names[i].p + from, names[i].len - from};
	size_t end = character_at(rest, width - head - 1);
	if (end < rest.len)
		end = character_at(rest, width - head - 2);
	pm_text_line(out, (struct pm_bytes){rest.p, end});
	if (end < rest.len)
		pm_text_str(out, "…");
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
