/*
 * Which name has which colour: functions in order of cost take one hue after the other, so those
 * that matter differ; those of a category have its colour. A table rather than a formula: pictures
 * are the same on every machine.
 */
#include "fs/views/colours.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/categories.h"
#include "fs/views/functions.h"
#include "fs/views/parts.h"

/* Behind the hues. */
enum { IDLE = PMFS_N_HUES, WAITING, MPI, OPENMP, GPU, IO, MEMORY, GC, SQL, NET };

const uint32_t pmfs_palette[PMFS_N_COLOURS] = {
	/* clang-format off */
	0xef806f, 0x6fa4fc, 0xdc932e, 0x5bbd74, 0xb28fef, 0xfbc8ac,
	0x3bcdf4, 0xaaac31, 0xe9c6f1, 0x84ead7, 0xe57db1, 0xcedca8,
	/* clang-format on */
	[IDLE] = 0xe2e2e2,
	[WAITING] = 0xa4a4a4,
	[MPI] = 0xad6066,
	[OPENMP] = 0x6b7c92,
	[GPU] = 0x6b9174,
	[IO] = 0xa68f68,
	[MEMORY] = 0x8e68a5,
	[GC] = 0xa58998,
	[SQL] = 0x1c989e,
	[NET] = 0x7c8033,
};

struct pmfs_colours {
	struct pm_strtab names;
	uint8_t *colour; /* of each name */
	size_t room;
	struct pm_arena arena;
};

static void colours_free(void *p)
{
	struct pmfs_colours *c = p;
	pm_strtab_done(&c->names);
	pm_arena_done(&c->arena);
	free(c->colour);
	free(c);
}

/* Runtimes wait in functions of their own: barriers of OpenMP say so. */
static bool is_wait(struct pm_bytes name)
{
	return memmem(name.p, name.len, "wait", 4) || memmem(name.p, name.len, "barrier", 7);
}

static uint8_t colour_of_category(enum pmfs_category category, struct pm_bytes name)
{
	switch (category) {
	case PMFS_IDLE: return IDLE;
	case PMFS_THREAD: return WAITING;
	case PMFS_MPI: return MPI;
	case PMFS_OPENMP: return is_wait(name) ? WAITING : OPENMP;
	case PMFS_GPU: return GPU;
	case PMFS_IO: return IO;
	case PMFS_MEMORY: return MEMORY;
	case PMFS_GC: return GC;
	case PMFS_SQL: return SQL;
	case PMFS_NET: return NET;
	case PMFS_PROGRAM:
	case PMFS_N_CATEGORIES: break;
	}
	return 0;
}

/* Of functions that share a name the dearest decides. */
static int add_name(struct pmfs_colours *c, struct pm_bytes name, enum pmfs_category category,
	unsigned *n_program)
{
	uint32_t known = c->names.n, at = pm_strtab_add(&c->names, name);
	if (at == PM_NONE || pm_list_room(&c->colour, at, &c->room, sizeof(*c->colour)) < 0)
		return -ENOMEM;
	if (at < known)
		return 0;
	if (category == PMFS_PROGRAM)
		c->colour[at] = (uint8_t)((*n_program)++ % PMFS_N_HUES);
	else
		c->colour[at] = colour_of_category(category, name);
	return 0;
}

static int add_functions(struct pmfs_colours *c, const struct pmfs_functions *f)
{
	struct pm_text line = {.p = NULL};
	unsigned n_program = 0;
	int r = 0;
	for (uint32_t row = 0; r == 0 && row < f->n; row++) {
		enum pmfs_category category = (enum pmfs_category)f->category[f->function[row]];
		pm_text_clear(&line);
		pm_text_line(&line, pmfs_function_name(f, row));
		r = line.failed ? -ENOMEM : add_name(c, pm_text_view(&line), category, &n_program);
	}
	pm_text_done(&line);
	return r;
}

static int colours_build(struct pmfs_model *m, void **ret, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0)
		return r;
	struct pmfs_colours *c = calloc(1, sizeof(*c));
	if (!c)
		return pmfs_no_memory(err);
	c->names.arena = &c->arena;
	if (add_functions(c, f) < 0) {
		colours_free(c);
		return pmfs_no_memory(err);
	}
	*ret = c;
	return 0;
}

int pmfs_colours(struct pmfs_model *m, const struct pmfs_colours **ret, struct pm_error *err)
{
	static const struct pmfs_part_type type = {colours_build, colours_free};
	void *part;
	int r = pmfs_model_part(m, PMFS_PART_COLOURS, &type, &part, err);
	if (r == 0)
		*ret = part;
	return r;
}

unsigned pmfs_colour_of(const struct pmfs_colours *c, struct pm_bytes name)
{
	uint32_t at = c ? pm_strtab_find(&c->names, name) : PM_NONE;
	return at != PM_NONE ? c->colour[at] : (unsigned)(pm_hash_bytes(name) % PMFS_N_HUES);
}
