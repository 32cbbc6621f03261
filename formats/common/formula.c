/*
 * Formulas: read by precedence with a stack of operators that wait for their right operand, into
 * steps in postfix order.
 */
#include "formats/common/formula.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profmount/limits.h"

/* ---- words ---- */

static const struct {
	const char *name;
	enum pm_op_kind kind;
	uint32_t least, most; /* operands */
} functions[] = {
	{"min", PM_OP_MIN, 1, UINT32_MAX},
	{"max", PM_OP_MAX, 1, UINT32_MAX},
	{"sum", PM_OP_SUM, 1, UINT32_MAX},
	{"prod", PM_OP_PRODUCT, 1, UINT32_MAX},
	{"pow", PM_OP_POWER, 2, 2},
	{"sqrt", PM_OP_SQRT, 1, 1},
	{"log", PM_OP_LOG, 1, 2},
	{"ln", PM_OP_LOG, 1, 1},
	{"floor", PM_OP_FLOOR, 1, 1},
	{"ceil", PM_OP_CEIL, 1, 1},
	{"strict_floor", PM_OP_STRICT_FLOOR, 1, 1},
	{"strict_ceil", PM_OP_STRICT_CEIL, 1, 1},
};

enum { N_FUNCTIONS = sizeof(functions) / sizeof(*functions) };

/* Of operators: which of two next to each other comes first. */
static int precedence(enum pm_op_kind kind)
{
	switch ((int)kind) {
	case PM_OP_ADD:
	case PM_OP_SUBTRACT: return 1;
	case PM_OP_MULTIPLY:
	case PM_OP_DIVIDE: return 2;
	case PM_OP_NEGATE: return 3;
	default: return 4;
	}
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		c == '$';
}

/* ---- reading ---- */

/* What waits: an operator, or an open parenthesis, perhaps of a function. */
struct waiting {
	enum { OPERATOR, PARENTHESIS, FUNCTION } what;
	enum pm_op_kind kind;
	uint32_t function; /* index */
	uint32_t n;        /* of a function: operands that are complete */
	size_t at;
};

struct reader {
	struct pm_bytes text;
	size_t at;
	struct pm_formula *f;
	struct pm_formula_fault *fault;
	uint32_t height; /* of the stack of numbers after all steps so far */
	uint32_t n_waiting;
	struct waiting waiting[PM_LIMIT_FORMULA_DEPTH];
};

static int expected(const struct reader *r, size_t at, const char *what)
{
	*r->fault = (struct pm_formula_fault){at, what};
	return -EINVAL;
}

static int emit(struct reader *r, struct pm_op op)
{
	if (r->f->n == PM_LIMIT_FORMULA)
		return expected(r, r->at, "a shorter formula (1,000 steps at most)");
	if (op.n == 0 && r->height == PM_LIMIT_FORMULA_DEPTH)
		return expected(r, r->at, "a formula that is nested less deeply");
	r->height += 1;
	r->height -= op.n;
	r->f->ops[r->f->n++] = op;
	return 0;
}

static int wait_for(struct reader *r, struct waiting w)
{
	w.at = r->at;
	if (r->n_waiting == PM_LIMIT_FORMULA_DEPTH)
		return expected(r, r->at, "a formula that is nested less deeply");
	r->waiting[r->n_waiting++] = w;
	return 0;
}

/* Emits the operators that come before one of that precedence, down to a parenthesis. */
static int settle(struct reader *r, int before)
{
	int status = 0;
	while (status == 0 && r->n_waiting > 0) {
		const struct waiting *w = &r->waiting[r->n_waiting - 1];
		if (w->what != OPERATOR || precedence(w->kind) < before)
			break;
		status = emit(
			r, (struct pm_op){.kind = w->kind, .n = w->kind == PM_OP_NEGATE ? 1 : 2});
		r->n_waiting--;
	}
	return status;
}

/* The bytes of a number at the reader's place; 0: none, or it goes on as a name (`1d_cache`). */
static size_t number_length(const struct reader *r)
{
	const uint8_t *p = r->text.p + r->at;
	size_t left = r->text.len - r->at, n = 0, digits = 0, exponent;
	for (bool point = false; n < left && (is_digit(p[n]) || (p[n] == '.' && !point)); n++) {
		point |= p[n] == '.';
		digits += p[n] != '.';
	}
	exponent = n + 1;
	if (exponent < left && (p[exponent] == '+' || p[exponent] == '-'))
		exponent++;
	if (exponent < left && (p[n] == 'e' || p[n] == 'E') && is_digit(p[exponent]))
		for (n = exponent; n < left && is_digit(p[n]);)
			n++;
	return digits == 0 || (n < left && is_word(p[n])) ? 0 : n;
}

static int read_number(struct reader *r, size_t len)
{
	char digits[64];
	if (len >= sizeof(digits))
		return expected(r, r->at, "a number of fewer digits");
	memcpy(digits, r->text.p + r->at, len);
	digits[len] = '\0';
	double number = strtod(digits, NULL);
	if (!isfinite(number))
		return expected(r, r->at, "a smaller number");
	r->at += len;
	return emit(r, (struct pm_op){.kind = PM_OP_NUMBER, .number = number});
}

/* A name; or a function and its parenthesis, and then an operand is expected as before. */
static int read_word(struct reader *r, bool *operand)
{
	struct pm_bytes word = {r->text.p + r->at, 0};
	size_t at = r->at;
	while (at < r->text.len && is_word(r->text.p[at]))
		at++;
	word.len = at - r->at;
	while (at < r->text.len && r->text.p[at] == ' ')
		at++;
	if (at == r->text.len || r->text.p[at] != '(') {
		*operand = false;
		r->at += word.len;
		return emit(r, (struct pm_op){.kind = PM_OP_NAME, .name = word});
	}
	for (uint32_t i = 0; i < N_FUNCTIONS; i++)
		if (pm_bytes_equal(word, pm_bytes_of(functions[i].name))) {
			int status = wait_for(r,
				(struct waiting){.what = FUNCTION,
					.kind = functions[i].kind,
					.function = i});
			r->at = at + 1;
			return status;
		}
	return expected(r, r->at,
		"one of the functions min, max, sum, prod, pow, sqrt, log, ln, floor, ceil, "
		"strict_floor, strict_ceil");
}

static int read_operand(struct reader *r, bool *operand)
{
	uint8_t c = r->text.p[r->at];
	size_t len = number_length(r);
	int status = 0;
	if (len > 0) {
		*operand = false;
		return read_number(r, len);
	}
	if (is_word(c))
		return read_word(r, operand);
	if (c == '(')
		status = wait_for(r, (struct waiting){.what = PARENTHESIS});
	else if (c == '-')
		status = wait_for(r, (struct waiting){.what = OPERATOR, .kind = PM_OP_NEGATE});
	else if (c != '+')
		return expected(r, r->at, "a number, a name or `(`");
	r->at++;
	return status;
}

/* At a comma or `)`: the parenthesis that it belongs to has one operand more. */
static int end_argument(struct reader *r, bool closes)
{
	int status = settle(r, 0);
	if (status < 0)
		return status;
	struct waiting *w = r->n_waiting ? &r->waiting[r->n_waiting - 1] : NULL;
	if (!w || (w->what == PARENTHESIS && !closes))
		return expected(r, r->at, w ? "an operator or `)`" : "an operator or the end");
	r->at++;
	w->n++;
	if (!closes)
		return 0;
	r->n_waiting--;
	if (w->what == PARENTHESIS)
		return 0;
	if (w->n < functions[w->function].least || w->n > functions[w->function].most)
		return expected(r, w->at,
			functions[w->function].most == 1 ? "a function of one operand"
							 : "a function of two operands");
	return emit(r, (struct pm_op){.kind = w->kind, .n = w->n});
}

static int read_operator(struct reader *r, bool *operand)
{
	static const char signs[] = "+-*/^";
	static const enum pm_op_kind kinds[] = {
		PM_OP_ADD, PM_OP_SUBTRACT, PM_OP_MULTIPLY, PM_OP_DIVIDE, PM_OP_POWER};
	uint8_t c = r->text.p[r->at];
	const char *sign = c ? strchr(signs, c) : NULL;
	*operand = c != ')';
	if (c == ')' || c == ',')
		return end_argument(r, c == ')');
	if (!sign)
		return expected(r, r->at, "an operator (+ - * / ^)");
	enum pm_op_kind kind = kinds[sign - signs];
	/* 2^3^2 is 2^(3^2): of powers, the one at the right comes first. */
	int status = settle(r, precedence(kind) + (kind == PM_OP_POWER));
	if (status == 0)
		status = wait_for(r, (struct waiting){.what = OPERATOR, .kind = kind});
	r->at++;
	return status;
}

static int read_all(struct reader *r)
{
	bool operand = true; /* what is expected */
	int status = 0;
	while (status == 0) {
		while (r->at < r->text.len && r->text.p[r->at] == ' ')
			r->at++;
		if (r->at == r->text.len)
			break;
		status = operand ? read_operand(r, &operand) : read_operator(r, &operand);
	}
	if (status == 0 && operand)
		return expected(r, r->at, "a number, a name or `(`");
	if (status == 0)
		status = settle(r, 0);
	if (status == 0 && r->n_waiting > 0)
		return expected(r, r->at, "an operator or `)`");
	return status;
}

int pm_formula_read_in(struct pm_arena *a, struct pm_bytes text, struct pm_formula *ret,
	struct pm_formula_fault *fault)
{
	struct reader r = {.text = text, .f = ret, .fault = fault};
	size_t most = text.len < PM_LIMIT_FORMULA ? text.len + 1 : PM_LIMIT_FORMULA;
	*ret = (struct pm_formula){.ops = pm_arena_realloc(a, NULL, most * sizeof(*ret->ops))};
	*fault = (struct pm_formula_fault){0, NULL};
	if (!ret->ops)
		return -ENOMEM;
	int status = read_all(&r);
	if (status < 0) {
		pm_arena_free(a, ret->ops);
		*ret = (struct pm_formula){.n = 0};
	} else if (a) {
		ret->ops = pm_arena_realloc(a, ret->ops, ret->n * sizeof(*ret->ops));
	}
	return status;
}

int pm_formula_read(struct pm_bytes text, struct pm_formula *ret, struct pm_formula_fault *fault)
{
	return pm_formula_read_in(NULL, text, ret, fault);
}

void pm_formula_done(struct pm_formula *f)
{
	free(f->ops);
	*f = (struct pm_formula){.n = 0};
}

/* ---- computing ---- */

static double combine(enum pm_op_kind kind, double a, double b)
{
	switch ((int)kind) {
	case PM_OP_ADD:
	case PM_OP_SUM: return a + b;
	case PM_OP_SUBTRACT: return a - b;
	case PM_OP_MULTIPLY:
	case PM_OP_PRODUCT: return a * b;
	case PM_OP_DIVIDE: return a / b;
	case PM_OP_POWER: return pow(a, b);
	case PM_OP_MIN: return a < b ? a : b;
	case PM_OP_MAX: return a > b ? a : b;
	default: return log(a) / log(b);
	}
}

static double apply(enum pm_op_kind kind, double a)
{
	switch ((int)kind) {
	case PM_OP_NEGATE: return -a;
	case PM_OP_SQRT: return sqrt(a);
	case PM_OP_LOG: return log(a);
	case PM_OP_FLOOR: return floor(a);
	case PM_OP_CEIL: return ceil(a);
	case PM_OP_STRICT_FLOOR: return ceil(a) - 1;
	case PM_OP_STRICT_CEIL: return floor(a) + 1;
	default: return a; /* the least, the sum … of one */
	}
}

double pm_formula_value(const struct pm_formula *f,
	double (*value_of)(const void *self, uint32_t leaf), const void *self)
{
	double stack[PM_LIMIT_FORMULA_DEPTH];
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct pm_op *op = &f->ops[i];
		double value = op->number;
		if (op->kind == PM_OP_NAME)
			value = value_of(self, op->leaf);
		else if (op->n == 1)
			value = apply(op->kind, stack[--n]);
		else if (op->n > 1)
			value = stack[n -= op->n];
		for (uint32_t k = 1; k < op->n; k++)
			value = combine(op->kind, value, stack[n + k]);
		/* 1 / (1 / 0) is nothing, not 0. */
		if (!isfinite(value))
			return NAN;
		stack[n++] = value;
	}
	return n ? stack[0] : NAN;
}
