/* The colours of differences: red costs more, blue costs less, grey is no difference. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_SHADES_H
#define PROFMOUNT_FS_VIEWS_PICTURES_SHADES_H

#include <stdint.h>

enum {
	PMFS_SHADE_STEPS = 15,                        /* of red, and of blue */
	PMFS_N_SHADES_ALL = 1 + 2 * PMFS_SHADE_STEPS, /* 64 at most: pages write one as a letter */
	PMFS_SHADE_NONE = 0,
};

/* The shade of a difference; `most` is the largest there is. Steps are finer for small ones. */
uint8_t pmfs_shade_of(double difference, double most);

/* 0xrrggbb, light enough for dark text. */
uint32_t pmfs_shade_colour(uint8_t shade);

#endif
