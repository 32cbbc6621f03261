/*
 * What a reader tells while it reads: quantities, functions, frames and paths are interned, costs
 * are added up by (context, thread, quantity). A cost takes 32 bytes and a slot of 8 in an index, a
 * path 50 bytes; equal costs of one stack after the other find their cell without the index.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/builder/recording.h"
#include "formats/common/list.h"
#include "formats/common/number.h"
#include "formats/common/quantity.h"
#include "formats/common/utf8.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

enum { BETWEEN_QUESTIONS = 1 << 10, MOST_DECIMALS = 18 };

int pm_rec_init(struct pm_recording *r, struct pm_rec_opened *opened)
{
	*r = (struct pm_recording){.opened = opened,
		.input = &opened->input,
		.reader = opened->reader,
		.primary = PM_NONE,
		.last_cell = PM_NONE,
		.measured_ns = PM_NO_TIME,
		.duration_ns = PM_NO_TIME,
		.first_ns = PM_NO_TIME,
		.layout = opened->reader->layout,
		.contexts_are = opened->reader->contexts_are,
		.title = opened->title.len ? opened->title : pm_bytes_of(opened->input.name),
		.damage = PM_DAMAGE_LIST_INIT};
	r->thread_texts = pm_strtab_in(&r->arena);
	r->remarks.arena = r->recipes.arena = &r->arena;
	r->tree = pm_tree_builder_new();
	return !r->tree || pm_paths_init(&r->paths, PM_LIMIT_ITEMS) < 0 ? -ENOMEM : 0;
}

void pm_rec_done(struct pm_recording *r)
{
	pm_inflate_free(r->stream);
	free(r->path_contexts);
	pm_tree_builder_free(r->tree);
	pm_paths_done(&r->paths);
	pm_fingerprints_done(&r->functions);
	pm_fingerprints_done(&r->thread_index);
	pm_fingerprints_done(&r->cell_index);
	pm_damage_done(&r->damage);
	pm_arena_done(&r->arena);
	*r = (struct pm_recording){.damage = PM_DAMAGE_LIST_INIT};
}

struct pm_bytes pm_rec_bytes(const struct pm_recording *r)
{
	return r->input->bytes;
}

const char *pm_rec_file(const struct pm_recording *r)
{
	return r->input->name;
}

unsigned pm_rec_file_number(const struct pm_recording *r)
{
	return r->input == &r->opened->input ? 0 : (unsigned)(r->input - r->opened->others) + 1;
}

bool pm_rec_is_last_file(const struct pm_recording *r)
{
	return pm_rec_file_number(r) == r->opened->n_others;
}

uint64_t pm_rec_mtime(const struct pm_recording *r)
{
	return r->input->mtime_ns;
}

void *pm_rec_own(const struct pm_recording *r)
{
	return r->opened->own;
}

const struct pm_open_options *pm_rec_options(const struct pm_recording *r)
{
	return &r->opened->options;
}

/* ---- failure ---- */

void pm_rec_fail(struct pm_recording *r, int code, uint64_t offset, const char *format, ...)
{
	char text[sizeof(r->error.text)];
	va_list args;
	if (r->failed)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	r->error = (struct pm_error){.offset = PM_NO_OFFSET};
	r->failed = pm_error_set(&r->error, code, pm_rec_file(r), offset, "%s", text);
}

static uint32_t no_memory(struct pm_recording *r)
{
	pm_rec_fail(r, -ENOMEM, PM_NO_OFFSET, "no memory for the profile");
	return PM_REC_BAD;
}

bool pm_rec_has_room(struct pm_recording *r, void *items, size_t n, size_t *room, size_t size)
{
	if (r->failed)
		return false;
	if (n < PM_LIMIT_ITEMS && pm_list_room_in(&r->arena, items, n, room, size) == 0)
		return true;
	no_memory(r);
	return false;
}

static bool ask(struct pm_recording *r)
{
	struct pm_inflate_status at = {.in = 0};
	if (r->stream)
		at = pm_inflate_status(r->stream);
	pm_work_progress(at.in, r->input->bytes.len);
	pm_input_passed(r->input, at.in);
	if (pm_work_cancelled())
		no_memory(r);
	return r->failed == 0;
}

static inline bool goes_on(struct pm_recording *r)
{
	return ++r->asked % BETWEEN_QUESTIONS == 0 && !r->failed ? ask(r) : r->failed == 0;
}

bool pm_rec_goes_on(struct pm_recording *r)
{
	return goes_on(r);
}

void pm_rec_proceed(struct pm_recording *r, struct pm_arena *a)
{
	if (!goes_on(r))
		pm_build_fail(a, PM_NO_MEMORY);
}

bool pm_rec_next_line(struct pm_recording *r, struct pm_bytes *ret)
{
	int n = goes_on(r) ? pm_textlines_next(&r->lines, ret) : 0;
	if (n < 0)
		pm_rec_fail(r, n, PM_NO_OFFSET, "no memory for a line");
	return n > 0;
}

void *pm_rec_alloc(struct pm_recording *r, size_t n)
{
	void *p = r->failed ? NULL : pm_arena_alloc(&r->arena, n);
	if (!p)
		no_memory(r);
	return p;
}

void *pm_rec_keep(struct pm_recording *r, struct pm_arena *a, size_t n)
{
	void *p = pm_rec_alloc(r, n);
	if (!p)
		pm_build_fail(a, PM_NO_MEMORY);
	return p;
}

struct pm_bytes pm_rec_copy(struct pm_recording *r, struct pm_bytes text)
{
	struct pm_bytes copy =
		r->failed ? (struct pm_bytes){NULL, 0} : pm_arena_copy(&r->arena, text);
	if (!copy.p)
		no_memory(r);
	return copy;
}

/* A text, as it is shown: texts that look the same are one. */
static uint32_t text(struct pm_recording *r, struct pm_bytes b)
{
	struct pm_text shown = {.p = NULL};
	if (b.len == 0)
		return 0;
	if (!pm_utf8_valid(b) || memchr(b.p, 0, b.len)) {
		pm_text_utf8(&shown, b);
		b = pm_text_view(&shown);
	}
	uint32_t index = shown.failed ? PM_NONE : pm_tree_text(r->tree, b, true);
	pm_text_done(&shown);
	return index == PM_NONE ? no_memory(r) : index;
}

/* ---- quantities ---- */

/* Units of which 1 is a whole number of ns, or of bytes; what pprof reads, and others write. */
static const struct {
	const char *name, *unit;
	int64_t factor;
} units[] = {
	{"ns", "ns", 1},
	{"nanosecond", "ns", 1},
	{"nanoseconds", "ns", 1},
	{"us", "ns", 1000},
	{"\xc2\xb5s", "ns", 1000},
	{"microsecond", "ns", 1000},
	{"microseconds", "ns", 1000},
	{"ms", "ns", 1000000},
	{"millisecond", "ns", 1000000},
	{"milliseconds", "ns", 1000000},
	{"s", "ns", 1000000000},
	{"sec", "ns", 1000000000},
	{"second", "ns", 1000000000},
	{"seconds", "ns", 1000000000},
	{"min", "ns", 60000000000},
	{"minute", "ns", 60000000000},
	{"minutes", "ns", 60000000000},
	{"hr", "ns", 3600000000000},
	{"hour", "ns", 3600000000000},
	{"hours", "ns", 3600000000000},
	{"b", "bytes", 1},
	{"byte", "bytes", 1},
	{"bytes", "bytes", 1},
	{"kb", "bytes", 1 << 10},
	{"kbyte", "bytes", 1 << 10},
	{"kilobyte", "bytes", 1 << 10},
	{"kilobytes", "bytes", 1 << 10},
	{"kib", "bytes", 1 << 10},
	{"mb", "bytes", 1 << 20},
	{"mbyte", "bytes", 1 << 20},
	{"megabyte", "bytes", 1 << 20},
	{"megabytes", "bytes", 1 << 20},
	{"mib", "bytes", 1 << 20},
	{"gb", "bytes", 1 << 30},
	{"gbyte", "bytes", 1 << 30},
	{"gigabyte", "bytes", 1 << 30},
	{"gigabytes", "bytes", 1 << 30},
	{"gib", "bytes", 1 << 30},
	{"count", "", 1},
	{"none", "", 1},
	{"1", "", 1},
};

static bool is_word(struct pm_bytes b, const char *word)
{
	size_t i = 0;
	for (; i < b.len && word[i]; i++)
		if ((b.p[i] >= 'A' && b.p[i] <= 'Z' ? b.p[i] + 32 : b.p[i]) != (uint8_t)word[i])
			return false;
	return i == b.len && !word[i];
}

static void take_unit(struct pm_rec_quantity *q, struct pm_bytes unit)
{
	q->factor = 1;
	q->unit = unit;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (is_word(unit, units[i].name)) {
			q->unit = pm_bytes_of(units[i].unit);
			q->factor = units[i].factor;
		}
}

static uint32_t add_quantity(struct pm_recording *r, struct pm_rec_quantity *q)
{
	if (!pm_rec_has_room(r, &r->quantities, r->n_quantities, &r->quantity_room, sizeof(*q)))
		return PM_REC_BAD;
	q->name = pm_rec_copy(r, q->name);
	q->unit = pm_rec_copy(r, q->unit);
	if (r->n_quantities * PM_REC_N >= PM_LIMIT_COLUMNS)
		pm_rec_fail(r, -ENOTSUP, PM_NO_OFFSET, "has more than %d quantities",
			PM_LIMIT_COLUMNS / PM_REC_N);
	if (r->failed)
		return PM_REC_BAD;
	r->quantities[r->n_quantities] = *q;
	return (uint32_t)r->n_quantities++;
}

uint32_t pm_rec_metric(struct pm_recording *r, struct pm_bytes name, struct pm_bytes unit)
{
	struct pm_rec_quantity q = {.name = name};
	take_unit(&q, unit);
	return add_quantity(r, &q);
}

struct pm_bytes pm_rec_unit(const struct pm_recording *r, uint32_t quantity)
{
	return quantity < r->n_quantities ? r->quantities[quantity].unit
					  : (struct pm_bytes){NULL, 0};
}

int64_t pm_rec_factor(const struct pm_recording *r, uint32_t quantity)
{
	return quantity < r->n_quantities ? r->quantities[quantity].factor : 1;
}

uint32_t pm_rec_count(struct pm_recording *r, const char *name)
{
	return add_quantity(r,
		&(struct pm_rec_quantity){
			.name = pm_bytes_of(name), .factor = 1, .count = true, .no_zeros = true});
}

uint32_t pm_rec_known_metric(const struct pm_recording *r, const char *name)
{
	for (size_t i = 0; i < r->n_quantities; i++)
		if (pm_bytes_equal(r->quantities[i].name, pm_bytes_of(name)))
			return (uint32_t)i;
	return PM_REC_NONE;
}

void pm_rec_no_zeros(struct pm_recording *r, uint32_t quantity)
{
	if (!r->failed && quantity < r->n_quantities)
		r->quantities[quantity].no_zeros = true;
}

void pm_rec_primary(struct pm_recording *r, uint32_t quantity)
{
	if (quantity < r->n_quantities)
		r->primary = quantity;
}

/* ---- functions ---- */

static bool is_function(
	const struct pm_recording *r, uint32_t i, const struct pm_function *f, uint32_t column)
{
	const struct pm_function *known = &r->known[i];
	return known->name == f->name && known->file == f->file && known->module == f->module &&
		known->line == f->line && known->offset == f->offset && r->columns[i] == column;
}

/* The function with these texts, which is added if it is new. */
static uint32_t intern_function(
	struct pm_recording *r, const struct pm_function *f, uint32_t column)
{
	if (r->failed || pm_fingerprints_room(&r->functions) < 0)
		return no_memory(r);
	uint64_t h = pm_hash_u64(r->functions.salt ^ ((uint64_t)f->name << 32 | f->file));
	h = pm_hash_u64(h ^ ((uint64_t)f->module << 32 | f->line));
	uint32_t hash = (uint32_t)pm_hash_u64(h ^ f->offset ^ (uint64_t)column << 40), i;
	size_t at = pm_fingerprints_first(&r->functions, hash);
	while ((i = pm_fingerprints_at(&r->functions, hash, &at)) != PM_NONE &&
		!is_function(r, i, f, column))
		at++;
	if (i != PM_NONE)
		return i;
	i = (uint32_t)r->n_functions;
	if (!pm_rec_has_room(r, &r->known, i, &r->known_room, sizeof(*r->known)) ||
		!pm_rec_has_room(r, &r->frames, i, &r->frames_room, sizeof(*r->frames)) ||
		!pm_rec_has_room(r, &r->columns, i, &r->columns_room, sizeof(*r->columns)))
		return PM_REC_BAD;
	if (pm_tree_function(r->tree, f) == PM_NONE)
		return no_memory(r);
	r->known[i] = *f;
	r->columns[i] = column;
	memset(&r->frames[i], 0xff, sizeof(r->frames[i])); /* PM_NONE */
	pm_fingerprints_put(&r->functions, at, hash, i);
	r->has_modules |= f->module != 0;
	r->has_files |= f->file != 0;
	return (uint32_t)r->n_functions++;
}

uint32_t pm_rec_function(struct pm_recording *r, const struct pm_rec_function *function)
{
	if (r->failed)
		return PM_REC_BAD;
	struct pm_function f = {.id = PM_NONE,
		.name = text(r, function->name),
		.file = text(r, function->file),
		.module = text(r, function->module),
		.line = function->line};
	return intern_function(r, &f, function->column);
}

/* ---- contexts ---- */

/* What is too deep for a tree is a part of the last level. */
static uint32_t child(struct pm_recording *r, uint32_t parent, uint32_t frame)
{
	if (r->failed || parent == PM_REC_BAD || frame >= PM_REC_BAD)
		return PM_REC_BAD;
	uint32_t depth = parent == PM_REC_NONE ? 0 : r->depths[parent] + 1;
	if (depth >= PM_LIMIT_DEPTH) {
		r->n_cut++;
		return parent;
	}
	uint32_t path = pm_paths_child(&r->paths, parent, frame);
	if (path == PM_NONE || path == PM_PATHS_FULL)
		return no_memory(r);
	if (!pm_rec_has_room(r, &r->depths, path, &r->depths_room, sizeof(*r->depths)))
		return PM_REC_BAD;
	r->depths[path] = depth;
	return path;
}

static uint32_t intern_frame(struct pm_recording *r, const struct pm_frame *frame)
{
	uint32_t index = r->failed ? PM_REC_BAD : pm_tree_intern(r->tree, frame);
	return index == PM_NONE ? no_memory(r) : index;
}

uint32_t pm_rec_call(struct pm_recording *r, uint32_t parent, uint32_t function, unsigned flags)
{
	if (r->failed || function >= r->n_functions || parent == PM_REC_BAD)
		return PM_REC_BAD;
	enum { USUAL = PM_REC_INLINED | PM_REC_IDLE };
	uint32_t rare = PM_NONE;
	uint32_t *frame = flags & ~(unsigned)USUAL ? &rare : &r->frames[function].of[flags];
	if (*frame == PM_NONE) {
		const struct pm_function *f = &r->known[function];
		*frame = intern_frame(r,
			&(struct pm_frame){
				.kind = flags & PM_REC_INLINED ? PM_KIND_INLINED : PM_KIND_FUNCTION,
				.is_idle = flags & PM_REC_IDLE,
				.on_gpu = flags & PM_REC_ON_GPU,
				.is_annotation = flags & PM_REC_ANNOTATION,
				.function = function,
				.name = f->name,
				.file = f->file,
				.module = f->module,
				.line = f->line});
		r->gpu_frames |= (flags & PM_REC_ON_GPU) != 0;
	}
	return child(r, parent, *frame);
}

/* The function of a context: that of the call that it is or lies in; NULL: none. */
static const struct pm_function *function_around(const struct pm_recording *r, uint32_t context)
{
	const struct pm_frame *frame = pm_tree_interned(r->tree, r->paths.items[context].key);
	return frame->function == PM_NONE ? NULL : &r->known[frame->function];
}

uint32_t pm_rec_line(struct pm_recording *r, uint32_t parent, struct pm_bytes file, uint32_t line)
{
	if (line == 0 || r->failed || parent >= r->paths.n)
		return r->failed || parent >= r->paths.n ? PM_REC_BAD : parent;
	const struct pm_function *around = function_around(r, parent);
	struct pm_frame frame = {.kind = PM_KIND_LINE,
		.nested = true,
		.function = PM_NONE,
		.file = file.len || !around ? text(r, file) : around->file,
		.module = around ? around->module : 0,
		.line = line};
	r->has_lines = true;
	return child(r, parent, intern_frame(r, &frame));
}

void pm_rec_has_lines(struct pm_recording *r)
{
	r->has_lines = true;
}

void pm_rec_address_name(struct pm_bytes module, uint64_t offset, char name[PM_REC_ADDRESS_NAME])
{
	struct pm_bytes base = module;
	const uint8_t *slash = module.len ? memrchr(module.p, '/', module.len) : NULL;
	/* Memory (`//anon`) is no path. */
	if (slash && !(slash == module.p + 1 && module.p[0] == '/'))
		base = (struct pm_bytes){slash + 1, module.len - (size_t)(slash + 1 - module.p)};
	if (base.len > PM_LIMIT_BASE_NAME)
		base.p += base.len - PM_LIMIT_BASE_NAME, base.len = PM_LIMIT_BASE_NAME;
	if (module.len == 0 && offset == 0)
		snprintf(name, PM_REC_ADDRESS_NAME, "(unknown)");
	else
		snprintf(name, PM_REC_ADDRESS_NAME, "%.*s%s0x%llx", (int)base.len,
			(const char *)base.p, module.len ? "+" : "", (unsigned long long)offset);
}

uint32_t pm_rec_address(struct pm_recording *r, uint32_t parent, struct pm_bytes module,
	uint64_t offset, unsigned flags)
{
	char name[PM_REC_ADDRESS_NAME];
	if (r->failed)
		return PM_REC_BAD;
	pm_rec_address_name(module, offset, name);
	struct pm_function f = {.id = PM_NONE,
		.name = text(r, pm_bytes_of(name)),
		.module = text(r, module),
		.offset = offset};
	struct pm_frame frame = {.kind = PM_KIND_INSTRUCTION,
		.is_idle = flags & PM_REC_IDLE,
		.has_offset = module.len != 0,
		.function = intern_function(r, &f, 0),
		.name = f.name,
		.module = f.module,
		.offset = offset};
	return child(r, parent, intern_frame(r, &frame));
}

uint32_t pm_rec_like(struct pm_recording *r, uint32_t parent, uint32_t like)
{
	if (r->failed || like >= r->paths.n)
		return PM_REC_BAD;
	return child(r, parent, r->paths.items[like].key);
}

uint32_t pm_rec_parent(const struct pm_recording *r, uint32_t context)
{
	return context < r->paths.n ? r->paths.items[context].parent : PM_REC_NONE;
}

uint32_t pm_rec_placeholder(struct pm_recording *r, uint32_t parent, const char *name)
{
	if (r->failed)
		return PM_REC_BAD;
	struct pm_frame frame = {.kind = PM_KIND_PLACEHOLDER,
		.function = PM_NONE,
		.name = text(r, pm_bytes_of(name))};
	return child(r, parent, intern_frame(r, &frame));
}

/* ---- threads ---- */

/* A text that says a number: 7, 1.0. */
static bool is_number(struct pm_bytes b, uint64_t *ret)
{
	uint64_t n = 0;
	size_t i = 0;
	for (; i < b.len && b.p[i] >= '0' && b.p[i] <= '9'; i++)
		if (__builtin_mul_overflow(n, 10, &n) ||
			__builtin_add_overflow(n, b.p[i] - '0', &n))
			return false;
	*ret = n;
	if (i == 0)
		return false;
	if (i + 1 < b.len && b.p[i] == '.')
		for (i++; i < b.len && b.p[i] == '0';)
			i++;
	return i == b.len;
}

static uint16_t key_of(struct pm_recording *r, const char *key)
{
	unsigned i = 0;
	while (i < r->n_keys && strcmp(r->keys[i], key) != 0)
		i++;
	if (i == sizeof(r->keys) / sizeof(r->keys[0]))
		pm_rec_fail(r, -ENOTSUP, PM_NO_OFFSET, "threads have too many kinds of ids");
	else if (i == r->n_keys)
		r->keys[r->n_keys++] = key;
	return (uint16_t)i;
}

static bool is_thread(const struct pm_rec_thread_of *a, const struct pm_rec_thread_of *b)
{
	bool same = a->n == b->n;
	for (unsigned i = 0; same && i < a->n; i++)
		same = a->key[i] == b->key[i] && a->is_text[i] == b->is_text[i] &&
			a->value[i] == b->value[i];
	return same;
}

uint32_t pm_rec_thread(
	struct pm_recording *r, const struct pm_rec_key *keys, unsigned n, struct pm_bytes name)
{
	struct pm_rec_thread_of t = {.n = n < PM_REC_KEYS ? n : PM_REC_KEYS};
	uint32_t i;
	if (r->failed || pm_fingerprints_room(&r->thread_index) < 0)
		return no_memory(r);
	uint64_t h = r->thread_index.salt;
	for (unsigned k = 0; k < t.n; k++) {
		t.key[k] = key_of(r, keys[k].key);
		t.value[k] = keys[k].number;
		t.is_text[k] = keys[k].text.p && !is_number(keys[k].text, &t.value[k]);
		if (t.is_text[k])
			t.value[k] = pm_strtab_add(&r->thread_texts, keys[k].text);
		if (t.is_text[k] && t.value[k] == PM_NONE)
			return no_memory(r);
		h = pm_hash_u64(
			h ^ t.value[k] ^ (uint64_t)t.is_text[k] << 63 ^ (uint64_t)t.key[k] << 48);
	}
	size_t at = pm_fingerprints_first(&r->thread_index, (uint32_t)h);
	while ((i = pm_fingerprints_at(&r->thread_index, (uint32_t)h, &at)) != PM_NONE &&
		!is_thread(&r->threads[i], &t))
		at++;
	if (i == PM_NONE) {
		i = (uint32_t)r->n_threads;
		if (!pm_rec_has_room(r, &r->threads, i, &r->thread_room, sizeof(t)))
			return PM_REC_BAD;
		pm_fingerprints_put(&r->thread_index, at, (uint32_t)h, i);
		r->threads[r->n_threads++] = t;
	}
	if (name.len)
		r->threads[i].name = text(r, name);
	return r->failed ? PM_REC_BAD : i;
}

void pm_rec_lane(struct pm_recording *r, uint32_t thread)
{
	if (!r->failed && thread < r->n_threads)
		r->threads[thread].is_lane = true;
}

void pm_rec_thread_on_gpu(struct pm_recording *r, uint32_t thread)
{
	if (!r->failed && thread < r->n_threads)
		r->threads[thread].on_gpu = true;
}

void pm_rec_process_name(struct pm_recording *r, uint32_t thread, struct pm_bytes name)
{
	if (!r->failed && thread < r->n_threads)
		r->threads[thread].process = text(r, name);
}

/* ---- costs ---- */

static uint32_t cell_hash(
	const struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t quantity)
{
	uint64_t h = pm_hash_u64(r->cell_index.salt ^ ((uint64_t)context << 32 | thread));
	return (uint32_t)pm_hash_u64(h ^ quantity);
}

/* The same, if it is not the last one, or the one behind it. */
static struct pm_rec_cell *find_cell(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t quantity)
{
	uint32_t i;
	if (r->failed || context >= r->paths.n || (quantity & ~PM_REC_THROUGH) >= r->n_quantities ||
		thread == PM_REC_BAD)
		return NULL;
	if (pm_fingerprints_room(&r->cell_index) < 0) {
		no_memory(r);
		return NULL;
	}
	uint32_t hash = cell_hash(r, thread, context, quantity);
	size_t at = pm_fingerprints_first(&r->cell_index, hash);
	while ((i = pm_fingerprints_at(&r->cell_index, hash, &at)) != PM_NONE &&
		(r->cells[i].context != context || r->cells[i].thread != thread ||
			r->cells[i].quantity != quantity))
		at++;
	if (i == PM_NONE) {
		i = (uint32_t)r->n_cells;
		if (!pm_rec_has_room(r, &r->cells, i, &r->cell_room, sizeof(*r->cells)))
			return NULL;
		r->cells[r->n_cells++] = (struct pm_rec_cell){
			.context = context, .thread = thread, .quantity = quantity};
		if (r->quantities[quantity & ~PM_REC_THROUGH].real)
			r->cells[i].f = 0;
		r->has_edges |= (quantity & PM_REC_THROUGH) != 0;
		pm_fingerprints_put(&r->cell_index, at, hash, i);
		r->has_no_thread |= thread == PM_REC_NONE;
	}
	r->last_cell = i;
	return &r->cells[i];
}

/* The cell of a cost; NULL after a failure, or if there is nothing to add to. */
static inline struct pm_rec_cell *cell_of(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t quantity)
{
	if (r->n_waiting)
		pm_rec_finish(r);
	/* Costs of several quantities come together, and their cells lie in that order. */
	for (size_t i = r->last_cell, end = i + 2; i < end && i < r->n_cells; i++) {
		struct pm_rec_cell *cell = &r->cells[i];
		if (cell->context != context || cell->thread != thread ||
			cell->quantity != quantity)
			continue;
		r->last_cell = (uint32_t)i;
		return r->failed ? NULL : cell;
	}
	return find_cell(r, thread, context, quantity);
}

/* 10^n, n at most MOST_DECIMALS. */
static int64_t power(unsigned n)
{
	int64_t p = 1;
	while (n-- > 0)
		p *= 10;
	return p;
}

/* The costs of a quantity become doubles. */
static void become_real(struct pm_recording *r, uint32_t quantity)
{
	struct pm_rec_quantity *q = &r->quantities[quantity];
	double scale = (double)power(q->decimals);
	for (size_t i = 0; i < r->n_cells && !q->real; i++)
		if ((r->cells[i].quantity & ~PM_REC_THROUGH) == quantity)
			r->cells[i].f = (double)r->cells[i].i / scale;
	q->real = true;
	q->decimals = 0;
}

/* Integers of the quantity get more decimals. */
static void rescale(struct pm_recording *r, uint32_t quantity, unsigned decimals)
{
	struct pm_rec_quantity *q = &r->quantities[quantity];
	__int128 by = power(decimals - q->decimals), product;
	for (size_t i = 0; i < r->n_cells; i++)
		if ((r->cells[i].quantity & ~PM_REC_THROUGH) == quantity &&
			__builtin_mul_overflow(r->cells[i].i, by, &product)) {
			become_real(r, quantity);
			return;
		}
	for (size_t i = 0; i < r->n_cells; i++)
		if ((r->cells[i].quantity & ~PM_REC_THROUGH) == quantity)
			r->cells[i].i *= by;
	q->decimals = decimals;
}

void pm_rec_cost_decimal(struct pm_recording *r, uint32_t thread, uint32_t context,
	uint32_t quantity, int64_t digits, unsigned decimals)
{
	struct pm_rec_cell *cell = cell_of(r, thread, context, quantity);
	if (!cell)
		return;
	uint32_t of = quantity & ~PM_REC_THROUGH;
	struct pm_rec_quantity *q = &r->quantities[of];
	if (decimals > MOST_DECIMALS) {
		pm_rec_cost_f64(r, thread, context, quantity, (double)digits / pow(10, decimals));
		return;
	}
	if (decimals > q->decimals && !q->real)
		rescale(r, of, decimals);
	__int128 value = (__int128)digits * q->factor;
	if (q->real) {
		cell->f += (double)value / (double)power(decimals);
	} else if (__builtin_mul_overflow(value, power(q->decimals - decimals), &value) ||
		__builtin_add_overflow(cell->i, value, &value)) {
		become_real(r, of);
		cell->f += (double)digits * (double)q->factor / (double)power(decimals);
	} else {
		cell->i = value;
	}
}

void pm_rec_cost(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t quantity, int64_t cost)
{
	struct pm_rec_cell *cell = cell_of(r, thread, context, quantity);
	__int128 sum;
	if (!cell)
		return;
	const struct pm_rec_quantity *q = &r->quantities[quantity & ~PM_REC_THROUGH];
	if (!q->real && q->decimals == 0 &&
		!__builtin_add_overflow(cell->i, (__int128)cost * q->factor, &sum))
		cell->i = sum;
	else
		pm_rec_cost_decimal(r, thread, context, quantity, cost, 0);
}

void pm_rec_costs(struct pm_recording *r, uint32_t thread, uint32_t context, bool through,
	const struct pm_rec_amount *amounts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t of = amounts[i].quantity, quantity = through ? pm_rec_through(of) : of;
		uint32_t next = r->last_cell + 1; /* where it was the last time; 0 at first */
		struct pm_rec_cell *cell = next < r->n_cells ? &r->cells[next] : NULL;
		__int128 sum;
		if (cell && cell->quantity == quantity && cell->context == context &&
			cell->thread == thread && !r->quantities[of].real &&
			r->quantities[of].decimals == 0 && r->n_waiting == 0 && r->failed == 0 &&
			!__builtin_add_overflow(cell->i,
				(__int128)amounts[i].cost * r->quantities[of].factor, &sum)) {
			cell->i = sum;
			r->last_cell = next;
		} else {
			pm_rec_cost(r, thread, context, quantity, amounts[i].cost);
		}
	}
}

void pm_rec_sample_cost(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t event, int64_t weight)
{
	if (r->failed || event >= r->n_events)
		return;
	r->waiting[r->n_waiting++] = (struct pm_rec_waiting){
		.thread = thread, .context = context, .event = event, .weight = weight};
	if (r->n_waiting == PM_REC_WAITING)
		pm_rec_finish(r);
}

/* Each step asks for the memory that the next one reads. */
void pm_rec_finish(struct pm_recording *r)
{
	unsigned n = r->n_waiting;
	r->n_waiting = 0;
	for (unsigned i = 0; i < n; i++) {
		struct pm_rec_waiting *w = &r->waiting[i];
		w->hash = cell_hash(r, w->thread, w->context, r->events[w->event].weights);
		pm_fingerprints_prefetch(&r->cell_index, w->hash);
	}
	for (unsigned i = 0; i < n; i++) {
		struct pm_rec_waiting *w = &r->waiting[i];
		size_t at = pm_fingerprints_first(&r->cell_index, w->hash);
		w->cell = pm_fingerprints_at(&r->cell_index, w->hash, &at);
		if (w->cell != PM_NONE)
			__builtin_prefetch(&r->cells[w->cell], 1);
	}
	for (unsigned i = 0; i < n; i++) {
		const struct pm_rec_waiting *w = &r->waiting[i];
		const struct pm_event *e = &r->events[w->event];
		r->last_cell = w->cell != PM_NONE ? w->cell : r->last_cell; /* where it likely is */
		pm_rec_cost(r, w->thread, w->context, e->weights, w->weight);
		pm_rec_cost(r, w->thread, w->context, e->samples, 1);
	}
}

void pm_rec_cost_f64(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t quantity, double cost)
{
	struct pm_rec_cell *cell = cell_of(r, thread, context, quantity);
	if (!cell || !isfinite(cost))
		return;
	uint32_t of = quantity & ~PM_REC_THROUGH;
	struct pm_rec_quantity *q = &r->quantities[of];
	if (!q->real)
		become_real(r, of);
	cell->f += cost * (double)q->factor;
}

void pm_rec_add_cell(
	struct pm_recording *r, uint32_t thread, uint32_t context, const struct pm_rec_cell *cell)
{
	uint32_t of = cell->quantity & ~PM_REC_THROUGH;
	__int128 sum;
	double f = cell->f;
	__int128 i = cell->i;
	struct pm_rec_cell *to = cell_of(r, thread, context, pm_rec_through(of));
	if (!to)
		return;
	if (r->quantities[of].real) {
		to->f += f;
	} else if (__builtin_add_overflow(to->i, i, &sum)) {
		double scale = (double)power(r->quantities[of].decimals);
		become_real(r, of);
		to->f += (double)i / scale;
	} else {
		to->i = sum;
	}
}

/* ---- what else ---- */

void pm_rec_fact(struct pm_recording *r, const char *key, struct pm_cell value)
{
	if (!pm_rec_has_room(r, &r->facts, r->n_facts, &r->fact_room, sizeof(*r->facts)))
		return;
	if (value.kind == PM_CELL_TEXT)
		value.text = pm_rec_copy(r, value.text);
	if (!r->failed)
		r->facts[r->n_facts++] = (struct pm_fact){key, value};
}

void pm_rec_remark(struct pm_recording *r, const char *format, ...)
{
	char sentence[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (r->failed)
		return;
	pm_text_line(&r->remarks, pm_bytes_of(sentence));
	pm_text_char(&r->remarks, '\n');
	if (r->remarks.failed)
		no_memory(r);
}

void pm_rec_recipe(struct pm_recording *r, const char *question, const char *command)
{
	pm_text_printf(&r->recipes, "  %s\n$ %s\n", question, command);
	if (r->recipes.failed)
		pm_rec_fail(r, -ENOMEM, PM_NO_OFFSET, "no memory for the recipes");
}

void pm_rec_damage(struct pm_recording *r, uint64_t offset, uint64_t bytes, const char *format, ...)
{
	char what[512];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!r->failed)
		pm_damage_add(&r->damage, pm_rec_file(r), offset, bytes, "%s", what);
}

void pm_rec_names_missing(struct pm_recording *r, const char *why, const char *advice)
{
	r->missing.why = why;
	r->missing.advice = advice;
}

void pm_rec_module_missing(struct pm_recording *r, struct pm_bytes module, struct pm_bytes build_id,
	const char *why, struct pm_bytes tried)
{
	struct pm_missing row = {.module = pm_rec_copy(r, module), .why = why};
	char *hex = pm_rec_alloc(r, 2 * build_id.len + 1), *paths = pm_rec_alloc(r, tried.len + 1);
	for (size_t i = 0; hex && i < build_id.len; i++)
		pm_hex_format(build_id.p[i], 2, hex + 2 * i);
	if (paths && tried.len)
		memcpy(paths, tried.p, tried.len);
	row.build_id = (struct pm_bytes){(const uint8_t *)hex, 2 * build_id.len};
	row.tried = paths;
	if (!pm_rec_has_room(r, &r->missings, r->missing.n, &r->missing_room, sizeof(row)))
		return;
	r->missings[r->missing.n++] = row;
	r->missing.rows = r->missings;
}

void pm_rec_sheet(
	struct pm_recording *r, const struct pm_sheet *sheet, const void *self, uint64_t rows)
{
	if (!pm_rec_has_room(
		    r, &r->documents, r->n_documents, &r->document_room, sizeof(*r->documents)))
		return;
	struct pm_named_doc *doc = &r->documents[r->n_documents++];
	*doc = pm_sheet_document(sheet, self, 0);
	doc->doc.table.end = rows;
}

void pm_rec_document(struct pm_recording *r, const struct pm_named_doc *document)
{
	if (pm_rec_has_room(
		    r, &r->documents, r->n_documents, &r->document_room, sizeof(*r->documents)))
		r->documents[r->n_documents++] = *document;
}

void pm_rec_series(struct pm_recording *r, const struct pm_series *series)
{
	if (pm_rec_has_room(r, &r->series, r->n_series, &r->series_room, sizeof(*r->series)))
		r->series[r->n_series++] = *series;
}

void pm_rec_collection(struct pm_recording *r, const struct pm_collection *collection)
{
	if (pm_rec_has_room(r, &r->collections, r->n_collections, &r->collection_room,
		    sizeof(*r->collections)))
		r->collections[r->n_collections++] = *collection;
}

void pm_rec_note(struct pm_recording *r, const char *name, const char *text)
{
	if (r->n_notes + 1 < sizeof(r->notes) / sizeof(r->notes[0]))
		r->notes[r->n_notes++] = (struct pm_note){name, text};
}

void pm_rec_title(struct pm_recording *r, struct pm_bytes title)
{
	r->title = pm_rec_copy(r, title);
}

void pm_rec_layout(struct pm_recording *r, const char *layout)
{
	r->layout = layout;
}

void pm_rec_contexts_are(struct pm_recording *r, const char *what)
{
	r->contexts_are = what;
}

void pm_rec_measured(struct pm_recording *r, uint64_t time_ns, uint64_t duration_ns)
{
	r->measured_ns = time_ns;
	r->duration_ns = duration_ns;
}
