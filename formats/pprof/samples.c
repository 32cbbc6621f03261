/*
 * The second pass: samples become costs of contexts. Stacks are walked in a trie of locations, so
 * that the frames of a location, several where functions were inlined, are made once a path.
 */
#include <errno.h>

#include "formats/builder/named.h"
#include "formats/common/list.h"
#include "formats/pprof/pprof.h"
#include "profmount/limits.h"

enum { MOST_LABELS = 256, SPOT = 1 << 16 /* labels */ };

/* The ids of threads, by the rule of docs/formats/pprof.md: the first key that all samples have. */
static const char *const id_keys[] = {"thread_id", "thread id", "tid", NULL};
static const char *const name_keys[] = {"thread_name", "thread name", "thread", NULL};
static const char *const process_keys[] = {"pid", NULL};

struct sampling {
	struct pprof *p;
	struct pprof_numbers locations, values;
	struct pprof_label labels[MOST_LABELS + 1]; /* the last one is for what is too much */
	size_t n_labels, n_all_labels;
	uint32_t thread_id, thread_name, process; /* texts of keys; 0: none */
};

/* ---- frames ---- */

/* PPROF_NONE: it has no name, or is not there. */
static uint32_t function_handle(struct pprof *p, const struct pprof_mapping *m, uint64_t id)
{
	const uint32_t *at = pm_map_find(&p->function_of, id);
	struct pprof_function *f = at ? &p->functions[*at] : NULL;
	if (!f)
		return PPROF_NONE;
	uint32_t name = pprof_string(p, f->name);
	if (name == 0)
		name = pprof_string(p, f->system_name);
	if (name == 0)
		return PPROF_NONE;
	bool fits = f->line <= UINT32_MAX;
	struct pm_rec_function function = {.name = pprof_text(p, name),
		.file = pprof_text(p, pprof_string(p, f->file)),
		.module = m ? pprof_text(p, pprof_string(p, m->file)) : (struct pm_bytes){NULL, 0},
		.line = fits ? (uint32_t)f->line : 0};
	return pm_rec_function(p->r, &function);
}

static uint32_t address(struct pprof *p, uint32_t parent, const struct pprof_location *l,
	const struct pprof_mapping *m)
{
	struct pm_bytes module = {NULL, 0};
	uint64_t offset = l->address;
	if (m)
		module = pprof_text(p, pprof_string(p, m->file));
	if (module.len > 0)
		offset = l->address - m->start + m->offset;
	return pm_rec_address(p->r, parent, module, offset, 0);
}

/* Bytes of a build id that is written in hex; none if it is not. */
struct pm_bytes pprof_build_id(struct pm_bytes hex, uint8_t room[32])
{
	size_t n = 0;
	for (; n < 32 && 2 * n + 1 < hex.len; n++) {
		unsigned byte = 0;
		for (unsigned k = 0; k < 2; k++) {
			uint8_t c = hex.p[2 * n + k];
			unsigned digit = c >= '0' && c <= '9'        ? c - '0'
				: (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
								     : 16;
			if (digit == 16)
				return (struct pm_bytes){NULL, 0};
			byte = byte << 4 | digit;
		}
		room[n] = (uint8_t)byte;
	}
	return (struct pm_bytes){room, hex.len == 2 * n ? n : 0};
}

/* Frames of an address from the symbols of its module; PM_REC_NONE if there are none. */
static uint32_t symbolised(
	struct pprof *p, uint32_t parent, const struct pprof_location *l, struct pprof_mapping *m)
{
	uint8_t room[32];
	if (!p->names || !m || pprof_string(p, m->file) == 0)
		return PM_REC_NONE;
	struct pm_bytes module = pprof_text(p, pprof_string(p, m->file));
	struct sym_module asked = {.path = module,
		.build_id = pprof_build_id(pprof_text(p, pprof_string(p, m->build_id)), room),
		.kind = SYM_OFFSETS};
	if (m->module == PPROF_NONE)
		pm_build_check(&p->arena, sym_names_module(p->names, &asked, &m->module));
	return pm_rec_named(
		p->r, parent, p->names, m->module, module, l->address - m->start + m->offset, 0);
}

/* The context of a location below a parent: its functions, the inlined ones last, with lines. */
static uint32_t location_context(struct pprof *p, uint32_t parent, uint32_t location)
{
	const struct pprof_location *l = &p->locations[location];
	const uint32_t *at = l->mapping ? pm_map_find(&p->mapping_of, l->mapping) : NULL;
	struct pprof_mapping *m = at ? &p->mappings[*at] : NULL;
	p->no_mapping += l->mapping && !m;
	if (l->n == 0) {
		uint32_t named = symbolised(p, parent, l, m);
		return named != PM_REC_NONE ? named : address(p, parent, l, m);
	}
	for (uint32_t i = l->n; i-- > 0;) {
		const struct pprof_line *line = &p->lines[l->first + i];
		uint32_t function = function_handle(p, m, line->function);
		bool is_there = pm_map_find(&p->function_of, line->function);
		p->no_function += !is_there;
		parent = function == PPROF_NONE
			? address(p, parent, l, m)
			: pm_rec_call(p->r, parent, function, i + 1 < l->n ? PM_REC_INLINED : 0);
		bool fits = is_there && line->line <= UINT32_MAX;
		parent = pm_rec_line(
			p->r, parent, (struct pm_bytes){NULL, 0}, fits ? (uint32_t)line->line : 0);
	}
	return parent;
}

/* The context of a stack, whose locations come innermost first; *ret_whole: all are there. */
static uint32_t stack_context(struct pprof *p, const struct pprof_numbers *ids, bool *ret_whole)
{
	uint32_t path = PM_REC_NONE;
	*ret_whole = true;
	for (size_t i = 0; i < ids->n; i++)
		if (ids->items[i] == 0 || !pm_map_find(&p->location_of, ids->items[i])) {
			*ret_whole = false;
			return PM_REC_NONE;
		}
	if (ids->n == 0)
		return pm_rec_placeholder(p->r, PM_REC_NONE, "(no stack)");
	for (size_t i = ids->n; i-- > 0 && pm_rec_goes_on(p->r);) {
		uint32_t location = *pm_map_find(&p->location_of, ids->items[i]);
		uint32_t above = path, known = p->paths.n;
		path = pm_paths_child(&p->paths, above, location);
		if (path == PM_PATHS_FULL)
			pm_build_fail(&p->arena, PM_NO_MEMORY);
		pm_list_grow(
			&p->arena, &p->contexts, path, &p->contexts_room, sizeof(*p->contexts));
		if (path == known)
			p->contexts[path] = location_context(
				p, above == PM_REC_NONE ? above : p->contexts[above], location);
	}
	return path != PM_REC_NONE ? p->contexts[path] : PM_REC_BAD;
}

/* ---- threads ---- */

/* The text of the first key that every sample has; 0: none has it. */
static uint32_t common_key(struct pprof *p, const char *const *keys)
{
	for (; *keys; keys++)
		for (size_t i = 0; i < p->n_keys; i++) {
			uint32_t text = pprof_string(p, p->key_samples[i].string);
			uint64_t samples = 0;
			if (!pm_bytes_equal(pprof_text(p, text), pm_bytes_of(*keys)))
				continue;
			for (size_t k = 0; k < p->n_keys;
				k++) /* equal strings may be stored twice */
				if (pprof_string(p, p->key_samples[k].string) == text)
					samples += p->key_samples[k].samples;
			if (samples >= p->n_samples)
				return text;
		}
	return 0;
}

static const struct pprof_label *label_of(const struct sampling *s, uint32_t key)
{
	for (size_t i = 0; key && i < s->n_labels; i++)
		if (s->labels[i].key == key)
			return &s->labels[i];
	return NULL;
}

static struct pm_rec_key key_of(struct pprof *p, const char *key, const struct pprof_label *l)
{
	struct pm_rec_key k = {.key = key, .number = (uint64_t)l->number};
	if (l->text)
		k.text = pprof_text(p, l->text);
	return k;
}

static uint32_t find_thread(struct sampling *s)
{
	const struct pprof_label *id = label_of(s, s->thread_id);
	const struct pprof_label *name = label_of(s, s->thread_name);
	const struct pprof_label *process = label_of(s, s->process);
	struct pm_rec_key keys[2];
	unsigned n = 0;
	struct pm_bytes known = {NULL, 0};
	if (process)
		keys[n++] = key_of(s->p, "process", process);
	if (name && name->text)
		known = pprof_text(s->p, name->text);
	if (id)
		keys[n++] = key_of(s->p, "thread", id);
	else if (name)
		keys[n++] = key_of(s->p, "thread", name);
	return n ? pm_rec_thread(s->p->r, keys, n, known) : PM_REC_NONE;
}

/* ---- samples ---- */

static int read_sample(struct sampling *s, struct pm_bytes message)
{
	struct pprof_field f;
	int r;
	s->locations.n = s->values.n = s->n_labels = s->n_all_labels = 0;
	while ((r = pprof_next(&message, &f)) > 0) {
		int e = 0;
		if (f.number == 1)
			e = pprof_numbers_add(&s->locations, &f);
		else if (f.number == 2)
			e = pprof_numbers_add(&s->values, &f);
		else if (f.number == 3 && f.wire != PPROF_LENGTH)
			e = -EINVAL;
		else if (f.number == 3 && s->n_all_labels++ < MOST_LABELS)
			e = pprof_label_read(s->p, f.bytes, &s->labels[s->n_labels++]);
		else if (f.number == 3)
			e = pprof_label_read(s->p, f.bytes, &s->labels[MOST_LABELS]);
		if (e < 0)
			return e;
	}
	s->p->many_labels += s->n_all_labels > MOST_LABELS;
	return r;
}

static bool is_wanted(const struct sampling *s)
{
	const struct pprof_filter *f = &s->p->own->filter;
	const struct pprof_label *l = f->is_set ? label_of(s, f->label.key) : NULL;
	return !f->is_set ||
		(l && l->text == f->label.text && l->number == f->label.number &&
			l->unit == f->label.unit);
}

static void take_sample(struct sampling *s)
{
	struct pprof *p = s->p;
	bool whole;
	if (s->values.n != p->n_types) {
		p->no_values++;
		return;
	}
	if (!is_wanted(s))
		return;
	uint32_t context = stack_context(p, &s->locations, &whole);
	if (!whole) {
		p->no_location++;
		return;
	}
	uint32_t thread = find_thread(s);
	for (size_t i = 0; i < p->n_types; i++) {
		p->has_negative |= (int64_t)s->values.items[i] < 0;
		pm_rec_cost(p->r, thread, context, p->types[i].metric, (int64_t)s->values.items[i]);
	}
	if (!p->own->filter.is_set)
		pprof_tags_add(p, s->labels, s->n_labels, s->values.items);
}

static int each_field(void *context, const struct pprof_field *f, uint64_t offset)
{
	struct sampling *s = context;
	struct pprof *p = s->p;
	if (f->number != PPROF_SAMPLE)
		return 0;
	if (!pm_rec_goes_on(p->r))
		return -ECANCELED;
	if (read_sample(s, f->bytes) < 0)
		return -EINVAL;
	/* Its labels are rows of raw/labels.csv. */
	uint64_t last = p->n_spots ? p->spots[p->n_spots - 1].label : 0;
	if (s->n_all_labels && (p->n_spots == 0 || p->n_raw_labels - last >= SPOT)) {
		pm_list_grow(&p->arena, &p->spots, p->n_spots, &p->spots_room, sizeof(*p->spots));
		p->spots[p->n_spots++] =
			(struct pprof_spot){offset, p->n_raw_samples, p->n_raw_labels};
	}
	p->n_raw_samples++;
	p->n_raw_labels += s->n_all_labels;
	take_sample(s);
	return 0;
}

void pprof_samples_read(struct pprof *p)
{
	struct sampling s = {.p = p, .locations.arena = &p->arena, .values.arena = &p->arena};
	p->in_labels = pm_arena_zeroed(&p->arena, p->n_strings / 8 + 1, 1);
	pm_paths_init_in(&p->arena, &p->paths, PM_LIMIT_ITEMS);
	s.thread_id = common_key(p, id_keys);
	s.thread_name = common_key(p, name_keys);
	s.process = common_key(p, process_keys);
	pprof_for_fields(p, false, each_field, &s);
}
