/*
 * A unit is read as a whole when one of its addresses is first looked up: its functions and inlined
 * calls, inner ones first, because the first of overlapping ranges wins, and then the rows of its
 * line table, each in the scope of its addresses.
 */
#include "formats/hpcrun/symbols/dwarf.h"

#include <errno.h>

#ifdef HPCRUN_DWARF

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <endian.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/text.h"
#include "formats/common/work.h"
#include "formats/hpcrun/symbols/demangle.h"
#include "formats/hpcrun/symbols/limits.h"

struct unit {
	Dwarf_Die die;
	struct hpcrun_scopes *scopes; /* NULL: not read yet */
};

/* Entries seen so far: entries may share lists of ranges, and form cycles. */
struct effort {
	size_t n_ranges;
	const void *last; /* the last entry; later ones are after it */
};

struct hpcrun_dwarf {
	Elf *elf;
	Dwarf *dwarf;
	struct unit *units;
	size_t n, room;
	struct hpcrun_scopes addresses; /* its scopes are indexes of units */
};

/*
 * Most functions of libdw fail in the same way if something is absent and if memory ran out. Only
 * errno distinguishes these cases, if it was 0 before.
 */
static int or_no_memory(int r)
{
	return r == 0 && errno == ENOMEM ? -ENOMEM : r;
}

/*
 * libdw 0.188 does not return from many failed allocations: it exits, or dereferences NULL. So the
 * memory that a step may need is allocated first, and freed for libdw to use.
 */
enum {
	ROOM = 4 << 20,    /* for a file's units, and tables without a bound below
			    */
	ROOM_OF_LINE = 64, /* per byte of a line table: a row takes 1 to 5 */
};

static int make_room(size_t n)
{
	char *volatile p = malloc(n); /* keeps the allocation from being optimised away */
	bool good = p != NULL;
	free(p);
	return good ? 0 : -ENOMEM;
}

/* Bytes of the unit's line table. */
static size_t lines_length(struct hpcrun_dwarf *d, Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	Dwarf_Word at;
	size_t index;
	Elf_Scn *section = NULL;
	if (!dwarf_attr(unit, DW_AT_stmt_list, &a) || dwarf_formudata(&a, &at) != 0 ||
		elf_getshdrstrndx(d->elf, &index) != 0)
		return 0;
	while ((section = elf_nextscn(d->elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
			? elf_strptr(d->elf, index, header.sh_name)
			: NULL;
		Elf_Data *data;
		uint32_t length;
		if (!name || strcmp(name, ".debug_line") != 0)
			continue;
		data = elf_getdata(section, NULL);
		if (!data || at > data->d_size || data->d_size - at < sizeof(length))
			return 0;
		memcpy(&length, (const char *)data->d_buf + at, sizeof(length));
		return length < data->d_size - at ? length : data->d_size - at;
	}
	return 0;
}

/* ---- units ---- */

/* Adds the address ranges of an entry. Empty ones are counted, too. */
static int add_ranges(
	struct hpcrun_scopes *to, Dwarf_Die *die, uint32_t scope, struct effort *effort)
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

static int list_units(struct hpcrun_dwarf *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	struct effort effort = {.n_ranges = 0};
	int r = 0;
	while (r == 0 && dwarf_get_units(d->dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
		if (pm_work_cancelled())
			return -ENOMEM;
		if (type != DW_UT_compile || dwarf_hasattr(&die, DW_AT_GNU_dwo_name))
			continue;
		if (pm_list_room(&d->units, d->n, &d->room, sizeof(*d->units)) < 0)
			return -ENOMEM;
		d->units[d->n] = (struct unit){.die = die};
		r = add_ranges(&d->addresses, &die, (uint32_t)d->n, &effort);
		d->n++;
	}
	return r < 0 ? r : hpcrun_scopes_settle(&d->addresses);
}

/*
 * The decompressed size that a section declares: by its flag, or in front of the data as in
 * `.zdebug`.
 */
static uint64_t unpacked_size(Elf_Scn *section)
{
	GElf_Shdr header;
	GElf_Chdr packed;
	Elf_Data *data;
	uint64_t size;
	if (gelf_getchdr(section, &packed))
		return packed.ch_size;
	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		!(data = elf_rawdata(section, NULL)) || data->d_size < 12 ||
		memcmp(data->d_buf, "ZLIB", 4) != 0)
		return 0;
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	return be64toh(size);
}

/* libdw decompresses sections when it opens a file, without a limit. */
static bool is_moderate(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	while ((section = elf_nextscn(elf, section))) {
		uint64_t size = unpacked_size(section);
		if (size > HPCRUN_DWARF_UNPACKED_MAX - sum)
			return false;
		sum += size;
	}
	return true;
}

bool hpcrun_dwarf_is_read(void)
{
	return true;
}

int hpcrun_dwarf_open(struct hpcrun_dwarf **ret, struct pm_bytes file)
{
	struct hpcrun_dwarf *d = calloc(1, sizeof(*d));
	*ret = NULL;
	if (!d)
		return -ENOMEM;
	if (make_room(ROOM) < 0) {
		free(d);
		return -ENOMEM;
	}
	errno = 0;
	elf_version(EV_CURRENT);
	d->elf = elf_memory((char *)(uintptr_t)file.p, file.len); /* is only read */
	d->dwarf =
		d->elf && is_moderate(d->elf) ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
	int r = or_no_memory(d->dwarf ? list_units(d) : 0);
	if (r < 0 || d->n == 0) {
		hpcrun_dwarf_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

/* ---- functions ---- */

struct reading {
	struct hpcrun_scopes *scopes;
	Dwarf_Files *files;
	size_t n_files;
	struct pm_text name;
	struct effort effort;
};

/* Reads at most the length of the longest allowed name. */
static struct pm_bytes bytes_of(const char *text)
{
	const char *p = text ? text : "";
	return (struct pm_bytes){(const uint8_t *)p, strnlen(p, HPCRUN_NAME_MAX)};
}

static int take_text(struct reading *w, const char *text, uint32_t *ret)
{
	*ret = hpcrun_scopes_text(w->scopes, bytes_of(text));
	return *ret == UINT32_MAX ? -ENOMEM : 0;
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
	return ret->name == UINT32_MAX ? -ENOMEM : take_text(w, dwarf_decl_file(die), &ret->file);
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
	uint32_t file = number_of(die, DW_AT_call_file);
	call.line = number_of(die, DW_AT_call_line);
	const char *path = file < w->n_files ? dwarf_filesrc(w->files, file, NULL, NULL) : NULL;
	int r = take_text(w, path, &call.file);
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
	return r < 0 ? r : add_ranges(w->scopes, die, scope, &w->effort);
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
			r = take_text(w, path, &file);
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

static int read_unit(struct hpcrun_dwarf *d, struct unit *u)
{
	if (make_room(ROOM + ROOM_OF_LINE * lines_length(d, &u->die)) < 0)
		return -ENOMEM;
	struct reading w = {.scopes = calloc(1, sizeof(*w.scopes))};
	if (!w.scopes)
		return -ENOMEM;
	errno = 0;
	if (dwarf_getsrcfiles(&u->die, &w.files, &w.n_files) != 0)
		w.n_files = 0;
	int r = read_children(&w, &u->die, UINT32_MAX, 0);
	if (r == 0)
		r = hpcrun_scopes_settle(w.scopes);
	if (r == 0)
		r = read_lines(&w, &u->die);
	r = or_no_memory(r);
	pm_text_done(&w.name);
	if (r == 0) {
		u->scopes = w.scopes;
		return 0;
	}
	hpcrun_scopes_done(w.scopes);
	free(w.scopes);
	return r;
}

int hpcrun_dwarf_find(struct hpcrun_dwarf *d, uint64_t address, const struct hpcrun_scopes **ret)
{
	uint32_t i = hpcrun_scopes_find(&d->addresses, address);
	int r = 0;
	*ret = NULL;
	if (i == UINT32_MAX)
		return 0;
	if (!d->units[i].scopes)
		r = read_unit(d, &d->units[i]);
	*ret = d->units[i].scopes;
	return r;
}

void hpcrun_dwarf_free(struct hpcrun_dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++) {
		if (d->units[i].scopes)
			hpcrun_scopes_done(d->units[i].scopes);
		free(d->units[i].scopes);
	}
	free(d->units);
	hpcrun_scopes_done(&d->addresses);
	if (d->dwarf)
		dwarf_end(d->dwarf);
	if (d->elf)
		elf_end(d->elf);
	free(d);
}

#else

bool hpcrun_dwarf_is_read(void)
{
	return false;
}

int hpcrun_dwarf_open(struct hpcrun_dwarf **ret, struct pm_bytes file)
{
	(void)file;
	*ret = NULL;
	return 0;
}

int hpcrun_dwarf_find(struct hpcrun_dwarf *d, uint64_t address, const struct hpcrun_scopes **ret)
{
	(void)d, (void)address;
	*ret = NULL;
	return 0;
}

void hpcrun_dwarf_free(struct hpcrun_dwarf *d)
{
	(void)d;
}

#endif
