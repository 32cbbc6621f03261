/* Names of places in code, and the call paths of samples. */
#include <stdio.h>
#include <sys/utsname.h>

#include "formats/builder/named.h"
#include "formats/perf/data.h"

/* ---- names ---- */

/* The number of a location's module in the symbols: PM_NONE if it is none of theirs, or after a
 * failure. */
static uint32_t module_of(struct perf *f, const struct perf_location *l, enum sym_module_kind *kind)
{
	struct perf_module *m = perf_module_of(f, l->module);
	struct pm_bytes name = perf_text(f, l->module);
	bool kernel = perf_starts(name, "[kernel.kallsyms]"), vdso = perf_starts(name, "[vdso]");
	*kind = l->kind == IN_MEMORY ? SYM_PERF_MAP
		: kernel             ? SYM_KERNEL
		: vdso               ? SYM_VDSO
				     : SYM_OFFSETS;
	if (!f->symbols || !m || !pm_rec_goes_on(f->r) || l->kind == NOWHERE || l->kind == MADE ||
		(name.len && name.p[0] == '[' && !kernel && !vdso))
		return PM_NONE;
	struct sym_module asked = {.path = name,
		.build_id = {m->build_id, m->n_build_id},
		.kind = *kind,
		.reference = kernel ? f->reference : (struct pm_bytes){NULL, 0},
		.reference_address = f->reference_address};
	if (m->number == PM_NONE && sym_names_module(f->symbols, &asked, &m->number) < 0) {
		perf_no_memory(f);
		return PM_NONE;
	}
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

/* The context of a location below `parent`. */
static uint32_t location_context(struct perf *f, uint32_t parent, const struct perf_location *l)
{
	enum sym_module_kind kind;
	uint32_t number = module_of(f, l, &kind), context = PM_REC_NONE;
	struct pm_bytes module;
	uint64_t address = perf_shown(f, l, &module);
	/* A call returns behind itself. */
	if (number != PM_NONE)
		context = pm_rec_named(f->r, parent, f->symbols, number, module,
			l->offset - (l->first || l->offset == 0 ? 0 : 1));
	if (context != PM_REC_NONE)
		return context;
	if (l->kind == IN_FILE || l->kind == IN_MEMORY || (l->kind == NOWHERE && l->ip != 0))
		return pm_rec_address(f->r, parent, module, address);
	struct pm_rec_function function = {.name = module, .module = pm_bytes_of("[bpf]")};
	if (l->kind == NOWHERE) /* an address like others */
		function = (struct pm_rec_function){.name = pm_bytes_of("0x0")};
	return pm_rec_call(f->r, parent, pm_rec_function(f->r, &function), 0);
}

int perf_open_symbols(struct perf *f)
{
	const struct pm_open_options *o = pm_rec_options(f->r);
	const struct sym_root *root = &((struct perf_own *)pm_rec_own(f->r))->root;
	struct utsname here;
	if (o->no_symbols || !root->is_open)
		return 0;
	uint64_t written = pm_rec_mtime(f->r), length = f->last_ns - f->first_ns;
	struct sym_place place = {.folder = -1,
		.root = root,
		.started_ns = written > length ? written - length : 0,
		.written_ns = written,
		.is_here = uname(&here) == 0 && f->host.len &&
			pm_bytes_equal(f->host, pm_bytes_of(here.nodename)) &&
			pm_bytes_equal(f->kernel_release, pm_bytes_of(here.release)),
		.sizeless = true};
	return sym_names_new(&f->symbols, &place, &f->symbol_damage);
}

/* ---- call paths ---- */

/* The frames of a sample, leaf first. */
static void list_frames(struct perf *f, const struct perf_sample *s, enum perf_mode mode)
{
	/* Markers in a chain say what the addresses behind them are. */
	static const struct {
		int64_t marker;
		enum perf_mode mode;
	} markers[] = {{-32, HYPERVISOR}, {-128, KERNEL}, {-512, USER}, {-2048, GUEST_KERNEL},
		{-2176, GUEST_KERNEL}, {-2560, GUEST_USER}};
	enum { LAST_MARKER = -4095 };
	struct pm_cur c = perf_cur(f, s->chain);
	enum perf_mode own = mode;
	bool first = true;
	f->n_chain = 0;
	while (pm_cur_left(&c) >= 8) {
		uint64_t ip = pm_cur_u64(&c);
		if ((int64_t)ip < 0 && (int64_t)ip >= LAST_MARKER) {
			for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
				if (markers[i].marker == (int64_t)ip) {
					mode = markers[i].mode;
					first = true;
				}
			continue;
		}
		if (!perf_room(f, &f->chain, f->n_chain, &f->chain_room, sizeof(*f->chain)))
			return;
		f->chain[f->n_chain++] = (struct perf_frame){ip, mode, first};
		first = false;
	}
	if (f->n_chain == 0 && s->has_ip &&
		perf_room(f, &f->chain, 0, &f->chain_room, sizeof(*f->chain)))
		f->chain[f->n_chain++] = (struct perf_frame){s->ip, own, true};
}

uint32_t perf_context_of(struct perf *f, const struct perf_sample *s, enum perf_mode mode)
{
	uint32_t path = PM_NONE;
	list_frames(f, s, mode);
	if (f->n_chain == 0)
		return pm_rec_placeholder(f->r, PM_REC_NONE, "(no stack)");
	for (size_t i = f->n_chain; i-- > 0 && pm_rec_goes_on(f->r);) {
		struct perf_location l;
		uint32_t known = f->paths.n, above = path;
		uint32_t location = perf_locate(f, s->pid, &f->chain[i], &l)
			? perf_location_of(f, &l)
			: PM_NONE;
		if (location == PM_NONE)
			return PM_REC_BAD;
		path = pm_paths_child(&f->paths, above, location);
		if (path == PM_PATHS_FULL || path == PM_NONE ||
			!perf_room(
				f, &f->contexts, path, &f->contexts_room, sizeof(*f->contexts))) {
			perf_no_memory(f);
			return PM_REC_BAD;
		}
		if (path == known)
			f->contexts[path] = location_context(
				f, above == PM_NONE ? PM_REC_NONE : f->contexts[above], &l);
	}
	return path == PM_NONE ? PM_REC_BAD : f->contexts[path];
}

void perf_say_missing(struct perf *f)
{
	bool asked = f->symbols;
	pm_rec_names_missing(f->r, asked ? "no file has its code" : "not looked for: -o symbols=no",
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
