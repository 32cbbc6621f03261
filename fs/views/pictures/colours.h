/*
 * The colours of pictures: twelve hues that a person can tell apart for what the program does,
 * assigned by cost; a family of three for each category; greys for waiting and idle. A name has the
 * same one in every picture of a mount.
 */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_COLOURS_H
#define PROFMOUNT_FS_VIEWS_PICTURES_COLOURS_H

#include "fs/views/model/model.h"

enum {
	PMFS_N_HUES = 12,
	PMFS_N_FAMILIES = 8,
	PMFS_N_SHADES = 3,
	PMFS_N_COLOURS = PMFS_N_HUES + 2 + PMFS_N_FAMILIES * PMFS_N_SHADES,
	/* 64 at most: pages write a number as one letter. */
};

/* All of them light enough for dark text: 0xrrggbb. Hues, idle, waiting, families. */
extern const uint32_t pmfs_palette[PMFS_N_COLOURS];

/*
 * By colour: a bit for each other one that is less than ΔE2000 15 away. None is between hues,
 * greys, and colours of one family.
 */
extern const uint64_t pmfs_colours_near[PMFS_N_COLOURS];

struct pmfs_colours;

/* The model's. Costs the flat profile on the first call. */
int pmfs_colours(struct pmfs_model *m, const struct pmfs_colours **ret, struct pm_error *err);

/*
 * Which colour of the palette a name has, as pictures write it. A name that is no function's has
 * one of the hues, as all have where `c` is NULL.
 */
unsigned pmfs_colour_of(const struct pmfs_colours *c, struct pm_bytes name);

#endif
