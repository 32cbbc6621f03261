/*
 * Reads a unit as a whole: its functions and inlined calls, inner ones first, because the first of
 * overlapping ranges wins, and then the rows of its line table, each in the scope of its addresses.
 */
#ifdef HPCRUN_DWARF

#include "formats/hpcrun/symbols/dwarfunit.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/text.h"
#include "formats/common/work.h"
#include "formats/hpcrun/symbols/demangle.h"
#include "formats/hpcrun/symbols/limits.h"
#include "formats/hpcrun/symbols/sourcepath.h"

int hpcrun_dwarf_result(int r)
{
	return r == 0 && errno == ENOMEM ? -ENOMEM : r;
}

int hpcrun_dwarf_add_ranges(struct hpcrun_scopes *to, Dwarf_Die *die, uint32_t scope,
	struct hpcrun_dwarf_effort *effort)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int r = 0;
	while (r == 0 && effort->n_ranges < HPCRUN_RANGES_MAX &&
		(at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		effort->n_ranges++;
		/* The linker moved code that it left out to 0. */
		if (start != 0)
			r = hpcrun_scopes_range(to, start, end, scope);
	}
	return r;
}

/* ---- functions ---- */

struct reading {
	struct hpcrun_scopes *scopes;
	Dwarf_Die *unit;
	struct pm_text name, path;
	struct hpcrun_dwarf_effort effort;
};

/* Reads at most the length of the longest allowed name. */
static struct pm_bytes bytes_of(const char *text)
{
	const char *p = text ? text : "";
	return (struct pm_bytes){(const uint8_t *)p, strnlen(p, HPCRUN_NAME_MAX)};
}

/* A path in the tables of `unit`, or NULL. */
static int take_path(struct reading *w, Dwarf_Die *unit, const char *path, uint32_t *ret)
{
	Dwarf_Attribute a;
	const char *folder = dwarf_attr(unit, DW_AT_comp_dir, &a) ? dwarf_formstring(&a) : NULL;
	struct pm_bytes of = bytes_of(folder), name = bytes_of(path);
	*ret = 0;
	if (pm_work_cancelled())
		return -ENOMEM;
	/* The path may be much shorter than what it is made of. */
	if (!hpcrun_scopes_say(w->scopes, of.len + name.len))
		return 0;
	/* libdw has put a relative folder in front of some paths, and not of others. */
	hpcrun_source_path(&w->path, of.len && of.p[0] == '/' ? of : pm_bytes_of(""), name);
	*ret = hpcrun_scopes_text(w->scopes, pm_text_view(&w->path));
	return w->path.failed || *ret == UINT32_MAX ? -ENOMEM : 0;
}

static const char *string_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	return dwarf_attr_integrate(die, attribute, &a) ? dwarf_formstring(&a) : NULL;
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	Dwarf_Word number;
	if (!dwarf_attr(die, attribute, &a) || dwarf_formudata(&a, &number) != 0 ||
		number > UINT32_MAX)
		return 0;
	return (uint32_t)number;
}

/*
 * The file that an attribute has the number of, by the table of the unit that the attribute is in,
 * which may be another one. Not by dwarf_decl_file: that of elfutils 0.188 takes 0 for none, as it
 * is before DWARF 5, and clang numbers the main file so.
 */
static int take_file(struct reading *w, Dwarf_Die *die, unsigned attribute, uint32_t *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word number;
	Dwarf_Die unit;
	Dwarf_Half version;
	Dwarf_Files *files;
	size_t n;
	*ret = 0;
	if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_formudata(&a, &number) != 0 ||
		!dwarf_cu_die(a.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
		(number == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &n) != 0 ||
		number >= n)
		return 0;
	return take_path(w, &unit, dwarf_filesrc(files, number, NULL, NULL), ret);
}

/* Name, file and line of a function at its definition. */
static int describe(struct reading *w, Dwarf_Die *die, struct hpcrun_scope *ret)
{
	const char *symbol = string_of(die, DW_AT_linkage_name);
	const char *name = symbol ? symbol : string_of(die, DW_AT_name);
	int line;
	hpcrun_demangle(bytes_of(name), &w->name);
	if (w->name.failed)
		return -ENOMEM;
	ret->name = hpcrun_scopes_text(w->scopes, pm_text_view(&w->name));
	ret->line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
	return ret->name == UINT32_MAX ? -ENOMEM : take_file(w, die, DW_AT_decl_file, &ret->file);
}

static int add_function(struct reading *w, Dwarf_Die *die, uint32_t *ret)
{
	struct hpcrun_scope scope = {.kind = HPCRUN_SCOPE_FUNCTION, .parent = UINT32_MAX};
	Dwarf_Addr entry;
	if (dwarf_entrypc(die, &entry) == 0)
		scope.offset = entry;
	int r = describe(w, die, &scope);
	return r < 0 ? r : hpcrun_scopes_add(w->scopes, &scope, ret);
}

/* The line of the call, and the function that was inlined there. */
static int add_inlined(struct reading *w, Dwarf_Die *die, uint32_t parent, uint32_t *ret)
{
	struct hpcrun_scope call = {.kind = HPCRUN_SCOPE_LINE, .parent = parent};
	struct hpcrun_scope scope = {.kind = HPCRUN_SCOPE_INLINED};
	call.line = number_of(die, DW_AT_call_line);
	int r = take_file(w, die, DW_AT_call_file, &call.file);
	if (r == 0)
		r = hpcrun_scopes_add(w->scopes, &call, &scope.parent);
	if (r == 0)
		r = describe(w, die, &scope);
	return r < 0 ? r : hpcrun_scopes_add(w->scopes, &scope, ret);
}

static int read_children(struct reading *w, Dwarf_Die *die, uint32_t parent, unsigned depth);

static int read_entry(struct reading *w, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	uint32_t scope = parent;
	int r = 0;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram: r = add_function(w, die, &scope); break;
	case DW_TAG_inlined_subroutine:
		if (parent == UINT32_MAX)
			return 0;
		r = add_inlined(w, die, parent, &scope);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module: return read_children(w, die, parent, depth);
	default: return 0;
	}
	if (r == 0)
		r = read_children(w, die, scope, depth);
	return r < 0 ? r : hpcrun_dwarf_add_ranges(w->scopes, die, scope, &w->effort);
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_tag(die) != DW_TAG_subprogram || dwarf_hasattr(die, DW_AT_low_pc) ||
		dwarf_hasattr(die, DW_AT_ranges);
}

/*
 * Entries are read in file order. If the sibling of an entry refers to its child, the following
 * ones would be read twice, and 2^depth times if every entry does so.
 */
static int read_children(struct reading *w, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	Dwarf_Die child;
	if (depth == HPCRUN_DWARF_DEPTH_MAX || dwarf_child(die, &child) != 0)
		return 0;
	int r = 0;
	do {
		if (pm_work_cancelled())
			return -ENOMEM;
		if (w->effort.last && (const char *)child.addr <= (const char *)w->effort.last)
			return 0;
		w->effort.last = child.addr;
		if (has_code(&child))
			r = read_entry(w, &child, parent, depth + 1);
	} while (r == 0 && dwarf_siblingof(&child, &child) == 0);
	return r;
}

/* ---- lines ---- */

/* Assigns a row's line to its addresses, separately for each scope that contains them. */
static int add_row(struct reading *w, const struct hpcrun_scopes *pieces, uint64_t start,
	uint64_t end, const struct hpcrun_scope *line)
{
	int r = 0;
	for (size_t i = hpcrun_scopes_after(pieces, start);
		r == 0 && i < pieces->n_ranges && !w->scopes->is_full; i++) {
		const struct hpcrun_range *piece = &pieces->ranges[i];
		struct hpcrun_scope scope = *line;
		uint32_t place;
		if (piece->start >= end)
			break;
		scope.parent = piece->scope;
		r = hpcrun_scopes_add(w->scopes, &scope, &place);
		if (r == 0)
			r = hpcrun_scopes_range(w->scopes,
				piece->start > start ? piece->start : start,
				piece->end < end ? piece->end : end, place);
	}
	return r;
}

static int add_rows(
	struct reading *w, const struct hpcrun_scopes *pieces, Dwarf_Lines *lines, size_t n)
{
	const char *path, *last_path = NULL;
	uint32_t file = 0;
	int r = 0;
	for (size_t i = 0; i + 1 < n && r == 0 && !w->scopes->is_full; i++) {
		struct hpcrun_scope scope = {.kind = HPCRUN_SCOPE_LINE};
		Dwarf_Line *row = dwarf_onesrcline(lines, i),
			   *next = dwarf_onesrcline(lines, i + 1);
		Dwarf_Addr start, end;
		bool last;
		int line;
		if (dwarf_lineendsequence(row, &last) != 0 || last ||
			dwarf_lineno(row, &line) != 0 || line <= 0 ||
			dwarf_lineaddr(row, &start) != 0 || dwarf_lineaddr(next, &end) != 0 ||
			start >= end)
			continue;
		scope.line = (uint32_t)line;
		path = dwarf_linesrc(row, NULL, NULL);
		if (path != last_path)
			r = take_path(w, w->unit, path, &file);
		last_path = path;
		scope.file = file;
		if (r == 0)
			r = add_row(w, pieces, start, end, &scope);
		if (i % 1024 == 0 && pm_work_cancelled())
			r = -ENOMEM;
	}
	return r;
}

/* Addresses without a row keep their scopes. */
static int read_lines(struct reading *w, Dwarf_Die *unit)
{
	struct hpcrun_scopes pieces = {
		.ranges = w->scopes->ranges, .n_ranges = w->scopes->n_ranges};
	Dwarf_Lines *lines;
	size_t n;
	int r = 0;
	w->scopes->ranges = NULL;
	w->scopes->n_ranges = w->scopes->ranges_room = 0;
	if (dwarf_getsrclines(unit, &lines, &n) == 0)
		r = add_rows(w, &pieces, lines, n);
	for (size_t i = 0; i < pieces.n_ranges && r == 0; i++)
		r = hpcrun_scopes_range(w->scopes, pieces.ranges[i].start, pieces.ranges[i].end,
			pieces.ranges[i].scope);
	free(pieces.ranges);
	return r < 0 ? r : hpcrun_scopes_settle(w->scopes);
}

int hpcrun_dwarf_read_unit(Dwarf_Die *unit, struct hpcrun_scopes **ret)
{
	struct reading w = {.scopes = calloc(1, sizeof(*w.scopes)), .unit = unit};
	if (!w.scopes)
		return -ENOMEM;
	errno = 0;
	int r = read_children(&w, unit, UINT32_MAX, 0);
	if (r == 0)
		r = hpcrun_scopes_settle(w.scopes);
	if (r == 0)
		r = read_lines(&w, unit);
	r = hpcrun_dwarf_result(r);
	pm_text_done(&w.name);
	pm_text_done(&w.path);
	if (r == 0) {
		*ret = w.scopes;
		return 0;
	}
	hpcrun_scopes_done(w.scopes);
	free(w.scopes);
	return r;
}

#endif
