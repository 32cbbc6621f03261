/* Which files names are taken from, by build id, kind of module and time, and why there are none.
 */
#include "tests/unittest.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/symbols/internal.h"

/* ---- files ---- */

static char folder[64];
static struct sym_root root;

static const char *path_of(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void write_file(const char *name, const void *p, size_t n)
{
	char path[256];
	for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof(path), "%s/%.*s", folder, (int)(slash - name), name);
		mkdir(path, 0777);
	}
	FILE *f = fopen(path_of(name), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static const char names[] = "\0sized\0label\0bare\0last";

/* Functions of a program that is loaded at 0x401000 from offset 0x1000 of its file. */
struct made {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Nhdr note;
	char owner[4];
	uint8_t id[20];
	Elf64_Sym symbols[5];
	char names[sizeof(names)];
	Elf64_Chdr packed; /* its code is compressed, and this large */
	Elf64_Shdr sections[4];
};

static uint64_t
	unpacked; /* bytes of the code of programs that are written; 0: it is not compressed */

static Elf64_Sym symbol(Elf64_Word name, uint64_t value, uint64_t size)
{
	return (Elf64_Sym){.st_name = name,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = 1,
		.st_value = value,
		.st_size = size};
}

static void write_program(const char *name, uint8_t id)
{
	struct made m = {.note = {4, 20, NT_GNU_BUILD_ID}, .owner = "GNU", .id = {id}};
	memcpy(m.header.e_ident, ELFMAG, SELFMAG);
	m.header.e_ident[EI_CLASS] = ELFCLASS64;
	m.header.e_ident[EI_VERSION] = EV_CURRENT;
	m.header.e_ident[EI_DATA] =
		__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB;
	m.header.e_phoff = offsetof(struct made, segments);
	m.header.e_phentsize = sizeof(Elf64_Phdr);
	m.header.e_phnum = 2;
	m.segments[0] = (Elf64_Phdr){.p_type = PT_NOTE, .p_filesz = 0x10000};
	m.segments[1] = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = 0x401000, .p_filesz = 0x800};
	m.header.e_shoff = offsetof(struct made, sections);
	m.header.e_shentsize = sizeof(Elf64_Shdr);
	m.header.e_shnum = 4;
	m.symbols[1] = symbol(1, 0x401000, 0x20);
	m.symbols[2] = symbol(7, 0x401000, 0);
	m.symbols[3] = symbol(13, 0x401040, 0);
	m.symbols[4] = symbol(18, 0x401100, 0);
	memcpy(m.names, names, sizeof(names));
	m.sections[0] = (Elf64_Shdr){.sh_type = SHT_NOTE,
		.sh_offset = offsetof(struct made, note),
		.sh_size = 12 + 4 + 20};
	m.sections[1] =
		(Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_addr = 0x401000, .sh_size = 0x800};
	m.sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct made, symbols),
		.sh_size = sizeof(m.symbols),
		.sh_entsize = sizeof(Elf64_Sym),
		.sh_link = 3};
	m.sections[3] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct made, names),
		.sh_size = sizeof(names)};
	if (unpacked) {
		m.packed = (Elf64_Chdr){
			.ch_type = ELFCOMPRESS_ZLIB, .ch_size = unpacked, .ch_addralign = 1};
		m.sections[1].sh_flags = SHF_COMPRESSED;
		m.sections[1].sh_offset = offsetof(struct made, packed);
		m.sections[1].sh_size = sizeof(m.packed);
	}
	write_file(name, &m, sizeof(m));
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/profmount-names-XXXXXX");
	return mkdtemp(folder) ? sym_root_open(&root, folder, NULL) : -1;
}

static int tear_down(void **state)
{
	(void)state;
	char command[128];
	sym_root_done(&root);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* ---- names ---- */

/* What is asked, and what is known of the module. */
struct asked {
	struct sym_place place;
	struct sym_names *names;
	struct pm_damage_list damage;
	uint32_t module;
};

static struct asked ask(struct sym_place place, const struct sym_module *module)
{
	struct asked a = {.place = place, .damage = PM_DAMAGE_LIST_INIT};
	a.place.folder = -1;
	if (!a.place.root)
		a.place.root = &root;
	assert_int_equal(sym_names_new(&a.names, &a.place, &a.damage), 0);
	assert_int_equal(sym_names_module(a.names, module, &a.module), 0);
	return a;
}

static const char *name_at(struct asked *a, uint64_t address)
{
	static char out[128];
	const struct sym_scopes *s;
	uint32_t i;
	assert_int_equal(sym_names_find(a->names, a->module, address, &s, &i), 0);
	struct pm_bytes name = s ? sym_scopes_text_of(s, s->items[i].name) : pm_bytes_of("");
	snprintf(out, sizeof(out), "%.*s", (int)name.len, (const char *)name.p);
	return out;
}

/* There are no names, for a reason that has `why` in it, and these paths were tried. */
static void check_absent(struct asked *a, const char *why, const char *tried)
{
	struct sym_absence absence = sym_names_absence(a->names, a->module);
	assert_true(absence.is_whole);
	assert_non_null(absence.why);
	if (!strstr(absence.why, why))
		fail_msg("why: %s", absence.why);
	if (!pm_bytes_equal(absence.tried, pm_bytes_of(tried)))
		fail_msg("tried %.*s", (int)absence.tried.len, (const char *)absence.tried.p);
}

static void done(struct asked *a)
{
	sym_names_free(a->names);
	pm_damage_done(&a->damage);
}

static void offsets_are_where_segments_say(void **state)
{
	(void)state;
	write_program("bin/app", 7);
	struct sym_module module = {.path = pm_bytes_of("/bin/app"), .kind = SYM_OFFSETS};
	uint64_t linked;
	struct asked a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x1000), "sized");
	assert_string_equal(name_at(&a, 0x401000), "");
	assert_string_equal(name_at(&a, 0x1020), "");
	assert_true(sym_names_linked(a.names, a.module, 0x17ff, &linked));
	assert_int_equal(linked, 0x4017ff);
	assert_false(sym_names_linked(a.names, a.module, 0x1800, &linked));
	struct sym_absence absence = sym_names_absence(a.names, a.module);
	assert_false(absence.is_whole);
	assert_int_equal(absence.build_id.len, 20); /* that of the file: none was recorded */
	assert_int_equal(absence.build_id.p[0], 7);
	done(&a);
	module.kind = SYM_LINKED;
	a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x401000), "sized");
	assert_false(sym_names_linked(a.names, a.module, 0x1000, &linked));
	done(&a);
}

/* Names of symbols are there, and what has none may have been in what was not read. */
static void dwarf_beyond_the_limit_is_a_reason(void **state)
{
	(void)state;
	if (!sym_dwarf_is_read())
		skip();
	unpacked = UINT64_C(1) << 40;
	write_program("bin/app", 7);
	unpacked = 0;
	const struct sym_module module = {.path = pm_bytes_of("/bin/app")};
	struct asked a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x401000), "sized");
	assert_non_null(strstr(sym_names_absence(a.names, a.module).why, "more memory"));
	done(&a);
}

static void functions_without_a_size_end_at_the_next(void **state)
{
	(void)state;
	write_program("bin/app", 7);
	const struct sym_module module = {.path = pm_bytes_of("/bin/app")};
	struct asked a = ask((struct sym_place){.sizeless = true}, &module);
	assert_string_equal(name_at(&a, 0x40101f), "sized");
	assert_string_equal(name_at(&a, 0x401020), "");
	assert_string_equal(name_at(&a, 0x401040), "bare");
	assert_string_equal(name_at(&a, 0x4010ff), "bare");
	assert_string_equal(name_at(&a, 0x4017ff), "last");
	assert_string_equal(name_at(&a, 0x401800), "");
	done(&a);
}

static void another_build_names_nothing(void **state)
{
	(void)state;
	write_program("bin/app", 7);
	uint8_t id[20] = {7};
	struct sym_module module = {.path = pm_bytes_of("/bin/app"), .build_id = {id, 20}};
	struct asked a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x401000), "sized");
	done(&a);
	id[0] = 8;
	a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x401000), "");
	check_absent(&a, "another build id",
		"/bin/app; /usr/lib/debug/.build-id/08/00000000000000000000000000000000000000.debug"
		"; /.build-id/08/00000000000000000000000000000000000000/elf");
	done(&a);
	/* A debug file alone does. */
	write_program("usr/lib/debug/.build-id/08/00000000000000000000000000000000000000.debug", 8);
	a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x401000), "sized");
	done(&a);
	/* And so does perf's copy. */
	id[0] = 9;
	write_program(".build-id/09/00000000000000000000000000000000000000/elf", 9);
	a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x401000), "sized");
	done(&a);
}

static void what_cannot_be_opened_says_why(void **state)
{
	(void)state;
	write_file("bin/script", "#!/bin/sh\n", 10);
	const struct {
		const char *path, *why, *tried;
	} cases[] = {{"/bin/none", "not there", "/bin/none"},
		{"/bin/script", "not an ELF file", "/bin/script"},
		{"/bin", "not a regular one", "/bin"}, {"//anon", "not a file", ""},
		{"[heap]", "not a file", ""}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sym_module module = {.path = pm_bytes_of(cases[i].path)};
		struct asked a = ask((struct sym_place){.folder = -1}, &module);
		check_absent(&a, cases[i].why, cases[i].tried);
		done(&a);
	}
	/* Files of this machine, and not those that -o sysroot vouches for. */
	struct sym_root here = root;
	here.is_given = false;
	const struct sym_module module = {.path = pm_bytes_of("/bin/app")};
	struct asked a = ask((struct sym_place){.root = &here}, &module);
	check_absent(&a, "not on this machine", "");
	done(&a);
	a = ask((struct sym_place){.root = &here, .is_here = true, .written_ns = 1}, &module);
	check_absent(&a, "has changed since", "/bin/app");
	done(&a);
}

static void a_file_is_read_up_to_its_limit(void **state)
{
	(void)state;
	struct pm_text text;
	struct sym_times times;
	write_file("five", "12345", 5);
	assert_int_equal(sym_root_read(&root, "five", 5, &text, &times, NULL), 1);
	assert_int_equal(text.len, 5);
	pm_text_done(&text);
	assert_int_equal(sym_root_read(&root, "five", 4, &text, &times, NULL), 0);
}

/* ---- text ---- */

static void the_kernel_is_where_it_was(void **state)
{
	(void)state;
	static const char table[] = "ffffffff81000000 T _text\nffffffff81000100 T work\n"
				    "ffffffffc0000000 t inside\t[ext4]\n";
	write_file(".build-id/0a/0b/kallsyms", table, strlen(table));
	const uint8_t id[] = {10, 11};
	struct sym_module module = {
		.path = pm_bytes_of("[kernel.kallsyms]"), .build_id = {id, 2}, .kind = SYM_KERNEL};
	struct asked a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0xffffffff81000110), "work");
	assert_string_equal(name_at(&a, 0xffffffffc0000000), "inside [ext4]");
	done(&a);
	module.reference = pm_bytes_of("_text");
	module.reference_address = 0xffffffff91000000;
	a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0xffffffff91000110), "work");
	assert_string_equal(name_at(&a, 0xffffffff81000110), "");
	assert_string_equal(name_at(&a, 0xffffffffd0000000), "");
	done(&a);
	module.build_id.len = 0;
	a = ask((struct sym_place){.folder = -1}, &module);
	check_absent(&a, "was not recorded", "");
	done(&a);
}

static void the_vdso_is_that_of_this_process(void **state)
{
	(void)state;
	uint8_t id[SYM_BUILD_ID_MAX];
	const uint8_t *own = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	if (!own)
		skip();
	ElfW(Ehdr) header;
	memcpy(&header, own, sizeof(header));
	const struct pm_bytes bytes = {
		own, header.e_shoff + (size_t)header.e_shnum * header.e_shentsize};
	struct sym_module module = {.path = pm_bytes_of("[vdso]"),
		.build_id = {id, sym_elf_build_id(bytes, id)},
		.kind = SYM_VDSO};
	struct sym_scopes s = {.n = 0};
	assert_int_equal(sym_elf_read(bytes, false, (struct pm_bytes){NULL, 0}, &s), 0);
	if (!module.build_id.len || !s.n_ranges)
		skip();
	struct asked a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_not_equal(name_at(&a, s.ranges[0].start), "");
	done(&a);
	sym_scopes_done(&s);
	id[0] ^= 1;
	a = ask((struct sym_place){.folder = -1}, &module);
	assert_true(sym_names_absence(a.names, a.module).is_whole);
	done(&a);
}

static void perf_maps_are_of_their_process(void **state)
{
	(void)state;
	static const char map[] =
		"7f0010 20 LazyCompile:~old\n7f0020 20 a b c\nnonsense\n7f0040 zz x\n"
		"7f0050 10 \nffffffffffffffff 10 beyond\n";
	write_file("tmp/perf-12.map", map, strlen(map));
	struct stat st;
	assert_int_equal(stat(path_of("tmp/perf-12.map"), &st), 0);
	uint64_t now_ns = (uint64_t)st.st_ctim.tv_sec * 1000000000u + (uint64_t)st.st_ctim.tv_nsec;
	struct sym_module module = {.path = pm_bytes_of("/tmp/perf-12.map"), .kind = SYM_PERF_MAP};
	struct asked a = ask((struct sym_place){.folder = -1}, &module);
	assert_string_equal(name_at(&a, 0x7f001f), "LazyCompile:~old");
	assert_string_equal(name_at(&a, 0x7f0020), "a b c");
	assert_string_equal(name_at(&a, 0x7f003f), "a b c");
	assert_string_equal(name_at(&a, 0x7f0040), "");
	assert_string_equal(name_at(&a, UINT64_MAX), "");
	done(&a);
	/* Of this machine. */
	struct sym_root here = root;
	here.is_given = false;
	struct sym_place place = {.root = &here, .written_ns = now_ns};
	a = ask(place, &module);
	check_absent(&a, "another machine", "/tmp/perf-12.map");
	done(&a);
	place.is_here = true;
	a = ask(place, &module);
	assert_string_equal(name_at(&a, 0x7f0020), "a b c");
	done(&a);
	place.written_ns = now_ns - (uint64_t)3600 * 1000000000u;
	a = ask(place, &module);
	check_absent(&a, "another process", "/tmp/perf-12.map");
	done(&a);
	place.written_ns = now_ns;
	module.since_ns = now_ns + 1;
	a = ask(place, &module);
	check_absent(&a, "another process", "/tmp/perf-12.map");
	done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_where_segments_say),
		cmocka_unit_test(dwarf_beyond_the_limit_is_a_reason),
		cmocka_unit_test(functions_without_a_size_end_at_the_next),
		cmocka_unit_test(another_build_names_nothing),
		cmocka_unit_test(what_cannot_be_opened_says_why),
		cmocka_unit_test(a_file_is_read_up_to_its_limit),
		cmocka_unit_test(the_kernel_is_where_it_was),
		cmocka_unit_test(the_vdso_is_that_of_this_process),
		cmocka_unit_test(perf_maps_are_of_their_process),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
