#include "formats/htdump/select.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/work.h"

/* Up to this many values are sorted. */
enum { FEW = 16 };
/* Values between two checks for cancellation. */
enum { STEP = 1 << 16 };

uint64_t htd_part_first(uint32_t part)
{
	uint32_t shift = part >> HTD_PART_BITS;
	if (shift <= 1)
		return part;
	return (uint64_t)(part - ((shift - 1) << HTD_PART_BITS)) << (shift - 1);
}

/* The remaining values, and the rank looked for among them. */
struct choice {
	uint64_t *values;
	size_t n;
	uint64_t rank;
};

/* The values by part of their range. */
struct parting {
	uint64_t low, high;
	size_t counts[HTD_PARTS];
};

static bool is_wanted(size_t i)
{
	return i % STEP || !pm_work_cancelled();
}

static int divide(const struct choice *c, struct parting *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->low = UINT64_MAX;
	for (size_t i = 0; i < c->n; i++) {
		if (!is_wanted(i))
			return -ENOMEM;
		ret->low = c->values[i] < ret->low ? c->values[i] : ret->low;
		ret->high = c->values[i] > ret->high ? c->values[i] : ret->high;
	}
	for (size_t i = 0; i < c->n && ret->low < ret->high; i++) {
		if (!is_wanted(i))
			return -ENOMEM;
		ret->counts[htd_part_of(c->values[i] - ret->low)]++;
	}
	return 0;
}

/* Moves the values of the part that contains the rank to the beginning. */
static int keep_part(struct choice *c, const struct parting *p)
{
	uint32_t part = 0;
	size_t n = 0;
	for (; p->counts[part] <= c->rank; part++)
		c->rank -= p->counts[part];
	for (size_t i = 0; n < p->counts[part]; i++) {
		if (!is_wanted(i))
			return -ENOMEM;
		uint64_t value = c->values[i];
		if (htd_part_of(value - p->low) == part) {
			c->values[i] = c->values[n];
			c->values[n++] = value;
		}
	}
	c->n = n;
	return 0;
}

static uint64_t choose_of_few(struct choice *c)
{
	for (size_t i = 1; i < c->n; i++) {
		uint64_t value = c->values[i];
		size_t k = i;
		for (; k && c->values[k - 1] > value; k--)
			c->values[k] = c->values[k - 1];
		c->values[k] = value;
	}
	return c->values[c->rank];
}

/* `inner` is memory for dividing parts again. */
static int choose(struct choice c, const struct parting *p, struct parting *inner, uint64_t *ret)
{
	while (c.n > FEW) {
		*ret = p->low;
		if (p->low == p->high)
			return 0;
		if (keep_part(&c, p) < 0)
			return -ENOMEM;
		if (c.n > FEW && divide(&c, inner) < 0)
			return -ENOMEM;
		p = inner;
	}
	*ret = choose_of_few(&c);
	return 0;
}

int htd_select(uint64_t *values, size_t n, const uint64_t *ranks, uint32_t n_ranks, uint64_t *ret)
{
	struct choice all = {.values = values, .n = n};
	struct parting *parts = malloc(2 * sizeof(*parts));
	int r = parts ? divide(&all, &parts[0]) : -ENOMEM;
	for (uint32_t i = 0; i < n_ranks && r == 0; i++) {
		all.rank = ranks[i];
		r = choose(all, &parts[0], &parts[1], &ret[i]);
	}
	free(parts);
	return r;
}
