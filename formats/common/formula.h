/*
 * Formulas over numbers that have names: `ins / cyc`, `min(a, b) * 2`. They come from the command
 * line and from sources, so reading and computing one take time and memory that its length bounds,
 * and no recursion.
 */
#ifndef PROFMOUNT_FORMULA_H
#define PROFMOUNT_FORMULA_H

#include "formats/common/arena.h"
#include "profmount/bytes.h"

enum pm_op_kind {
	PM_OP_NUMBER,
	PM_OP_NAME,
	PM_OP_NEGATE,
	PM_OP_ADD,
	PM_OP_SUBTRACT,
	PM_OP_MULTIPLY,
	PM_OP_DIVIDE,
	PM_OP_POWER,
	PM_OP_MIN,
	PM_OP_MAX,
	PM_OP_SUM,
	PM_OP_PRODUCT,
	PM_OP_SQRT,
	PM_OP_LOG, /* natural; with a second operand: to that base */
	PM_OP_FLOOR,
	PM_OP_CEIL,
	PM_OP_STRICT_FLOOR, /* the greatest integer that is less */
	PM_OP_STRICT_CEIL,
};

/* A step: takes its operands from the top of a stack and puts its result there. */
struct pm_op {
	enum pm_op_kind kind;
	uint32_t n;           /* how many operands it takes */
	uint32_t leaf;        /* of a name: whatever its owner resolves it to; 0 at first */
	double number;        /* of a number */
	struct pm_bytes name; /* of a name: in the text */
};

struct pm_formula {
	uint32_t n;
	struct pm_op *ops; /* owned, or in an arena; operands come before what takes them */
};

/* What is wrong with a text, and where: `at` counts bytes from 0. */
struct pm_formula_fault {
	size_t at;
	const char *expected;
};

/*
 * Reads `text`, which must outlive the formula: numbers, names (letters, digits, `_`, `$`), `+ - *
 * / ^` and parentheses as in mathematics (`^` first and from the right, then the minus of a sign),
 * and functions: min, max, sum, prod, pow, sqrt, log, ln, floor, ceil, strict_floor, strict_ceil.
 * 0, -EINVAL with `fault` filled, or -ENOMEM; after a failure there is nothing to free.
 */
int pm_formula_read(struct pm_bytes text, struct pm_formula *ret, struct pm_formula_fault *fault);

/* The same in a build of the arena, which has the steps. */
int pm_formula_read_in(struct pm_arena *a, struct pm_bytes text, struct pm_formula *ret,
	struct pm_formula_fault *fault);

/* Accepts a zeroed one. */
void pm_formula_done(struct pm_formula *f);

/*
 * The value, with `value_of(self, leaf)` for names. NaN where any of them is NaN, and where some
 * step has no finite result: a division by 0, a root or logarithm that is not real. O(n).
 */
double pm_formula_value(const struct pm_formula *f,
	double (*value_of)(const void *self, uint32_t leaf), const void *self);

#endif
