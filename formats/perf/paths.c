/* Names of places in code, and the call paths of samples. */
#include <sys/utsname.h>

#include "formats/builder/named.h"
#include "formats/perf/data.h"

/* ---- names ---- */

/* The number of a location's module in the symbols: PM_NONE if it is none of theirs. */
static uint32_t module_of(struct perf *f, const struct perf_location *l, enum sym_module_kind *kind)
{
	struct perf_module *m = perf_module_of(f, l->module);
	struct pm_bytes name = perf_text(f, l->module);
	bool kernel = perf_starts(name, "[kernel.kallsyms]"), vdso = perf_starts(name, "[vdso]");
	*kind = l->kind == IN_MEMORY ? SYM_PERF_MAP
		: kernel             ? SYM_KERNEL
		: vdso               ? SYM_VDSO
				     : SYM_OFFSETS;
	if (!f->symbols || !pm_rec_goes_on(f->r) || l->kind == NOWHERE || l->kind == MADE ||
		(name.len && name.p[0] == '[' && !kernel && !vdso))
		return PM_NONE;
	struct sym_module asked = {.path = name,
		.build_id = {m->build_id, m->n_build_id},
		.kind = *kind,
		.reference = kernel ? f->reference : (struct pm_bytes){NULL, 0},
		.reference_address = f->reference_address};
	if (m->number == PM_NONE)
		pm_build_check(&f->arena, sym_names_module(f->symbols, &asked, &m->number));
	return m->number;
}

uint64_t perf_shown(struct perf *f, const struct perf_location *l, struct pm_bytes *module)
{
	enum sym_module_kind kind;
	uint32_t number = module_of(f, l, &kind);
	uint64_t linked;
	*module = l->kind == IN_MEMORY ? pm_bytes_of("//anon") : perf_text(f, l->module);
	if (number != PM_NONE && kind == SYM_OFFSETS &&
		sym_names_linked(f->symbols, number, l->offset, &linked))
		return linked;
	return l->kind == IN_MEMORY ? l->ip : l->offset;
}

/* Where a location is looked up: a call returns behind itself. */
static uint64_t looked_up(const struct perf_location *l)
{
	return l->offset - (l->standing != PERF_RETURN || l->offset == 0 ? 0 : 1);
}

/* The context of a location below `parent`. */
static uint32_t location_context(struct perf *f, uint32_t parent, const struct perf_location *l)
{
	enum sym_module_kind kind;
	uint32_t number = module_of(f, l, &kind), context = PM_REC_NONE;
	struct pm_bytes module;
	uint64_t address = perf_shown(f, l, &module);
	unsigned flags = l->standing == PERF_IDLE ? PM_REC_IDLE : 0;
	if (number != PM_NONE)
		context =
			pm_rec_named(f->r, parent, f->symbols, number, module, looked_up(l), flags);
	if (context != PM_REC_NONE)
		return context;
	if (l->kind == IN_FILE || l->kind == IN_MEMORY || (l->kind == NOWHERE && l->ip != 0))
		return pm_rec_address(f->r, parent, module, address, flags);
	struct pm_rec_function function = {.name = module, .module = pm_bytes_of("[bpf]")};
	if (l->kind == NOWHERE) /* an address like others */
		function = (struct pm_rec_function){.name = pm_bytes_of("0x0")};
	return pm_rec_call(f->r, parent, pm_rec_function(f->r, &function), flags);
}

void perf_open_symbols(struct perf *f)
{
	const struct pm_open_options *o = pm_rec_options(f->r);
	const struct sym_root *root = &((struct perf_own *)pm_rec_own(f->r))->root;
	struct utsname here;
	if (o->no_symbols || !root->is_open)
		return;
	uint64_t written = pm_rec_mtime(f->r), length = f->last_ns - f->first_ns;
	struct sym_place place = {.folder = -1,
		.root = root,
		.started_ns = written > length ? written - length : 0,
		.written_ns = written,
		.is_here = uname(&here) == 0 && f->host.len &&
			pm_bytes_equal(f->host, pm_bytes_of(here.nodename)) &&
			pm_bytes_equal(f->kernel_release, pm_bytes_of(here.release)),
		.unwinds = true,
		.sizeless = true};
	pm_build_check(&f->arena, sym_names_new(&f->symbols, &place, &f->symbol_damage));
}

/* ---- call paths ---- */

static void add_frame(struct perf *f, uint64_t ip, enum perf_mode mode, bool first)
{
	pm_items_grow(&f->arena, &f->chain, f->n_chain, &f->chain_room, sizeof(*f->chain));
	f->chain[f->n_chain++] = (struct perf_frame){
		.ip = ip, .slot = PERF_NO_SLOT, .mode = (uint8_t)mode, .first = first};
}

/* The registers outside of the kernel, by their numbers in DWARF; false: of no known machine. */
static bool read_registers(const struct perf *f, const struct perf_sample *s,
	struct sym_registers *ret, struct sym_stack *stack)
{
	/* Where they are among those of perf, the pc behind the others; those of arm64 have the
	 * same numbers. */
	static const uint8_t of_x86[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8};
	enum { X86_POINTER = 7, ARM_POINTER = 31, ARM_PC = 32, ABI_64 = 2 };
	uint64_t mask = s->event->regs_user, all[64] = {0};
	bool is_arm = perf_starts(f->architecture, "aarch64") ||
		(f->architecture.len == 0 && (mask >> ARM_POINTER & 3) == 3);
	bool is_x86 =
		!is_arm && (f->architecture.len == 0 || perf_starts(f->architecture, "x86_64"));
	struct pm_cur c = perf_cur(f, s->registers);
	if (f->big || s->abi != ABI_64 || (!is_arm && !is_x86))
		return false;
	for (unsigned i = 0; i < 64; i++)
		if (mask >> i & 1)
			all[i] = pm_cur_u64(&c);
	*ret = (struct sym_registers){.known = 0};
	stack->n_registers = is_arm ? ARM_PC : sizeof(of_x86);
	stack->pointer = is_arm ? ARM_POINTER : X86_POINTER;
	for (unsigned i = 0; i < stack->n_registers; i++) {
		unsigned at = is_arm ? i : of_x86[i];
		ret->value[i] = all[at];
		ret->known |= (mask >> at & 1) << i;
	}
	ret->pc = is_arm ? all[ARM_PC] : all[of_x86[sizeof(of_x86) - 1]];
	stack->start = ret->value[stack->pointer];
	stack->bytes = s->stack;
	return ret->known >> stack->pointer & 1 && ret->pc;
}

/* Adds the frames outside of the kernel, from the copy of their stack. */
static enum perf_stack_end unwind(struct perf *f, const struct perf_sample *s)
{
	static const enum perf_stack_end ends[] = {[SYM_STEP_END] = STACK_WHOLE,
		[SYM_STEP_BEYOND] = STACK_BEYOND,
		[SYM_STEP_NO_FILE] = STACK_NO_FILE,
		[SYM_STEP_UNKNOWN] = STACK_BROKEN};
	struct sym_registers registers;
	struct sym_stack stack;
	enum sym_step step = SYM_STEP_UP;
	if (!f->symbols || !read_registers(f, s, &registers, &stack))
		return STACK_NOT_READ;
	while (step == SYM_STEP_UP && pm_rec_goes_on(f->r)) {
		enum sym_module_kind kind;
		add_frame(f, registers.pc, USER, !registers.is_return);
		struct perf_location l = perf_locate(f, s->pid, &f->chain[f->n_chain - 1]);
		uint32_t number = module_of(f, &l, &kind);
		step = number == PM_NONE
			? SYM_STEP_NO_FILE
			: sym_names_step(f->symbols, number, l.offset, &stack, &registers);
	}
	if (step == SYM_STEP_NO_MEMORY)
		pm_build_fail(&f->arena, PM_NO_MEMORY);
	return ends[step];
}

/* The frames of a sample whose stack is unwound: those of its chain, and behind them the others. */
static void list_frames(struct perf *f, const struct perf_told *told, const struct perf_sample *s)
{
	f->n_chain = 0;
	for (uint32_t i = 0; i < told->n_frames; i++) {
		pm_items_grow(&f->arena, &f->chain, f->n_chain, &f->chain_room, sizeof(*f->chain));
		f->chain[f->n_chain++] = told->frames[i];
	}
	f->stacks[unwind(f, s)]++;
	if (f->n_chain == 0 && s->has_ip)
		add_frame(f, s->ip, perf_misc(f, &told->place) & 7, true);
}

/* What a frame is to thread 0, by its innermost name that says so. */
static enum perf_role role_of(struct perf *f, const struct perf_location *l, bool *named)
{
	enum sym_module_kind kind;
	uint32_t number = module_of(f, l, &kind), at;
	const struct sym_scopes *scopes = NULL;
	enum perf_role role = PERF_OTHER;
	if (number == PM_NONE)
		return PERF_OTHER;
	pm_build_check(&f->arena, sym_names_find(f->symbols, number, looked_up(l), &scopes, &at));
	*named |= scopes != NULL;
	for (; scopes && at != UINT32_MAX && role == PERF_OTHER; at = scopes->items[at].parent)
		role = perf_role_of(sym_scopes_text_of(scopes, scopes->items[at].name));
	return role;
}

/* Whether the frames of a sample are those of a processor that has nothing to do. */
static bool is_idle(
	struct perf *f, const struct perf_told *told, const struct perf_frame *frames, size_t n)
{
	bool below = false, named = false;
	if (!told->has_tid || told->pid != 0 || told->tid != 0)
		return false;
	for (size_t i = n; i-- > 0 && pm_rec_goes_on(f->r);) {
		struct perf_location l = perf_locate(f, told->pid, &frames[i]);
		enum perf_role role = role_of(f, &l, &named);
		if (below && role == PERF_INTERRUPT)
			return false;
		below |= role == PERF_IDLE_LOOP;
	}
	f->idle_unknown += !named;
	return true;
}

/* The number of a frame's location. */
static uint32_t frame_location(
	struct perf *f, uint64_t pid, const struct perf_frame *at, bool is_idle_leaf)
{
	bool has_slot = at->slot < PERF_SLOTS;
	if (has_slot && !at->fresh && !is_idle_leaf)
		return f->slots[at->slot];
	struct perf_location l = perf_locate(f, pid, at);
	uint32_t location = perf_location_of(f, &l);
	if (has_slot)
		f->slots[at->slot] = location;
	l.standing = PERF_IDLE;
	return is_idle_leaf ? perf_location_of(f, &l) : location;
}

/* The path of a frame below another. */
static uint32_t path_below(struct perf *f, uint32_t above, uint32_t location)
{
	uint32_t known = f->paths.n;
	uint32_t path = pm_paths_child(&f->paths, above, location);
	if (path == PM_PATHS_FULL)
		pm_build_fail(&f->arena, PM_NO_MEMORY);
	pm_items_grow(&f->arena, &f->contexts, path, &f->contexts_room, sizeof(*f->contexts));
	if (path != known)
		return path;
	struct perf_location *l = &f->locations[location];
	uint32_t parent = above == PM_NONE ? PM_REC_NONE : f->contexts[above], context;
	if (l->context != PM_REC_NONE) {
		context = pm_rec_like(f->r, parent, l->context);
	} else {
		context = location_context(f, parent, l);
		/* Without inlined functions and lines. */
		if (context != parent && pm_rec_parent(f->r, context) == parent)
			l->context = context;
	}
	f->contexts[path] = context;
	return path;
}

/* Where the paths of a thread's last sample are. */
static struct perf_paths *last_paths(struct perf *f, uint32_t thread)
{
	while (thread != PM_NONE && f->n_last_paths <= thread) {
		pm_items_grow(&f->arena, &f->last_paths, f->n_last_paths, &f->last_paths_room,
			sizeof(*f->last_paths));
		f->last_paths[f->n_last_paths++] = (struct perf_paths){.thread = PM_NONE};
	}
	return thread == PM_NONE ? &f->other_paths : &f->last_paths[thread];
}

struct perf_thread *perf_sample_thread(struct perf *f, const struct perf_told *told)
{
	struct perf_paths *last = told->thread == PM_NONE ? NULL : last_paths(f, told->thread);
	if (last && last->thread != PM_NONE)
		return &f->threads[last->thread];
	struct perf_thread *t = perf_thread_of(f, told->pid, told->tid);
	if (last)
		last->thread = (uint32_t)(t - f->threads);
	return t;
}

/*
 * Whether a path is that of n keys, leaf first, below another one; fills in those on the way,
 * outermost first.
 */
static bool is_path(const struct perf *f, uint32_t path, uint32_t above, const uint32_t *keys,
	size_t n, uint32_t *ret)
{
	for (size_t i = 0; i < n; i++) {
		if (path >= f->paths.n || f->paths.items[path].key != keys[i])
			return false;
		ret[n - 1 - i] = path;
		path = f->paths.items[path].parent;
	}
	return path == above;
}

uint32_t perf_context_of(struct perf *f, const struct perf_told *told, const struct perf_sample *s)
{
	const struct perf_frame *frames = told->frames;
	size_t n = told->n_frames, known = told->known;
	struct perf_paths *last = last_paths(f, told->thread);
	if (told->unwinds) {
		list_frames(f, told, s);
		frames = f->chain;
		n = f->n_chain;
	}
	if (n + known == 0)
		return pm_rec_placeholder(f->r, PM_REC_NONE, "(no stack)");
	bool idle = is_idle(f, told, frames, n);
	uint32_t above = known ? last->items[known - 1] : PM_NONE, path = f->met[told->print];
	pm_items_grow(&f->arena, &f->keys, n, &f->keys_room, sizeof(*f->keys));
	pm_items_grow(&f->arena, &last->items, known + n, &last->room, sizeof(path));
	for (size_t i = n; i-- > 0;)
		f->keys[i] = frame_location(f, told->pid, &frames[i], idle && i == 0);
	if (!is_path(f, path, above, f->keys, n, last->items + known)) {
		path = above;
		for (size_t i = n, at = known; i-- > 0; at++) {
			path = path_below(f, path, f->keys[i]);
			last->items[at] = path;
		}
		f->met[told->print] = path;
	}
	return f->contexts[path];
}

void perf_say_missing(struct perf *f)
{
	bool asked = f->symbols;
	pm_rec_names_missing(f->r,
		asked ? "the address lies in no file that was mapped, as where a call chain by frame "
			"pointers goes astray in code without them"
		      : "not looked for: -o symbols=no",
		asked ? "give its files with -o sysroot=DIR, or install its debug symbols"
		      : "mount without -o symbols=no");
	for (uint32_t i = 0; i < f->n_modules && pm_rec_goes_on(f->r); i++) {
		const struct perf_module *m = &f->modules[i];
		struct pm_bytes name = perf_text(f, i), id = {m->build_id, m->n_build_id};
		struct sym_absence absence = {
			.why = asked ? "no file has its code" : "not looked for: -o symbols=no"};
		if (m->number != PM_NONE)
			absence = sym_names_absence(f->symbols, m->number);
		if (perf_starts(name, "/tmp/perf-") && m->number != PM_NONE)
			name = pm_bytes_of("//anon");
		if (name.len && (id.len || m->number != PM_NONE))
			pm_rec_module_missing(f->r, name, id, absence.why, absence.tried);
	}
}
