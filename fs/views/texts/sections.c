/*
 * Sections of a summary: a title, the names of the columns, then rows. Columns are as wide as their
 * names and numbers; the last one gets the rest of the line.
 */
#include "fs/views/texts/sections.h"

#include <string.h>

#include "formats/common/utf8.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"

enum { MOST_COLUMNS = 12, TIME_WIDTH = 11, COUNT_WIDTH = 8, INDENT = 1, NOTE_INDENT = 9 };

/* ---- one cell ---- */

static bool is_time(const char *column)
{
	size_t len = strlen(column);
	return len > 3 && strcmp(column + len - 3, "_ns") == 0;
}

/* Its name, and its width in characters. */
static unsigned heading(const char *column, struct pm_bytes *ret)
{
	*ret = pm_bytes_of(column);
	ret->len -= is_time(column) ? 3 : 0;
	unsigned least = is_time(column) ? TIME_WIDTH : COUNT_WIDTH;
	return ret->len < least ? least : (unsigned)ret->len;
}

static double number_of(const struct pm_cell *cell)
{
	return cell->kind == PM_CELL_U64    ? (double)cell->u
		: cell->kind == PM_CELL_I64 ? (double)cell->i
					    : cell->f;
}

static void add_cell(
	struct pm_text *out, struct pm_text *text, const char *column, const struct pm_cell *cell)
{
	struct pm_bytes name;
	unsigned width = heading(column, &name);
	pm_text_clear(text);
	if (cell->kind == PM_CELL_TEXT)
		pm_text_bytes(text, cell->text);
	else if (cell->kind != PM_CELL_EMPTY && is_time(column))
		pmfs_print_ns(text, number_of(cell));
	else if (cell->kind != PM_CELL_EMPTY)
		pmfs_print_amount(text, number_of(cell), pm_bytes_of(""));
	pm_text_char(out, ' ');
	pmfs_add_right(out, pm_text_view(text), width);
}

/* ---- one section ---- */

/* The columns of numbers; returns where the last column begins. */
static unsigned add_heading(struct pm_text *out, const struct pm_section *s)
{
	unsigned at = INDENT;
	struct pm_bytes name;
	pm_text_printf(out, "\n%s\n%*s", s->title, INDENT, "");
	for (uint32_t i = 0; i + 1 < s->table.n_columns; i++) {
		unsigned width = heading(pm_table_column(&s->table, i), &name);
		pm_text_char(out, ' ');
		pmfs_add_right(out, name, width);
		at += width + 1;
	}
	pm_text_printf(out, "  %s\n", pm_table_column(&s->table, s->table.n_columns - 1));
	return at + 2;
}

static void add_section(const struct pmfs_writing *w, const struct pm_section *s)
{
	struct pm_arena *a = pm_arena_scratch(w->a);
	struct pm_table_reader *rows = pm_table_read(a, &s->table, 0, w->err);
	struct pm_text text = {.arena = a};
	uint32_t last = s->table.n_columns - 1;
	unsigned from = 0;
	for (int n = 0; n < PMFS_SECTION_ROWS && pm_table_next(a, rows, w->err); n++) {
		if (n == 0)
			from = add_heading(w->out, s);
		pm_text_printf(w->out, "%*s", INDENT, "");
		for (uint32_t i = 0; i < last; i++)
			add_cell(w->out, &text, pm_table_column(&s->table, i), &rows->cells[i]);
		pm_text_str(w->out, "  ");
		if (rows->cells[last].kind == PM_CELL_TEXT)
			pmfs_add_cut(w->out, rows->cells[last].text, PMFS_SCREEN_WIDTH - from);
		pm_text_char(w->out, '\n');
	}
	pm_arena_done(a);
}

void pmfs_add_sections(const struct pmfs_writing *w)
{
	const struct pm_section *sections;
	size_t n = 0;
	pm_build_check(
		w->a, pm_profile_sections(pmfs_model_profile(w->model), &sections, &n, w->err));
	for (size_t i = 0; i < n; i++)
		if (sections[i].table.n_columns > 0 && sections[i].table.n_columns <= MOST_COLUMNS)
			add_section(w, &sections[i]);
}

/* ---- remarks ---- */

/* The end of the part of `text` that fits: behind a word, if one ends there. */
static size_t fitting(struct pm_bytes text, size_t width)
{
	size_t at = 0, word = 0, n = 0;
	while (at < text.len && n < width) {
		size_t step = pm_utf8_next(text, at);
		at += step ? step : 1;
		n++;
		if (at == text.len || text.p[at] == ' ')
			word = at;
	}
	return word ? word : at;
}

static void add_remark(struct pm_text *out, struct pm_bytes text)
{
	pm_text_str(out, "note");
	for (unsigned column = NOTE_INDENT - 4; text.len > 0; column = NOTE_INDENT) {
		size_t n = fitting(text, PMFS_SCREEN_WIDTH - NOTE_INDENT);
		pm_text_printf(out, "%*s", (int)column, "");
		pm_text_line(out, (struct pm_bytes){text.p, n});
		pm_text_char(out, '\n');
		n += n < text.len && text.p[n] == ' ';
		text = (struct pm_bytes){text.p + n, text.len - n};
	}
}

void pmfs_add_remarks(const struct pmfs_writing *w)
{
	const struct pm_profile *p = pmfs_model_profile(w->model);
	struct pm_text *all = pmfs_text_apart(w->a);
	if (!p->ops->remarks)
		return;
	pm_build_check(w->a, p->ops->remarks(p, all, w->err));
	pm_build_check(w->a, pm_text_status(all));
	for (struct pm_bytes rest = pm_text_view(all); rest.len > 0;) {
		const uint8_t *end = memchr(rest.p, '\n', rest.len);
		size_t n = end ? (size_t)(end - rest.p) : rest.len;
		add_remark(w->out, (struct pm_bytes){rest.p, n});
		n += end != NULL;
		rest = (struct pm_bytes){rest.p + n, rest.len - n};
	}
}
