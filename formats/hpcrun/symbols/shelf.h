/* The structure files of a measurement: structs/ beside its profiles. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SHELF_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SHELF_H

#include "formats/common/damage.h"
#include "formats/common/map.h"
#include "formats/hpcrun/symbols/scopes.h"

/* Zeroed = empty. */
struct hpcrun_shelf {
	bool is_open; /* there is a folder */
	int folder;   /* structs/; owned */
	char **names; /* sorted; owned */
	size_t n, room;
	struct pm_strtab
		modules; /* by place: what hpcrun_module_key makes of their modules' paths */
	uint32_t *files; /* by module: the first file that describes it */
	size_t files_room;
	struct pm_arena arena;
};

/* Lists `structs/` below the directory `folder`, with the module of each file. 0 or -ENOMEM. */
int hpcrun_shelf_open(struct hpcrun_shelf *s, int folder, struct pm_damage_list *damage);

/*
 * Reads and settles the scopes of a load module. 1, 0 if there is no structure file for it, or
 * -ENOMEM.
 */
int hpcrun_shelf_read(const struct hpcrun_shelf *s, struct pm_bytes path, struct hpcrun_scopes *ret,
	struct pm_damage_list *damage);

/* Also for a zeroed one. */
void hpcrun_shelf_done(struct hpcrun_shelf *s);

#endif
