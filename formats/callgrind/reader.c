/*
 * Reads the lines of callgrind.out and cachegrind.out. Costs and calls go to the recording as they
 * come, as a graph: a function, and below it what it called, with the inclusive cost as stored.
 * Xdebug's blocks are kept first, because a block's place in the tree is known when its caller
 * returns; if they turn out to be no tree, the file is read again as a graph.
 */
#include "formats/callgrind/callgrind.h"
#include "formats/common/cursor.h"
#include "profmount/limits.h"

enum { HEADER = 1 << 20 }; /* bytes before the first `events:`; real ones have some hundred */

/* ---- words and numbers ---- */

static inline bool begins(struct pm_bytes *line, const char *with)
{
	size_t n = strlen(with);
	if (line->len < n || memcmp(line->p, with, n) != 0)
		return false;
	line->p += n;
	line->len -= n;
	return true;
}

bool cg_is_by(const struct cg_reader *c, const char *writer)
{
	struct pm_bytes creator = c->at.creator;
	return begins(&creator, writer);
}

/* ---- names ---- */

struct pm_bytes cg_text(const struct cg_names *names, uint32_t name)
{
	return names->texts.items[name];
}

/* The name of a position: `TEXT`, `(ID) TEXT`, which defines the id, or `(ID)`. */
static uint32_t name_of(struct cg_reader *c, struct cg_names *names, struct pm_bytes b)
{
	size_t close = 1;
	uint64_t id;
	bool fresh, has_id = false;
	struct pm_bytes text = b;
	if (b.len > 2 && b.p[0] == '(') {
		for (id = 0; close < b.len && b.p[close] >= '0' && b.p[close] <= '9'; close++)
			id = id * 10 + (b.p[close] - (uint64_t)'0');
		has_id = close > 1 && close < b.len && b.p[close] == ')' &&
			(close <= CG_MOST_DIGITS ||
				cg_whole((struct pm_bytes){b.p + 1, close - 1}, &id));
	}
	if (has_id) {
		text = cg_trimmed((struct pm_bytes){b.p + close + 1, b.len - close - 1});
		const uint32_t *known = text.len ? NULL
			: id < names->n_small    ? &names->small[id]
						 : pm_map_find(&names->by_id, id);
		if (known && *known != PM_NONE)
			return *known;
		if (text.len == 0) {
			cg_add_fault(c, &c->at.nameless);
			text = (struct pm_bytes){b.p, close + 1};
		}
	}
	uint32_t name =
		pm_bytes_equal(text, pm_bytes_of("???")) ? 0 : pm_strtab_add(&names->texts, text);
	if (!has_id)
		return name;
	if (id >= CG_SMALL)
		return *pm_map_put(&names->by_id, id, name, &fresh) = name;
	while (names->n_small <= id) {
		pm_items_grow(&c->arena, &names->small, names->n_small, &names->small_room,
			sizeof(*names->small));
		names->small[names->n_small++] = PM_NONE;
	}
	return names->small[id] = name;
}

/* The function of a name that is defined in a file of an object. */
static uint32_t handle_of(struct cg_reader *c, uint32_t function, uint32_t file, uint32_t object)
{
	bool fresh;
	uint32_t pair = *pm_map_put(&c->pairs, (uint64_t)file << 32 | object, c->n_pairs, &fresh);
	c->n_pairs += fresh;
	uint32_t *handle =
		pm_map_put(&c->handles, (uint64_t)function << 32 | pair, PM_REC_BAD, &fresh);
	if (fresh) {
		struct pm_bytes name = cg_text(&c->functions, function);
		*handle = pm_rec_function(c->r,
			&(struct pm_rec_function){
				.name = name.len ? name : pm_bytes_of("(unknown)"),
				.file = cg_text(&c->files, file),
				.module = cg_text(&c->objects, object)});
	}
	return *handle;
}

static void set_position(
	struct cg_reader *c, struct cg_names *names, uint32_t *ret, struct pm_bytes name)
{
	*ret = name_of(c, names, cg_trimmed(name));
	c->at.top = PM_REC_NONE;
}

/* ---- Xdebug's blocks ---- */

/*
 * Xdebug writes a block for each call when it returns, so callees come before callers: the k calls
 * of a block are the last k blocks that nobody has called yet. That gives the tree of calls back.
 */
static void block_begins(struct cg_reader *c, uint32_t function)
{
	struct cg_block b = {.function = function, .parent = PM_NONE, .own_file = c->at.file};
	pm_items_grow(&c->arena, &c->blocks, c->n_blocks, &c->blocks_room, sizeof(b));
	c->blocks[c->n_blocks++] = b;
	c->in_block = true;
}

static void block_cost(struct cg_reader *c, uint32_t event, const struct cg_number *cost)
{
	struct cg_block_cost own = {
		(uint32_t)c->n_blocks - 1, c->at.here, c->at.line, event, *cost};
	if (!cost->digits && !cost->real)
		return;
	pm_items_grow(&c->arena, &c->costs, c->n_costs, &c->costs_room, sizeof(own));
	c->costs[c->n_costs++] = own;
}

static void block_call(struct cg_reader *c, uint32_t callee)
{
	struct cg_block_call call = {callee, c->at.here, c->at.line};
	pm_items_grow(&c->arena, &c->pending, c->n_pending, &c->pending_room, sizeof(call));
	c->pending[c->n_pending++] = call;
}

static void block_ends(struct cg_reader *c)
{
	if (!c->in_block)
		return;
	c->in_block = false;
	if (c->n_pending > c->n_open) {
		c->no_tree = true;
		return;
	}
	size_t first = c->n_open - c->n_pending;
	for (size_t i = 0; i < c->n_pending; i++) {
		struct cg_block *callee = &c->blocks[c->open[first + i]];
		c->no_tree |= callee->function != c->pending[i].function;
		callee->parent = (uint32_t)c->n_blocks - 1;
		callee->file = c->pending[i].file;
		callee->line = c->pending[i].line;
	}
	c->n_open -= c->n_pending;
	c->n_pending = 0;
	pm_items_grow(&c->arena, &c->open, c->n_open, &c->open_room, sizeof(*c->open));
	c->open[c->n_open++] = (uint32_t)c->n_blocks - 1;
}

/* ---- positions by name ---- */

/* The names of a position that is not that of the current function: where it is kept. */
static bool take_other(struct cg_reader *c, const char *key, struct pm_bytes name)
{
	struct cg_names *names = key[1] == 'f' && key[2] == 'n' ? &c->functions
		: key[1] == 'f'                                 ? &c->files
								: &c->objects;
	uint32_t *ret = NULL;
	bool *has = NULL;
	if (memcmp(key, "cfn", 3) == 0)
		ret = &c->at.callee, has = &c->at.has_callee;
	else if (memcmp(key, "cfi", 3) == 0 || memcmp(key, "cfl", 3) == 0)
		ret = &c->at.callee_file, has = &c->at.has_callee_file;
	else if (memcmp(key, "cob", 3) == 0)
		ret = &c->at.callee_object, has = &c->at.has_callee_object;
	else if (memcmp(key, "jfi", 3) == 0 || memcmp(key, "jfl", 3) == 0)
		ret = &c->at.jump_file, has = &c->at.has_jump_file;
	else if (memcmp(key, "jfn", 3) == 0)
		ret = &c->at.jump_function, has = &c->at.has_jump_function;
	else
		return false;
	*ret = name_of(c, names, cg_trimmed(name));
	return *has = true;
}

/* A line `KEY=NAME`; false if it is none. */
static bool take_name(struct cg_reader *c, struct pm_bytes line)
{
	const char *key = (const char *)line.p;
	struct pm_bytes name = {line.p + 3, line.len - 3};
	if (line.len < 3 || (key[2] != '=' && (line.len < 4 || key[3] != '=')))
		return false;
	if (key[2] != '=')
		return take_other(c, key, (struct pm_bytes){line.p + 4, line.len - 4});
	if (memcmp(key, "fn", 2) == 0) {
		block_ends(c);
		set_position(c, &c->functions, &c->at.function, name);
		c->at.here = c->at.file;
		if (c->by_blocks)
			block_begins(c, handle_of(c, c->at.function, c->at.file, c->at.object));
	} else if (memcmp(key, "fl", 2) == 0) {
		set_position(c, &c->files, &c->at.file, name);
		c->at.here = c->at.file;
	} else if (memcmp(key, "fi", 2) == 0 || memcmp(key, "fe", 2) == 0) {
		c->at.here = name_of(c, &c->files, cg_trimmed(name));
		c->at.site = PM_NONE;
	} else if (memcmp(key, "ob", 2) == 0) {
		set_position(c, &c->objects, &c->at.object, name);
	} else {
		return false;
	}
	return true;
}

/* ---- costs and calls ---- */

/* Takes a subposition: absolute, or relative to the last one. */
static bool position(struct pm_bytes *line, uint64_t *at)
{
	uint64_t n;
	if (cg_take_digits(line, at))
		return true;
	struct pm_bytes rest = *line, w;
	if (begins(&rest, "+") && rest.len && rest.p[0] >= '0' && cg_take_digits(&rest, &n)) {
		*line = rest;
		*at += n;
		return true;
	}
	w = cg_word(line);
	if (w.len == 1 && w.p[0] == '*')
		return true;
	bool plus = w.len > 1 && w.p[0] == '+', minus = w.len > 1 && w.p[0] == '-';
	if (plus || minus)
		w.p++, w.len--;
	if (!cg_take_digits(&(struct pm_bytes){w.p, w.len}, &n) && !cg_whole(w, &n))
		return false;
	*at = plus ? *at + n : minus ? *at - n : n;
	return true;
}

/* The positions at the beginning of a line; false if they are none. */
static bool take_positions(
	const struct cg_reader *c, struct pm_bytes *line, uint64_t *address, uint64_t *number)
{
	uint64_t ignored = 0;
	for (unsigned i = 0; i < c->at.n_positions; i++)
		if (!position(line,
			    c->at.order[i] == 'a'           ? address
				    : c->at.order[i] == 'l' ? number
							    : &ignored))
			return false;
	return true;
}

/*
 * Costs of a line; those that are missing are 0. False if one is no number or beyond 63 bits, or
 * there are too many.
 */
static bool take_costs(struct cg_reader *c, struct pm_bytes line)
{
	size_t n = 0;
	c->is_whole = false;
	for (struct pm_bytes w; (w = cg_word(&line)).len; n++)
		if (n == c->at.n_columns || !cg_number_of(w, &c->cells[n]) ||
			(c->cells[n].real && c->cells[n].decimals == 0))
			return false;
	for (; n < c->at.n_columns; n++)
		c->cells[n] = (struct cg_number){.digits = 0};
	return true;
}

/*
 * A number of up to 7 digits, of which 8 bytes can be read; PM_NO_OFFSET if it is none. Lengths
 * follow no rule, so there is no branch that depends on them.
 */
static inline uint64_t digits(const uint8_t **at)
{
	const uint64_t each = 0x0101010101010101, odd = 0x000000ff000000ff;
	uint64_t n = pm_le64(*at) ^ '0' * each;
	uint64_t others = ((n + 0x76 * each) | n) & 0x80 * each; /* what is no digit */
	unsigned bits = others ? (unsigned)__builtin_ctzll(others) - 7 : 64;
	*at += bits / 8;
	if (bits % 64 == 0)
		return PM_NO_OFFSET;
	n <<= 64 - bits;
	n = n * 10 + (n >> 8);
	return ((n & odd) * (1000000 * (UINT64_C(1) << 32) + 100) +
		       ((n >> 16) & odd) * (10000 * (UINT64_C(1) << 32) + 1)) >>
		32;
}

/*
 * Takes the next line if it is as most lines of costs are: a line number, and whole costs, in
 * decimal and not negative. False, with nothing taken: any other.
 */
static bool take_usual(struct cg_reader *c)
{
	struct pm_bytes ahead = pm_textlines_ahead(c->lines);
	const uint8_t *p = ahead.p;
	enum { SIGN = 1, NUMBER = 8 /* with a blank or the line end */ };
	if (!c->at.is_usual || ahead.len < SIGN + NUMBER * (c->at.n_columns + 1))
		return false;
	uint8_t sign = *p;
	uint64_t line = c->at.line, by = 0;
	p += sign == '+' || sign == '-' || sign == '*';
	if (sign != '*' && (by = digits(&p)) == PM_NO_OFFSET)
		return false;
	line = sign == '+' ? line + by : sign == '-' ? line - by : sign == '*' ? line : by;
	size_t n = 0;
	for (; n < c->at.n_columns && *p == ' '; n++) {
		p++;
		uint64_t cost = digits(&p);
		if (cost == PM_NO_OFFSET)
			return false;
		c->amounts[n].cost = (int64_t)cost;
	}
	if (*p != '\n')
		return false;
	for (; n < c->at.n_columns; n++)
		c->amounts[n].cost = 0;
	c->at.line = line;
	c->is_whole = true;
	pm_textlines_took(c->lines, (size_t)(p + 1 - ahead.p));
	return true;
}

/*
 * The same lines and calls come again in the next part, or for the next instruction, and mostly in
 * the same order: what came next the last time is tried before it is looked up, and what is at
 * hand, since a call is on the line of a cost.
 */
static bool is_next(struct cg_reader *c, const struct cg_step *step)
{
	for (size_t i = c->step; i < c->n_steps && i < c->step + 2; i++) {
		const struct cg_step *next = &c->steps[i];
		if (next->of == step->of && next->to == step->to && next->file == step->file &&
			next->object == step->object && next->is_line == step->is_line) {
			c->step = i;
			return true;
		}
	}
	return false;
}

/* Goes to a step that was not the next one; `*at` is where it is, PM_NONE if it is new. */
static uint32_t take_step(struct cg_reader *c, uint32_t *at, const struct cg_step *step)
{
	if (*at == PM_NONE) {
		pm_items_grow(&c->arena, &c->steps, c->n_steps, &c->steps_room, sizeof(*step));
		*at = (uint32_t)c->n_steps;
		c->steps[c->n_steps++] = *step;
	}
	c->step = *at;
	return c->steps[*at].context;
}

/* The context of a function, at the top or called from a line. */
static uint32_t call_of(
	struct cg_reader *c, uint32_t from, uint32_t function, uint32_t file, uint32_t object)
{
	struct cg_step step = {.of = from, .to = function, .file = file, .object = object};
	bool fresh;
	if (is_next(c, &step))
		return c->steps[c->step].context;
	step.context = pm_rec_call(c->r, from, handle_of(c, function, file, object), 0);
	return take_step(c, pm_map_put(&c->calls_at, step.context, PM_NONE, &fresh), &step);
}

/* The context of the current line in the current function. */
static uint32_t here(struct cg_reader *c)
{
	if (c->at.top == PM_REC_NONE) {
		c->at.top = call_of(c, PM_REC_NONE, c->at.function, c->at.file, c->at.object);
		c->at.site = PM_NONE;
	}
	uint32_t line = c->at.line < PM_NONE ? (uint32_t)c->at.line : 0;
	struct cg_step step = {.of = c->at.top, .to = line, .file = c->at.here, .is_line = true};
	if (is_next(c, &step))
		return c->steps[c->step].context;
	bool fresh;
	if (c->at.site == PM_NONE) {
		uint64_t key = (uint64_t)c->at.top << 32 | c->at.here;
		c->at.site = *pm_map_put(&c->sites, key, c->n_sites, &fresh);
		c->n_sites += fresh;
	}
	uint32_t *at = pm_map_put(&c->lines_at, (uint64_t)c->at.site << 32 | line, PM_NONE, &fresh);
	if (fresh)
		step.context = cg_line(c, c->at.top, c->at.here, c->at.file, c->at.line);
	return take_step(c, at, &step);
}

uint32_t cg_line(
	struct cg_reader *c, uint32_t parent, uint32_t file, uint32_t own_file, uint64_t line)
{
	struct pm_bytes other = {NULL, 0};
	uint32_t of = c->at.has_line && file != 0 && line < PM_NONE ? (uint32_t)line : 0;
	if (file != own_file)
		other = cg_text(&c->files, file);
	return pm_rec_line(c->r, parent, other, of);
}

static void take_own(struct cg_reader *c)
{
	if (c->by_blocks && !c->in_block)
		block_begins(c, handle_of(c, c->at.function, c->at.file, c->at.object));
	for (size_t i = 0; i < c->at.n_columns; i++) {
		struct cg_total *sum = &c->own[c->columns[i]];
		struct cg_number n = cg_cell(c, i);
		if (n.real || n.decimals)
			sum->rest += cg_value(&n);
		else
			sum->whole += n.digits;
		if (c->by_blocks)
			block_cost(c, c->columns[i], &n);
	}
	c->parts[c->n_parts - 1].lines++;
	if (!c->by_blocks)
		cg_add_costs(c, here(c), false);
}

/* The next line that is not empty; false at the end. */
static bool next_line(struct cg_reader *c, struct pm_bytes *ret)
{
	while (pm_rec_next_line(c->r, ret))
		if (ret->len > 0)
			return true;
	return false;
}

/* `calls=COUNT POSITIONS`, and the line after it: where the call is, and its inclusive cost. */
static void take_call(struct cg_reader *c, struct pm_bytes line)
{
	struct pm_bytes next;
	uint64_t count;
	bool has_count = (cg_take_digits(&line, &count) || cg_whole(cg_word(&line), &count)) &&
		count <= INT64_MAX;
	bool has_callee = c->at.has_callee;
	uint32_t file = c->at.has_callee_file ? c->at.callee_file : c->at.here;
	uint32_t object = c->at.has_callee_object ? c->at.callee_object : c->at.object;
	c->at.has_callee = c->at.has_callee_file = c->at.has_callee_object = false;
	if (!has_count || !has_callee) {
		cg_add_fault(c, &c->at.malformed);
		return;
	}
	uint64_t offset = c->lines->offset;
	if (!take_usual(c) &&
		(!next_line(c, &next) || !take_positions(c, &next, &c->at.address, &c->at.line) ||
			!take_costs(c, next))) {
		if (c->at.unended.n++ == 0)
			c->at.unended.first = offset;
		return;
	}
	c->parts[c->n_parts - 1].lines++;
	c->at.has_calls = true;
	if (c->by_blocks) {
		block_call(c, handle_of(c, c->at.callee, file, object));
		return;
	}
	if (c->calls == PM_REC_NONE)
		c->calls = pm_rec_count(c->r, "calls");
	uint32_t edge = call_of(c, here(c), c->at.callee, file, object);
	if (count > 0)
		pm_rec_cost(c->r, c->at.thread, edge, c->calls, (int64_t)count);
	cg_add_costs(c, edge, true);
}

/* `jump=COUNT POSITIONS` or `jcnd=COUNT/EXECUTED POSITIONS`, and the line after it: from where. */
static void take_jump(struct cg_reader *c, struct pm_bytes line, bool conditional)
{
	struct pm_bytes counts = cg_word(&line), next;
	const uint8_t *slash = counts.len ? memchr(counts.p, '/', counts.len) : NULL;
	struct cg_jump j = {.conditional = conditional,
		.to_file = c->at.has_jump_file ? c->at.jump_file : c->at.here,
		.to_function = c->at.has_jump_function ? c->at.jump_function : c->at.function,
		.to_address = c->at.address,
		.to_line = c->at.line};
	struct pm_bytes first = counts, second;
	if (slash) {
		first.len = (size_t)(slash - counts.p);
		second = (struct pm_bytes){slash + 1, counts.len - first.len - 1};
	} else if (conditional) {
		second = cg_word(&line);
	} else {
		second = first;
	}
	c->at.has_jump_file = c->at.has_jump_function = false;
	bool good = cg_whole(first, &j.jumped) && cg_whole(second, &j.executed) &&
		take_positions(c, &line, &j.to_address, &j.to_line);
	if (!good || !next_line(c, &next) ||
		!take_positions(c, &next, &c->at.address, &c->at.line)) {
		cg_add_fault(c, &c->at.malformed);
		return;
	}
	j.function = c->at.function;
	j.file = c->at.here;
	j.object = c->at.object;
	j.address = c->at.address;
	j.line = c->at.line;
	pm_items_grow(&c->arena, &c->jumps, c->n_jumps, &c->jumps_room, sizeof(j));
	c->jumps[c->n_jumps++] = j;
}

/* Tells the recording the tree of blocks, callers first. */
void cg_blocks_tree(struct cg_reader *c)
{
	uint32_t calls = pm_rec_count(c->r, "calls");
	for (size_t i = c->n_blocks; i-- > 0 && pm_rec_goes_on(c->r);) {
		struct cg_block *b = &c->blocks[i];
		uint32_t site = PM_REC_NONE;
		if (b->parent != PM_NONE) {
			const struct cg_block *caller = &c->blocks[b->parent];
			site = cg_line(c, caller->context, b->file, caller->own_file, b->line);
		}
		b->context = pm_rec_call(c->r, site, b->function, 0);
		pm_rec_cost(c->r, PM_REC_NONE, b->context, calls, 1);
	}
	for (size_t i = 0; i < c->n_costs && pm_rec_goes_on(c->r); i++) {
		const struct cg_block_cost *own = &c->costs[i];
		const struct cg_block *b = &c->blocks[own->block];
		cg_cost(c, cg_line(c, b->context, own->file, b->own_file, own->line), false,
			own->event, &own->cost);
	}
}

/* ---- parts ---- */

/* What the totals of a part say, compared with the sum of its cost lines. */
static bool agrees(const struct cg_reader *c, const struct cg_total *totals, struct pm_bytes text)
{
	struct cg_number n;
	size_t i = 0;
	for (struct pm_bytes w; i < c->at.n_columns && (w = cg_word(&text)).len; i++) {
		const struct cg_total *total = &totals[c->columns[i]];
		long double sum = (long double)total->whole + total->rest, says;
		if (!cg_number_of(w, &n))
			return false;
		if (!n.real && n.decimals == 0 && total->rest == 0) {
			if (n.digits != total->whole)
				return false;
			continue;
		}
		says = cg_value(&n);
		if (says - sum > 1e-9L * (says + sum) || sum - says > 1e-9L * (says + sum))
			return false;
	}
	return true;
}

static void take_totals(struct cg_reader *c, struct pm_bytes text)
{
	struct cg_part *part = &c->parts[c->n_parts - 1];
	part->totals = pm_rec_copy(c->r, text);
	part->has_totals = true;
	if (!agrees(c, c->own, text))
		cg_add_fault(c, &c->at.lies);
}

static void end_part(struct cg_reader *c)
{
	if (!agrees(c, c->own, c->at.part_summary))
		c->at.lie = c->at.part_summary;
	c->at.part_summary = (struct pm_bytes){NULL, 0};
	cg_end_sums(c);
}

static void begin_part(struct cg_reader *c)
{
	pm_items_grow(&c->arena, &c->parts, c->n_parts, &c->parts_room, sizeof(*c->parts));
	c->parts[c->n_parts++] = (struct cg_part){
		.number = PM_NO_OFFSET, .thread = PM_NO_OFFSET, .pid = PM_NO_OFFSET};
	c->at.thread = PM_REC_NONE;
	c->at.in_body = false;
	end_part(c);
}

static void take_creator(struct cg_reader *c, struct pm_bytes text)
{
	c->at.creator = pm_rec_copy(c->r, text);
	c->by_blocks = c->may_be_blocks && cg_is_by(c, "xdebug") && !c->at.has_calls;
}

static void take_order(struct cg_reader *c, struct pm_bytes line)
{
	c->at.n_positions = 0;
	c->at.has_line = false;
	for (struct pm_bytes w;
		(w = cg_word(&line)).len && c->at.n_positions < sizeof(c->at.order);) {
		char kind = pm_bytes_equal(w, pm_bytes_of("line")) ? 'l'
			: pm_bytes_equal(w, pm_bytes_of("instr"))  ? 'a'
								   : 'x';
		c->at.order[c->at.n_positions++] = kind;
		c->at.has_line |= kind == 'l';
	}
	c->at.is_usual = c->at.n_positions == 1 && c->at.has_line;
}

enum key {
	VERSION,
	CREATOR,
	PID,
	CMD,
	PART,
	DESC,
	EVENT,
	EVENTS,
	POSITIONS,
	SUMMARY,
	TOTALS,
	THREAD,
	N_KEYS
};

static void take_thread(struct cg_reader *c, struct pm_bytes text, struct cg_part *part)
{
	if (cg_whole(text, &part->thread))
		c->at.thread = pm_rec_thread(c->r,
			&(struct pm_rec_key){.key = "thread", .number = part->thread}, 1,
			(struct pm_bytes){NULL, 0});
}

static void take_key(struct cg_reader *c, enum key key, struct pm_bytes text)
{
	struct cg_part *part = &c->parts[c->n_parts - 1];
	switch (key) {
	case VERSION: c->at.has_version = true; return;
	case DESC:
		if (begins(&text, "I1 cache:"))
			c->at.has_caches = true;
		else if (begins(&text, "Trigger:"))
			part->trigger = pm_rec_copy(c->r, cg_trimmed(text));
		return;
	case CREATOR:
		if (c->at.creator.len == 0)
			take_creator(c, text);
		return;
	case PID: cg_whole(text, &part->pid); return;
	case CMD: part->command = pm_rec_copy(c->r, text); return;
	case PART: cg_whole(text, &part->number); return;
	case EVENT: cg_take_sum(c, text); return;
	case EVENTS: cg_take_events(c, text); return;
	case POSITIONS: take_order(c, text); return;
	case SUMMARY:
		c->at.summary = c->at.part_summary = pm_rec_copy(c->r, text);
		c->at.n_summaries++;
		return;
	case TOTALS: take_totals(c, text); return;
	case THREAD: take_thread(c, text, part); return;
	case N_KEYS:
	default: return;
	}
}

/* A line of a part's header, or its totals; false if it is none. */
static bool take_header(struct cg_reader *c, struct pm_bytes line)
{
	static const char *const keys[] = {"version:", "creator:", "pid:", "cmd:", "part:", "desc:",
		"event:", "events:", "positions:", "summary:", "totals:", "thread:"};
	enum key key = VERSION;
	while (key < N_KEYS && !begins(&line, keys[key]))
		key++;
	if (key == N_KEYS)
		return false;
	if (key != SUMMARY && key != TOTALS && c->at.in_body)
		begin_part(c);
	if (pm_rec_goes_on(c->r))
		take_key(c, key, cg_trimmed(line));
	return true;
}

/* ---- the file ---- */

static void take_line(struct cg_reader *c, struct pm_bytes line)
{
	struct pm_bytes rest = line;
	uint8_t first = line.p[0];
	if (first == '#' || ((first == ' ' || first == '\t') && cg_trimmed(line).len == 0))
		return;
	if (line.len > PM_LIMIT_STRING) {
		cg_add_fault(c, &c->at.malformed);
		return;
	}
	if ((first >= '0' && first <= '9') || first == '+' || first == '-' || first == '*') {
		if (c->at.n_columns == 0 ||
			!take_positions(c, &rest, &c->at.address, &c->at.line) ||
			!take_costs(c, rest)) {
			cg_add_fault(c, &c->at.malformed);
			return;
		}
		take_own(c);
		return;
	}
	/* Most lines of a body are names: `fn=`, `cfi=` … */
	bool is_name = line.len > 3 && (line.p[2] == '=' || line.p[3] == '=');
	bool is_call = begins(&rest, "calls=");
	if (!is_call && (!is_name || !c->at.in_body) && take_header(c, line))
		return;
	if (!c->at.in_body) {
		c->at.in_body = true;
		cg_define_sums(c);
	}
	if (!is_call && take_name(c, line))
		return;
	if (is_call)
		take_call(c, rest);
	else if (begins(&rest, "jump="))
		take_jump(c, rest, false);
	else if (begins(&rest, "jcnd="))
		take_jump(c, rest, true);
	else
		cg_add_fault(c, &c->at.malformed);
}

void cg_begin(struct cg_reader *c, struct pm_recording *r)
{
	struct pm_map *maps[] = {&c->pairs, &c->sites, &c->lines_at, &c->calls_at, &c->handles,
		&c->files.by_id, &c->functions.by_id, &c->objects.by_id};
	*c = (struct cg_reader){.r = r, .calls = PM_REC_NONE, .arena.of = &c->kept};
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		maps[i]->arena = &c->arena;
	c->files.texts = c->functions.texts = c->objects.texts = pm_strtab_in(&c->arena);
}

void cg_forget(struct cg_reader *c)
{
	const struct cg_reader was = *c;
	pm_arena_done(&c->arena);
	cg_begin(c, was.r);
	c->kept = was.kept;
	c->events = was.events;
	c->n_events = was.n_events;
	c->events_room = was.events_room;
	c->sums = was.sums;
	c->n_sums = was.n_sums;
	c->sums_room = was.sums_room;
}

void cg_done(struct cg_reader *c)
{
	pm_arena_done(&c->arena);
	pm_arena_done(&c->kept);
}

/* What an earlier file has named stays: only ids are of one file. */
static void begin_file(struct cg_reader *c)
{
	struct cg_names *names[] = {&c->files, &c->functions, &c->objects};
	c->lines = pm_rec_lines(c->r);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pm_map_done(&names[i]->by_id);
		names[i]->n_small = 0;
		pm_strtab_add(&names[i]->texts, (struct pm_bytes){NULL, 0});
	}
	for (size_t i = 0; i < c->n_own; i++)
		c->own[i] = c->all[i] = (struct cg_total){.whole = 0};
	c->at = (struct cg_file){.first_part = c->n_parts, .top = PM_REC_NONE};
	take_order(c, pm_bytes_of("line"));
	begin_part(c);
}

void cg_read_file(struct cg_reader *c, bool may_be_blocks)
{
	struct pm_bytes line;
	begin_file(c);
	c->may_be_blocks = may_be_blocks;
	while (!c->no_tree) {
		while (c->at.n_columns && take_usual(c) && pm_rec_goes_on(c->r))
			take_own(c);
		if (!next_line(c, &line))
			break;
		/* Writers that end with sums have been cut off if they end with half a line. */
		bool sums = c->parts[c->n_parts - 1].has_totals || c->at.summary.len > 0;
		if (c->lines->cut && !sums &&
			(cg_is_by(c, "callgrind-") || cg_is_by(c, "xdebug"))) {
			c->at.ends_early = true;
			break;
		}
		if (c->at.n_columns == 0 && c->lines->offset > HEADER)
			break;
		take_line(c, line);
	}
	block_ends(c);
	end_part(c);
	/* Alone, it is of the file. */
	if (c->at.n_summaries == 1)
		c->at.lie = agrees(c, c->all, c->at.summary) ? (struct pm_bytes){NULL, 0}
							     : c->at.summary;
	pm_rec_proceed(c->r, &c->arena);
}
