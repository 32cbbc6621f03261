/*
 * A reader of our own: it needs a dozen fields of two tables, and files may come with the
 * measurement. Sizes and offsets of fields are those of the System V ABI, chapter 4.
 */
#include "formats/symbols/internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/cursor.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/common/work.h"

struct file {
	struct pm_bytes bytes;
	bool wide, big; /* 64 bits; byte order */
	uint16_t machine;
	struct pm_bytes sections; /* the table */
	uint64_t n_sections, stride;
};

struct section {
	uint32_t type, link;
	uint64_t address, offset, size, stride;
};

static uint16_t u16_at(const struct file *f, const uint8_t *p)
{
	return f->big ? pm_be16(p) : pm_le16(p);
}

static uint32_t u32_at(const struct file *f, const uint8_t *p)
{
	return f->big ? pm_be32(p) : pm_le32(p);
}

static uint64_t word_at(const struct file *f, const uint8_t *p)
{
	if (!f->wide)
		return u32_at(f, p);
	return f->big ? pm_be64(p) : pm_le64(p);
}

bool sym_elf_is(struct pm_bytes file)
{
	return file.len >= EI_NIDENT && memcmp(file.p, ELFMAG, SELFMAG) == 0;
}

/* False if there is no section table. */
static bool open_file(struct file *f, struct pm_bytes bytes)
{
	*f = (struct file){.bytes = bytes};
	if (!sym_elf_is(bytes))
		return false;
	f->wide = bytes.p[EI_CLASS] == ELFCLASS64;
	f->big = bytes.p[EI_DATA] == ELFDATA2MSB;
	if (bytes.len < (f->wide ? 64 : 52))
		return false;
	f->machine = u16_at(f, bytes.p + 18);
	uint64_t at = word_at(f, bytes.p + (f->wide ? 40 : 32));
	f->stride = u16_at(f, bytes.p + (f->wide ? 58 : 46));
	f->n_sections = u16_at(f, bytes.p + (f->wide ? 60 : 48));
	return f->n_sections &&
		pm_bytes_table(
			bytes, at, f->n_sections, f->stride, f->wide ? 64 : 40, &f->sections);
}

static struct section section_at(const struct file *f, uint64_t i)
{
	const uint8_t *p = pm_bytes_row(f->sections, i, f->stride);
	if (f->wide)
		return (struct section){.type = u32_at(f, p + 4),
			.address = word_at(f, p + 16),
			.offset = word_at(f, p + 24),
			.size = word_at(f, p + 32),
			.link = u32_at(f, p + 40),
			.stride = word_at(f, p + 56)};
	return (struct section){.type = u32_at(f, p + 4),
		.address = word_at(f, p + 12),
		.offset = word_at(f, p + 16),
		.size = word_at(f, p + 20),
		.link = u32_at(f, p + 24),
		.stride = word_at(f, p + 36)};
}

unsigned sym_elf_segments(struct pm_bytes bytes, struct sym_segment ret[SYM_SEGMENTS_MAX])
{
	struct file f = {.bytes = bytes};
	struct pm_bytes table;
	unsigned n = 0;
	open_file(&f, bytes); /* segments are there without sections */
	if (!sym_elf_is(bytes) || bytes.len < (f.wide ? 64 : 52))
		return 0;
	uint64_t at = word_at(&f, bytes.p + (f.wide ? 32 : 28));
	uint16_t stride = u16_at(&f, bytes.p + (f.wide ? 54 : 42));
	uint16_t n_headers = u16_at(&f, bytes.p + (f.wide ? 56 : 44));
	if (!n_headers || !pm_bytes_table(bytes, at, n_headers, stride, f.wide ? 56 : 32, &table))
		return 0;
	for (uint16_t i = 0; i < n_headers && n < SYM_SEGMENTS_MAX; i++) {
		const uint8_t *p = pm_bytes_row(table, i, stride);
		if (u32_at(&f, p) == PT_LOAD)
			ret[n++] = (struct sym_segment){.offset = word_at(&f, p + (f.wide ? 8 : 4)),
				.address = word_at(&f, p + (f.wide ? 16 : 8)),
				.size = word_at(&f, p + (f.wide ? 32 : 16))};
	}
	return n;
}

/* ---- symbols ---- */

struct symbols {
	const struct file *file;
	struct sym_scopes *ret;
	struct pm_bytes table, names;
	uint64_t n, stride;
	struct pm_text name;
};

struct symbol {
	uint32_t name;
	uint8_t type, binding;
	uint16_t section;
	uint64_t value, size;
};

static struct symbol symbol_at(const struct symbols *s, uint64_t i)
{
	const struct file *f = s->file;
	const uint8_t *p = pm_bytes_row(s->table, i, s->stride);
	struct symbol ret = {.name = u32_at(f, p)};
	uint8_t info = p[f->wide ? 4 : 12];
	ret.type = info & 15;
	ret.binding = info >> 4;
	ret.section = u16_at(f, p + (f->wide ? 6 : 14));
	ret.value = word_at(f, p + (f->wide ? 8 : 4));
	ret.size = word_at(f, p + (f->wide ? 16 : 8));
	return ret;
}

/* Binaries for NVIDIA GPUs are not linked to addresses: hpcrun stores offsets in the file. */
static uint64_t address_of(const struct file *f, const struct symbol *symbol)
{
	if (f->machine != EM_CUDA || symbol->section >= f->n_sections)
		return symbol->value;
	struct section s = section_at(f, symbol->section);
	return s.address ? symbol->value : symbol->value + s.offset;
}

/* Without the version suffix that linkers append. */
static struct pm_bytes plain_name(struct pm_bytes name)
{
	const uint8_t *at = name.len ? memchr(name.p + 1, '@', name.len - 1) : NULL;
	return at ? (struct pm_bytes){name.p, (size_t)(at - name.p)} : name;
}

/*
 * False if it has no name, or an unterminated one. Reads at most the length of the longest allowed
 * name.
 */
static bool name_of(const struct symbols *s, const struct symbol *symbol, struct pm_bytes *ret)
{
	struct pm_bytes rest;
	size_t len = s->names.len;
	if (symbol->name >= len || !pm_bytes_sub(s->names, symbol->name, len - symbol->name, &rest))
		return false;
	if (rest.len <= SYM_NAME_MAX)
		return pm_bytes_cstr(rest, 0, ret) && ret->len > 0;
	rest.len = SYM_NAME_MAX;
	if (!pm_bytes_cstr(rest, 0, ret))
		*ret = rest;
	return ret->len > 0;
}

static int add_symbol(struct symbols *s, const struct symbol *symbol)
{
	struct pm_bytes name;
	uint64_t start = address_of(s->file, symbol);
	uint32_t scope;
	if (start + symbol->size <= start || !name_of(s, symbol, &name))
		return 0;
	sym_demangle(plain_name(name), &s->name);
	struct sym_scope function = {.kind = SYM_SCOPE_FUNCTION,
		.parent = UINT32_MAX,
		.name = sym_scopes_text(s->ret, pm_text_view(&s->name)),
		.offset = start};
	if (s->name.failed || function.name == UINT32_MAX ||
		sym_scopes_add(s->ret, &function, &scope) < 0)
		return -ENOMEM;
	return sym_scopes_range(s->ret, start, start + symbol->size, scope);
}

/* ---- functions without a size ---- */

/* Where a symbol is: the next one ends a function without a size. */
struct spot {
	uint64_t address, end; /* of its section; end: 0 if it has a size */
	uint32_t section, symbol;
};

static int by_spot(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* Code and labels in code: data in between do not end a function. */
static bool is_spot(const struct symbols *s, const struct symbol *symbol)
{
	return symbol->section != SHN_UNDEF && symbol->section < s->file->n_sections &&
		(symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
			(symbol->type == STT_NOTYPE && symbol->binding != STB_LOCAL));
}

static int list_spots(struct symbols *s, struct spot *spots, size_t *ret_n)
{
	size_t n = 0;
	for (uint64_t i = 0; i < s->n && n < SYM_SCOPES_MAX; i++) {
		struct symbol symbol = symbol_at(s, i);
		if (i % 4096 == 0 && pm_work_cancelled())
			return -ENOMEM;
		if (!is_spot(s, &symbol))
			continue;
		struct section section = section_at(s->file, symbol.section);
		spots[n++] = (struct spot){.address = address_of(s->file, &symbol),
			.end = symbol.size ? 0 : section.address + section.size,
			.section = symbol.section,
			.symbol = (uint32_t)i};
	}
	*ret_n = n;
	return pm_sort(spots, n, sizeof(*spots), by_spot);
}

/* Added after those with a size, which have their addresses to themselves. */
static int add_sizeless(struct symbols *s)
{
	size_t n = 0, next;
	size_t room = s->n < SYM_SCOPES_MAX ? s->n : SYM_SCOPES_MAX;
	struct spot *spots = malloc(room * sizeof(*spots));
	int r = spots ? list_spots(s, spots, &n) : -ENOMEM;
	for (size_t i = 0; i < n && r == 0 && !s->ret->is_full; i = next) {
		const struct spot *first = &spots[i];
		bool has_size = false;
		for (next = i; next < n && spots[next].section == first->section &&
			spots[next].address == first->address;
			next++)
			has_size |= spots[next].end == 0;
		uint64_t end = first->end;
		if (next < n && spots[next].section == first->section && spots[next].address < end)
			end = spots[next].address;
		if (has_size || end <= first->address)
			continue;
		struct symbol symbol = symbol_at(s, first->symbol);
		symbol.size = end - first->address;
		r = add_symbol(s, &symbol);
	}
	free(spots);
	return r;
}

/* ---- */

/* Of several names for an address, the global one is preferred, then the weak one. */
static int add_symbols(struct symbols *s)
{
	static const uint8_t order[] = {STB_GLOBAL, STB_GNU_UNIQUE, STB_WEAK, STB_LOCAL};
	int r = 0;
	for (size_t k = 0; k < sizeof(order) && r == 0; k++)
		for (uint64_t i = 0; i < s->n && r == 0 && !s->ret->is_full; i++) {
			struct symbol symbol = symbol_at(s, i);
			if (symbol.binding == order[k] && symbol.section != SHN_UNDEF &&
				(symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC))
				r = add_symbol(s, &symbol);
			if (i % 4096 == 0 && pm_work_cancelled())
				r = -ENOMEM;
		}
	return r;
}

/* The section of that type with symbols; false: there is none. */
static bool find_table(struct symbols *s, uint32_t type)
{
	const struct file *f = s->file;
	for (uint64_t i = 0; i < f->n_sections; i++) {
		struct section table = section_at(f, i);
		if (table.type != type || table.stride < (f->wide ? 24u : 16u) ||
			table.link >= f->n_sections)
			continue;
		struct section names = section_at(f, table.link);
		s->stride = table.stride;
		s->n = table.size / table.stride;
		if (names.type == SHT_STRTAB && s->n > 1 &&
			pm_bytes_sub(f->bytes, names.offset, names.size, &s->names) &&
			pm_bytes_table(f->bytes, table.offset, s->n, s->stride, 16, &s->table))
			return true;
	}
	return false;
}

bool sym_elf_value(struct pm_bytes bytes, struct pm_bytes name, uint64_t *ret)
{
	struct file f;
	struct symbols s = {.file = &f};
	if (!open_file(&f, bytes) || (!find_table(&s, SHT_SYMTAB) && !find_table(&s, SHT_DYNSYM)))
		return false;
	for (uint64_t i = 0; i < s.n && !pm_work_cancelled(); i++) {
		struct symbol symbol = symbol_at(&s, i);
		struct pm_bytes found;
		if (name_of(&s, &symbol, &found) && pm_bytes_equal(found, name)) {
			*ret = symbol.value;
			return true;
		}
	}
	return false;
}

int sym_elf_read(struct pm_bytes bytes, bool sizeless, struct sym_scopes *ret)
{
	struct file f;
	struct symbols s = {.file = &f, .ret = ret};
	if (!open_file(&f, bytes) || (!find_table(&s, SHT_SYMTAB) && !find_table(&s, SHT_DYNSYM)))
		return 0;
	int r = add_symbols(&s);
	if (r == 0 && sizeless)
		r = add_sizeless(&s);
	pm_text_done(&s.name);
	return r < 0 ? r : sym_scopes_settle(ret);
}

/* ---- the build id ---- */

/* A note is three u32 (sizes of name and contents, type), both padded to 4. */
static size_t find_note(const struct file *f, struct pm_bytes notes, uint8_t *ret)
{
	while (notes.len >= 12) {
		uint64_t name = u32_at(f, notes.p), size = u32_at(f, notes.p + 4);
		uint32_t type = u32_at(f, notes.p + 8);
		uint64_t at = 12 + ((name + 3) & ~(uint64_t)3),
			 next = at + ((size + 3) & ~(uint64_t)3);
		if (at > notes.len || size > notes.len - at)
			break;
		if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(notes.p + 12, "GNU", 4) == 0 &&
			size <= SYM_BUILD_ID_MAX) {
			memcpy(ret, notes.p + at, size);
			return size;
		}
		if (next >= notes.len)
			break;
		notes = (struct pm_bytes){notes.p + next, notes.len - next};
	}
	return 0;
}

size_t sym_notes_build_id(struct pm_bytes notes, uint8_t ret[SYM_BUILD_ID_MAX])
{
	const struct file f = {.big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
	return find_note(&f, notes, ret);
}

size_t sym_elf_build_id(struct pm_bytes bytes, uint8_t ret[SYM_BUILD_ID_MAX])
{
	struct file f;
	struct pm_bytes notes;
	size_t n = 0;
	if (!open_file(&f, bytes))
		return 0;
	for (uint64_t i = 0; i < f.n_sections && n == 0; i++) {
		struct section s = section_at(&f, i);
		if (s.type == SHT_NOTE && pm_bytes_sub(bytes, s.offset, s.size, &notes))
			n = find_note(&f, notes, ret);
	}
	return n;
}
