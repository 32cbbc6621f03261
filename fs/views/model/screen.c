/* Amounts and names as people read them. Not used by tables, which are exact, or calculations. */
#include "fs/views/model/screen.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "formats/common/affix.h"
#include "formats/common/quantity.h"
#include "formats/common/utf8.h"
#include "fs/views/model/model.h"

/* ---- numbers: few digits, suitable units ---- */

static const struct pmfs_unit times[] = {
	{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}, {0, NULL}};
static const struct pmfs_unit bytes[] = {
	{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}, {0, NULL}};
static const struct pmfs_unit counts[] = {
	{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};

/* Decimals that make `digits` significant ones, of a number from 1 on. */
static int decimals(double size, int digits)
{
	for (double limit = 10; digits > 1 && size >= limit - 5 * pow(10, -digits); limit *= 10)
		digits--;
	return digits - 1;
}

/* The largest unit in which the value, as it will be shown, is at least 1; else the last. */
static const struct pmfs_unit *unit_for(const struct pmfs_unit *unit, double value, int digits)
{
	for (; unit[1].name; unit++) {
		double shown = fabs(value) / unit[1].size;
		double scale = pow(10, decimals(shown, digits));
		if (round(shown * scale) / scale * unit[1].size >= unit->size)
			break;
	}
	return unit;
}

const struct pmfs_unit *pmfs_unit_of_time(double ns)
{
	return unit_for(times, ns, 4);
}

static bool is_bytes(struct pm_bytes unit)
{
	return pm_bytes_equal(unit, pm_bytes_of("bytes")) ||
		pm_bytes_equal(unit, pm_bytes_of("byte")) || pm_bytes_equal(unit, pm_bytes_of("B"));
}

/* Whole numbers have no decimals. */
static void add_in(struct pm_text *out, double value, const struct pmfs_unit *units, int digits)
{
	const struct pmfs_unit *unit = unit_for(units, value, digits);
	double number = value / unit->size;
	if (fabs(value) < 0.0005)
		pm_text_printf(out, "0 %s", unit == times + 3 ? "s" : unit->name);
	else if (fabs(number) >= 1e9)
		pm_text_printf(out, "%.3e %s", number, unit->name);
	else
		pm_text_printf(out, "%.*f %s",
			number == floor(number) ? 0 : decimals(fabs(number), digits), number,
			unit->name);
}

void pmfs_print_count(struct pm_text *out, uint64_t count)
{
	char digits[32];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			pm_text_char(out, ',');
		pm_text_char(out, digits[i]);
	}
}

/* A number without a unit of its own: 12,345, 13.2 G, 0.00123. */
static void add_number(struct pm_text *out, double value)
{
	enum { SHORT = 100000 };
	if (value == floor(value) && value >= 0 && value < SHORT)
		pmfs_print_count(out, (uint64_t)value);
	else if (fabs(value) >= SHORT && fabs(value) < 1e18)
		add_in(out, value, counts, 3);
	else
		pm_text_printf(out, fabs(value) < SHORT ? "%.4g" : "%.3e", value);
}

void pmfs_print_amount(struct pm_text *out, double value, struct pm_bytes unit)
{
	double ns = pm_unit_ns(unit);
	if (ns > 0) {
		pmfs_print_ns(out, value * ns);
		return;
	}
	if (is_bytes(unit)) {
		add_in(out, value, bytes, 4);
		return;
	}
	add_number(out, value);
	if (unit.len)
		pm_text_char(out, ' ');
	pm_text_line(out, unit);
}

void pmfs_print_ns(struct pm_text *out, double ns)
{
	add_in(out, ns, times, 4);
}

void pmfs_print_share(struct pm_text *out, double part, double whole)
{
	double share = whole > 0 ? 100 * (part / whole) : 0;
	if (share != 0 && fabs(share) < 0.005)
		pm_text_str(out, "≈0%");
	else if (share == floor(share))
		pm_text_printf(out, "%.0f%%", share);
	else
		pm_text_printf(out, "%.*f%%", share < 0.995 ? 2 : 1, share);
}

void pmfs_print_tenths(struct pm_text *out, double part, double whole)
{
	if (whole > 0 && fabs(part / whole) >= 0.0005)
		pm_text_printf(out, "%.1f%%", 100 * part / whole);
	else
		pmfs_print_share(out, part, whole);
}

/* ---- texts ---- */

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
	struct pm_text clean = {.arena = out->arena};
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

void pmfs_add_bare(struct pm_text *out, struct pm_bytes name)
{
	struct pm_bytes mark, original = pmfs_name_original(name, &mark);
	pm_text_bytes(out, original);
	pm_text_bytes(out, mark);
}

void pmfs_add_bare_cut(struct pm_text *out, struct pm_bytes name, unsigned width)
{
	struct pm_text bare = {.arena = out->arena};
	pmfs_add_bare(&bare, name);
	add_cut(out, pm_text_view(&bare), width);
	pm_text_end(&bare, out);
}

/* Whether the text, cut, looks like another name of the list, each shortened by `bare` or not. */
static bool looks_alike(struct pm_text *out, const struct pm_bytes *names, uint32_t n, uint32_t i,
	bool bare, unsigned width)
{
	struct pm_text own = {.arena = out->arena}, other = {.arena = out->arena};
	bool alike = false;
	add_cut(&own, bare ? pmfs_name_bare(names[i]) : names[i], width);
	for (uint32_t k = 0; k < n && !alike; k++) {
		if (k == i || pm_bytes_equal(names[k], names[i]))
			continue;
		pm_text_clear(&other);
		add_cut(&other, bare ? pmfs_name_bare(names[k]) : names[k], width);
		alike = pm_bytes_equal(pm_text_view(&own), pm_text_view(&other));
	}
	pm_text_end(&own, out);
	pm_text_end(&other, out);
	return alike;
}

/* Where the name ceases to be like the others of the list that look like it; a whole character. */
static size_t first_difference(
	struct pm_text *out, const struct pm_bytes *names, uint32_t n, uint32_t i, unsigned width)
{
	size_t most = 0;
	for (uint32_t k = 0; k < n; k++) {
		const struct pm_bytes pair[] = {names[i], names[k]};
		size_t at = 0;
		if (k == i || !looks_alike(out, pair, 2, 0, false, width))
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
	if (count_characters(names[i]) <= width || !looks_alike(out, names, n, i, true, width)) {
		bool fits = count_characters(names[i]) <= width;
		add_cut(out, fits ? names[i] : pmfs_name_bare(names[i]), width);
		return;
	}
	if (!looks_alike(out, names, n, i, false, width)) {
		add_cut(out, names[i], width);
		return;
	}
	unsigned head = width / 3, at = 0;
	size_t difference = first_difference(out, names, n, i, width);
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
	struct pm_text text = {.arena = out->arena};
	if (!isnan(value))
		pmfs_print_amount(&text, value * column->export_scale, unit_of(column));
	pmfs_add_right(out, pm_text_view(&text), PMFS_AMOUNT_WIDTH);
	out->failed |= text.failed;
	pm_text_done(&text);
}

void pmfs_add_share(struct pm_text *out, double part, double whole)
{
	struct pm_text share = {.arena = out->arena};
	if (whole > 0 && fabs(part / whole) >= 9.9995) /* costs that contradict each other */
		pm_text_str(&share, part > 0 ? ">999%" : "<-999%");
	else if (whole > 0 && !isnan(part))
		pmfs_print_tenths(&share, part, whole);
	unsigned n = count_characters(pm_text_view(&share));
	pm_text_printf(out, "%*s", n < 6 ? (int)(6 - n) : 0, "");
	pm_text_bytes(out, pm_text_view(&share));
	pm_text_end(&share, out);
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
