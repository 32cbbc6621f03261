/*
 * Names, and freeing the native structs. Names are interned for all files of a source, so that
 * processes are compared by number.
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
	struct pm_text text = {.p = NULL};
	size_t length = package_length(mixed);
	const struct pm_bytes parts[] = {{mixed.p, length}, {mixed.p + length, mixed.len - length}};
	for (size_t i = 0; i < 2; i++)
		if (pm_utf8_valid(parts[i]))
			pm_text_bytes(&text, parts[i]);
		else
			nytp_latin1(&text, parts[i]);
	uint32_t name = text.failed ? NYTP_NONE : pm_strtab_add(&n->names, pm_text_view(&text));
	pm_text_done(&text);
	return name;
}

uint32_t nytp_name_add(struct nytp *n, struct pm_bytes text)
{
	uint32_t known = pm_strtab_find(&n->names, text);
	if (known != NYTP_NONE)
		return known;
	if (n->names.n >= NYTP_LIMIT_ROWS || n->arena.total > NYTP_LIMIT_NAMES)
		return NYTP_NONE;
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

int nytp_progress(const struct nytp *n, uint64_t done)
{
	pm_work_progress(n->bytes_done + done, n->bytes_all);
	if (n->input)
		pm_input_passed(n->input, done);
	return pm_work_cancelled() ? PM_CANCELLED : 0;
}

static int fill(void *context, struct pm_error *err)
{
	struct nytp *n = context;
	return n->fill(n, err);
}

int nytp_ready(struct nytp *n, struct pm_error *err)
{
	return n->fill ? pm_lazy_get(&n->once, fill, n, err) : 0;
}

void nytp_init(struct nytp *n)
{
	*n = (struct nytp){.damage = PM_DAMAGE_LIST_INIT};
	n->names.arena = &n->arena;
}

static void py_done(struct nytp_py *py)
{
	free(py->subs);
	free(py->samples);
	free(py->events);
	free(py->edges);
	free(py->chunks);
	pm_map_done(&py->by_sid);
}

void nytp_file_logs_done(struct nytp_file *f)
{
	for (size_t i = 0; i < f->n_logs; i++)
		free(f->logs[i].p);
	free(f->logs);
	f->logs = NULL;
	f->n_logs = f->logs_room = 0;
}

void nytp_file_done(struct nytp_file *f)
{
	free(f->attributes);
	free(f->processes);
	free(f->fids);
	free(f->subs);
	free(f->sites);
	free(f->edges);
	free(f->texts);
	free(f->text_order);
	nytp_file_logs_done(f);
	for (size_t i = 0; i < f->n_threads; i++)
		nytp_calls_done(&f->threads[i].calls);
	free(f->threads);
	for (size_t i = 0; i < NYTP_N_LEVELS; i++) {
		nytp_slots_done(&f->levels[i].slots);
		free(f->levels[i].items);
	}
	struct pm_map *maps[] = {&f->by_attribute, &f->by_fid, &f->by_sub, &f->by_place,
		&f->by_site, &f->by_edge, &f->by_pid, &f->folded, &f->namesakes};
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++)
		pm_map_done(maps[i]);
	pm_text_done(&f->text);
	py_done(&f->py);
	*f = (struct nytp_file){.name = NULL};
}

void nytp_reset(struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++) {
		struct nytp_file was = n->files[i];
		nytp_file_done(&n->files[i]);
		n->files[i] = (struct nytp_file){.name = was.name, .layout = was.layout};
	}
	pm_strtab_done(&n->names);
	pm_arena_done(&n->arena);
	pm_damage_done(&n->damage);
	free(n->folded);
	n->folded = NULL;
	n->n_folded = 0;
	free(n->namesakes);
	n->namesakes = NULL;
	n->n_namesakes = 0;
	n->arena = (struct pm_arena){0};
	n->names.arena = &n->arena;
	n->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	n->rows = n->source_bytes = 0;
	free(n->log_of);
	n->log_of = NULL;
	n->returns = n->log_of_room = n->log_bytes = 0;
	n->logs_full = false;
	n->bytes_done = 0;
}

void nytp_done(struct nytp *n)
{
	nytp_reset(n);
	pm_damage_done(&n->damage);
	free(n->files);
	n->files = NULL;
	n->n_files = 0;
}
