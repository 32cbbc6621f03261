/*
 * The first pass over a profile.proto: everything but samples, which refer to what may come later.
 * docs/formats/pprof.md has the fields.
 */
#include <errno.h>
#include <inttypes.h>

#include "formats/common/list.h"
#include "formats/pprof/pprof.h"

/* ---- messages ---- */

#define LIST_ADD(p, list, n, room, item)                                                           \
	(pm_items_grow(&(p)->arena, &(p)->list, (p)->n, &(p)->room, sizeof(*(p)->list)),           \
		(p)->list[(p)->n++] = (item))

/* Numbers by field of a message whose fields are all numbers, up to `n`. */
static int read_numbers(struct pm_bytes message, uint64_t *ret, uint32_t n)
{
	struct pprof_field f;
	int r;
	while ((r = pprof_next(&message, &f)) > 0) {
		if (f.number >= n)
			continue;
		if (f.wire != PPROF_VARINT)
			return -EINVAL;
		ret[f.number] = f.value;
	}
	return r;
}

/* Adds an id of item `place`: 0 and ids that are there already are counted; the first holds. */
static void add_id(struct pprof *p, struct pm_map *map, uint64_t id, size_t place)
{
	bool fresh = false;
	if (id)
		pm_map_put(map, id, (uint32_t)place, &fresh);
	p->twice_ids += !fresh;
}

static int read_mapping(struct pprof *p, struct pm_bytes message)
{
	uint64_t v[11] = {0};
	if (read_numbers(message, v, 11) < 0)
		return -EINVAL;
	add_id(p, &p->mapping_of, v[1], p->n_mappings);
	LIST_ADD(p, mappings, n_mappings, mappings_room,
		((struct pprof_mapping){.id = v[1],
			.start = v[2],
			.limit = v[3],
			.offset = v[4],
			.file = v[5],
			.build_id = v[6],
			.has = {v[7], v[8], v[9], v[10]},
			.module = PPROF_NONE}));
	return 0;
}

static int read_function(struct pprof *p, struct pm_bytes message)
{
	uint64_t v[6] = {0};
	if (read_numbers(message, v, 6) < 0)
		return -EINVAL;
	add_id(p, &p->function_of, v[1], p->n_functions);
	LIST_ADD(p, functions, n_functions, functions_room,
		((struct pprof_function){.id = v[1],
			.name = v[2],
			.system_name = v[3],
			.file = v[4],
			.line = v[5]}));
	return 0;
}

static int read_location(struct pprof *p, struct pm_bytes message)
{
	struct pprof_location l = {.first = (uint32_t)p->n_lines};
	struct pprof_field f;
	int r;
	while ((r = pprof_next(&message, &f)) > 0) {
		uint64_t v[4] = {0};
		if (f.number <= 4 && f.wire != (f.number == 4 ? PPROF_LENGTH : PPROF_VARINT))
			return -EINVAL;
		switch (f.number) {
		case 1: l.id = f.value; break;
		case 2: l.mapping = f.value; break;
		case 3: l.address = f.value; break;
		case 4:
			if (read_numbers(f.bytes, v, 4) < 0)
				return -EINVAL;
			LIST_ADD(p, lines, n_lines, lines_room, ((struct pprof_line){v[1], v[2]}));
			break;
		default: break;
		}
	}
	if (r < 0)
		return r;
	l.n = (uint32_t)p->n_lines - l.first;
	add_id(p, &p->location_of, l.id, p->n_locations);
	LIST_ADD(p, locations, n_locations, locations_room, l);
	return 0;
}

/* Which keys a sample's labels have; strings may not be known yet. */
static int look_at_sample(struct pprof *p, struct pm_bytes message)
{
	struct pprof_field f;
	int r;
	p->n_samples++;
	while ((r = pprof_next(&message, &f)) > 0) {
		uint64_t v[2] = {0};
		bool fresh;
		if (f.number != 3)
			continue;
		if (f.wire != PPROF_LENGTH || (r = read_numbers(f.bytes, v, 2)) == -EINVAL)
			return -EINVAL;
		uint32_t place = *pm_map_put(&p->keys, v[1], (uint32_t)p->n_keys, &fresh);
		if (fresh)
			LIST_ADD(p, key_samples, n_keys, keys_room,
				((struct pprof_key){.string = v[1]}));
		struct pprof_key *k = &p->key_samples[place];
		k->samples += k->last != p->n_samples;
		k->last = p->n_samples;
	}
	return r;
}

static int read_value_type(struct pm_bytes message, uint64_t ret[2])
{
	uint64_t v[3] = {0};
	int r = read_numbers(message, v, 3);
	ret[0] = v[1];
	ret[1] = v[2];
	return r;
}

/* A number that a profile has once: a second one begins another profile. */
static void once(struct pprof *p, bool *has, int64_t *to, uint64_t value)
{
	p->twice |= *has;
	*has = true;
	*to = (int64_t)value;
}

static int each_field(void *context, const struct pprof_field *f, uint64_t offset)
{
	struct pprof *p = context;
	uint64_t type[2];
	(void)offset;
	if (!pm_rec_goes_on(p->r))
		return -ECANCELED;
	bool is_message = f->number <= 6 || f->number == 11;
	bool either = f->number == 13; /* comments: packed, or one by one */
	if (f->number <= 15 && !either && f->wire != (is_message ? PPROF_LENGTH : PPROF_VARINT))
		return -EINVAL;
	switch (f->number) {
	case 1:
		if (read_value_type(f->bytes, type) < 0)
			return -EINVAL;
		LIST_ADD(p, types, n_types, types_room,
			((struct pprof_type){.name = type[0], .unit = type[1]}));
		break;
	case 2: return look_at_sample(p, f->bytes);
	case 3: return read_mapping(p, f->bytes);
	case 4: return read_location(p, f->bytes);
	case 5: return read_function(p, f->bytes);
	case 6:
		p->has_strings = true;
		LIST_ADD(p, strings, n_strings, strings_room, pm_strtab_add(&p->texts, f->bytes));
		break;
	case 7: p->drop_frames = f->value; break;
	case 8: p->keep_frames = f->value; break;
	case 9: once(p, &p->has_time, &p->time_ns, f->value); break;
	case 10: once(p, &p->has_duration, &p->duration_ns, f->value); break;
	case 11: return read_value_type(f->bytes, p->period_type);
	case 12: p->period = (int64_t)f->value; break;
	case 13: return pprof_numbers_add(&p->comments, f);
	case 14: p->default_type = f->value; break;
	case 15: p->doc_url = f->value; break;
	default: break;
	}
	return 0;
}

/* ---- what it says ---- */

static void add_text_fact(struct pprof *p, const char *key, uint64_t string)
{
	uint32_t text = pprof_string(p, string);
	if (text)
		pm_rec_fact(p->r, key, pm_cell_text(pprof_text(p, text)));
}

static void add_metrics(struct pprof *p)
{
	uint32_t wanted = pprof_string(p, p->default_type);
	p->primary = (uint32_t)p->n_types - 1;
	for (size_t i = p->n_types; i-- > 0;)
		if (wanted && pprof_string(p, p->types[i].name) == wanted)
			p->primary = (uint32_t)i;
	for (size_t i = 0; i < p->n_types; i++)
		p->types[i].metric =
			pm_rec_metric(p->r, pprof_text(p, pprof_string(p, p->types[i].name)),
				pprof_text(p, pprof_string(p, p->types[i].unit)));
	pm_rec_primary(p->r, p->types[p->primary].metric);
}

static void add_facts(struct pprof *p)
{
	bool timed = p->has_time && p->time_ns > 0, lasts = p->has_duration && p->duration_ns > 0;
	pm_rec_measured(p->r, timed ? (uint64_t)p->time_ns : PM_NO_TIME,
		lasts ? (uint64_t)p->duration_ns : PM_NO_TIME);
	if (timed)
		pm_rec_fact(p->r, "time_ns", pm_cell_i64(p->time_ns));
	if (p->period) {
		pm_rec_fact(p->r, "period", pm_cell_i64(p->period));
		add_text_fact(p, "period_type", p->period_type[0]);
		add_text_fact(p, "period_unit", p->period_type[1]);
	}
	add_text_fact(p, "default_sample_type", p->default_type);
	add_text_fact(p, "drop_frames", p->drop_frames);
	add_text_fact(p, "keep_frames", p->keep_frames);
	add_text_fact(p, "doc_url", p->doc_url);
	if (p->n_mappings && pprof_string(p, p->mappings[0].file))
		add_text_fact(p, "program", p->mappings[0].file);
	if (pprof_string(p, p->drop_frames))
		pm_rec_remark(p->r,
			"The profile asks viewers to drop frames (drop_frames in info.json); here "
			"they are shown, so that nothing is hidden.");
	if (p->has_negative)
		pm_rec_remark(p->r,
			"Some values are negative: the profile is a difference. Totals are sums, "
			"not sums of amounts as pprof shows them.");
}

static void add_damage(struct pprof *p)
{
	static const char *const what[] = {
		"samples refer to locations that are not there; they are left out",
		"samples have more or fewer values than there are types; they are left out",
		"stacks have locations in mappings that are not there; they have no module",
		"lines refer to functions that are not there; their addresses are shown",
		"ids are 0 or there twice; the first of two holds",
		"references to strings that are not in the table; they are empty",
		"samples have more than 256 labels; labels.csv has the first ones",
	};
	const uint64_t counts[] = {p->no_location, p->no_values, p->no_mapping, p->no_function,
		p->twice_ids, p->bad_strings, p->many_labels};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i])
			pm_rec_damage(p->r, PM_NO_OFFSET, PM_NO_OFFSET, "%" PRIu64 " %s", counts[i],
				what[i]);
	if (p->n_strings && p->strings[0] != 0)
		pm_rec_damage(p->r, PM_NO_OFFSET, PM_NO_OFFSET, "string 0 is not empty");
}

/* ---- a source ---- */

static void open_symbols(struct pprof *p)
{
	const struct pm_open_options *o = pm_rec_options(p->r);
	if (o->no_symbols || !p->own->root.is_open)
		return;
	struct pm_bytes program = {NULL, 0};
	if (p->n_mappings)
		program = pprof_text(p, pprof_string(p, p->mappings[0].file));
	const uint8_t *slash = program.len ? memrchr(program.p, '/', program.len) : NULL;
	if (slash)
		program =
			(struct pm_bytes){slash + 1, program.len - (size_t)(slash + 1 - program.p)};
	uint64_t began = p->has_time && p->time_ns > 0 ? (uint64_t)p->time_ns : 0;
	struct sym_place place = {.folder = -1,
		.root = &p->own->root,
		.started_ns = began,
		.written_ns = began ? began + (uint64_t)p->duration_ns : pm_rec_mtime(p->r),
		.program = program,
		.sizeless = true};
	pm_build_check(&p->arena, sym_names_new(&p->names, &place, &p->symbol_damage));
	for (size_t i = 0; i < p->n_mappings; i++)
		if (pprof_string(p, p->mappings[i].build_id) == 0)
			pm_build_check(&p->arena,
				sym_names_announce(p->names,
					pprof_text(p, pprof_string(p, p->mappings[i].file))));
}

/* Writers that resolve names themselves leave nothing to be looked for. */
static void say_missing(struct pprof *p)
{
	bool none = true;
	for (size_t i = 0; i < p->n_locations && none; i++)
		none = p->locations[i].n > 0;
	if (none)
		return;
	pm_rec_names_missing(p->r, p->names ? "not looked for" : "not looked for: -o symbols=no",
		p->names ? "give its files with -o sysroot=DIR, or install its debug symbols"
			 : "mount without -o symbols=no");
	for (size_t i = 0; i < p->n_mappings && pm_rec_goes_on(p->r); i++) {
		const struct pprof_mapping *m = &p->mappings[i];
		uint8_t room[32];
		struct sym_absence absence = {.why = "not looked for: -o symbols=no"};
		if (m->module == PPROF_NONE && p->names)
			continue;
		if (p->names)
			absence = sym_names_absence(p->names, m->module);
		pm_rec_module_missing(p->r, pprof_text(p, pprof_string(p, m->file)),
			pprof_build_id(pprof_text(p, pprof_string(p, m->build_id)), room),
			absence.why, absence.tried);
	}
}

struct reading {
	struct pprof p;
	struct pm_error *err;
};

static void read_all(void *context)
{
	struct reading *x = context;
	struct pprof *p = &x->p;
	const char *file = pm_rec_file(p->r);
	struct pm_map *maps[] = {&p->mapping_of, &p->function_of, &p->location_of, &p->keys};
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		maps[i]->arena = &p->arena;
	p->comments.arena = p->tag_index.arena = &p->arena;
	p->texts = pm_strtab_in(&p->arena);
	pm_strtab_add(&p->texts, pm_bytes_of(""));
	pprof_for_fields(p, true, each_field, p);
	if (!pm_rec_goes_on(p->r))
		return;
	if (p->twice)
		pm_build_check(&p->arena,
			pm_error_set(x->err, -EINVAL, file, PM_NO_OFFSET,
				"consists of two profiles, one after the other; nobody can tell "
				"which ids belong to which"));
	if (p->n_types == 0 || !p->has_strings)
		pm_build_check(&p->arena,
			pm_error_set(x->err, -EINVAL, file, 0,
				"is no pprof profile: it has no %s (a trace of Perfetto begins like "
				"one; traceconv json writes what can be read)",
				p->n_types ? "string table" : "sample type"));
	add_metrics(p);
	open_symbols(p);
	pprof_samples_read(p);
	pprof_tags_show(p);
	pprof_raw_add(p);
	say_missing(p);
	add_facts(p);
	add_damage(p);
}

int pprof_read(struct pm_recording *r, struct pm_error *err)
{
	struct reading x = {
		.p = {.r = r, .own = pm_rec_own(r), .symbol_damage = PM_DAMAGE_LIST_INIT},
		.err = err};
	int e = pm_build(&x.p.arena, read_all, &x);
	pm_arena_done(&x.p.arena);
	sym_names_free(x.p.names);
	pm_damage_done(&x.p.symbol_damage);
	return e;
}
