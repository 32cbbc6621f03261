/*
 * Records → tables. One function per record; each finds or adds its row through a hash table, so
 * numbers from the input are never used as indexes. Independent of the encoding and of output.
 */
#include "formats/nytprof/nytprof.h"

#include <math.h>

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
static void sort_edges(const struct nytp *n, struct nytp_file *f)
{
	pm_build_check(f->arena,
		pm_sort_with(f->edges, f->n_edges, sizeof(*f->edges), by_site_and_caller,
			(void *)(uintptr_t)n));
	for (size_t i = 0; i < f->n_edges; i++) {
		struct nytp_site *site = &f->sites[f->edges[i].site];
		if (site->n_edges++ == 0)
			site->first_edge = (uint32_t)i;
	}
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

static void order_texts(struct nytp_file *f)
{
	f->text_order = pm_arena_array(f->arena, f->n_texts, sizeof(*f->text_order));
	for (uint32_t i = 0; i < f->n_texts; i++)
		f->text_order[i] = i;
	pm_build_check(f->arena,
		pm_sort_with(f->text_order, f->n_texts, sizeof(*f->text_order), by_line, f->texts));
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
};

/* The row with that key, zeroed if it is new. */
static void *row_of(struct nytp_adding *a, struct rows rows, uint64_t key)
{
	char *items;
	bool fresh;
	if (a->n->rows >= NYTP_LIMIT_ROWS)
		pm_build_fail(a->f->arena, NYTP_FULL);
	pm_list_grow(a->f->arena, rows.items, *rows.n, rows.room, rows.size);
	uint32_t i = *pm_map_put(rows.by_key, key, (uint32_t)*rows.n, &fresh);
	memcpy(&items, rows.items, sizeof(items));
	void *row = items + i * rows.size;
	if (fresh) {
		memset(row, 0, rows.size);
		++*rows.n;
		++a->n->rows;
	}
	return row;
}

#define ROW_OF(a, map, list, key)                                                                  \
	row_of(a,                                                                                  \
		(struct rows){&(a)->f->map, &(a)->f->list, &(a)->f->n_##list,                      \
			&(a)->f->list##_room, sizeof(*(a)->f->list)},                              \
		key)

/* ---- processes ---- */

/* The thread of a process; it becomes the current one. */
static void enter_process(struct nytp_adding *a, uint32_t pid)
{
	struct nytp_file *f = a->f;
	if (f->n_threads >= NYTP_LIMIT_PROCESSES)
		pm_build_fail(f->arena, NYTP_FULL);
	struct nytp_thread *t = ROW_OF(a, by_pid, threads, pid);
	t->pid = pid;
	if (!t->calls.arena)
		nytp_calls_init(&t->calls, f->arena, f->reading, &a->n->rows);
	a->process = (uint32_t)(t - f->threads);
}

/* Records before the first P belong to the first process, or to one without a number. */
static struct nytp_thread *current(struct nytp_adding *a)
{
	if (a->f->n_threads == 0)
		enter_process(a, 0);
	return &a->f->threads[a->process];
}

void nytp_add_process(struct nytp_adding *a, uint32_t pid, uint32_t ppid, double start)
{
	struct nytp_file *f = a->f;
	bool fresh, early = f->n_processes == 0 && f->n_threads == 1;
	if (f->n_processes >= NYTP_LIMIT_PROCESSES)
		pm_build_fail(f->arena, NYTP_FULL);
	if (f->n_threads)
		nytp_calls_finish(&f->threads[a->process].calls);
	pm_list_grow(
		f->arena, &f->processes, f->n_processes, &f->processes_room, sizeof(*f->processes));
	f->processes[f->n_processes++] =
		(struct nytp_process){.pid = pid, .ppid = ppid, .start = start, .end = NAN};
	if (early) { /* the process without a number gets this one */
		*pm_map_put(&f->by_pid, pid, 0, &fresh) = 0;
		f->threads[0].pid = pid;
	} else {
		enter_process(a, pid);
	}
}

static void add_pid_end(struct nytp_adding *a, const struct nytp_record *r)
{
	for (size_t i = a->f->n_processes; i-- > 0;) {
		struct nytp_process *p = &a->f->processes[i];
		if (p->pid == r->u[0] && isnan(p->end)) {
			p->end = r->f[0];
			break;
		}
	}
}

/* ---- header lines ---- */

void nytp_add_attribute(struct nytp_adding *a, bool option, struct pm_bytes line)
{
	const uint8_t *sign = line.len ? memchr(line.p, '=', line.len) : NULL;
	if (!sign) {
		pm_damage_add(&a->n->damage, a->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
			"an attribute of the header has no value: %.*s",
			(int)(line.len < 64 ? line.len : 64), (const char *)line.p);
		return;
	}
	size_t name_len = (size_t)(sign - line.p);
	uint32_t name = nytp_name_add(a->n, (struct pm_bytes){line.p, name_len});
	uint32_t value = nytp_name_add(a->n, (struct pm_bytes){sign + 1, line.len - name_len - 1});
	struct nytp_attribute *row = ROW_OF(a, by_attribute, attributes, pair(option, name));
	*row = (struct nytp_attribute){.option = option, .name = name, .value = value};
}

/* ---- statements ---- */

static void add_times(struct nytp_adding *a, const struct nytp_record *r, size_t n_levels)
{
	struct nytp_thread *t = current(a);
	for (size_t i = 0; i < n_levels; i++)
		nytp_slots_add(&a->f->levels[i].slots, r->u[1], r->u[2 + i], 1 - a->discounts,
			(int32_t)r->u[0], &a->n->rows);
	t->statements += 1 - a->discounts;
	t->ticks += (int32_t)r->u[0];
	a->discounts = 0;
}

/* ---- files and their text ---- */

static void add_fid(struct nytp_adding *a, const struct nytp_record *r)
{
	uint32_t name = nytp_name_add(a->n, r->s[0]);
	struct nytp_fid *row = ROW_OF(a, by_fid, fids, r->u[0]);
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
}

static void add_source(struct nytp_adding *a, const struct nytp_record *r)
{
	struct nytp_file *f = a->f;
	uint64_t off = f->text.len;
	size_t bytes = r->s[0].len + sizeof(*f->texts);
	if (bytes > NYTP_LIMIT_SOURCE - a->n->source_bytes) {
		a->texts_dropped++;
		return;
	}
	pm_list_grow(f->arena, &f->texts, f->n_texts, &f->texts_room, sizeof(*f->texts));
	pm_text_bytes(&f->text, r->s[0]);
	f->texts[f->n_texts++] = (struct nytp_text_line){
		.fid = r->u[0], .line = r->u[1], .off = off, .len = (uint32_t)r->s[0].len};
	a->n->source_bytes += bytes;
}

/* ---- subs ---- */

static struct nytp_sub *sub_of(struct nytp_adding *a, struct pm_bytes text)
{
	uint32_t name = nytp_name_add(a->n, text);
	struct nytp_sub *sub = ROW_OF(a, by_sub, subs, name);
	sub->name = name;
	return sub;
}

/* Of several definitions (mostly evals) the one with the lowest fid is used. */
static void add_sub_info(struct nytp_adding *a, const struct nytp_record *r)
{
	struct nytp_sub *sub = sub_of(a, r->s[0]);
	if (!sub->located || r->u[0] < sub->fid) {
		sub->located = true;
		sub->fid = r->u[0];
		sub->first = r->u[1];
		sub->last = r->u[2];
	}
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

static void add_sub_callers(struct nytp_adding *a, const struct nytp_record *r)
{
	bool fresh;
	struct nytp_file *f = a->f;
	uint32_t fid = r->u[0], line = r->u[1];
	struct nytp_sub *sub = sub_of(a, r->s[1]);
	if (fid == 0 && line == 0 && r->u[2] == 0) { /* the mark of an xsub or opcode */
		sub->first = sub->last = 0;
		return;
	}
	sums_add(&sub->sums, r);
	uint32_t sub_index = (uint32_t)(sub - f->subs);
	/* Places have numbers, so that the key of a site is one. They are few. */
	uint32_t place = *pm_map_put(&f->by_place, pair(fid, line), f->n_places, &fresh);
	f->n_places += fresh;
	uint32_t caller = nytp_name_add(a->n, r->s[0]);
	struct nytp_site *site = ROW_OF(a, by_site, sites, pair(sub_index, place));
	site->sub = sub_index;
	site->fid = fid;
	site->line = line;
	sums_add(&site->sums, r);
	uint32_t site_index = (uint32_t)(site - f->sites);
	struct nytp_edge *edge = ROW_OF(a, by_edge, edges, pair(site_index, caller));
	edge->site = site_index;
	edge->caller = caller;
	sums_add(&edge->sums, r);
}

static void add_sub_return(struct nytp_adding *a, const struct nytp_record *r)
{
	struct nytp_thread *t = current(a);
	uint32_t name = nytp_name_add(a->n, r->s[0]);
	nytp_calls_return(&t->calls, r->u[0], name, r->f[0], r->f[1]);
	if (!a->n->logs_full)
		nytp_log_add(a->n, a->f, name, r->f[0]);
}

void nytp_add(struct nytp_adding *a, const struct nytp_record *r)
{
	switch (r->tag) {
	case NYTP_TIME_LINE: add_times(a, r, 1); break;
	case NYTP_TIME_BLOCK: add_times(a, r, NYTP_N_LEVELS); break;
	case NYTP_DISCOUNT: a->discounts++; break;
	case NYTP_SUB_RETURN: add_sub_return(a, r); break;
	case NYTP_NEW_FID: add_fid(a, r); break;
	case NYTP_SRC_LINE: add_source(a, r); break;
	case NYTP_SUB_INFO: add_sub_info(a, r); break;
	case NYTP_SUB_CALLERS: add_sub_callers(a, r); break;
	case NYTP_PID_START: nytp_add_process(a, r->u[0], r->u[1], r->f[0]); break;
	case NYTP_PID_END: add_pid_end(a, r); break;
	case NYTP_ATTRIBUTE: nytp_add_attribute(a, false, r->s[0]); break;
	case NYTP_OPTION: nytp_add_attribute(a, true, r->s[0]); break;
	default: break; /* comments, and sub entries: returns contain the same and more */
	}
}

void nytp_add_end(struct nytp_adding *a)
{
	struct nytp_file *f = a->f;
	if (f->n_threads)
		nytp_calls_finish(&f->threads[a->process].calls);
	for (size_t i = 0; i < NYTP_N_LEVELS; i++)
		f->levels[i].items =
			nytp_slots_take(&f->levels[i].slots, f->arena, &f->levels[i].n);
	for (size_t i = 0; i < f->n_threads; i++)
		nytp_calls_settle(&f->threads[i].calls);
	order_texts(f);
	sort_edges(a->n, f);
	pm_arena_done(f->reading);
}
