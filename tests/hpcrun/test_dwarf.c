/* DWARF that is made to cost more than its size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/hpcrun/symbols/dwarf.h"

#ifdef HPCRUN_DWARF

#include <dwarf.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "formats/common/text.h"
#include "formats/hpcrun/symbols/elsewhere.h"

enum { START = 0x1000, LENGTH = 0x100, INLINED = 12 };
enum { NAMES = 1, INFO, ABBREV, PACKED, SECTIONS };
static const char names[] = "\0.shstrtab\0.debug_info\0.debug_abbrev\0.debug_str";

static void put(struct pm_text *t, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char byte = (char)(value >> 8 * i);
		pm_text_add(t, &byte, 1);
	}
}

/* A unit, a function, and calls of it inlined into each other. */
static void put_abbrevs(struct pm_text *t)
{
	static const uint8_t abbrevs[] = {1, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr,
		DW_AT_high_pc, DW_FORM_data8, 0, 0, 2, DW_TAG_subprogram, 1, DW_AT_low_pc,
		DW_FORM_addr, DW_AT_high_pc, DW_FORM_data8, DW_AT_name, DW_FORM_string, 0, 0, 3,
		DW_TAG_inlined_subroutine, 1, DW_AT_sibling, DW_FORM_ref4, 0, 0, 0};
	pm_text_add(t, (const char *)abbrevs, sizeof(abbrevs));
}

/* Each of the inlined ones says that the first one in it follows it. */
static void put_info(struct pm_text *t)
{
	size_t start = t->len;
	put(t, 0, 4); /* the length */
	put(t, 4, 2);
	put(t, 0, 4);
	put(t, 8, 1);
	for (uint64_t code = 1; code <= 2; code++) {
		put(t, code, 1);
		put(t, START, 8);
		put(t, LENGTH, 8);
	}
	pm_text_add(t, "f", 2);
	for (int i = 0; i < INLINED; i++) {
		put(t, 3, 1);
		put(t, t->len - start + 4, 4);
	}
	put(t, 0, 8);
	put(t, 0, 8);
	t->p[start] = (char)(t->len - start - 4);
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

/* A file of x86 with a compressed section, see put_packed. */
static void make_file(struct pm_text *t, uint64_t unpacked)
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
	put_packed(t, unpacked);
	sections[PACKED] = section(t, at, SHT_PROGBITS, ".debug_str");
	sections[PACKED].sh_flags = SHF_COMPRESSED;
	at = t->len;
	pm_text_add(t, names, sizeof(names));
	sections[NAMES] = section(t, at, SHT_STRTAB, ".shstrtab");
	at = t->len;
	put_info(t);
	sections[INFO] = section(t, at, SHT_PROGBITS, ".debug_info");
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

static int open_dwarf(struct hpcrun_dwarf **ret, struct pm_bytes bytes)
{
	static const struct hpcrun_elsewhere nowhere;
	struct pm_input file = {.bytes = bytes, .fd = -1, .slot = -1};
	return hpcrun_dwarf_open(ret, &file, &nowhere);
}

static void entries_are_read_once(void **state)
{
	struct pm_text t = {.p = NULL};
	struct hpcrun_dwarf *d;
	const struct hpcrun_scopes *unit;
	(void)state;
	make_file(&t, 0);
	assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 0);
	assert_non_null(d);
	assert_int_equal(hpcrun_dwarf_find(d, START, &unit), 0);
	assert_non_null(unit);
	assert_int_equal(hpcrun_scopes_find(unit, START), 0);
	assert_int_equal(unit->n, 1 + 2 * INLINED);
	hpcrun_dwarf_free(d);
	pm_text_done(&t);
}

static void what_unpacks_to_too_much_has_no_dwarf(void **state)
{
	struct pm_text t = {.p = NULL};
	struct hpcrun_dwarf *d;
	(void)state;
	make_file(&t, UINT64_C(1) << 30);
	assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 0);
	assert_non_null(d);
	hpcrun_dwarf_free(d);
	pm_text_clear(&t);
	make_file(&t, (UINT64_C(1) << 30) + 1);
	assert_int_equal(open_dwarf(&d, pm_text_view(&t)), 0);
	assert_null(d);
	pm_text_done(&t);
}

/* As on this machine: libelf writes into what it decompresses, and the file stays as it is. */
static void a_mapped_file_with_compressed_sections_is_read(void **state)
{
	char folder[] = "/tmp/profmount-test-dwarf-XXXXXX", path[64];
	struct pm_text t = {.p = NULL};
	struct hpcrun_elsewhere elsewhere = {.is_open = false};
	struct pm_input file;
	struct hpcrun_dwarf *d;
	(void)state;
	make_file(&t, 1);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/module", folder);
	FILE *f = fopen(path, "w");
	assert_int_equal(fwrite(t.p, 1, t.len, f), t.len);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0400), 0);
	assert_int_equal(hpcrun_elsewhere_open(&elsewhere, folder, NULL), 0);
	assert_int_equal(
		hpcrun_elsewhere_find(&elsewhere, pm_bytes_of("/module"), UINT64_MAX, &file), 1);
	assert_int_equal(hpcrun_dwarf_open(&d, &file, &elsewhere), 0);
	assert_non_null(d);
	assert_memory_not_equal(file.bytes.p, t.p, t.len);
	hpcrun_dwarf_free(d);
	pm_input_close(&file);
	hpcrun_elsewhere_done(&elsewhere);
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
#if defined(HPCRUN_DWARF) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_read_once),
		cmocka_unit_test(what_unpacks_to_too_much_has_no_dwarf),
		cmocka_unit_test(a_mapped_file_with_compressed_sections_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
#else
	return 77;
#endif
}
