/*
 * Records → tables. One function per record; each finds or adds its row through a hash table, so
 * numbers from the input are never used as indexes. Independent of the encoding and of output.
 */
#include "formats/nytprof/nytprof.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/nytprof/limits.h"

/* ==== the order of tables, after the last record ==== */

static int by_site_and_caller(const void *a, const void *b, void *n)
{
	const struct nytp_edge *x = a, *y = b;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return pm_bytes_compare(nytp_name(n, x->caller), nytp_name(n, y->caller));
}

/* Edges in the order of their sites, callers by name; each site gets the range of its edges. */
static int sort_edges(const struct nytp *n, struct nytp_file *f)
{
	int r = pm_sort_with(
		f->edges, f->n_edges, sizeof(*f->edges), by_site_and_caller, (void *)(uintptr_t)n);
	for (size_t i = 0; r == 0 && i < f->n_edges; i++) {
		struct nytp_site *site = &f->sites[f->edges[i].site];
		if (site->n_edges++ == 0)
			site->first_edge = (uint32_t)i;
	}
	return r;
}

static int by_line(const void *a, const void *b, void *lines)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct nytp_text_line *all = lines, *x = &all[i], *y = &all[k];
	if (x->fid != y->fid)
		return x->fid < y->fid ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (i > k) - (i < k);
}

static int order_texts(struct nytp_file *f)
{
	f->text_order = malloc((f->n_texts + 1) * sizeof(*f->text_order));
	for (uint32_t i = 0; f->text_order && i < f->n_texts; i++)
		f->text_order[i] = i;
	return f->text_order
		? pm_sort_with(f->text_order, f->n_texts, sizeof(*f->text_order), by_line, f->texts)
		: -ENOMEM;
}

static int file_settle(const struct nytp *n, struct nytp_file *f)
{
	for (size_t i = 0; i < NYTP_N_LEVELS; i++) {
		struct nytp_lines *lines = &f->levels[i];
		if (nytp_slots_take(&lines->slots, &lines->items, &lines->n) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < f->n_threads; i++)
		nytp_calls_settle(&f->threads[i].calls);
	pm_map_done(&f->by_site);
	pm_map_done(&f->by_edge);
	pm_map_done(&f->by_place);
	int r = order_texts(f);
	return r < 0 ? r : sort_edges(n, f);
}

static uint64_t pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* ---- rows by key ---- */

/* A growing table, and the indexes of its rows by key. */
struct rows {
	struct pm_map *by_key;
	void *items; /* the address of the array */
	size_t *n, *room;
	size_t size;
	size_t *all; /* rows of all tables */
};

/* The index of the row with that key, zeroed if new; NULL if out of memory or at the limit. */
static void *row_of(struct rows rows, uint64_t key, bool *ret_new)
{
	char *items;
	if (*rows.all >= NYTP_LIMIT_ROWS ||
		pm_list_room(rows.items, *rows.n, rows.room, rows.size) < 0)
		return NULL;
	uint32_t *i = pm_map_put(rows.by_key, key, (uint32_t)*rows.n, ret_new);
	if (!i)
		return NULL;
	memcpy(&items, rows.items, sizeof(items));
	void *row = items + *i * rows.size;
	if (*ret_new) {
		memset(row, 0, rows.size);
		++*rows.n;
		++*rows.all;
	}
	return row;
}

#define ROWS(a, map, list)                                                                         \
	((struct rows){&(a)->f->map, &(a)->f->list, &(a)->f->n_##list, &(a)->f->list##_room,       \
		sizeof(*(a)->f->list), &(a)->n->rows})

/* ---- processes ---- */

/* The thread of a process; it becomes the current one. */
static int enter_process(struct nytp_adding *a, uint32_t pid)
{
	bool fresh;
	struct nytp_file *f = a->f;
	if (f->n_threads >= NYTP_LIMIT_PROCESSES)
		return -ENOMEM;
	struct nytp_thread *t = row_of(ROWS(a, by_pid, threads), pid, &fresh);
	if (!t)
		return -ENOMEM;
	if (fresh) {
		t->pid = pid;
		nytp_calls_init(&t->calls, &a->n->rows);
	}
	a->process = (uint32_t)(t - f->threads);
	return 0;
}

/* Records before the first P belong to the first process, or to one without a number. */
static struct nytp_thread *current(struct nytp_adding *a)
{
	if (a->f->n_threads == 0 && enter_process(a, 0) < 0)
		return NULL;
	return &a->f->threads[a->process];
}

/* The process without a number gets this one. */
static int adopt_early_records(struct nytp_adding *a, uint32_t pid)
{
	bool fresh;
	uint32_t *i = pm_map_put(&a->f->by_pid, pid, 0, &fresh);
	if (!i)
		return -ENOMEM;
	*i = 0;
	a->f->threads[0].pid = pid;
	return 0;
}

int nytp_add_process(struct nytp_adding *a, uint32_t pid, uint32_t ppid, double start)
{
	struct nytp_file *f = a->f;
	if (f->n_processes >= NYTP_LIMIT_PROCESSES ||
		pm_list_room(&f->processes, f->n_processes, &f->processes_room,
			sizeof(*f->processes)) < 0)
		return -ENOMEM;
	bool early = f->n_processes == 0 && f->n_threads == 1;
	if (f->n_threads && nytp_calls_finish(&f->threads[a->process].calls) < 0)
		return -ENOMEM;
	f->processes[f->n_processes++] =
		(struct nytp_process){.pid = pid, .ppid = ppid, .start = start, .end = NAN};
	return early ? adopt_early_records(a, pid) : enter_process(a, pid);
}

static int add_pid_end(struct nytp_adding *a, const struct nytp_record *r)
{
	for (size_t i = a->f->n_processes; i-- > 0;) {
		struct nytp_process *p = &a->f->processes[i];
		if (p->pid == r->u[0] && isnan(p->end)) {
			p->end = r->f[0];
			break;
		}
	}
	return 0;
}

/* ---- header lines ---- */

int nytp_add_attribute(struct nytp_adding *a, bool option, struct pm_bytes line)
{
	bool fresh;
	const uint8_t *sign = line.len ? memchr(line.p, '=', line.len) : NULL;
	if (!sign) {
		pm_damage_add(&a->n->damage, a->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
			"an attribute of the header has no value: %.*s",
			(int)(line.len < 64 ? line.len : 64), (const char *)line.p);
		return 0;
	}
	size_t name_len = (size_t)(sign - line.p);
	uint32_t name = nytp_name_add(a->n, (struct pm_bytes){line.p, name_len});
	uint32_t value = nytp_name_add(a->n, (struct pm_bytes){sign + 1, line.len - name_len - 1});
	if (name == NYTP_NONE || value == NYTP_NONE)
		return -ENOMEM;
	struct nytp_attribute *row =
		row_of(ROWS(a, by_attribute, attributes), pair(option, name), &fresh);
	if (!row)
		return -ENOMEM;
	*row = (struct nytp_attribute){.option = option, .name = name, .value = value};
	return 0;
}

/* ---- statements ---- */

static int add_times(struct nytp_adding *a, const struct nytp_record *r, size_t n_levels)
{
	struct nytp_thread *t = current(a);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < n_levels; i++) {
		struct nytp_slots *slots = &a->f->levels[i].slots;
		if (nytp_slots_add(slots, r->u[1], r->u[2 + i], 1 - a->discounts, (int32_t)r->u[0],
			    &a->n->rows) < 0)
			return -ENOMEM;
	}
	t->statements += 1 - a->discounts;
	t->ticks += (int32_t)r->u[0];
	a->discounts = 0;
	return 0;
}

/* ---- files and their text ---- */

static int add_fid(struct nytp_adding *a, const struct nytp_record *r)
{
	bool fresh;
	uint32_t name = nytp_name_add(a->n, r->s[0]);
	if (name == NYTP_NONE)
		return -ENOMEM;
	struct nytp_fid *row = row_of(ROWS(a, by_fid, fids), r->u[0], &fresh);
	if (!row)
		return -ENOMEM;
	const struct nytp_thread *t = a->f->n_threads ? &a->f->threads[a->process] : NULL;
	*row = (struct nytp_fid){.fid = r->u[0],
		.eval_fid = r->u[1],
		.eval_line = r->u[2],
		.flags = r->u[3],
		.size = r->u[4],
		.mtime = r->u[5],
		.name = name,
		.inherited = t && t->statements == 0 && t->ticks == 0,
		.shown = NYTP_NONE};
	return 0;
}

static int add_source(struct nytp_adding *a, const struct nytp_record *r)
{
	struct nytp_file *f = a->f;
	uint64_t off = f->text.len;
	size_t bytes = r->s[0].len + sizeof(*f->texts);
	if (bytes > NYTP_LIMIT_SOURCE - a->n->source_bytes) {
		a->texts_dropped++;
		return 0;
	}
	if (pm_list_room(&f->texts, f->n_texts, &f->texts_room, sizeof(*f->texts)) < 0)
		return -ENOMEM;
	pm_text_bytes(&f->text, r->s[0]);
	if (f->text.failed)
		return -ENOMEM;
	f->texts[f->n_texts++] = (struct nytp_text_line){
		.fid = r->u[0], .line = r->u[1], .off = off, .len = (uint32_t)r->s[0].len};
	a->n->source_bytes += bytes;
	return 0;
}

/* ---- subs ---- */

static struct nytp_sub *sub_of(struct nytp_adding *a, struct pm_bytes text)
{
	bool fresh;
	uint32_t name = nytp_name_add(a->n, text);
	struct nytp_sub *sub =
		name == NYTP_NONE ? NULL : row_of(ROWS(a, by_sub, subs), name, &fresh);
	if (sub)
		sub->name = name;
	return sub;
}

/* Of several definitions (mostly evals) the one with the lowest fid is used. */
static int add_sub_info(struct nytp_adding *a, const struct nytp_record *r)
{
	struct nytp_sub *sub = sub_of(a, r->s[0]);
	if (!sub)
		return -ENOMEM;
	if (!sub->located || r->u[0] < sub->fid) {
		sub->located = true;
		sub->fid = r->u[0];
		sub->first = r->u[1];
		sub->last = r->u[2];
	}
	return 0;
}

static void sums_add(struct nytp_sums *s, const struct nytp_record *r)
{
	s->count += r->u[2];
	s->incl += r->f[0];
	s->excl += r->f[1];
	s->reci += r->f[2];
	if (s->depth < r->u[3])
		s->depth = r->u[3];
}

/* The number of a place in the source; only call places, which are few. */
static uint32_t place_of(struct nytp_adding *a, uint32_t fid, uint32_t line)
{
	bool fresh;
	struct nytp_file *f = a->f;
	uint32_t *i = pm_map_put(&f->by_place, pair(fid, line), f->n_places, &fresh);
	if (!i)
		return NYTP_NONE;
	f->n_places += fresh;
	return *i;
}

static int add_sub_callers(struct nytp_adding *a, const struct nytp_record *r)
{
	bool fresh;
	uint32_t fid = r->u[0], line = r->u[1];
	struct nytp_sub *sub = sub_of(a, r->s[1]);
	if (!sub)
		return -ENOMEM;
	if (fid == 0 && line == 0 && r->u[2] == 0) { /* the mark of an xsub or opcode */
		sub->first = sub->last = 0;
		return 0;
	}
	sums_add(&sub->sums, r);
	uint32_t sub_index = (uint32_t)(sub - a->f->subs), place = place_of(a, fid, line);
	uint32_t caller = nytp_name_add(a->n, r->s[0]);
	if (place == NYTP_NONE || caller == NYTP_NONE)
		return -ENOMEM;
	struct nytp_site *site = row_of(ROWS(a, by_site, sites), pair(sub_index, place), &fresh);
	if (!site)
		return -ENOMEM;
	site->sub = sub_index;
	site->fid = fid;
	site->line = line;
	sums_add(&site->sums, r);
	uint32_t site_index = (uint32_t)(site - a->f->sites);
	struct nytp_edge *edge = row_of(ROWS(a, by_edge, edges), pair(site_index, caller), &fresh);
	if (!edge)
		return -ENOMEM;
	edge->site = site_index;
	edge->caller = caller;
	sums_add(&edge->sums, r);
	return 0;
}

static int add_sub_return(struct nytp_adding *a, const struct nytp_record *r)
{
	struct nytp_thread *t = current(a);
	uint32_t name = nytp_name_add(a->n, r->s[0]);
	if (!t || name == NYTP_NONE)
		return -ENOMEM;
	int added = nytp_calls_return(&t->calls, r->u[0], name, r->f[0], r->f[1]);
	if (added < 0 || a->n->logs_full)
		return added;
	return nytp_log_add(a->n, a->f, name, r->f[0]);
}

int nytp_add(struct nytp_adding *a, const struct nytp_record *r)
{
	switch (r->tag) {
	case NYTP_TIME_LINE: return add_times(a, r, 1);
	case NYTP_TIME_BLOCK: return add_times(a, r, NYTP_N_LEVELS);
	case NYTP_DISCOUNT: a->discounts++; return 0;
	case NYTP_SUB_RETURN: return add_sub_return(a, r);
	case NYTP_NEW_FID: return add_fid(a, r);
	case NYTP_SRC_LINE: return add_source(a, r);
	case NYTP_SUB_INFO: return add_sub_info(a, r);
	case NYTP_SUB_CALLERS: return add_sub_callers(a, r);
	case NYTP_PID_START: return nytp_add_process(a, r->u[0], r->u[1], r->f[0]);
	case NYTP_PID_END: return add_pid_end(a, r);
	case NYTP_ATTRIBUTE: return nytp_add_attribute(a, false, r->s[0]);
	case NYTP_OPTION: return nytp_add_attribute(a, true, r->s[0]);
	default: return 0; /* comments, and sub entries: returns contain the same and more */
	}
}

int nytp_add_end(struct nytp_adding *a)
{
	struct nytp_file *f = a->f;
	if (f->n_threads && nytp_calls_finish(&f->threads[a->process].calls) < 0)
		return -ENOMEM;
	return file_settle(a->n, f);
}
