/*
 * Tables of functions as text: copies of /proc/kallsyms, and perf maps.
 *
 * /proc/kallsyms has one symbol per line: address, type, name, a tab and [module]. There are no
 * sizes: a function ends where the next symbol begins; the last one before a gap ends after
 * SYM_KERNEL_FUNCTION_MAX bytes.
 */
#include "formats/symbols/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/inflate.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/common/work.h"

struct symbol {
	uint64_t address, size; /* size: of perf maps only */
	uint32_t place;         /* among those of the file */
	struct pm_bytes name, module;
};

struct table {
	struct pm_arena *scratch; /* has the items */
	struct symbol *items;
	size_t n, room;
	struct pm_text name;
	/* What is to be read: see sym_kernel_read. */
	struct pm_bytes file, reference;
	const char *kernel;
	uint64_t reference_address, delta;
	struct sym_scopes *ret;
};

/* ---- unpacking ---- */

#ifdef SYM_LZMA

#include <lzma.h>

/* 0, -EINVAL if it is not such a stream, or -ENOMEM. */
static int unpack_xz(struct pm_bytes file, uint8_t **ret, size_t *ret_n)
{
	uint64_t memory = SYM_KERNEL_BYTES_MAX;
	size_t at = 0, room = 1 << 20;
	*ret = NULL;
	for (*ret_n = room; room <= SYM_KERNEL_BYTES_MAX; room *= 4) {
		uint8_t *p = realloc(*ret, room);
		if (!p)
			return -ENOMEM;
		*ret = p;
		*ret_n = at = 0;
		lzma_ret r = lzma_stream_buffer_decode(
			&memory, 0, NULL, file.p, &at, file.len, p, ret_n, room);
		if (r == LZMA_OK)
			return 0;
		if (r == LZMA_MEM_ERROR || pm_work_cancelled())
			return PM_NO_MEMORY;
		if (r != LZMA_BUF_ERROR)
			break;
	}
	return -EINVAL;
}

#else

static int unpack_xz(struct pm_bytes file, uint8_t **ret, size_t *ret_n)
{
	(void)file;
	*ret = NULL;
	*ret_n = 0;
	return -EINVAL;
}

#endif

static int inflate(struct pm_bytes file, uint8_t **ret, size_t *ret_n)
{
	struct pm_text out = {.limit = SYM_KERNEL_BYTES_MAX};
	struct pm_inflate *stream = pm_inflate_new(pm_inflate_kind_of(file), file);
	while (stream && !out.failed && !pm_work_cancelled()) {
		struct pm_bytes w = pm_inflate_peek(stream, 1);
		if (w.len == 0)
			break;
		pm_text_bytes(&out, w);
		pm_inflate_consume(stream, w.len);
	}
	enum pm_inflate_state state = stream ? pm_inflate_status(stream).state : PM_INFLATE_FAILED;
	bool no_memory = state == PM_INFLATE_FAILED || (out.failed && !out.full);
	int r = no_memory || pm_work_cancelled()                      ? PM_CANCELLED
		: state == PM_INFLATE_ENDED && out.len && !out.failed ? 0
								      : -EINVAL;
	pm_inflate_free(stream);
	if (r < 0)
		pm_text_done(&out);
	*ret = (uint8_t *)out.p;
	*ret_n = out.len;
	return r;
}

static bool is_xz(struct pm_bytes file)
{
	static const uint8_t xz[] = {0xfd, '7', 'z', 'X', 'Z', 0};
	return file.len >= sizeof(xz) && memcmp(file.p, xz, sizeof(xz)) == 0;
}

bool sym_is_packed(struct pm_bytes file)
{
	return is_xz(file) || pm_inflate_kind_of(file) != PM_INFLATE_STORED;
}

int sym_unpack(struct pm_bytes file, uint8_t **ret, size_t *ret_n)
{
	int r = is_xz(file) ? unpack_xz(file, ret, ret_n) : inflate(file, ret, ret_n);
	return r == 0 && *ret_n == 0 ? -EINVAL : r;
}

/* ---- reading ---- */

static bool take_word(struct pm_bytes *line, struct pm_bytes *ret)
{
	size_t n = 0;
	while (n < line->len && line->p[n] != ' ' && line->p[n] != '\t')
		n++;
	*ret = (struct pm_bytes){line->p, n};
	while (n < line->len && (line->p[n] == ' ' || line->p[n] == '\t'))
		n++;
	*line = (struct pm_bytes){line->p + n, line->len - n};
	return ret->len > 0;
}

static bool take_address(struct pm_bytes word, uint64_t *ret)
{
	*ret = 0;
	if (word.len > 16)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		uint8_t c = word.p[i];
		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
		*ret = *ret << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

static void add_item(struct table *t, const struct symbol *s)
{
	if (t->n >= SYM_SCOPES_MAX)
		return;
	pm_list_grow(t->scratch, &t->items, t->n, &t->room, sizeof(*t->items));
	t->items[t->n++] = *s;
}

static void take_line(struct table *t, struct pm_bytes line)
{
	struct symbol s = {.place = (uint32_t)t->n};
	struct pm_bytes address, type;
	if (!take_word(&line, &address) || !take_address(address, &s.address) ||
		!take_word(&line, &type) || type.len != 1 || !strchr("tTwW", type.p[0]) ||
		!take_word(&line, &s.name))
		return;
	if (line.len > 2 && line.p[0] == '[' && line.p[line.len - 1] == ']')
		s.module = (struct pm_bytes){line.p + 1, line.len - 2};
	add_item(t, &s);
}

static void take_lines(struct table *t, void (*take)(struct table *t, struct pm_bytes line))
{
	struct pm_bytes text = t->file;
	while (text.len) {
		const uint8_t *end = memchr(text.p, '\n', text.len);
		size_t n = end ? (size_t)(end - text.p) : text.len;
		take(t, (struct pm_bytes){text.p, n});
		n += end ? 1 : 0;
		text = (struct pm_bytes){text.p + n, text.len - n};
	}
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->place > y->place) - (x->place < y->place);
}

static void add_function(
	struct sym_scopes *ret, struct pm_bytes name, uint64_t address, uint64_t end)
{
	struct sym_scope function = {.kind = SYM_SCOPE_FUNCTION,
		.parent = UINT32_MAX,
		.name = sym_scopes_text(ret, name),
		.offset = address};
	sym_scopes_range(ret, address, end, sym_scopes_add(ret, &function));
}

static void add_symbol(struct table *t, const struct symbol *s, uint64_t next)
{
	uint64_t end = s->address + SYM_KERNEL_FUNCTION_MAX;
	if (end < s->address || next < end)
		end = next;
	pm_text_clear(&t->name);
	pm_text_bytes(&t->name, s->name);
	if (s->module.len) {
		pm_text_str(&t->name, " [");
		pm_text_bytes(&t->name, s->module);
		pm_text_str(&t->name, "]");
	} else {
		pm_text_str(&t->name, t->kernel);
	}
	add_function(t->ret, pm_text_view(&t->name), s->address, end);
}

/* Of several symbols at one address, the first in the table is used. */
static void read_kernel(void *context)
{
	struct table *t = context;
	t->scratch = t->name.arena = pm_arena_scratch(&t->ret->arena);
	take_lines(t, take_line);
	const struct symbol *reference = NULL;
	for (size_t i = 0; i < t->n && t->reference.len && !reference; i++)
		if (!t->items[i].module.len && pm_bytes_equal(t->items[i].name, t->reference))
			reference = &t->items[i];
	if (reference)
		t->delta = t->reference_address - reference->address;
	pm_build_check(t->scratch, pm_sort(t->items, t->n, sizeof(*t->items), by_address));
	for (size_t i = 0, next; i < t->n; i = next) {
		for (next = i + 1; next < t->n; next++)
			if (t->items[next].address != t->items[i].address)
				break;
		/* Zeros: the table was read without privileges. */
		if (t->items[i].address && (t->delta == 0 || !t->items[i].module.len))
			add_symbol(
				t, &t->items[i], next < t->n ? t->items[next].address : UINT64_MAX);
	}
	pm_arena_done(t->scratch); /* before ranges are put in order, which needs as much */
	sym_scopes_finish(t->ret);
}

int sym_kernel_read(struct pm_bytes file, const char *kernel, struct pm_bytes reference,
	uint64_t reference_address, struct sym_scopes *ret, uint64_t *ret_delta)
{
	struct table t = {.file = file,
		.reference = reference,
		.kernel = kernel,
		.reference_address = reference_address,
		.ret = ret};
	uint8_t *unpacked = NULL;
	int r = 0;
	if (sym_is_packed(file)) {
		r = sym_unpack(file, &unpacked, &t.file.len);
		t.file.p = unpacked;
	}
	if (r == 0)
		r = pm_build(&ret->arena, read_kernel, &t);
	*ret_delta = t.delta;
	free(unpacked);
	return r == -EINVAL ? 0 : r;
}

/* ---- perf maps ---- */

/* A line of a perf map. The name may have spaces. */
static void take_entry(struct table *t, struct pm_bytes line)
{
	struct symbol s = {.place = (uint32_t)t->n};
	struct pm_bytes start, size;
	if (!take_word(&line, &start) || !take_address(start, &s.address) ||
		!take_word(&line, &size) || !take_address(size, &s.size) || !line.len)
		return;
	s.name = line;
	add_item(t, &s);
}

static void read_perf_map(void *context)
{
	struct table *t = context;
	t->scratch = pm_arena_scratch(&t->ret->arena);
	take_lines(t, take_entry);
	for (size_t i = t->n; i-- > 0;) { /* of ranges, the first one wins */
		const struct symbol *s = &t->items[i];
		if (i % 4096 == 0)
			pm_build_proceed(t->scratch);
		if (s->address + s->size > s->address)
			add_function(t->ret, s->name, s->address, s->address + s->size);
	}
	pm_arena_done(t->scratch); /* before ranges are put in order, which needs as much */
	sym_scopes_finish(t->ret);
}

int sym_perf_map_read(struct pm_bytes file, struct sym_scopes *ret)
{
	struct table t = {.file = file, .ret = ret};
	return pm_build(&ret->arena, read_perf_map, &t);
}
