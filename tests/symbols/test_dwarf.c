/* DWARF that is made to cost more than its size. */
#include "tests/unittest.h"

#include "formats/symbols/internal.h"

#ifdef SYM_DWARF

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/common/text.h"

enum { START = 0x1000, LENGTH = 0x100, INLINED = 12 };
enum { NAMES = 1, INFO, ABBREV, LINES, PACKED, SECTIONS };
static const char names[] = "\0.shstrtab\0.debug_info\0.debug_abbrev\0.debug_line\0.debug_str";

/* What a file has. */
struct made {
	uint64_t unpacked;  /* what its compressed section says it unpacks to */
	size_t path;        /* length of the path of its source file; 0: it has none */
	unsigned functions; /* that are defined there; 0: one, with INLINED ones in it */
};

static void put(struct pm_text *t, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char byte = (char)(value >> 8 * i);
		pm_text_add(t, &byte, 1);
	}
}

/* A unit, a function, and calls of it inlined into each other; a unit and functions with a file. */
static void put_abbrevs(struct pm_text *t)
{
	static const uint8_t abbrevs[] = {1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, DW_FORM_data8, 0, 0, 2, DW_TAG_subprogram, 1, DW_AT_low_pc,
		DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, DW_AT_name, DW_FORM_string, 0, 0, 3,
		DW_TAG_inlined_subroutine, 1, DW_AT_sibling, DW_FORM_ref4, 0, 0, 4,
		DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8,
		DW_AT_stmt_list, DW_FORM_sec_offset, 0, 0, 5, DW_TAG_subprogram, 0, DW_AT_low_pc,
		DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, DW_AT_decl_file, DW_FORM_data1, 0, 0,
		0};
	pm_text_add(t, (const char *)abbrevs, sizeof(abbrevs));
}

static void put_code(struct pm_text *t, uint64_t code, uint64_t start, uint64_t length)
{
	put(t, code, 1);
	put(t, start, 8);
	put(t, length, 8);
}

/* Each of the inlined ones says that the first one in it follows it. */
static void put_inlined(struct pm_text *t, size_t start)
{
	for (uint64_t code = 1; code <= 2; code++) {
		put_code(t, code, START, LENGTH);
	}
	pm_text_add(t, "f", 2);
	for (int i = 0; i < INLINED; i++) {
		put(t, 3, 1);
		put(t, t->len - start + 4, 4);
	}
	put(t, 0, 8);
	put(t, 0, 8);
}

static void put_functions(struct pm_text *t, unsigned n)
{
	put_code(t, 4, START, n);
	put(t, 0, 4); /* its lines */
	for (unsigned i = 0; i < n; i++) {
		put_code(t, 5, START + i, 1);
		put(t, 1, 1); /* its file */
	}
	put(t, 0, 1);
}

/* What follows the u32 at `start` has that many bytes. */
static void put_length(struct pm_text *t, size_t start)
{
	uint32_t length = (uint32_t)(t->len - start - sizeof(length));
	memcpy(t->p + start, &length, sizeof(length));
}

static void put_info(struct pm_text *t, const struct made *made)
{
	size_t start = t->len;
	put(t, 0, 4); /* the length */
	put(t, 4, 2);
	put(t, 0, 4);
	put(t, 8, 1);
	if (made->functions)
		put_functions(t, made->functions);
	else
		put_inlined(t, start);
	put_length(t, start);
}

/* A file, and no rows. Its path leads in and out of a folder. */
static void put_lines(struct pm_text *t, size_t path)
{
	static const uint8_t opcodes[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	static const uint8_t numbers[] = {1, 1, 1, 0xfb, 14, sizeof(opcodes) + 1};
	size_t start = t->len, header = start + 6;
	put(t, 0, 4); /* the length */
	put(t, 4, 2);
	put(t, 0, 4); /* length of the header */
	pm_text_add(t, (const char *)numbers, sizeof(numbers));
	pm_text_add(t, (const char *)opcodes, sizeof(opcodes));
	put(t, 0, 1); /* no folders */
	for (size_t i = 0; i + 5 <= path; i += 5)
		pm_text_add(t, "/a/..", 5);
	pm_text_add(t, "/f", sizeof("/f"));
	put(t, 0, 3);
	put(t, 0, 1); /* no more files */
	put_length(t, header);
	put_length(t, start);
}

static Elf64_Shdr section(const struct pm_text *t, size_t start, uint32_t type, const char *name)
{
	size_t at = 0;
	while (strcmp(names + at, name) != 0)
		at++;
	return (Elf64_Shdr){.sh_name = (Elf64_Word)at,
		.sh_type = type,
		.sh_offset = start,
		.sh_size = t->len - start,
		.sh_addralign = 1};
}

/* A section that says it unpacks to `unpacked` bytes, and holds one. */
static void put_packed(struct pm_text *t, uint64_t unpacked)
{
	Elf64_Chdr packed = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = unpacked, .ch_addralign = 1};
	uint8_t bytes[64];
	uLongf len = sizeof(bytes);
	assert_int_equal(compress(bytes, &len, (const Bytef *)"", 1), Z_OK);
	pm_text_add(t, (const char *)&packed, sizeof(packed));
	pm_text_add(t, (const char *)bytes, len);
}

static void make_file(struct pm_text *t, const struct made *made)
{
	Elf64_Ehdr header = {.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = NAMES};
	Elf64_Shdr sections[SECTIONS] = {{.sh_type = SHT_NULL}};
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	pm_text_add(t, (const char *)&header, sizeof(header));
	size_t at = t->len;
	put_packed(t, made->unpacked);
	sections[PACKED] = section(t, at, SHT_PROGBITS, ".debug_str");
	sections[PACKED].sh_flags = SHF_COMPRESSED;
	at = t->len;
	pm_text_add(t, names, sizeof(names));
	sections[NAMES] = section(t, at, SHT_STRTAB, ".shstrtab");
	at = t->len;
	put_info(t, made);
	sections[INFO] = section(t, at, SHT_PROGBITS, ".debug_info");
	at = t->len;
	put_lines(t, made->path);
	sections[LINES] = section(t, at, SHT_PROGBITS, ".debug_line");
	at = t->len;
	put_abbrevs(t);
	sections[ABBREV] = section(t, at, SHT_PROGBITS, ".debug_abbrev");
	while (t->len % 8)
		put(t, 0, 1);
	header.e_shoff = t->len;
	memcpy(t->p, &header, sizeof(header));
	pm_text_add(t, (const char *)sections, sizeof(sections));
	assert_false(t->failed);
}

static int open_dwarf(struct sym_dwarf **ret, struct pm_bytes bytes)
{
	static const struct sym_root nowhere;
	struct pm_input file = {.bytes = bytes, .fd = -1, .slot = -1};
	return sym_dwarf_open(ret, &file, &nowhere);
}

static void entries_are_read_once(void **state)
{
	struct pm_text t = {.p = NULL};
	struct sym_dwarf *d;
	const struct sym_scopes *unit;
	make_file(&t, &(struct made){.unpacked = 0});
	assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 0);
	assert_non_null(d);
	assert_int_equal(sym_dwarf_find(d, START, &unit), 0);
	assert_non_null(unit);
	assert_int_equal(sym_scopes_find(unit, START), 0);
	assert_int_equal(unit->n, 1 + 2 * INLINED);
	sym_dwarf_free(d);
	pm_text_done(&t);
}

/* A path is put together anew for each function, so all of them count, though the result is short.
 */
static void long_paths_are_counted(void **state)
{
	struct made made = {.path = SYM_NAME_MAX - 16, .functions = 100};
	struct pm_text t = {.p = NULL};
	struct sym_dwarf *d;
	const struct sym_scopes *unit;
	for (int full = 0; full < 2; full++) {
		pm_text_clear(&t);
		make_file(&t, &made);
		assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 0);
		assert_non_null(d);
		assert_int_equal(sym_dwarf_find(d, START, &unit), 0);
		assert_non_null(unit);
		assert_int_equal(unit->n, made.functions);
		const struct sym_scope *first = &unit->items[0], *last = &unit->items[unit->n - 1];
		assert_true(
			pm_bytes_equal(sym_scopes_text_of(unit, first->file), pm_bytes_of("/f")));
		assert_int_equal(last->file, full ? 0 : first->file);
		assert_int_equal(unit->is_full, full);
		assert_true(unit->said >=
			(full ? SYM_TEXTS_MAX : made.functions * made.path) - SYM_NAME_MAX);
		assert_true(unit->said <= SYM_TEXTS_MAX);
		sym_dwarf_free(d);
		made.functions = SYM_TEXTS_MAX / made.path + 100;
	}
	pm_text_done(&t);
}

/* A file that is as long as what it unpacks to allows. */
static void make_long_file(struct pm_text *t, uint64_t unpacked)
{
	static const char zeros[1 << 16];
	pm_text_clear(t);
	make_file(t, &(struct made){.unpacked = unpacked});
	while (t->len < unpacked / SYM_DWARF_RATIO_MAX)
		pm_text_add(t, zeros, sizeof(zeros));
	assert_false(t->failed);
}

/* All files have one limit, and each one by its length: a bomb takes no memory. */
static void what_unpacks_to_too_much_is_refused(void **state)
{
	const uint64_t most = SYM_DWARF_UNPACKED_MAX;
	struct pm_text t = {.p = NULL}, other = {.p = NULL};
	struct sym_dwarf *d, *again;
	make_file(&t, &(struct made){.unpacked = 100 << 20});
	assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 1);
	assert_null(d);
	make_long_file(&t, most + 1);
	assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 1);
	assert_null(d);
	make_long_file(&t, most / 2 + 1);
	make_long_file(&other, most / 2 + 1);
	assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 0);
	assert_non_null(d);
	assert_int_equal(open_dwarf(&again, pm_text_view(&other)), 1);
	assert_null(again);
	sym_dwarf_free(d);
	assert_int_equal(open_dwarf(&again, pm_text_view(&other)), 0);
	assert_non_null(again);
	sym_dwarf_free(again);
	pm_text_done(&t);
	pm_text_done(&other);
}

/* As on this machine: libelf writes into what it decompresses, and the file stays as it is. */
static void a_mapped_file_with_compressed_sections_is_read(void **state)
{
	char folder[] = "/tmp/profmount-test-dwarf-XXXXXX", path[64];
	struct pm_text t = {.p = NULL};
	struct sym_root root = {.is_open = false};
	struct pm_input file;
	struct sym_dwarf *d;
	make_file(&t, &(struct made){.unpacked = 1});
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/module", folder);
	FILE *f = fopen(path, "w");
	assert_int_equal(fwrite(t.p, 1, t.len, f), t.len);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0400), 0);
	assert_int_equal(sym_root_open(&root, folder, NULL), 0);
	assert_int_equal(sym_root_find(&root, &(struct sym_module){.path = pm_bytes_of("/module")},
				 UINT64_MAX, &file, NULL),
		1);
	assert_int_equal(sym_dwarf_open(&d, &file, &root), 0);
	assert_non_null(d);
	assert_memory_not_equal(file.bytes.p, t.p, t.len);
	sym_dwarf_free(d);
	pm_input_close(&file);
	sym_root_done(&root);
	f = fopen(path, "r");
	char *now = malloc(t.len);
	assert_int_equal(fread(now, 1, t.len, f), t.len);
	assert_memory_equal(now, t.p, t.len);
	free(now);
	fclose(f);
	unlink(path);
	rmdir(folder);
	pm_text_done(&t);
}

#endif

int main(void)
{
#if defined(SYM_DWARF) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_read_once),
		cmocka_unit_test(long_paths_are_counted),
		cmocka_unit_test(what_unpacks_to_too_much_is_refused),
		cmocka_unit_test(a_mapped_file_with_compressed_sections_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 77;
#endif
}
