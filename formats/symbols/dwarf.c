/*
 * The units of a file; each is read when one of its addresses is first looked up, as a whole: its
 * functions and inlined calls, inner ones first, because the first of overlapping ranges wins, and
 * then the rows of its line table, each in the scope of its addresses.
 */
#include "formats/symbols/internal.h"

#include <errno.h>

#ifdef SYM_DWARF

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <endian.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/text.h"

/* ---- reading a unit ---- */

/*
 * Most functions of libdw fail in the same way if something is absent and if memory ran out. Only
 * errno distinguishes these cases, if it was 0 before.
 */
static int result_of(int r)
{
	return r == 0 && errno == ENOMEM ? -ENOMEM : r;
}

/* Entries seen so far: entries may share lists of ranges, and form cycles. */
struct effort {
	size_t n_ranges;
	const void *last; /* the last entry; later ones are after it */
};

/* Adds the address ranges of an entry. Empty ones are counted, too. */
static void add_ranges(struct sym_scopes *to, Dwarf_Die *die, uint32_t scope, struct effort *effort)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	while (effort->n_ranges < SYM_RANGES_MAX &&
		(at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		effort->n_ranges++;
		/* The linker moved code that it left out to 0. */
		if (start != 0)
			sym_scopes_range(to, start, end, scope);
	}
}

/* ---- functions ---- */

struct reading {
	struct sym_scopes *scopes;
	Dwarf_Die *unit;
	struct pm_text name, path;
	struct effort effort;
};

/* Reads at most the length of the longest allowed name. */
static struct pm_bytes bytes_of(const char *text)
{
	const char *p = text ? text : "";
	return (struct pm_bytes){(const uint8_t *)p, strnlen(p, SYM_NAME_MAX)};
}

/* A path in the tables of `unit`, or NULL. */
static uint32_t take_path(struct reading *w, Dwarf_Die *unit, const char *path)
{
	Dwarf_Attribute a;
	const char *folder = dwarf_attr(unit, DW_AT_comp_dir, &a) ? dwarf_formstring(&a) : NULL;
	struct pm_bytes of = bytes_of(folder), name = bytes_of(path);
	pm_build_proceed(&w->scopes->arena);
	/* The path may be much shorter than what it is made of. */
	if (!sym_scopes_say(w->scopes, of.len + name.len))
		return 0;
	/* libdw has put a relative folder in front of some paths, and not of others. */
	sym_source_path(&w->path, of.len && of.p[0] == '/' ? of : pm_bytes_of(""), name);
	return sym_scopes_text(w->scopes, pm_text_view(&w->path));
}

static const char *string_of(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	return dwarf_attr_integrate(die, attribute, &a) ? dwarf_formstring(&a) : NULL;
}

/*
 * The file that an attribute has the number of, by the table of the unit that the attribute is in,
 * which may be another one. Not by dwarf_decl_file: that of elfutils 0.188 takes 0 for none, as it
 * is before DWARF 5, and clang numbers the main file so.
 */
static uint32_t take_file(struct reading *w, Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	Dwarf_Word number;
	Dwarf_Die unit;
	Dwarf_Half version;
	Dwarf_Files *files;
	size_t n;
	if (!dwarf_attr_integrate(die, attribute, &a) || dwarf_formudata(&a, &number) != 0 ||
		!dwarf_cu_die(a.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) ||
		(number == 0 && version < 5) || dwarf_getsrcfiles(&unit, &files, &n) != 0 ||
		number >= n)
		return 0;
	return take_path(w, &unit, dwarf_filesrc(files, number, NULL, NULL));
}

/* Name, file and line of a function at its definition. */
static void describe(struct reading *w, Dwarf_Die *die, struct sym_scope *ret)
{
	const char *symbol = string_of(die, DW_AT_linkage_name);
	const char *name = symbol ? symbol : string_of(die, DW_AT_name);
	int line;
	sym_demangle(bytes_of(name), &w->name);
	ret->name = sym_scopes_text(w->scopes, pm_text_view(&w->name));
	ret->line = dwarf_decl_line(die, &line) == 0 && line > 0 ? (uint32_t)line : 0;
	ret->file = take_file(w, die, DW_AT_decl_file);
}

static uint32_t add_function(struct reading *w, Dwarf_Die *die)
{
	struct sym_scope scope = {.kind = SYM_SCOPE_FUNCTION, .parent = UINT32_MAX};
	Dwarf_Addr entry;
	if (dwarf_entrypc(die, &entry) == 0)
		scope.offset = entry;
	describe(w, die, &scope);
	return sym_scopes_add(w->scopes, &scope);
}

/* The line of the call, and the function that was inlined there. */
static uint32_t add_inlined(struct reading *w, Dwarf_Die *die, uint32_t parent)
{
	struct sym_scope call = {.kind = SYM_SCOPE_LINE, .parent = parent};
	struct sym_scope scope = {.kind = SYM_SCOPE_INLINED};
	Dwarf_Attribute a;
	Dwarf_Word line;
	if (dwarf_attr(die, DW_AT_call_line, &a) && dwarf_formudata(&a, &line) == 0 &&
		line <= UINT32_MAX)
		call.line = (uint32_t)line;
	call.file = take_file(w, die, DW_AT_call_file);
	scope.parent = sym_scopes_add(w->scopes, &call);
	describe(w, die, &scope);
	return sym_scopes_add(w->scopes, &scope);
}

static void read_children(struct reading *w, Dwarf_Die *die, uint32_t parent, unsigned depth);

static void read_entry(struct reading *w, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	uint32_t scope;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram: scope = add_function(w, die); break;
	case DW_TAG_inlined_subroutine:
		if (parent == UINT32_MAX)
			return;
		scope = add_inlined(w, die, parent);
		break;
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module: read_children(w, die, parent, depth); return;
	default: return;
	}
	read_children(w, die, scope, depth);
	add_ranges(w->scopes, die, scope, &w->effort);
}

/*
 * Entries are read in file order. If the sibling of an entry refers to its child, the following
 * ones would be read twice, and 2^depth times if every entry does so.
 */
static void read_children(struct reading *w, Dwarf_Die *die, uint32_t parent, unsigned depth)
{
	Dwarf_Die child;
	if (depth == SYM_DWARF_DEPTH_MAX || dwarf_child(die, &child) != 0)
		return;
	do {
		pm_build_proceed(&w->scopes->arena);
		if (w->effort.last && (const char *)child.addr <= (const char *)w->effort.last)
			return;
		w->effort.last = child.addr;
		if (dwarf_tag(&child) != DW_TAG_subprogram || dwarf_hasattr(&child, DW_AT_low_pc) ||
			dwarf_hasattr(&child, DW_AT_ranges)) /* it has code */
			read_entry(w, &child, parent, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

/* ---- lines ---- */

/* Assigns a row's line to its addresses, separately for each scope that contains them. */
static void add_row(struct reading *w, const struct sym_scopes *pieces, uint64_t start,
	uint64_t end, const struct sym_scope *line)
{
	for (size_t i = sym_scopes_after(pieces, start);
		i < pieces->n_ranges && !w->scopes->is_full; i++) {
		const struct sym_range *piece = &pieces->ranges[i];
		struct sym_scope scope = *line;
		if (piece->start >= end)
			break;
		scope.parent = piece->scope;
		sym_scopes_range(w->scopes, piece->start > start ? piece->start : start,
			piece->end < end ? piece->end : end, sym_scopes_add(w->scopes, &scope));
	}
}

static void add_rows(
	struct reading *w, const struct sym_scopes *pieces, Dwarf_Lines *lines, size_t n)
{
	const char *path, *last_path = NULL;
	struct sym_scope scope = {.kind = SYM_SCOPE_LINE};
	for (size_t i = 0; i + 1 < n && !w->scopes->is_full; i++) {
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
			scope.file = take_path(w, w->unit, path);
		last_path = path;
		add_row(w, pieces, start, end, &scope);
		if (i % 1024 == 0)
			pm_build_proceed(&w->scopes->arena);
	}
}

/* Addresses without a row keep their scopes. */
static void read_lines(struct reading *w)
{
	struct sym_scopes pieces = {.ranges = w->scopes->ranges, .n_ranges = w->scopes->n_ranges};
	Dwarf_Lines *lines;
	size_t n;
	w->scopes->ranges = NULL;
	w->scopes->n_ranges = w->scopes->ranges_room = 0;
	if (dwarf_getsrclines(w->unit, &lines, &n) == 0)
		add_rows(w, &pieces, lines, n);
	for (size_t i = 0; i < pieces.n_ranges; i++)
		sym_scopes_range(w->scopes, pieces.ranges[i].start, pieces.ranges[i].end,
			pieces.ranges[i].scope);
	pm_arena_free(&w->scopes->arena, pieces.ranges);
	sym_scopes_finish(w->scopes);
}

/* The scopes of a unit, settled. */
static void read_unit(void *context)
{
	struct reading *w = context;
	w->name.arena = w->path.arena = pm_arena_scratch(&w->scopes->arena);
	read_children(w, w->unit, UINT32_MAX, 0);
	sym_scopes_finish(w->scopes);
	read_lines(w);
	pm_arena_done(w->name.arena);
}

/* ---- the units of a file ---- */

struct unit {
	Dwarf_Die die;
	struct sym_scopes *scopes; /* NULL: not asked for so far */
	bool is_read;
};

/* A file as libdw has it; both are NULL if it has no DWARF. */
struct image {
	Elf *elf;
	Dwarf *dwarf;
	uint64_t unpacked; /* bytes of its sections */
};

struct sym_dwarf {
	struct image own, alternate;
	struct pm_input file_of_alternate;
	struct unit *units;
	size_t n, room;
	struct sym_scopes addresses; /* its scopes are indexes of units */
};

enum { ROOM_OF_LINE = 64 }; /* per byte of a line table: a row takes 1 to 5 */

int sym_make_room(size_t n)
{
	char *volatile p = malloc(n); /* keeps the allocation from being optimised away */
	bool good = p != NULL;
	free(p);
	return good ? 0 : -ENOMEM;
}

/* The line tables of a file; NULL if it has none. */
static Elf_Data *lines_of(const struct image *image)
{
	size_t index;
	Elf_Scn *section = NULL;
	if (!image->elf || elf_getshdrstrndx(image->elf, &index) != 0)
		return NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
			? elf_strptr(image->elf, index, header.sh_name)
			: NULL;
		if (name && strcmp(name, ".debug_line") == 0)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

/* Bytes of the unit's line table, and of those that it may need of the alternate. */
static size_t lines_length(struct sym_dwarf *d, Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	Dwarf_Word at;
	uint32_t length;
	const Elf_Data *data = lines_of(&d->own), *more = lines_of(&d->alternate);
	size_t n = more ? more->d_size : 0;
	if (!data || !dwarf_attr(unit, DW_AT_stmt_list, &a) || dwarf_formudata(&a, &at) != 0 ||
		at > data->d_size || data->d_size - at < sizeof(length))
		return n;
	memcpy(&length, (const char *)data->d_buf + at, sizeof(length));
	return n + (length < data->d_size - at ? length : data->d_size - at);
}

static void list_units(void *dwarf)
{
	struct sym_dwarf *d = dwarf;
	struct pm_arena *a = &d->addresses.arena;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	struct effort effort = {.n_ranges = 0};
	while (dwarf_get_units(d->own.dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
		pm_build_proceed(a);
		if (type != DW_UT_compile || dwarf_hasattr(&die, DW_AT_GNU_dwo_name))
			continue;
		pm_list_grow(a, &d->units, d->n, &d->room, sizeof(*d->units));
		d->units[d->n] = (struct unit){.die = die};
		add_ranges(&d->addresses, &die, (uint32_t)d->n, &effort);
		d->n++;
	}
	sym_scopes_finish(&d->addresses);
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

static uint64_t unpacked; /* atomic: of all files that are open */

/*
 * libdw decompresses sections when it opens a file, without a limit. True if there is room for
 * them, which is then taken.
 */
static bool take_room(struct image *image, uint64_t file_bytes)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	while ((section = elf_nextscn(image->elf, section))) {
		uint64_t size = unpacked_size(section);
		if (size > SYM_DWARF_UNPACKED_MAX - sum)
			return false;
		sum += size;
	}
	if (sum / SYM_DWARF_RATIO_MAX > file_bytes)
		return false;
	if (__atomic_add_fetch(&unpacked, sum, __ATOMIC_RELAXED) > SYM_DWARF_UNPACKED_MAX) {
		__atomic_sub_fetch(&unpacked, sum, __ATOMIC_RELAXED);
		return false;
	}
	image->unpacked = sum;
	return true;
}

bool sym_dwarf_is_read(void)
{
	return true;
}

/* False if it would take too much memory. */
static bool open_image(struct image *image, struct pm_input *file)
{
	if (pm_input_allow_writes(file) < 0) {
		errno = 0;
		return false;
	}
	image->elf = elf_memory((char *)(uintptr_t)file->bytes.p, file->bytes.len);
	if (image->elf && !take_room(image, file->bytes.len))
		return false;
	image->dwarf = image->elf ? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL) : NULL;
	return true;
}

static void close_image(struct image *image)
{
	if (image->dwarf)
		dwarf_end(image->dwarf);
	if (image->elf)
		elf_end(image->elf);
	__atomic_sub_fetch(&unpacked, image->unpacked, __ATOMIC_RELAXED);
}

/*
 * dwz moves what several files have in common into an alternate file. 1 if it is open or there is
 * none, 0 if it is missing: libdw would look for it by itself, in any place and without checks.
 * `*refused`: it is there, and cannot be made writable.
 */
static int open_alternate(struct sym_dwarf *d, const struct sym_root *root, bool *refused)
{
	const char *path;
	const void *id;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(d->own.dwarf, &path, &id);
	if (n <= 0)
		return 1;
	int r = sym_root_find_alternate(
		root, pm_bytes_of(path), (struct pm_bytes){id, (size_t)n}, &d->file_of_alternate);
	errno = 0;
	if (r <= 0)
		return r;
	*refused = !open_image(&d->alternate, &d->file_of_alternate);
	if (!d->alternate.dwarf)
		return 0;
	dwarf_setalt(d->own.dwarf, d->alternate.dwarf);
	return 1;
}

int sym_dwarf_open(struct sym_dwarf **ret, struct pm_input *file, const struct sym_root *root)
{
	struct sym_dwarf *d = calloc(1, sizeof(*d));
	*ret = NULL;
	if (!d)
		return -ENOMEM;
	if (sym_make_room(SYM_ROOM) < 0) {
		free(d);
		return -ENOMEM;
	}
	errno = 0;
	elf_version(EV_CURRENT);
	bool refused = !open_image(&d->own, file);
	int r = d->own.dwarf ? open_alternate(d, root, &refused) : 0;
	if (r > 0)
		r = pm_build(&d->addresses.arena, list_units, d);
	r = result_of(r);
	if (r < 0 || d->n == 0) {
		sym_dwarf_free(d);
		return r < 0 ? r : refused;
	}
	*ret = d;
	return 0;
}

int sym_dwarf_find(struct sym_dwarf *d, uint64_t address, const struct sym_scopes **ret)
{
	uint32_t i = sym_scopes_find(&d->addresses, address);
	*ret = NULL;
	if (i == UINT32_MAX)
		return 0;
	struct unit *u = &d->units[i];
	if (!u->scopes)
		u->scopes = pm_arena_alloc(&d->addresses.arena, sizeof(*u->scopes));
	struct reading w = {.scopes = u->scopes, .unit = &u->die};
	if (!u->is_read) {
		if (!u->scopes ||
			sym_make_room(SYM_ROOM + ROOM_OF_LINE * lines_length(d, &u->die)) < 0)
			return -ENOMEM;
		errno = 0;
		int r = result_of(pm_build(&u->scopes->arena, read_unit, &w));
		if (r < 0) {
			sym_scopes_done(u->scopes);
			return r;
		}
		u->is_read = true;
	}
	*ret = u->scopes;
	return 0;
}

struct Dwarf_CFI_s *sym_dwarf_frames(struct sym_dwarf *d)
{
	return dwarf_getcfi(d->own.dwarf);
}

void sym_dwarf_free(struct sym_dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		if (d->units[i].scopes)
			sym_scopes_done(d->units[i].scopes);
	sym_scopes_done(&d->addresses);
	close_image(&d->own);
	close_image(&d->alternate);
	pm_input_close(&d->file_of_alternate);
	free(d);
}

#else

bool sym_dwarf_is_read(void)
{
	return false;
}

int sym_dwarf_open(struct sym_dwarf **ret, struct pm_input *file, const struct sym_root *root)
{
	(void)file, (void)root;
	*ret = NULL;
	return 0;
}

int sym_dwarf_find(struct sym_dwarf *d, uint64_t address, const struct sym_scopes **ret)
{
	(void)d, (void)address;
	*ret = NULL;
	return 0;
}

void sym_dwarf_free(struct sym_dwarf *d)
{
	(void)d;
}

#endif
