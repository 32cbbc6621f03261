/* Asks, for each load module, whoever may know its names: the first that does has it. */
#include "formats/hpcrun/symbols/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/list.h"
#include "formats/hpcrun/symbols/own.h"
#include "formats/hpcrun/symbols/shelf.h"

struct hpcrun_symbols {
	int folder;
	struct pm_damage_list *damage;
	struct hpcrun_shelf shelf;
	struct pm_strtab paths;         /* of modules that were asked for */
	struct hpcrun_scopes **modules; /* by path; NULL: without names */
	uint32_t n_modules;
	size_t room;
	struct pm_arena arena;
};

bool hpcrun_symbols_have_lines(int folder)
{
	int fd = pm_open_beneath(folder, "structs");
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int hpcrun_symbols_new(struct hpcrun_symbols **ret, int folder, struct pm_damage_list *damage)
{
	struct hpcrun_symbols *s = calloc(1, sizeof(*s));
	*ret = NULL;
	if (!s)
		return -ENOMEM;
	s->folder = folder;
	s->damage = damage;
	int r = hpcrun_shelf_open(&s->shelf, folder, damage);
	if (r < 0) {
		hpcrun_symbols_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

/* 1 where there are names, 0, or -ENOMEM. */
static int read_module(struct hpcrun_symbols *s, struct pm_bytes path, struct hpcrun_scopes *ret)
{
	int r = hpcrun_shelf_read(&s->shelf, path, ret, s->damage);
	return r ? r : hpcrun_own_read(s->folder, path, ret);
}

int hpcrun_symbols_module(
	struct hpcrun_symbols *s, struct pm_bytes path, const struct hpcrun_scopes **ret)
{
	s->paths.arena = &s->arena;
	uint32_t i = pm_strtab_add(&s->paths, path);
	if (i < s->n_modules) {
		*ret = s->modules[i];
		return 0;
	}
	if (i == UINT32_MAX || pm_list_room(&s->modules, i, &s->room, sizeof(*s->modules)) < 0)
		return -ENOMEM;
	s->modules[i] = NULL;
	s->n_modules = i + 1;
	struct hpcrun_scopes *scopes = calloc(1, sizeof(*scopes));
	int r = scopes ? read_module(s, path, scopes) : -ENOMEM;
	if (r > 0) {
		s->modules[i] = scopes;
	} else if (scopes) {
		hpcrun_scopes_done(scopes);
		free(scopes);
	}
	*ret = s->modules[i];
	return r < 0 ? r : 0;
}

void hpcrun_symbols_free(struct hpcrun_symbols *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_modules; i++) {
		if (s->modules[i])
			hpcrun_scopes_done(s->modules[i]);
		free(s->modules[i]);
	}
	free(s->modules);
	hpcrun_shelf_done(&s->shelf);
	pm_strtab_done(&s->paths);
	pm_arena_done(&s->arena);
	free(s);
}
