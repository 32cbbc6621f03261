/*
 * Folded stacks, as stackcollapse-*.pl, inferno, async-profiler, py-spy, Austin and many others
 * write them: `frame;frame;frame COUNT`, outermost first (docs/formats/folded.md).
 *
 * What all lines have in common decides what their parts mean: two numbers at the end, a location
 * in each frame, a thread first. The first pass looks for that, and ends as soon as nothing of it
 * is possible any more: usually with the first line.
 */
#include <stdlib.h>

#include "formats/builder/builder.h"
#include "formats/common/list.h"
#include "formats/common/map.h"

enum { MOST_DIGITS = 308, HEAD = 4096 /* of a file, which say whether it is such */ };

/* ---- one line ---- */

/* A number at the end of a line: digits × 10^-decimals, or a double beyond 64 bits. */
struct count {
	int64_t digits;
	unsigned decimals;
	bool wide;
	double value;
};

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Takes ` 12.5` off the end of a line: one blank before the number belongs to it. */
static bool take_count(struct pm_bytes *line, struct count *ret)
{
	size_t at = line->len, end = at, point = at;
	while (at > 0 && is_digit(line->p[at - 1]))
		at--;
	if (at > 0 && line->p[at - 1] == '.') {
		point = at - 1;
		for (at--; at > 0 && is_digit(line->p[at - 1]);)
			at--;
	}
	size_t digits = point - at;
	bool ends_blank = at > 0 && (line->p[at - 1] == ' ' || line->p[at - 1] == '\t');
	if (digits == 0 || digits > MOST_DIGITS || !ends_blank)
		return false;
	*ret = (struct count){.digits = 0};
	for (size_t i = at; i < end; i++) {
		unsigned digit = line->p[i] - '0';
		if (i == point)
			continue;
		ret->decimals += i > point;
		if (ret->wide || ret->decimals > 18 ||
			__builtin_mul_overflow(ret->digits, 10, &ret->digits) ||
			__builtin_add_overflow(ret->digits, (int)digit, &ret->digits))
			ret->wide = true;
	}
	if (ret->wide) { /* rare: read as C does */
		char text[MOST_DIGITS + 40];
		size_t n = end - at < sizeof(text) - 1 ? end - at : sizeof(text) - 1;
		memcpy(text, line->p + at, n);
		text[n] = '\0';
		ret->value = strtod(text, NULL);
	}
	line->len = at - 1;
	return true;
}

/* The next frame of a stack, which is what remains of it. */
static struct pm_bytes take_frame(struct pm_bytes *stack)
{
	const uint8_t *end = memchr(stack->p, ';', stack->len);
	size_t n = end ? (size_t)(end - stack->p) : stack->len;
	struct pm_bytes frame = {stack->p, n};
	stack->p += end ? n + 1 : n;
	stack->len -= end ? n + 1 : n;
	return frame;
}

static bool begins_with(struct pm_bytes b, const char *s)
{
	size_t n = strlen(s);
	return b.len >= n && memcmp(b.p, s, n) == 0;
}

/* A comment of Austin; blank lines say nothing, either. */
static bool is_comment(struct pm_bytes line)
{
	for (size_t i = 0; i < line.len; i++)
		if (line.p[i] != ' ' && line.p[i] != '\t')
			return line.p[0] == '#' && (line.len == 1 || line.p[1] == ' ');
	return true;
}

/* `NAME (FILE:LINE)` */
static bool take_location(struct pm_bytes *name, struct pm_bytes *file, uint32_t *line)
{
	struct pm_bytes b = *name;
	uint64_t n = 0, by = 1;
	size_t at = b.len;
	if (at < 6 || b.p[--at] != ')')
		return false;
	size_t end = at;
	for (; at > 0 && is_digit(b.p[at - 1]) && by < 10000000000; at--, by *= 10)
		n += (uint64_t)(b.p[at - 1] - '0') * by;
	if (at == end || at == 0 || b.p[at - 1] != ':' || n == 0 || n > UINT32_MAX)
		return false;
	size_t until = --at;
	while (at > 0 && !(b.p[at] == '(' && b.p[at - 1] == ' '))
		at--;
	if (at < 2 || until <= at + 1)
		return false;
	*file = (struct pm_bytes){b.p + at + 1, until - at - 1};
	*line = (uint32_t)n;
	name->len = at - 1;
	return true;
}

/* ---- threads in the first frames ---- */

enum pattern { TAGGED /* [NAME tid=7] */, COMM /* COMM-7/8 */, PYSPY, AUSTIN, N_PATTERNS };

struct who {
	struct pm_rec_key keys[2];
	unsigned n;
	struct pm_bytes name;
};

/* Takes a number off the front (base 10, or 16 after 0x) or the end of b. */
static bool take_number(struct pm_bytes *b, bool hex, uint64_t *ret)
{
	size_t n = 0;
	*ret = 0;
	for (; n < b->len && n < 18; n++) {
		uint8_t c = b->p[n];
		unsigned digit = is_digit(c)                        ? c - '0'
			: hex && (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
								    : 16;
		if (digit == 16)
			break;
		*ret = *ret * (hex ? 16 : 10) + digit;
	}
	b->p += n;
	b->len -= n;
	return n > 0;
}

static bool take_last_number(struct pm_bytes *b, uint64_t *ret)
{
	size_t at = b->len;
	while (at > 0 && is_digit(b->p[at - 1]))
		at--;
	struct pm_bytes digits = {b->p + at, b->len - at};
	b->len = at;
	return digits.len > 0 && digits.len < 18 && take_number(&digits, false, ret);
}

static bool skip(struct pm_bytes *b, const char *s)
{
	if (!begins_with(*b, s))
		return false;
	b->p += strlen(s);
	b->len -= strlen(s);
	return true;
}

static void process_of(struct who *w, uint64_t pid)
{
	w->keys[w->n++] = (struct pm_rec_key){.key = "process", .number = pid};
}

static void thread_of(struct who *w, uint64_t tid)
{
	w->keys[w->n++] = (struct pm_rec_key){.key = "thread", .number = tid};
}

/* process 12:"cmd";thread (0x7f…): "Main" */
static bool is_pyspy(struct pm_bytes first, struct pm_bytes rest, struct who *w)
{
	uint64_t id;
	if (skip(&first, "process ")) {
		if (!take_number(&first, false, &id) || !begins_with(first, ":"))
			return false;
		process_of(w, id);
		first = take_frame(&rest);
	}
	bool hex;
	if (!skip(&first, "thread ("))
		return false;
	hex = skip(&first, "0x");
	if (!take_number(&first, hex, &id) || !skip(&first, ")"))
		return false;
	thread_of(w, id);
	if (skip(&first, ": \"") && first.len > 0 && first.p[first.len - 1] == '"')
		w->name = (struct pm_bytes){first.p, first.len - 1};
	return true;
}

static bool is_who(enum pattern pattern, struct pm_bytes stack, struct who *w)
{
	struct pm_bytes rest = stack, first = take_frame(&rest), id;
	uint64_t pid, tid;
	*w = (struct who){.n = 0};
	switch (pattern) {
	case TAGGED:
		if (first.len < 8 || first.p[0] != '[' || first.p[--first.len] != ']' ||
			!take_last_number(&first, &tid) || first.len < 5 ||
			memcmp(first.p + first.len - 5, " tid=", 5) != 0)
			return false;
		w->name = (struct pm_bytes){first.p + 1, first.len - 6};
		thread_of(w, tid);
		return true;
	case COMM:
		if (!take_last_number(&first, &tid) || first.len < 3 || first.p[--first.len] != '/')
			return false;
		if (first.p[first.len - 1] == '?')
			first.len--;
		else if (take_last_number(&first, &pid))
			process_of(w, pid);
		else
			return false;
		if (first.len < 2 || first.p[first.len - 1] != '-')
			return false;
		w->name = (struct pm_bytes){first.p, first.len - 1};
		thread_of(w, tid);
		return true;
	case PYSPY: return is_pyspy(first, rest, w);
	case AUSTIN:
		id = take_frame(&rest);
		if (!skip(&first, "P") || !take_number(&first, false, &pid) || first.len ||
			!skip(&id, "T"))
			return false;
		process_of(w, pid);
		if (!take_number(&id, false, &tid))
			return false;
		/* T0:34: the interpreter, then the thread. */
		if (skip(&id, ":") && !take_number(&id, true, &tid))
			return false;
		thread_of(w, tid);
		return id.len == 0;
	case N_PATTERNS: break;
	}
	return false;
}

/* ---- what all lines have in common ---- */

struct common {
	bool two, located;
	unsigned patterns;    /* a bit each */
	struct pm_text stack; /* of the line before, with two numbers cut off */
};

static void compare(struct common *c, struct pm_bytes line)
{
	struct count count;
	struct who who;
	if (is_comment(line) || !take_count(&line, &count))
		return;
	struct pm_bytes rest = line, file;
	uint32_t number;
	/* A stack comes once where two runs are compared; `call 1` and `call 2` are two. */
	c->two = c->two && take_count(&line, &count) &&
		!pm_bytes_equal(line, pm_text_view(&c->stack));
	if (c->two) {
		pm_text_clear(&c->stack);
		pm_text_bytes(&c->stack, line);
	}
	for (unsigned i = 0; i < N_PATTERNS; i++)
		if (c->patterns & 1u << i && !is_who((enum pattern)i, line, &who))
			c->patterns &= ~(1u << i);
	while (c->located && rest.len > 0) {
		struct pm_bytes frame = take_frame(&rest);
		c->located = take_location(&frame, &file, &number);
	}
}

/* ---- reading ---- */

/* A build in its arena, which has all that is not the recording's. */
struct reading {
	struct pm_arena arena;
	struct pm_recording *r;
	struct pm_error *err;
	const struct pm_textlines *lines;
	struct common common;
	uint32_t metrics[2];
	struct pm_strtab texts; /* of frames … */
	uint32_t *functions;    /* … and the function of each */
	size_t room;
	/* The stack before, whose beginning is often the same: */
	struct pm_text last;
	struct level {
		size_t end; /* of its frame in `last` */
		uint32_t context, thread;
	} * levels;
	size_t n_levels, levels_room;
	uint64_t n_lines, n_bad;
};

/* The context of a frame below `parent`. */
static uint32_t frame_context(struct reading *f, uint32_t parent, struct pm_bytes frame)
{
	struct pm_bytes file = {NULL, 0}, name = frame.len ? frame : pm_bytes_of("(unknown)");
	uint32_t line = 0, known = f->texts.n, text = pm_strtab_add(&f->texts, name);
	if (f->common.located)
		take_location(&name, &file, &line);
	pm_list_grow(&f->arena, &f->functions, text, &f->room, sizeof(*f->functions));
	if (text == known)
		f->functions[text] = pm_rec_function(
			f->r, &(struct pm_rec_function){.name = name, .file = file});
	bool inlined = name.len > 4 && memcmp(name.p + name.len - 4, "_[i]", 4) == 0;
	uint32_t call = pm_rec_call(f->r, parent, f->functions[text], inlined ? PM_REC_INLINED : 0);
	return pm_rec_line(f->r, call, file, line);
}

/* The stack's context; the levels that it shares with the one before are known. */
static uint32_t stack_context(struct reading *f, struct pm_bytes stack)
{
	const uint8_t *last = (const uint8_t *)f->last.p;
	size_t same = 0, n = 0, most = stack.len < f->last.len ? stack.len : f->last.len;
	uint32_t context = PM_REC_NONE;
	while (same < most && stack.p[same] == last[same])
		same++;
	while (n < f->n_levels && f->levels[n].end <= same &&
		(f->levels[n].end == stack.len || stack.p[f->levels[n].end] == ';') &&
		(f->levels[n].end == f->last.len || last[f->levels[n].end] == ';'))
		n++;
	struct pm_bytes rest = stack;
	if (n > 0) {
		size_t skipped =
			f->levels[n - 1].end < stack.len ? f->levels[n - 1].end + 1 : stack.len;
		context = f->levels[n - 1].context;
		rest.p += skipped;
		rest.len -= skipped;
	}
	bool ends_empty = stack.len > 0 && stack.p[stack.len - 1] == ';';
	bool more = rest.len > 0 || (ends_empty && (n == 0 || f->levels[n - 1].end < stack.len));
	f->n_levels = n;
	pm_text_clear(&f->last);
	pm_text_bytes(&f->last, stack);
	while (more) {
		bool has_next = memchr(rest.p, ';', rest.len) != NULL;
		struct pm_bytes frame = take_frame(&rest);
		pm_rec_proceed(f->r, &f->arena);
		context = frame_context(f, context, frame);
		pm_list_grow(
			&f->arena, &f->levels, f->n_levels, &f->levels_room, sizeof(*f->levels));
		f->levels[f->n_levels++] = (struct level){
			.end = (size_t)(frame.p + frame.len - stack.p), .context = context};
		more = has_next;
	}
	return stack.len == 0 ? pm_rec_placeholder(f->r, PM_REC_NONE, "(no stack)") : context;
}

static uint32_t find_thread(struct reading *f, struct pm_bytes stack)
{
	struct who who;
	for (unsigned i = 0; i < N_PATTERNS; i++)
		if (f->common.patterns & 1u << i && is_who((enum pattern)i, stack, &who))
			return pm_rec_thread(f->r, who.keys, who.n, who.name);
	return PM_REC_NONE;
}

static void add_count(struct reading *f, uint32_t thread, uint32_t context, unsigned which,
	const struct count *count)
{
	if (count->wide)
		pm_rec_cost_f64(f->r, thread, context, f->metrics[which], count->value);
	else
		pm_rec_cost_decimal(
			f->r, thread, context, f->metrics[which], count->digits, count->decimals);
}

static void take_line(struct reading *f, struct pm_bytes line)
{
	struct count counts[2];
	if (is_comment(line)) {
		const uint8_t *colon = line.len ? memchr(line.p, ':', line.len) : NULL;
		if (colon && line.len > 2)
			pm_rec_fact(f->r, "comment",
				pm_cell_text((struct pm_bytes){line.p + 2, line.len - 2}));
		return;
	}
	f->n_lines++;
	if (!take_count(&line, &counts[0]) || (f->common.two && !take_count(&line, &counts[1]))) {
		f->n_bad++;
		pm_rec_damage(f->r, f->lines->offset, line.len,
			"line %llu does not end in a number, as `frame;frame COUNT` does",
			(unsigned long long)f->lines->number);
		return;
	}
	uint32_t thread = find_thread(f, line), context = stack_context(f, line);
	if (f->common.two)
		add_count(f, thread, context, 0, &counts[1]);
	add_count(f, thread, context, f->common.two, &counts[0]);
}

static void read_all(void *reading)
{
	static const struct pm_bytes none = {NULL, 0};
	struct reading *f = reading;
	struct common *c = &f->common;
	struct pm_bytes line;
	f->texts = pm_strtab_in(&f->arena);
	f->last.arena = c->stack.arena = &f->arena;
	f->lines = pm_rec_lines(f->r);
	while ((c->two || c->located || c->patterns) && pm_rec_next_line(f->r, &line))
		compare(c, line);
	f->metrics[0] = pm_rec_metric(f->r, pm_bytes_of(c->two ? "before" : "count"), none);
	f->metrics[1] = c->two ? pm_rec_metric(f->r, pm_bytes_of("after"), none) : f->metrics[0];
	pm_rec_lines(f->r);
	while (pm_rec_next_line(f->r, &line))
		take_line(f, line);
	if (f->n_lines == f->n_bad)
		pm_build_check(&f->arena,
			pm_error_set(f->err, -EINVAL, pm_rec_file(f->r), 0,
				"contains no folded stack; lines `frame;frame COUNT` were "
				"expected"));
}

static int folded_read(struct pm_recording *r, struct pm_error *err)
{
	struct reading f = {.r = r,
		.err = err,
		.common = {.two = true, .located = true, .patterns = (1u << N_PATTERNS) - 1}};
	int e = pm_build(&f.arena, read_all, &f);
	pm_arena_done(&f.arena);
	return e;
}

/* ---- the format ---- */

static bool has_name(const char *path)
{
	static const char *const ends[] = {
		".folded", ".collapsed", ".collapse", ".collapsedstack.txt"};
	struct pm_bytes b = pm_bytes_of(path);
	for (unsigned k = 0; k < 2; k++) {
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
			size_t n = strlen(ends[i]);
			if (b.len > n && memcmp(b.p + b.len - n, ends[i], n) == 0)
				return true;
		}
		if (b.len < 3 || (memcmp(b.p + b.len - 3, ".gz", 3) != 0))
			break;
		b.len -= 3;
	}
	return false;
}

/* Text: no control characters but tab and line ends, unless the name says what it is. */
static bool is_text(struct pm_bytes b)
{
	for (size_t i = 0; i < b.len; i++)
		if (b.p[i] < ' ' && b.p[i] != '\t' && b.p[i] != '\n' && b.p[i] != '\r' &&
			b.p[i] != 0x1b)
			return false;
	return true;
}

static bool is_json(struct pm_bytes text)
{
	return text.len > 1 &&
		((text.p[0] == '{' && text.p[1] == '"') || (text.p[0] == '[' && text.p[1] == '{'));
}

static int probe(const struct pm_candidate *c)
{
	/* Its first 4 KiB, whatever there is: a line behind them may be damaged. */
	bool all = c->text_is_all && c->text.len <= HEAD;
	struct pm_bytes rest = {c->text.p, c->text.len < HEAD ? c->text.len : HEAD}, line;
	struct count count;
	bool good = rest.len > 0 && is_text(rest) && memchr(rest.p, ';', rest.len);
	unsigned lines = 0;
	if (c->folder || has_name(c->path))
		return c->folder ? PM_PROBE_NO : PM_PROBE_BY_CONTENT;
	while (good && rest.len > 0) {
		const uint8_t *end = memchr(rest.p, '\n', rest.len);
		if (!end && !all) {
			/* A stack so long that its end is not there, or the rest; or JSON in a
			 * line. */
			good = lines > 0 || !is_json(rest);
			break;
		}
		line = (struct pm_bytes){rest.p, end ? (size_t)(end - rest.p) : rest.len};
		rest.p += line.len + (end != NULL);
		rest.len -= line.len + (end != NULL);
		if (line.len > 0 && line.p[line.len - 1] == '\r')
			line.len--;
		if (is_comment(line))
			continue;
		lines++;
		good = take_count(&line, &count);
	}
	return good && (lines > 0 || !all) ? PM_PROBE_UNNAMED : PM_PROBE_NO;
}

static const struct pm_reader reader = {
	.contexts_are = "samples", .layout = "text", .read = folded_read};

static int folded_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	return pm_rec_open(&reader, c, options, ret, err);
}

const struct pm_format folded_format = {
	.name = "folded",
	.summary = "folded stacks of any writer: lines `frame;frame COUNT`, compressed or not",
	.probe = probe,
	.open = folded_open,
	.close = pm_rec_close,
};
