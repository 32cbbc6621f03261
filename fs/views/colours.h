/* The colours of pictures: a function has the same one in every picture of every mount. */
#ifndef PROFMOUNT_FS_VIEWS_COLOURS_H
#define PROFMOUNT_FS_VIEWS_COLOURS_H

#include "profmount/bytes.h"

#define PMFS_N_COLOURS 64

/* Calm and warm, all of them light enough for dark text: 0xrrggbb. */
extern const uint32_t pmfs_colours[PMFS_N_COLOURS];

/* Which of them a name has. */
unsigned pmfs_colour_of(struct pm_bytes name);

#endif
