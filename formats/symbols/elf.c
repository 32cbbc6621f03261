/*
 * A reader of our own: it needs a dozen fields of two tables, and files may come with the
 * measurement. Sizes and offsets of fields are those of the System V ABI, chapter 4.
 */
#include "formats/symbols/internal.h"

#include <elf.h>
#include <string.h>

#include "formats/common/cursor.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/common/work.h"

struct file {
	struct pm_bytes bytes;
	bool wide, big; /* 64 bits; byte order */
	bool is_linked; /* kernel modules are not: addresses are those in a section */
	uint16_t machine;
	struct pm_bytes sections; /* the table */
	uint64_t n_sections, stride, names;
};

struct section {
	uint32_t name, type, link;
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
	f->is_linked = u16_at(f, bytes.p + 16) != ET_REL;
	f->machine = u16_at(f, bytes.p + 18);
	uint64_t at = word_at(f, bytes.p + (f->wide ? 40 : 32));
	f->stride = u16_at(f, bytes.p + (f->wide ? 58 : 46));
	f->n_sections = u16_at(f, bytes.p + (f->wide ? 60 : 48));
	f->names = u16_at(f, bytes.p + (f->wide ? 62 : 50));
	return f->n_sections &&
		pm_bytes_table(
			bytes, at, f->n_sections, f->stride, f->wide ? 64 : 40, &f->sections);
}

static struct section section_at(const struct file *f, uint64_t i)
{
	const uint8_t *p = pm_bytes_row(f->sections, i, f->stride);
	if (f->wide)
		return (struct section){.name = u32_at(f, p),
			.type = u32_at(f, p + 4),
			.address = word_at(f, p + 16),
			.offset = word_at(f, p + 24),
			.size = word_at(f, p + 32),
			.link = u32_at(f, p + 40),
			.stride = word_at(f, p + 56)};
	return (struct section){.name = u32_at(f, p),
		.type = u32_at(f, p + 4),
		.address = word_at(f, p + 12),
		.offset = word_at(f, p + 16),
		.size = word_at(f, p + 20),
		.link = u32_at(f, p + 24),
		.stride = word_at(f, p + 36)};
}

/* The number of the section of that name, or n_sections. */
static uint64_t find_section(const struct file *f, const char *name)
{
	struct pm_bytes names, found;
	uint64_t i = f->n_sections;
	if (f->names >= f->n_sections)
		return i;
	struct section table = section_at(f, f->names);
	if (!pm_bytes_sub(f->bytes, table.offset, table.size, &names))
		return i;
	for (i = 0; i < f->n_sections; i++) {
		uint32_t at = section_at(f, i).name;
		if (at < names.len &&
			pm_bytes_cstr((struct pm_bytes){names.p + at, names.len - at}, 0, &found) &&
			pm_bytes_equal(found, pm_bytes_of(name)))
			break;
	}
	return i;
}

bool sym_elf_is_linked(struct pm_bytes bytes)
{
	struct file f;
	return !open_file(&f, bytes) || f.is_linked;
}

unsigned sym_elf_segments(struct pm_bytes bytes, struct sym_segment ret[SYM_SEGMENTS_MAX])
{
	struct file f = {.bytes = bytes};
	struct pm_bytes table;
	unsigned n = 0;
	bool has_sections = open_file(&f, bytes); /* segments are there without sections */
	if (!sym_elf_is(bytes) || bytes.len < (f.wide ? 64 : 52))
		return 0;
	if (has_sections && !f.is_linked) {
		uint64_t text = find_section(&f, ".text");
		if (text < f.n_sections)
			ret[n++] = (struct sym_segment){.size = section_at(&f, text).size};
		return n;
	}
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
	uint64_t text; /* of a file that is not linked: the section that addresses are in */
	struct pm_text name;
	/* What is to be read: see sym_elf_read. */
	struct pm_bytes bytes, code;
	bool sizeless;
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

/* Adds a function of the symbol's name and `suffix`. */
static void add_function(struct symbols *s, const struct symbol *symbol, const char *suffix,
	uint64_t start, uint64_t size)
{
	struct pm_bytes name;
	if (start + size <= start || !name_of(s, symbol, &name))
		return;
	sym_demangle(plain_name(name), &s->name);
	pm_text_str(&s->name, suffix);
	struct sym_scope function = {.kind = SYM_SCOPE_FUNCTION,
		.parent = UINT32_MAX,
		.name = sym_scopes_text(s->ret, pm_text_view(&s->name)),
		.offset = start};
	sym_scopes_range(s->ret, start, start + size, sym_scopes_add(s->ret, &function));
}

static void add_symbol(struct symbols *s, const struct symbol *symbol)
{
	add_function(s, symbol, "", address_of(s->file, symbol), symbol->size);
}

/* Every so often: it takes no time then. */
static void proceed(struct symbols *s, uint64_t i)
{
	if (i % 4096 == 0)
		pm_build_proceed(&s->ret->arena);
}

static bool is_defined(const struct symbols *s, const struct symbol *symbol)
{
	return symbol->section != SHN_UNDEF && (s->file->is_linked || symbol->section == s->text);
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
	return is_defined(s, symbol) && symbol->section < s->file->n_sections &&
		(symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC ||
			(symbol->type == STT_NOTYPE && symbol->binding != STB_LOCAL));
}

static size_t list_spots(struct symbols *s, struct spot *spots)
{
	size_t n = 0;
	for (uint64_t i = 0; i < s->n && n < SYM_SCOPES_MAX; i++) {
		struct symbol symbol = symbol_at(s, i);
		proceed(s, i);
		if (!is_spot(s, &symbol))
			continue;
		struct section section = section_at(s->file, symbol.section);
		spots[n++] = (struct spot){.address = address_of(s->file, &symbol),
			.end = symbol.size ? 0 : section.address + section.size,
			.section = symbol.section,
			.symbol = (uint32_t)i};
	}
	pm_build_check(&s->ret->arena, pm_sort(spots, n, sizeof(*spots), by_spot));
	return n;
}

/* Added after those with a size, which have their addresses to themselves. */
static void add_sizeless(struct symbols *s)
{
	struct pm_arena *scratch = pm_arena_scratch(&s->ret->arena);
	size_t room = s->n < SYM_SCOPES_MAX ? s->n : SYM_SCOPES_MAX;
	struct spot *spots = pm_arena_array(scratch, room, sizeof(*spots));
	size_t n = list_spots(s, spots);
	for (size_t i = 0, next; i < n && !s->ret->is_full; i = next) {
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
		add_symbol(s, &symbol);
	}
	pm_arena_done(scratch);
}

/* ---- */

/* Of several names for an address, the global one is preferred, then the weak one. */
static void add_symbols(struct symbols *s)
{
	static const uint8_t order[] = {STB_GLOBAL, STB_GNU_UNIQUE, STB_WEAK, STB_LOCAL};
	for (size_t k = 0; k < sizeof(order); k++)
		for (uint64_t i = 0; i < s->n && !s->ret->is_full; i++) {
			struct symbol symbol = symbol_at(s, i);
			proceed(s, i);
			if (symbol.binding == order[k] && is_defined(s, &symbol) &&
				(symbol.type == STT_FUNC || symbol.type == STT_GNU_IFUNC))
				add_symbol(s, &symbol);
		}
}

/* Reads the table of a section with symbols; false if it is none. */
static bool take_table(struct symbols *s, const struct section *table)
{
	const struct file *f = s->file;
	if (table->stride < (f->wide ? 24u : 16u) || table->link >= f->n_sections)
		return false;
	struct section names = section_at(f, table->link);
	s->stride = table->stride;
	s->n = table->size / table->stride;
	return names.type == SHT_STRTAB && s->n > 1 &&
		pm_bytes_sub(f->bytes, names.offset, names.size, &s->names) &&
		pm_bytes_table(f->bytes, table->offset, s->n, s->stride, 16, &s->table);
}

/* The section of that type with symbols; false: there is none. */
static bool find_table(struct symbols *s, uint32_t type)
{
	for (uint64_t i = 0; i < s->file->n_sections; i++) {
		struct section table = section_at(s->file, i);
		if (table.type == type && take_table(s, &table))
			return true;
	}
	return false;
}

/* ---- stubs ---- */

/*
 * Functions of other files are called through stubs, which have no symbols; perf calls them
 * NAME@plt. There is one for each relocation of .rela.plt, in that order: in .plt.sec, or in .plt
 * behind a header, which is that of mold where it begins with `endbr64`. Where sizes do not agree,
 * no names are better than those of neighbours.
 */
static void add_stubs(struct symbols *s)
{
	const struct file *f = s->file;
	enum { STUB = 16, PUSH = 0xff };
	bool is_arm = f->machine == EM_AARCH64;
	uint64_t at = find_section(f, ".plt.sec"), calls = find_section(f, ".rela.plt"), header = 0;
	bool has_header = at == f->n_sections;
	at = has_header ? find_section(f, ".plt") : at;
	if (calls == f->n_sections)
		calls = find_section(f, ".rel.plt");
	if (at == f->n_sections || calls == f->n_sections ||
		(!is_arm && f->machine != EM_X86_64 && f->machine != EM_386))
		return;
	struct section stubs = section_at(f, at), relocations = section_at(f, calls);
	struct pm_bytes table, code;
	uint64_t stride = relocations.stride, n = stride ? relocations.size / stride : 0;
	if (relocations.link >= f->n_sections || n == 0 || n > stubs.size / STUB ||
		!pm_bytes_table(
			f->bytes, relocations.offset, n, stride, f->wide ? 16 : 8, &table) ||
		!pm_bytes_sub(f->bytes, stubs.offset, stubs.size, &code))
		return;
	if (has_header)
		header = is_arm || code.p[0] != PUSH ? 2 * STUB : STUB;
	struct section symbols = section_at(f, relocations.link);
	if (stubs.size != header + n * STUB || !take_table(s, &symbols))
		return;
	for (uint64_t i = 0; i < n && !s->ret->is_full; i++) {
		const uint8_t *p = pm_bytes_row(table, i, stride);
		uint64_t info = word_at(f, p + (f->wide ? 8 : 4)), of = info >> (f->wide ? 32 : 8);
		uint32_t type = f->wide ? (uint32_t)info : info & 0xff;
		proceed(s, i);
		if (of == 0 || of >= s->n ||
			type !=
				(is_arm ? R_AARCH64_JUMP_SLOT
					: R_386_JMP_SLOT)) /* that of x86-64 is the same */
			continue;
		struct symbol symbol = symbol_at(s, of);
		add_function(s, &symbol, "@plt", stubs.address + header + i * STUB, STUB);
	}
}

/* ---- the whole ---- */

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

static void read_all(void *context)
{
	struct symbols *s = context;
	struct file f;
	s->file = &f;
	s->name.arena = pm_arena_scratch(&s->ret->arena);
	if (open_file(&f, s->bytes) && (find_table(s, SHT_SYMTAB) || find_table(s, SHT_DYNSYM))) {
		s->text = f.is_linked ? 0 : find_section(&f, ".text");
		add_symbols(s);
		if (s->sizeless)
			add_sizeless(s);
	}
	s->ret->only_stubs = s->ret->n_ranges == 0;
	if (open_file(&f, s->code) && f.is_linked)
		add_stubs(s);
	sym_scopes_finish(s->ret);
	pm_arena_done(s->name.arena);
}

int sym_elf_read(struct pm_bytes file, bool sizeless, struct pm_bytes code, struct sym_scopes *ret)
{
	struct symbols s = {.ret = ret, .bytes = file, .code = code, .sizeless = sizeless};
	return pm_build(&ret->arena, read_all, &s);
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
