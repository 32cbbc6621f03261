/* Tries each possible source of names for a load module; the first one that has them is used. */
#include "formats/symbols/internal.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/list.h"

struct module {
	bool has_names;
	enum sym_module_kind kind;
	uint64_t delta; /* of the kernel: from addresses as they are in its table to those in memory
			 */
	struct sym_scopes scopes;
	/* A file of this machine. */
	struct pm_input file, debug; /* both stay open for `dwarf` */
	struct sym_dwarf *dwarf;
	struct sym_unwind *unwind;    /* NULL: not asked so far */
	struct pm_bytes code;         /* of the file, or of the vDSO: what unwinding reads */
	struct sym_segment *segments; /* owned; only if addresses are offsets */
	unsigned n_segments;
	uint8_t build_id[SYM_BUILD_ID_MAX]; /* recorded, or that of the file */
	size_t build_id_len;
	bool refused;    /* its DWARF takes too much memory */
	const char *why; /* there are no names, or not for all addresses */
	struct pm_text tried;
};

struct sym_names {
	struct sym_place place;
	struct pm_damage_list *damage;
	struct sym_structs structs;
	bool is_measured_here; /* the program is here as it was measured */
	struct pm_strtab keys; /* of modules that were looked up */
	struct pm_text key;
	struct module **modules; /* by key */
	uint32_t n_modules;
	size_t room;
	struct pm_arena arena; /* has the modules, but for their files and scopes */
};

bool sym_have_lines(const struct sym_place *place)
{
	int fd = pm_open_beneath(place->folder, "structs");
	if (fd >= 0)
		close(fd);
	return fd >= 0 || pm_is_passing(fd) || (place->root->is_given && sym_dwarf_is_read());
}

int sym_names_new(
	struct sym_names **ret, const struct sym_place *place, struct pm_damage_list *damage)
{
	struct sym_names *s = calloc(1, sizeof(*s));
	*ret = NULL;
	if (!s)
		return -ENOMEM;
	s->place = *place;
	s->damage = damage;
	s->keys = pm_strtab_in(&s->arena);
	s->key.arena = &s->arena;
	s->is_measured_here = place->root->is_given || place->is_here;
	int r = sym_structs_open(&s->structs, place->folder, damage);
	if (r < 0) {
		sym_names_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

int sym_names_announce(struct sym_names *s, struct pm_bytes path)
{
	struct pm_input file = {.fd = -1, .slot = -1};
	const struct sym_module module = {.path = path};
	const uint8_t *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	if (s->is_measured_here || !slash)
		return 0;
	struct pm_bytes name = {slash + 1, path.len - 1 - (size_t)(slash - path.p)};
	if (!pm_bytes_equal(name, s->place.program))
		return 0;
	int r = sym_root_find(s->place.root, &module, s->place.written_ns, &file, NULL);
	s->is_measured_here = r > 0;
	if (r > 0)
		pm_input_close(&file);
	return r < 0 ? r : 0;
}

/* ---- a module ---- */

/*
 * The module's file, and the debug file of the same build, which alone does where the build id is
 * known: 1 if there is one of them, 0, or -ENOMEM.
 */
static int find_files(struct sym_names *s, const struct sym_module *of, struct module *m,
	struct sym_search *search)
{
	struct pm_bytes id = of->build_id;
	if (!id.len && !s->is_measured_here) {
		search->why = "the measured program is not on this machine as it was, so that no "
			      "file of this machine is used";
		return 0;
	}
	int r = sym_root_find(s->place.root, of, s->place.written_ns, &m->file, search);
	if (r < 0 || (r == 0 && !id.len))
		return r;
	const char *why = search->why;
	if (!id.len) {
		m->build_id_len = sym_elf_build_id(m->file.bytes, m->build_id);
		id = (struct pm_bytes){m->build_id, m->build_id_len};
	}
	int debug = sym_root_find_debug(s->place.root, id, &m->debug, search);
	if (r == 0 && debug == 0)
		debug = sym_root_find_copy(s->place.root, id, "elf", &m->debug, search);
	search->why = why; /* debug files are missing in most places */
	return debug < 0 ? debug : r || debug;
}

/* Where the addresses of a file are, if its module has offsets. 0 or -ENOMEM. */
static int read_segments(struct sym_names *s, struct module *m, struct pm_bytes file)
{
	if (m->kind == SYM_LINKED)
		return 0;
	m->segments = pm_arena_array(&s->arena, SYM_SEGMENTS_MAX, sizeof(*m->segments));
	if (!m->segments)
		return -ENOMEM;
	m->n_segments = sym_elf_segments(file, m->segments);
	return 0;
}

/* The symbols and DWARF of a file of this machine: 1, 0, or -ENOMEM. */
static int read_file(struct sym_names *s, const struct sym_module *of, struct module *m,
	struct sym_search *search)
{
	const struct pm_bytes none = {NULL, 0};
	int r = find_files(s, of, m, search);
	if (r <= 0)
		return r;
	struct pm_input *rich = m->debug.name ? &m->debug : &m->file;
	r = read_segments(s, m, m->file.name ? m->file.bytes : m->debug.bytes);
	if (r == 0)
		r = sym_elf_read(rich->bytes, s->place.sizeless,
			s->place.sizeless ? m->file.bytes : none, &m->scopes);
	/* The DWARF of what is not linked has to be relocated first. */
	if (r == 0 && sym_elf_is_linked(rich->bytes))
		r = sym_dwarf_open(&m->dwarf, rich, s->place.root);
	m->code = m->file.name ? m->file.bytes : m->debug.bytes;
	m->refused = r > 0;
	if (m->refused) {
		char name[PATH_MAX + 1];
		snprintf(name, sizeof(name), "/%s", rich->name);
		pm_damage_add(s->damage, name, PM_NO_OFFSET, PM_NO_OFFSET,
			"its DWARF cannot be read within the limits of memory: functions have the "
			"names of its symbols, and no lines");
	}
	if (!m->dwarf && !sym_elf_is_linked(m->code)) { /* nothing else is read of a module */
		m->code = none;
		pm_input_close(&m->file);
		pm_input_close(&m->debug);
	}
	if (r >= 0)
		search->why = "its file has no symbols: it is stripped, and there is no debug file";
	return r < 0 ? r : m->dwarf || (m->scopes.n_ranges && !m->scopes.only_stubs);
}

/* The running kernel is the measured one. */
static bool is_running(struct sym_names *s, struct pm_bytes build_id)
{
	struct pm_text notes;
	struct sym_times times;
	uint8_t found[SYM_BUILD_ID_MAX];
	if (sym_root_read(s->place.root, "sys/kernel/notes", 1 << 16, &notes, &times, NULL) <= 0)
		return false;
	struct pm_bytes id = {found, sym_notes_build_id(pm_text_view(&notes), found)};
	pm_text_done(&notes);
	return pm_bytes_equal(id, build_id);
}

/* The kernel's: from perf's copy, its debug file, or /proc/kallsyms while it is running. */
static int read_kernel(struct sym_names *s, const struct sym_module *of, struct module *m,
	struct sym_search *search)
{
	struct pm_text text = {.p = NULL};
	struct sym_times times;
	uint64_t linked;
	if (!of->build_id.len) {
		search->why = "the build id of the kernel was not recorded: perf record -z and -B "
			      "leave it out, --buildid-mmap records it";
		return 0;
	}
	const char *why = "another kernel is running, and there is no copy of its symbols";
	int r = sym_root_find_copy(s->place.root, of->build_id, "kallsyms", &m->file, search);
	if (r == 0 && !s->place.root->is_given && is_running(s, of->build_id)) {
		r = sym_root_read(s->place.root, "proc/kallsyms", SYM_KERNEL_BYTES_MAX, &text,
			&times, search);
		why = "/proc/kallsyms hides addresses (kernel.kptr_restrict)";
	}
	if (r > 0)
		r = sym_kernel_read(text.p ? pm_text_view(&text) : m->file.bytes, "", of->reference,
			of->reference_address, &m->scopes, &m->delta);
	pm_text_done(&text);
	if (r < 0 || m->scopes.n_ranges)
		return r < 0 ? r : 1;
	r = sym_root_find_debug(s->place.root, of->build_id, &m->debug, search);
	if (r <= 0) {
		search->why = why;
		return r;
	}
	if (of->reference.len && sym_elf_value(m->debug.bytes, of->reference, &linked))
		m->delta = of->reference_address - linked;
	r = sym_elf_read(m->debug.bytes, s->place.sizeless, (struct pm_bytes){NULL, 0}, &m->scopes);
	if (r == 0)
		r = sym_dwarf_open(&m->dwarf, &m->debug, s->place.root);
	return r < 0 ? r : m->dwarf || m->scopes.n_ranges;
}

/* This process has one, too: its pages are at least as long as their headers say. */
static struct pm_bytes own_vdso(void)
{
	const uint8_t *p = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	ElfW(Ehdr) header;
	if (!p)
		return (struct pm_bytes){NULL, 0};
	memcpy(&header, p, sizeof(header));
	return (struct pm_bytes){p, header.e_shoff + (size_t)header.e_shnum * header.e_shentsize};
}

static int read_vdso(struct sym_names *s, const struct sym_module *of, struct module *m,
	struct sym_search *search)
{
	uint8_t found[SYM_BUILD_ID_MAX];
	struct pm_bytes own = own_vdso();
	if (!of->build_id.len) {
		search->why = "its build id was not recorded";
		return 0;
	}
	int r = sym_root_find_copy(s->place.root, of->build_id, "vdso", &m->file, search);
	struct pm_bytes id = {found, sym_elf_build_id(own, found)};
	if (r == 0 && !pm_bytes_equal(id, of->build_id)) {
		search->why = "another kernel is running, and there is no copy of its vDSO";
		return 0;
	}
	if (r > 0)
		own = m->file.bytes;
	if (r >= 0)
		r = read_segments(s, m, own);
	if (r == 0)
		r = sym_elf_read(own, s->place.sizeless, (struct pm_bytes){NULL, 0}, &m->scopes);
	m->code = own;
	return r < 0 ? r : m->scopes.n_ranges > 0;
}

/* Is a map of the measured process? Those who write it at the end take a while. */
static bool is_of_its_time(
	const struct sym_place *place, const struct sym_module *of, const struct sym_times *times)
{
	const uint64_t soon_ns = (uint64_t)600 * 1000000000u;
	uint64_t born_ns = times->born_ns ? times->born_ns : times->changed_ns;
	return times->changed_ns >= of->since_ns &&
		(born_ns <= place->written_ns || born_ns - place->written_ns < soon_ns);
}

static int read_perf_map(struct sym_names *s, const struct sym_module *of, struct module *m,
	struct sym_search *search)
{
	const struct sym_place *place = &s->place;
	struct pm_text text;
	struct sym_times times;
	char path[PATH_MAX];
	const char *none = "it is code that was made at run time, and there is no map of it";
	search->why = none;
	if (of->path.len < 2 || of->path.p[0] != '/' || of->path.len > sizeof(path))
		return 0;
	memcpy(path, of->path.p + 1, of->path.len - 1);
	path[of->path.len - 1] = '\0';
	int r = sym_root_read(place->root, path, SYM_PERF_MAP_BYTES_MAX, &text, &times, search);
	if (r <= 0) {
		search->why = none;
		return r;
	}
	if (!place->root->is_given && !place->is_here)
		search->why = "it was measured on another machine, so that the map on this one is "
			      "of another process";
	else if (!place->root->is_given && !is_of_its_time(place, of, &times))
		search->why = "the map is not of the time of the measurement, but of another "
			      "process with the same number";
	else
		r = sym_perf_map_read(pm_text_view(&text), &m->scopes);
	pm_text_done(&text);
	return r < 0 ? r : m->scopes.n_ranges > 0;
}

static void close_files(struct module *m)
{
	sym_unwind_free(m->unwind);
	sym_dwarf_free(m->dwarf);
	sym_scopes_done(&m->scopes);
	pm_input_close(&m->debug);
	pm_input_close(&m->file);
	m->dwarf = NULL;
}

static int read_module(struct sym_names *s, const struct sym_module *of, struct module *m)
{
	struct sym_search search = {.tried.arena = &s->arena};
	int r = 0;
	switch (of->kind) {
	case SYM_LINKED:
		r = sym_structs_read(&s->structs, of->path, &m->scopes, s->damage);
		if (r == 0)
			r = sym_own_read(s->place.folder, of->path, &m->scopes, s->damage);
		if (r == 0)
			r = read_file(s, of, m, &search);
		break;
	case SYM_OFFSETS: r = read_file(s, of, m, &search); break;
	case SYM_KERNEL: r = read_kernel(s, of, m, &search); break;
	case SYM_VDSO: r = read_vdso(s, of, m, &search); break;
	case SYM_PERF_MAP: r = read_perf_map(s, of, m, &search); break;
	}
	m->tried = search.tried;
	m->has_names = r > 0 || m->scopes.n_ranges; /* perhaps of stubs alone */
	if (!m->has_names && !(s->place.unwinds && m->code.len))
		close_files(m); /* but its segments: addresses are known without names */
	if (m->refused)
		m->why = "its DWARF takes more memory than the limit, and its symbols do not cover "
			 "these addresses";
	else
		m->why = r > 0 ? "its symbols do not cover these addresses" : search.why;
	return r < 0 ? r : 0;
}

/* What tells modules apart. */
static struct pm_bytes key_of(struct sym_names *s, const struct sym_module *module)
{
	pm_text_clear(&s->key);
	pm_text_char(&s->key, (char)('0' + module->kind));
	pm_text_u64(&s->key, module->build_id.len);
	pm_text_char(&s->key, ' ');
	pm_text_bytes(&s->key, module->build_id);
	pm_text_bytes(&s->key, module->path);
	return pm_text_view(&s->key);
}

int sym_names_module(struct sym_names *s, const struct sym_module *module, uint32_t *ret)
{
	struct pm_bytes key = key_of(s, module);
	uint32_t i = s->key.failed ? UINT32_MAX : pm_strtab_add(&s->keys, key);
	*ret = i;
	if (i < s->n_modules)
		return 0;
	if (i == UINT32_MAX ||
		pm_list_room_in(&s->arena, &s->modules, i, &s->room, sizeof(struct module *)) < 0)
		return -ENOMEM;
	struct module *m = pm_arena_alloc(&s->arena, sizeof(*m));
	s->modules[i] = m;
	s->n_modules = i + 1;
	if (!m)
		return -ENOMEM;
	*m = (struct module){.kind = module->kind,
		.file = {.fd = -1, .slot = -1},
		.debug = {.fd = -1, .slot = -1}};
	if (module->build_id.len <= sizeof(m->build_id)) {
		m->build_id_len = module->build_id.len;
		memcpy(m->build_id, module->build_id.p ? module->build_id.p : m->build_id,
			m->build_id_len);
	}
	return read_module(s, module, m);
}

/* False if no segment has the offset. */
static bool address_of(const struct module *m, uint64_t offset, uint64_t *ret)
{
	*ret = offset - m->delta;
	for (unsigned i = 0; i < m->n_segments; i++) {
		const struct sym_segment *s = &m->segments[i];
		if (offset >= s->offset && offset - s->offset < s->size) {
			*ret = offset - s->offset + s->address;
			return true;
		}
	}
	return m->kind != SYM_OFFSETS && m->kind != SYM_VDSO;
}

int sym_names_find(struct sym_names *s, uint32_t module, uint64_t address,
	const struct sym_scopes **ret, uint32_t *ret_scope)
{
	const struct module *m = s->modules[module];
	const struct sym_scopes *unit = NULL;
	int r = 0;
	*ret = NULL;
	*ret_scope = UINT32_MAX;
	if (!m || !m->has_names || !address_of(m, address, &address))
		return 0;
	if (m->dwarf && (r = sym_dwarf_find(m->dwarf, address, &unit)) < 0)
		return r;
	if (unit)
		*ret_scope = sym_scopes_find(unit, address);
	if (*ret_scope == UINT32_MAX) {
		unit = &m->scopes;
		*ret_scope = sym_scopes_find(unit, address);
	}
	*ret = *ret_scope == UINT32_MAX ? NULL : unit;
	return 0;
}

bool sym_names_linked(const struct sym_names *s, uint32_t module, uint64_t offset, uint64_t *ret)
{
	return s->modules[module]->n_segments && address_of(s->modules[module], offset, ret);
}

enum sym_step sym_names_step(struct sym_names *s, uint32_t module, uint64_t offset,
	const struct sym_stack *stack, struct sym_registers *registers)
{
	struct module *m = s->modules[module];
	uint64_t address;
	if (!m || !m->code.len || !sym_dwarf_is_read())
		return SYM_STEP_NO_FILE;
	if (!address_of(m, offset, &address))
		return SYM_STEP_UNKNOWN;
	if (!m->unwind && sym_unwind_open(&m->unwind, m->code, m->dwarf) < 0)
		return SYM_STEP_NO_MEMORY;
	/* A call is before the address to which it returns, which may be that of another function.
	 */
	return sym_unwind_step(m->unwind, address - registers->is_return, stack, registers);
}

struct sym_absence sym_names_absence(const struct sym_names *s, uint32_t module)
{
	const struct module *m = s->modules[module];
	return (struct sym_absence){.why = m->why,
		.tried = pm_text_view(&m->tried),
		.build_id = {m->build_id, m->build_id_len},
		.is_whole = !m->has_names};
}

void sym_names_free(struct sym_names *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_modules; i++)
		if (s->modules[i])
			close_files(s->modules[i]);
	sym_structs_done(&s->structs);
	pm_arena_done(&s->arena);
	free(s);
}
