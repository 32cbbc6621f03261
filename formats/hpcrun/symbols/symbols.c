/* Tries each possible source of names for a load module; the first one that has them is used. */
#include "formats/hpcrun/symbols/symbols.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/list.h"
#include "formats/hpcrun/symbols/dwarf.h"
#include "formats/hpcrun/symbols/elf.h"
#include "formats/hpcrun/symbols/own.h"
#include "formats/hpcrun/symbols/shelf.h"

struct module {
	struct hpcrun_scopes scopes;
	/* A file of this machine. */
	struct pm_input file, debug; /* both stay open for `dwarf` */
	struct hpcrun_dwarf *dwarf;
};

struct hpcrun_symbols {
	struct hpcrun_symbols_place place;
	struct pm_damage_list *damage;
	struct hpcrun_shelf shelf;
	bool is_measured_here;   /* the program is here as it was measured */
	struct pm_strtab paths;  /* of modules that were looked up */
	struct module **modules; /* by path; NULL: without names */
	uint32_t n_modules;
	size_t room;
	struct pm_arena arena;
};

bool hpcrun_symbols_have_lines(const struct hpcrun_symbols_place *place)
{
	int fd = pm_open_beneath(place->folder, "structs");
	if (fd >= 0)
		close(fd);
	return fd >= 0 || (place->elsewhere->is_given && hpcrun_dwarf_is_read());
}

int hpcrun_symbols_new(struct hpcrun_symbols **ret, const struct hpcrun_symbols_place *place,
	struct pm_damage_list *damage)
{
	struct hpcrun_symbols *s = calloc(1, sizeof(*s));
	*ret = NULL;
	if (!s)
		return -ENOMEM;
	s->place = *place;
	s->damage = damage;
	s->is_measured_here = place->elsewhere->is_given;
	int r = hpcrun_shelf_open(&s->shelf, place->folder, damage);
	if (r < 0) {
		hpcrun_symbols_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

int hpcrun_symbols_meet(struct hpcrun_symbols *s, struct pm_bytes path)
{
	struct pm_input file = {.fd = -1, .slot = -1};
	const uint8_t *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;
	if (s->is_measured_here || !slash)
		return 0;
	struct pm_bytes name = {slash + 1, path.len - 1 - (size_t)(slash - path.p)};
	if (!pm_bytes_equal(name, s->place.program))
		return 0;
	int r = hpcrun_elsewhere_find(s->place.elsewhere, path, s->place.written_ns, &file);
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

/* The symbols and DWARF of a file of this machine: 1, 0, or -ENOMEM. */
static int read_elsewhere(struct hpcrun_symbols *s, struct pm_bytes path, struct module *m)
{
	uint8_t id[HPCRUN_BUILD_ID_MAX];
	int r = s->is_measured_here
		? hpcrun_elsewhere_find(s->place.elsewhere, path, s->place.written_ns, &m->file)
		: 0;
	if (r <= 0)
		return r;
	size_t n = hpcrun_elf_build_id(m->file.bytes, id);
	r = hpcrun_elsewhere_find_debug(s->place.elsewhere, id, n, &m->debug);
	struct pm_input *rich = r > 0 ? &m->debug : &m->file;
	if (r >= 0)
		r = hpcrun_elf_read(rich->bytes, &m->scopes);
	if (r == 0)
		r = hpcrun_dwarf_open(&m->dwarf, rich, s->place.elsewhere);
	if (r > 0)
		report_refused(s->damage, rich);
	return r < 0 ? r : m->dwarf || m->scopes.n_ranges;
}

static void free_module(struct module *m)
{
	hpcrun_dwarf_free(m->dwarf);
	hpcrun_scopes_done(&m->scopes);
	pm_input_close(&m->debug);
	pm_input_close(&m->file);
	free(m);
}

static int read_module(struct hpcrun_symbols *s, struct pm_bytes path, struct module *m)
{
	int r = hpcrun_shelf_read(&s->shelf, path, &m->scopes, s->damage);
	if (r == 0)
		r = hpcrun_own_read(s->place.folder, path, &m->scopes);
	return r ? r : read_elsewhere(s, path, m);
}

int hpcrun_symbols_module(struct hpcrun_symbols *s, struct pm_bytes path, uint32_t *ret)
{
	s->paths.arena = &s->arena;
	uint32_t i = pm_strtab_add(&s->paths, path);
	*ret = i;
	if (i < s->n_modules)
		return 0;
	if (i == UINT32_MAX || pm_list_room(&s->modules, i, &s->room, sizeof(struct module *)) < 0)
		return -ENOMEM;
	s->modules[i] = NULL;
	s->n_modules = i + 1;
	struct module *m = malloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = (struct module){.file = {.fd = -1, .slot = -1}, .debug = {.fd = -1, .slot = -1}};
	int r = read_module(s, path, m);
	if (r > 0)
		s->modules[i] = m;
	else
		free_module(m);
	return r < 0 ? r : 0;
}

int hpcrun_symbols_find(struct hpcrun_symbols *s, uint32_t module, uint64_t address,
	const struct hpcrun_scopes **ret, uint32_t *ret_scope)
{
	const struct module *m = s->modules[module];
	const struct hpcrun_scopes *unit = NULL;
	int r = 0;
	*ret = NULL;
	*ret_scope = UINT32_MAX;
	if (!m)
		return 0;
	if (m->dwarf && (r = hpcrun_dwarf_find(m->dwarf, address, &unit)) < 0)
		return r;
	if (unit)
		*ret_scope = hpcrun_scopes_find(unit, address);
	if (*ret_scope == UINT32_MAX) {
		unit = &m->scopes;
		*ret_scope = hpcrun_scopes_find(unit, address);
	}
	*ret = *ret_scope == UINT32_MAX ? NULL : unit;
	return 0;
}

void hpcrun_symbols_free(struct hpcrun_symbols *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_modules; i++)
		if (s->modules[i])
			free_module(s->modules[i]);
	free(s->modules);
	hpcrun_shelf_done(&s->shelf);
	pm_strtab_done(&s->paths);
	pm_arena_done(&s->arena);
	free(s);
}
