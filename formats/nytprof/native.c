/*
 * Names, and the beginning and end of native structs. Names are interned for all files of a source,
 * so that processes are compared by number.
 */
#include "formats/nytprof/nytprof.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/text.h"
#include "formats/common/utf8.h"
#include "formats/common/work.h"
#include "formats/nytprof/limits.h"

void nytp_latin1(struct pm_text *out, struct pm_bytes latin1)
{
	for (size_t i = 0; i < latin1.len; i++) {
		uint8_t c = latin1.p[i];
		if (c >= 0x80)
			pm_text_char(out, (char)(0xc0 | c >> 6));
		pm_text_char(out, c < 0x80 ? (char)c : (char)(0x80 | (c & 0x3f)));
	}
}

/* The length of `PACKAGE::` in the name of a sub, or 0. */
static size_t package_length(struct pm_bytes name)
{
	size_t length = 0;
	for (size_t i = 0; i + 1 < name.len && name.p[i] != '['; i++)
		if (name.p[i] == ':' && name.p[i + 1] == ':')
			length = i + 2;
	return length;
}

/* Perl joins the bytes of a package and of a sub, each in its encoding. */
static uint32_t mixed_add(struct nytp *n, struct pm_bytes mixed)
{
	struct pm_text text = {.arena = &n->arena};
	size_t length = package_length(mixed);
	const struct pm_bytes parts[] = {{mixed.p, length}, {mixed.p + length, mixed.len - length}};
	for (size_t i = 0; i < 2; i++)
		if (pm_utf8_valid(parts[i]))
			pm_text_bytes(&text, parts[i]);
		else
			nytp_latin1(&text, parts[i]);
	uint32_t name = pm_strtab_add(&n->names, pm_text_view(&text));
	pm_text_done(&text);
	return name;
}

uint32_t nytp_name_add(struct nytp *n, struct pm_bytes text)
{
	uint32_t known = pm_strtab_find(&n->names, text);
	if (known != NYTP_NONE)
		return known;
	if (n->names.n >= NYTP_LIMIT_ROWS || n->copies.total > NYTP_LIMIT_NAMES)
		pm_build_fail(&n->arena, NYTP_FULL);
	return pm_utf8_valid(text) ? pm_strtab_add(&n->names, text) : mixed_add(n, text);
}

struct pm_bytes nytp_fid_name(const struct nytp *n, const struct nytp_file *f, uint32_t fid)
{
	const uint32_t *i = pm_map_find(&f->by_fid, fid);
	return i ? nytp_name(n, f->fids[*i].name) : pm_bytes_of("");
}

struct pm_bytes nytp_fid_shown(const struct nytp *n, const struct nytp_file *f, uint32_t fid)
{
	const uint32_t *i = pm_map_find(&f->by_fid, fid);
	return i ? nytp_name(n, nytp_row_shown(n, f, &f->fids[*i])) : pm_bytes_of("");
}

struct nytp_text nytp_text_at(const struct nytp_file *f, size_t i)
{
	size_t end = i;
	while (end < f->n_texts &&
		f->texts[f->text_order[end]].fid == f->texts[f->text_order[i]].fid)
		end++;
	return (struct nytp_text){f, f->text_order + i, end - i};
}

void nytp_text_add(const struct nytp_text *t, struct pm_text *out)
{
	for (size_t i = 0; i < t->n; i++)
		if (nytp_text_is_last(t, i))
			pm_text_bytes(out, nytp_text_bytes(t->f, &t->f->texts[t->lines[i]]));
}

struct pm_bytes nytp_attribute(const struct nytp *n, const struct nytp_file *f, const char *name)
{
	for (size_t i = 0; i < f->n_attributes; i++) {
		const struct nytp_attribute *a = &f->attributes[i];
		if (!a->option && pm_bytes_equal(nytp_name(n, a->name), pm_bytes_of(name)))
			return nytp_name(n, a->value);
	}
	return pm_bytes_of("");
}

double nytp_number(struct pm_bytes text)
{
	char copy[64];
	char *end;
	if (text.len == 0 || text.len >= sizeof(copy))
		return NAN;
	memcpy(copy, text.p, text.len);
	copy[text.len] = 0;
	double value = strtod(copy, &end);
	return end == copy || (*end && *end != '\r') ? NAN : value;
}

void nytp_progress(struct nytp *n, uint64_t done)
{
	pm_work_progress(n->bytes_done + done, n->bytes_all);
	if (n->input)
		pm_input_passed(n->input, done);
	pm_build_proceed(&n->arena);
}

int nytp_ready(struct nytp *n, struct pm_error *err)
{
	return n->fill ? pm_lazy_get(&n->once, n->fill, n, err) : 0;
}

void nytp_init(struct nytp *n)
{
	*n = (struct nytp){.copies.of = &n->arena,
		.logs.of = &n->arena,
		.names = {.arena = &n->copies, .home = &n->arena},
		.damage = PM_DAMAGE_LIST_INIT};
}

void nytp_done(struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++)
		n->files[i] =
			(struct nytp_file){.name = n->files[i].name, .layout = n->files[i].layout};
	pm_arena_done(&n->logs);
	pm_arena_done(&n->copies);
	pm_arena_done(&n->arena);
	pm_damage_done(&n->damage);
	n->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	n->names = (struct pm_strtab){.arena = &n->copies, .home = &n->arena};
	n->folded = n->namesakes = n->log_of = NULL;
	n->n_folded = n->n_namesakes = 0;
	n->rows = n->source_bytes = n->log_of_room = n->log_bytes = 0;
	n->returns = n->bytes_done = 0;
	n->logs_full = false;
}

void nytp_file_begin(struct nytp *n, struct nytp_file *f)
{
	f->arena = pm_arena_scratch(&n->arena);
	f->reading = pm_arena_scratch(f->arena);
	struct pm_map *kept[] = {&f->by_attribute, &f->by_fid, &f->by_sub, &f->by_pid, &f->folded,
		&f->namesakes, &f->py.by_sid};
	struct pm_map *dropped[] = {&f->by_place, &f->by_site, &f->by_edge};
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		kept[i]->arena = f->arena;
	for (size_t i = 0; i < sizeof(dropped) / sizeof(*dropped); i++)
		dropped[i]->arena = f->reading;
	for (size_t i = 0; i < NYTP_N_LEVELS; i++)
		f->levels[i].slots = nytp_slots_in(f->reading);
	f->text.arena = f->arena;
}
