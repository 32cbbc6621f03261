/* Tries each possible source of names for a load module; the first one that has them is used. */
#include "formats/symbols/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/list.h"

struct module {
	bool has_names, by_offset;
	struct sym_scopes scopes;
	/* A file of this machine. */
	struct pm_input file, debug; /* both stay open for `dwarf` */
	struct sym_dwarf *dwarf;
	struct sym_segment *segments; /* owned; only if addresses are offsets */
	unsigned n_segments;
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
	struct pm_arena arena;
};

bool sym_have_lines(const struct sym_place *place)
{
	int fd = pm_open_beneath(place->folder, "structs");
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (place->root->is_given && sym_dwarf_is_read());
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
	s->is_measured_here = place->root->is_given;
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

static void report_refused(struct pm_damage_list *damage, const struct pm_input *file)
{
	char name[PATH_MAX + 1];
	snprintf(name, sizeof(name), "/%s", file->name);
	pm_damage_add(damage, name, PM_NO_OFFSET, PM_NO_OFFSET,
		"its DWARF cannot be read within the limits of memory: functions have the names of "
		"its symbols, and no lines");
}

/*
 * The module's file, and the debug file of the same build, which alone does where the build id is
 * known: 1 if there is one of them, 0, or -ENOMEM.
 */
static int find_files(struct sym_names *s, const struct sym_module *of, struct module *m,
	struct sym_search *search)
{
	uint8_t found[SYM_BUILD_ID_MAX];
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
	if (!id.len)
		id = (struct pm_bytes){found, sym_elf_build_id(m->file.bytes, found)};
	int debug = sym_root_find_debug(s->place.root, id, &m->debug, search);
	search->why = why; /* debug files are missing in most places */
	return debug < 0 ? debug : r || debug;
}

/* Where the addresses of a file are, if its module has offsets. 0 or -ENOMEM. */
static int read_segments(struct module *m)
{
	if (!m->by_offset)
		return 0;
	m->segments = calloc(SYM_SEGMENTS_MAX, sizeof(*m->segments));
	if (!m->segments)
		return -ENOMEM;
	m->n_segments =
		sym_elf_segments(m->file.name ? m->file.bytes : m->debug.bytes, m->segments);
	return 0;
}

/* The symbols and DWARF of a file of this machine: 1, 0, or -ENOMEM. */
static int read_file(struct sym_names *s, const struct sym_module *of, struct module *m,
	struct sym_search *search)
{
	int r = find_files(s, of, m, search);
	if (r <= 0)
		return r;
	struct pm_input *rich = m->debug.name ? &m->debug : &m->file;
	r = read_segments(m);
	if (r == 0)
		r = sym_elf_read(rich->bytes, &m->scopes);
	if (r == 0)
		r = sym_dwarf_open(&m->dwarf, rich, s->place.root);
	if (r > 0)
		report_refused(s->damage, rich);
	if (r >= 0)
		search->why = "its file has no symbols: it is stripped, and there is no debug file";
	return r < 0 ? r : m->dwarf || m->scopes.n_ranges;
}

static void close_files(struct module *m)
{
	sym_dwarf_free(m->dwarf);
	sym_scopes_done(&m->scopes);
	pm_input_close(&m->debug);
	pm_input_close(&m->file);
	free(m->segments);
	m->dwarf = NULL;
	m->segments = NULL;
	m->n_segments = 0;
}

static void free_module(struct module *m)
{
	close_files(m);
	pm_text_done(&m->tried);
	free(m);
}

static int read_module(struct sym_names *s, const struct sym_module *of, struct module *m)
{
	struct sym_search search = {.n_tried = 0};
	int r = sym_structs_read(&s->structs, of->path, &m->scopes, s->damage);
	if (r == 0)
		r = sym_own_read(s->place.folder, of->path, &m->scopes);
	if (r > 0)
		m->by_offset = false;
	else if (r == 0)
		r = read_file(s, of, m, &search);
	m->tried = search.tried;
	m->has_names = r > 0;
	if (r == 0)
		close_files(m);
	m->why = r > 0 ? "its symbols do not cover these addresses" : search.why;
	return r < 0 ? r : 0;
}

/* What tells modules apart. */
static struct pm_bytes key_of(struct sym_names *s, const struct sym_module *module)
{
	pm_text_clear(&s->key);
	pm_text_char(&s->key, module->by_offset ? 'o' : 'a');
	pm_text_u64(&s->key, module->build_id.len);
	pm_text_char(&s->key, ' ');
	pm_text_bytes(&s->key, module->build_id);
	pm_text_bytes(&s->key, module->path);
	return pm_text_view(&s->key);
}

int sym_names_module(struct sym_names *s, const struct sym_module *module, uint32_t *ret)
{
	s->keys.arena = &s->arena;
	struct pm_bytes key = key_of(s, module);
	uint32_t i = s->key.failed ? UINT32_MAX : pm_strtab_add(&s->keys, key);
	*ret = i;
	if (i < s->n_modules)
		return 0;
	if (i == UINT32_MAX || pm_list_room(&s->modules, i, &s->room, sizeof(struct module *)) < 0)
		return -ENOMEM;
	struct module *m = malloc(sizeof(*m));
	s->modules[i] = m;
	s->n_modules = i + 1;
	if (!m)
		return -ENOMEM;
	*m = (struct module){.by_offset = module->by_offset,
		.file = {.fd = -1, .slot = -1},
		.debug = {.fd = -1, .slot = -1}};
	return read_module(s, module, m);
}

/* False if no segment has the offset. */
static bool address_of(const struct module *m, uint64_t offset, uint64_t *ret)
{
	*ret = offset;
	for (unsigned i = 0; i < m->n_segments; i++) {
		const struct sym_segment *s = &m->segments[i];
		if (offset >= s->offset && offset - s->offset < s->size) {
			*ret = offset - s->offset + s->address;
			return true;
		}
	}
	return !m->by_offset;
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

struct sym_absence sym_names_absence(const struct sym_names *s, uint32_t module)
{
	const struct module *m = s->modules[module];
	return (struct sym_absence){
		.why = m->why, .tried = pm_text_view(&m->tried), .is_whole = !m->has_names};
}

void sym_names_free(struct sym_names *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_modules; i++)
		if (s->modules[i])
			free_module(s->modules[i]);
	free(s->modules);
	sym_structs_done(&s->structs);
	pm_strtab_done(&s->keys);
	pm_text_done(&s->key);
	pm_arena_done(&s->arena);
	free(s);
}
