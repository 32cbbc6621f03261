/*
 * The colours of pictures: twelve distinguishable hues for the program's functions, assigned by
 * cost; a family of three for each category; greys for waiting and idle. A name has the same colour
 * in every picture of a mount.
 */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_COLOURS_H
#define PROFMOUNT_FS_VIEWS_PICTURES_COLOURS_H

#include "fs/views/model/model.h"

enum {
	PMFS_N_HUES = 12,
	PMFS_N_FAMILIES = 8,
	PMFS_N_SHADES = 3,
	PMFS_N_COLOURS = PMFS_N_HUES + 2 + PMFS_N_FAMILIES * PMFS_N_SHADES + 1,
	/* At most 64: pages encode a number as one letter. */
};

/* 0xrrggbb, all light enough for dark text. Hues, idle, waiting, families, what is no function. */
extern const uint32_t pmfs_palette[PMFS_N_COLOURS];

/*
 * By colour: a bit for each other colour at a distance below ΔE2000 15. There are none among hues,
 * greys, and colours of the same family.
 */
extern const uint64_t pmfs_colours_near[PMFS_N_COLOURS];

struct pmfs_colours;

/* Owned by the model. Computes the flat profile on the first call. */
int pmfs_colours(struct pmfs_model *m, const struct pmfs_colours **ret, struct pm_error *err);

/*
 * The palette index of a name as written in pictures. A name that is not a function, as an entry
 * point, has a colour that no function has. Without `c` (NULL) names get one of the hues.
 */
unsigned pmfs_colour_of(const struct pmfs_colours *c, struct pm_bytes name);

/* The kind of work of a palette index: program, idle, waiting, mpi … Static. */
struct pm_bytes pmfs_colour_kind(unsigned colour);

#endif
