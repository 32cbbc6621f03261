/*
 * Numbers of names that are found and not listed, because there are too many of them: windows of
 * time, filters, labels. What is listed has numbers that are pure functions of the source; these
 * are counted, and taken back once nobody uses them any more, so that they never run out.
 *
 * A number in use keeps its name. One that is not keeps it, too, until numbers are short: then it
 * is given to another name, with its next generation. Thread-safe.
 */
#ifndef PROFMOUNT_UNLISTED_H
#define PROFMOUNT_UNLISTED_H

#include "profmount/bytes.h"

struct pm_unlisted;

/*
 * Forgets whatever was kept of the numbers whose bits are set in `numbers`, and clears the bits of
 * those of which something is still in use. Called without locks.
 */
typedef void pm_unlisted_forget_fn(void *context, uint8_t *numbers);

static inline bool pm_unlisted_has_bit(const uint8_t *numbers, uint32_t number)
{
	return numbers[number / 8] >> number % 8 & 1;
}

/* A new list with one reference, for `forget(context, …)`. NULL if out of memory. */
struct pm_unlisted *pm_unlisted_new(pm_unlisted_forget_fn *forget, void *context);

/* Takes a reference; returns the list. */
struct pm_unlisted *pm_unlisted_use(struct pm_unlisted *u);

/* Drops a reference; the last one frees the list. Accepts NULL. */
void pm_unlisted_drop(struct pm_unlisted *u);

/*
 * The number of a key (a name, or what it means, not empty), below PM_LIMIT_UNLISTED, and its
 * generation. 1, or -ENOMEM, also if so many are in use.
 */
int pm_unlisted_number(
	struct pm_unlisted *u, struct pm_bytes key, uint32_t *ret, uint32_t *ret_generation);

/* Copies the first bytes of a number's key, at most n; returns the key's length, 0 if it has none.
 */
size_t pm_unlisted_get(struct pm_unlisted *u, uint32_t number, void *ret, size_t n);

/* The generation of a number that has a key; 0 for others. */
uint32_t pm_unlisted_generation(struct pm_unlisted *u, uint32_t number);

/* Whether a number is in use: false if that generation has ended. */
bool pm_unlisted_hold(struct pm_unlisted *u, uint32_t number, uint32_t generation);
void pm_unlisted_let_go(struct pm_unlisted *u, uint32_t number);

#endif
