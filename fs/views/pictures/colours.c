/*
 * Assigns colours to names. Functions take the hues in order of cost, so expensive ones differ;
 * functions of a category take the shades of its family. Colours are a table rather than a formula,
 * so pictures are the same on every machine.
 */
#include "fs/views/pictures/colours.h"

#include <string.h>

#include "formats/common/map.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/functions.h"

/* After the hues; a family has three entries. */
enum {
	IDLE = PMFS_N_HUES,
	WAITING,
	MPI,
	OPENMP = MPI + PMFS_N_SHADES,
	GPU = OPENMP + PMFS_N_SHADES,
	IO = GPU + PMFS_N_SHADES,
	MEMORY = IO + PMFS_N_SHADES,
	GC = MEMORY + PMFS_N_SHADES,
	SQL = GC + PMFS_N_SHADES,
	NET = SQL + PMFS_N_SHADES,
	OTHER = NET + PMFS_N_SHADES,
};

const uint32_t pmfs_palette[PMFS_N_COLOURS] = {
	/* clang-format off */
	0xef806f, 0x6fa4fc, 0xdc932e, 0x5bbd74, 0xb28fef, 0xfbc8ac,
	0x3bcdf4, 0xaaac31, 0xe9c6f1, 0x84ead7, 0xe57db1, 0xcedca8,
	[IDLE] = 0xe2e2e2,
	[WAITING] = 0xa4a4a4,
	[MPI] = 0xad6066, 0xfeb2bf, 0xb56a42,
	[OPENMP] = 0x6b7c92, 0xbac9f9, 0x83acbc,
	[GPU] = 0x6b9174, 0x9edcae, 0x37bab6,
	[IO] = 0xa68f68, 0xe8c773, 0xeda570,
	[MEMORY] = 0x8e68a5, 0xa2a0c3, 0xfeaedc,
	[GC] = 0xa58998, 0xd7a0e3, 0xeabfbb,
	[SQL] = 0x1c989e, 0xa5d5d7, 0x3788bb,
	[NET] = 0x7c8033, 0xa0aa87, 0xa8742a,
	[OTHER] = 0xfff4d6,
	/* clang-format on */
};

const uint64_t pmfs_colours_near[PMFS_N_COLOURS] = {
	/* clang-format off */
	0, 0x4000c0000, 0x2002000000, 0x200000, 0x48000000, 0x82000000,
	0x200080000, 0x1000000, 0x50008000, 0x200600000, 0x50008000, 0x5000200000,
	0x4000000000, 0x1008080000,
	0, 0x90000500, 0x2000000000,
	0x400000000, 0x8000002, 0x300402042,
	0x1000000000, 0xa08, 0x300080200,
	0x3000000000, 0x80, 0x24,
	0, 0x60042010, 0x40008500,
	0x8000000, 0x18000510, 0x8020,
	0x480000, 0x480240, 0x20002,
	0, 0x902800, 0x810004,
	0x1800,
	/* clang-format on */
};

struct pmfs_colours {
	struct pm_strtab names;
	uint8_t *colour; /* of each name */
};

static const uint8_t families[PMFS_N_CATEGORIES] = {[PMFS_MPI] = MPI,
	[PMFS_OPENMP] = OPENMP,
	[PMFS_GPU] = GPU,
	[PMFS_IO] = IO,
	[PMFS_MEMORY] = MEMORY,
	[PMFS_GC] = GC,
	[PMFS_SQL] = SQL,
	[PMFS_NET] = NET};

/* The first colour of a category, and how many it has. */
static unsigned colours_of(enum pmfs_category category, struct pm_bytes name, unsigned *ret_n)
{
	*ret_n = 1;
	if (category == PMFS_IDLE)
		return IDLE;
	/* Runtimes wait in functions of their own: barriers of OpenMP say so. */
	if (category == PMFS_THREAD ||
		(category == PMFS_OPENMP &&
			(memmem(name.p, name.len, "wait", 4) ||
				memmem(name.p, name.len, "barrier", 7))))
		return WAITING;
	*ret_n = category == PMFS_PROGRAM ? PMFS_N_HUES : PMFS_N_SHADES;
	return families[category];
}

/* If functions share a name, the most expensive one decides. */
static void colours_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_colours *c = part;
	const struct pmfs_functions *f;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pm_text line = {.arena = scratch};
	struct pm_strtab seen =
		pm_strtab_in(scratch); /* long names, which many functions may have */
	unsigned n_named[PMFS_N_CATEGORIES] = {0};
	pm_build_check(a, pmfs_functions(owner, &f, err));
	c->names = pm_strtab_in(a);
	c->colour = pm_arena_array(a, f->n, sizeof(*c->colour));
	for (uint32_t row = 0; row < f->n; row++) {
		enum pmfs_category category = (enum pmfs_category)f->category[f->function[row]];
		struct pm_bytes name = pmfs_function_name(f, row);
		uint32_t known = seen.n;
		if (name.len > PM_STRTAB_LONG && pm_strtab_add_lasting(&seen, name) < known)
			continue;
		pm_text_clear(&line);
		pm_text_line(&line, name);
		unsigned n, first = colours_of(category, pm_text_view(&line), &n);
		known = c->names.n;
		uint32_t at = pm_strtab_add(&c->names, pm_text_view(&line));
		if (at < known)
			continue;
		c->colour[at] = (uint8_t)(first + n_named[category] % n);
		n_named[category] += n > 1;
	}
	pm_arena_done(scratch);
}

int pmfs_colours(struct pmfs_model *m, const struct pmfs_colours **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_colours), .what = "the colours", .build = colours_build};
	while (pmfs_model_outer(m))
		m = pmfs_model_outer(m);
	return pmfs_model_part(m, PMFS_PART_COLOURS, &type, ret, err);
}

unsigned pmfs_colour_of(const struct pmfs_colours *c, struct pm_bytes name)
{
	uint32_t at = c ? pm_strtab_find(&c->names, name) : PM_NONE;
	if (!c)
		return (unsigned)(pm_hash_bytes(name) % PMFS_N_HUES);
	return at != PM_NONE ? c->colour[at] : OTHER;
}

struct pm_bytes pmfs_colour_kind(unsigned colour)
{
	if (colour < PMFS_N_HUES || colour == OTHER)
		return pm_bytes_of("program");
	if (colour == IDLE || colour == WAITING)
		return pm_bytes_of(colour == IDLE ? "idle" : "waiting");
	unsigned category = 0;
	while (families[category] != colour - (colour - MPI) % PMFS_N_SHADES)
		category++;
	return pmfs_category_name((enum pmfs_category)category);
}
