/* Symbols of ELF files and of the kernel, and what becomes of bad ones. */
#include "tests/unittest.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/symbols/internal.h"

static const char *name_at(const struct sym_scopes *s, uint64_t address)
{
	static char out[256];
	uint32_t scope = sym_scopes_find(s, address);
	if (scope == UINT32_MAX)
		return "";
	struct pm_bytes name = sym_scopes_text_of(s, s->items[scope].name);
	snprintf(out, sizeof(out), "%.*s", (int)name.len, (const char *)name.p);
	return out;
}

/* ---- ELF ---- */

static const char names[] = "\0main\0local\0alias\0_ZN3foo3barEi\0sizeless\0kernel@@V1";

/* A header, a note with a build id, symbols, their names, and four sections. */
struct made {
	Elf64_Ehdr header;
	Elf64_Nhdr note;
	char owner[4];
	uint8_t id[20];
	Elf64_Sym symbols[8];
	char names[sizeof(names)];
	Elf64_Shdr sections[4];
};

static Elf64_Sym symbol(const char *name, unsigned char binding, uint64_t value, uint64_t size)
{
	size_t at = 0;
	while (strcmp(names + at, name) != 0)
		at++;
	return (Elf64_Sym){.st_name = (Elf64_Word)at,
		.st_info = ELF64_ST_INFO(binding, STT_FUNC),
		.st_shndx = 1,
		.st_value = value,
		.st_size = size};
}

static struct made make_elf(uint16_t machine)
{
	struct made m = {.note = {4, 20, NT_GNU_BUILD_ID}, .owner = "GNU"};
	memcpy(m.header.e_ident, ELFMAG, SELFMAG);
	m.header.e_ident[EI_CLASS] = ELFCLASS64;
	m.header.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	m.header.e_machine = machine;
	m.header.e_shoff = offsetof(struct made, sections);
	m.header.e_shentsize = sizeof(Elf64_Shdr);
	m.header.e_shnum = 4;
	for (uint8_t i = 0; i < 20; i++)
		m.id[i] = i;
	m.symbols[1] = symbol("local", STB_LOCAL, 0x1000, 0x40);
	m.symbols[2] = symbol("main", STB_GLOBAL, 0x1000, 0x20);
	m.symbols[3] = symbol("alias", STB_WEAK, 0x1000, 0x20);
	m.symbols[4] = symbol("_ZN3foo3barEi", STB_LOCAL, 0x2000, 0x10);
	m.symbols[5] = symbol("sizeless", STB_GLOBAL, 0x3000, 0);
	m.symbols[6] = symbol("kernel@@V1", STB_GLOBAL, 0x4000, 8);
	m.symbols[7] = symbol("main", STB_GLOBAL, UINT64_MAX - 4, 8);
	memcpy(m.names, names, sizeof(names));
	m.sections[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = 0x100};
	m.sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct made, symbols),
		.sh_size = sizeof(m.symbols),
		.sh_entsize = sizeof(Elf64_Sym),
		.sh_link = 3};
	m.sections[3] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct made, names),
		.sh_size = sizeof(names)};
	m.sections[0] = (Elf64_Shdr){.sh_type = SHT_NOTE,
		.sh_offset = offsetof(struct made, note),
		.sh_size = 12 + 4 + 20};
	return m;
}

static void read_elf(const struct made *m, size_t len, struct sym_scopes *s)
{
	uint8_t *exact = malloc(len ? len : 1); /* a step beyond is seen by the sanitizers */
	assert_non_null(exact);
	memcpy(exact, m, len);
	*s = (struct sym_scopes){.n = 0};
	assert_int_equal(
		sym_elf_read((struct pm_bytes){exact, len}, false, (struct pm_bytes){NULL, 0}, s),
		0);
	free(exact);
}

static void functions_end_where_symbols_say(void **state)
{
	struct made m = make_elf(EM_X86_64);
	struct sym_scopes s;
	read_elf(&m, sizeof(m), &s);
	assert_string_equal(name_at(&s, 0x1000), "main");
	assert_string_equal(name_at(&s, 0x101f), "main");
	assert_string_equal(name_at(&s, 0x1020), "local");
	assert_string_equal(name_at(&s, 0x1040), "");
	assert_string_equal(name_at(&s, 0x3000), "");
	assert_string_equal(name_at(&s, 0x4007), "kernel");
	assert_string_equal(name_at(&s, 0x4008), "");
	assert_string_equal(name_at(&s, UINT64_MAX - 2), "");
	sym_scopes_done(&s);
}

static void code_of_gpus_is_at_its_place_in_the_file(void **state)
{
	struct made m = make_elf(EM_CUDA);
	struct sym_scopes s;
	read_elf(&m, sizeof(m), &s);
	assert_string_equal(name_at(&s, 0x1000), "");
	assert_string_equal(name_at(&s, 0x1100), "main");
	sym_scopes_done(&s);
}

static void a_build_id_is_found(void **state)
{
	struct made m = make_elf(EM_X86_64);
	uint8_t id[SYM_BUILD_ID_MAX];
	struct pm_bytes bytes = {(const uint8_t *)&m, sizeof(m)};
	assert_int_equal(sym_elf_build_id(bytes, id), 20);
	assert_memory_equal(id, m.id, 20);
	m.note.n_descsz = UINT32_MAX;
	assert_int_equal(sym_elf_build_id(bytes, id), 0);
}

/* Every cut, and every byte of the tables turned over. */
static void damaged_files_have_fewer_names(void **state)
{
	struct made m = make_elf(EM_X86_64);
	struct sym_scopes s;
	uint8_t id[SYM_BUILD_ID_MAX];
	for (size_t len = 0; len < sizeof(m); len++) {
		read_elf(&m, len, &s);
		sym_scopes_done(&s);
	}
	for (size_t i = 0; i < sizeof(m); i++) {
		struct made bad = m;
		((uint8_t *)&bad)[i] ^= 0xff;
		read_elf(&bad, sizeof(bad), &s);
		sym_elf_build_id((struct pm_bytes){(const uint8_t *)&bad, sizeof(bad)}, id);
		sym_scopes_done(&s);
	}
}

/* As many symbols of one long name as are too much to read, each as its first would be. */
static void one_name_of_many_symbols_ends(void **state)
{
	enum { SYMBOLS = 5000, NAME = 70000 };
	struct made m = make_elf(EM_X86_64);
	struct pm_text t = {.p = NULL};
	struct sym_scopes s = {.n = 0};
	m.sections[2].sh_offset = sizeof(m);
	m.sections[2].sh_size = SYMBOLS * sizeof(Elf64_Sym);
	m.sections[3].sh_offset = sizeof(m) + m.sections[2].sh_size;
	m.sections[3].sh_size = NAME + 1;
	pm_text_add(&t, (const char *)&m, sizeof(m));
	for (size_t i = 0; i < SYMBOLS; i++) {
		Elf64_Sym one = symbol("main", STB_GLOBAL, 0x1000 + 16 * i, 16);
		one.st_name = 0;
		pm_text_add(&t, (const char *)&one, sizeof(one));
	}
	for (size_t i = 0; i < NAME; i++)
		pm_text_add(&t, "n", 1);
	pm_text_add(&t, "", 1);
	assert_false(t.failed);
	assert_int_equal(sym_elf_read(pm_text_view(&t), false, pm_text_view(&t), &s), 0);
	assert_int_equal(sym_scopes_text_of(&s, s.items[sym_scopes_find(&s, 0x1000)].name).len,
		SYM_NAME_MAX);
	assert_true(s.is_full);
	assert_int_equal(s.n, SYM_TEXTS_MAX / SYM_NAME_MAX + 1);
	sym_scopes_done(&s);
	pm_text_done(&t);
}

/* ---- the kernel ---- */

static void read_kernel(const char *text, size_t len, struct sym_scopes *s)
{
	uint64_t delta;
	*s = (struct sym_scopes){.n = 0};
	assert_int_equal(sym_kernel_read((struct pm_bytes){(const uint8_t *)text, len},
				 " [vmlinux]", (struct pm_bytes){NULL, 0}, 0, s, &delta),
		0);
}

static void kernel_functions_end_at_the_next(void **state)
{
	static const char text[] =
		"ffffffff81000100 t second\n"
		"ffffffff81000000 T first\nffffffff81000000 T also\n"
		"ffffffff81000180 D data\nffffffff81000200 t third\n"
		"ffffffffc0000000 t in_module\t[ext4]\n"
		"zz T bad\n0123 T\nffffffffffffffffff T long\n\n0000000000000000 T no\n";
	struct sym_scopes s;
	read_kernel(text, strlen(text), &s);
	assert_string_equal(name_at(&s, 0xffffffff81000000), "first [vmlinux]");
	assert_string_equal(name_at(&s, 0xffffffff810001ff), "second [vmlinux]");
	assert_string_equal(name_at(&s, 0xffffffff81000200), "third [vmlinux]");
	assert_string_equal(name_at(&s, 0xffffffff91000200), "");
	assert_string_equal(name_at(&s, 0xffffffffc0000010), "in_module [ext4]");
	assert_string_equal(name_at(&s, 0), "");
	sym_scopes_done(&s);
}

static void what_is_no_archive_has_no_names(void **state)
{
	static const char text[] = "\xfd"
				   "7zXZ\0nonsense and more of it, which is no block at all";
	struct sym_scopes s;
	for (size_t len = 0; len < sizeof(text); len++) {
		read_kernel(text, len, &s);
		assert_int_equal(s.n, 0);
		sym_scopes_done(&s);
	}
}

/* ---- names ---- */

static void names_are_demangled(void **state)
{
	struct pm_text text = {.p = NULL};
	sym_demangle(pm_bytes_of("main"), &text);
	assert_memory_equal(text.p, "main", text.len);
	sym_demangle(pm_bytes_of("_ZN3foo3barEi"), &text);
#ifdef SYM_DEMANGLE
	assert_int_equal(text.len, strlen("foo::bar(int)"));
	assert_memory_equal(text.p, "foo::bar(int)", text.len);
	sym_demangle(pm_bytes_of("_ZN4core3fmt5write17h0123456789abcdefE"), &text);
	assert_memory_equal(text.p, "core::fmt::write", text.len);
	sym_demangle(pm_bytes_of("_RNvC6_123foo3bar"), &text);
	assert_memory_equal(text.p, "123foo::bar", text.len);
#else
	assert_memory_equal(text.p, "_ZN3foo3barEi", text.len);
#endif
	pm_text_done(&text);
}

/* Each argument is a pair of the one before, twice: what it stands for has 2^100 of them. */
static void names_without_end_stay_as_they_are(void **state)
{
	struct pm_text mangled = {.p = NULL}, text = {.p = NULL};
	pm_text_str(&mangled, "_Z1fSt4pairIiiE");
	for (int i = 0; i < 100; i++)
		pm_text_printf(&mangled, "S_IS%c_S%c_E",
			"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36],
			"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 36]);
	sym_demangle(pm_text_view(&mangled), &text);
	assert_true(text.len <= 16384);
	assert_false(text.failed);
	pm_text_done(&mangled);
	pm_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_end_where_symbols_say),
		cmocka_unit_test(code_of_gpus_is_at_its_place_in_the_file),
		cmocka_unit_test(a_build_id_is_found),
		cmocka_unit_test(damaged_files_have_fewer_names),
		cmocka_unit_test(one_name_of_many_symbols_ends),
		cmocka_unit_test(kernel_functions_end_at_the_next),
		cmocka_unit_test(what_is_no_archive_has_no_names),
		cmocka_unit_test(names_are_demangled),
		cmocka_unit_test(names_without_end_stay_as_they_are),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
