/* Patterns for names, as shells have them, in linear time. */
#ifndef PROFMOUNT_GLOB_H
#define PROFMOUNT_GLOB_H

#include <stdbool.h>

#include "profmount/bytes.h"

enum { PM_GLOB_SIZE = 256 }; /* longer names of directories do not exist */

/* A glob of at most PM_GLOB_SIZE - 1 bytes. */
struct pm_glob {
	struct pm_bytes text;
	struct pm_glob_step {
		uint8_t kind;
		uint8_t from, to; /* in the text: a character, or the inside of a set */
	} steps[PM_GLOB_SIZE];
	unsigned n;
};

/* The text must outlive it. O(its length). */
void pm_glob_read(struct pm_glob *g, struct pm_bytes text);

/*
 * Whether it matches the whole name: `*` is any text, `?` one character, `[…]` one of a set,
 * `\` takes away the meaning of the next one, U+2215 is a slash. At most pattern × name steps.
 */
bool pm_glob_matches(const struct pm_glob *g, struct pm_bytes name);

#endif
