/* Threads, and what is mapped where, as forks, execs and maps change it in time. */
#include <errno.h>
#include <stdio.h>

#include "formats/perf/data.h"

/* ---- maps ---- */

/*
 * The maps of a process are an AVL tree by address. A fork shares it with the child; who changes it
 * later copies only the nodes on the way there, so that a chain of forks costs what its records
 * change. Functions take over the references they are given.
 */

static struct perf_maps *new_node(struct perf *f, const struct perf_map *map)
{
	struct perf_maps *m = f->free_maps;
	if (m)
		f->free_maps = m->low;
	else
		m = pm_arena_alloc(&f->arena, sizeof(*m));
	*m = (struct perf_maps){.map = *map, .users = 1, .height = 1};
	return m;
}

static void drop(struct perf *f, struct perf_maps *m)
{
	if (!m || --m->users > 0)
		return;
	drop(f, m->low);
	drop(f, m->high);
	m->low = f->free_maps;
	f->free_maps = m;
}

/* The node, or a copy of it: one that only this tree has, to be changed. */
static struct perf_maps *own(struct perf *f, struct perf_maps *m)
{
	if (m->users == 1)
		return m;
	struct perf_maps *copy = new_node(f, &m->map);
	m->users--;
	if ((copy->low = m->low))
		copy->low->users++;
	if ((copy->high = m->high))
		copy->high->users++;
	copy->height = m->height;
	return copy;
}

static unsigned height(const struct perf_maps *m)
{
	return m ? m->height : 0;
}

static struct perf_maps *node(struct perf_maps *m, struct perf_maps *low, struct perf_maps *high)
{
	m->low = low;
	m->high = high;
	m->height = (uint8_t)(1 + (height(low) > height(high) ? height(low) : height(high)));
	return m;
}

/* A node above two trees whose heights differ by two at most. */
static struct perf_maps *balanced(
	struct perf *f, struct perf_maps *m, struct perf_maps *low, struct perf_maps *high)
{
	bool left = height(low) > height(high) + 1;
	if (!left && height(high) <= height(low) + 1)
		return node(m, low, high);
	struct perf_maps *top = own(f, left ? low : high);
	if (left && height(top->low) >= height(top->high))
		return node(top, top->low, node(m, top->high, high));
	if (!left && height(top->high) >= height(top->low))
		return node(top, node(m, low, top->low), top->high);
	struct perf_maps *middle = own(f, left ? top->high : top->low);
	struct perf_maps *inner_low = middle->low, *inner_high = middle->high;
	return left ? node(middle, node(top, top->low, inner_low), node(m, inner_high, high))
		    : node(middle, node(m, low, inner_low), node(top, inner_high, top->high));
}

/* A tree of a single node, what is below it, and what is above. */
static struct perf_maps *join(
	struct perf *f, struct perf_maps *low, struct perf_maps *m, struct perf_maps *high)
{
	bool left = height(low) > height(high) + 1;
	if (!left && height(high) <= height(low) + 1)
		return node(m, low, high);
	struct perf_maps *top = own(f, left ? low : high);
	return left ? balanced(f, top, top->low, join(f, top->high, m, high))
		    : balanced(f, top, join(f, low, m, top->low), top->high);
}

/* The maps that start before an address, and the others. */
static void split(struct perf *f, struct perf_maps *m, uint64_t at, struct perf_maps **low,
	struct perf_maps **high)
{
	*low = *high = NULL;
	if (!m)
		return;
	m = own(f, m);
	struct perf_maps *below = m->low, *above = m->high;
	if (m->map.start < at) {
		split(f, above, at, &above, high);
		*low = join(f, below, m, above);
	} else {
		split(f, below, at, low, &below);
		*high = join(f, below, m, above);
	}
}

/* Takes the last map out of a tree; returns the rest. */
static struct perf_maps *without_last(struct perf *f, struct perf_maps *m, struct perf_maps **last)
{
	*last = m = own(f, m);
	return m->high ? balanced(f, m, m->low, without_last(f, m->high, last)) : m->low;
}

static const struct perf_map *last_of(const struct perf_maps *m)
{
	while (m && m->high)
		m = m->high;
	return m ? &m->map : NULL;
}

/*
 * Takes the addresses of `map` out of the others, of which stays what lies beside it; puts it
 * there unless it is gone.
 */
static void put_map(struct perf *f, struct perf_maps **root, const struct perf_map *map, bool gone)
{
	struct perf_maps *low, *within, *high = NULL, *m;
	split(f, *root, map->start, &low, &within);
	if (map->end < UINT64_MAX)
		split(f, within, map->end + 1, &within, &high);
	const struct perf_map *before = last_of(low), *last = last_of(within);
	bool is_cut = before && before->end >= map->start;
	struct perf_map behind = {.end = 0};
	if (is_cut && before->end > map->end) /* in its middle: two are left */
		behind = *before;
	else if (last && last->end > map->end)
		behind = *last;
	drop(f, within);
	if (is_cut) {
		low = without_last(f, low, &m);
		m->map.end = map->start - 1;
		low = join(f, low, m, NULL);
	}
	if (behind.end) {
		behind.offset += map->end + 1 - behind.start;
		behind.start = map->end + 1;
		high = join(f, NULL, new_node(f, &behind), high);
	}
	m = NULL;
	if (!gone)
		m = new_node(f, map);
	else if (low)
		low = without_last(f, low, &m);
	*root = m ? join(f, low, m, high) : high;
}

/* The slot of a process's maps, until there is another process. */
static struct perf_maps **maps_of(struct perf *f, uint64_t pid)
{
	bool fresh;
	uint32_t at = *pm_map_put(&f->processes, pid, (uint32_t)f->n_processes, &fresh);
	if (fresh) {
		pm_items_grow(&f->arena, &f->maps_of, f->n_processes, &f->processes_room,
			sizeof(*f->maps_of));
		f->maps_of[f->n_processes++] = NULL;
	}
	return &f->maps_of[at];
}

static const struct perf_map *find_map(const struct perf_maps *m, uint64_t address)
{
	while (m && (address < m->map.start || address > m->map.end))
		m = address < m->map.start ? m->low : m->high;
	return m ? &m->map : NULL;
}

/* Memory without a file: an offset in it says nothing. */
static bool is_memory(struct pm_bytes name)
{
	static const char *const names[] = {"//anon", "[heap]", "[stack", "/SYSV"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (perf_starts(name, names[i]))
			return true;
	return false;
}

void perf_take_mmap(struct perf *f, const struct perf_place *place)
{
	struct pm_cur c = perf_cur(f, perf_body(place));
	enum perf_mode mode = perf_misc(f, place) & 7;
	uint64_t pid = pm_cur_u32(&c);
	pm_cur_u32(&c);
	struct perf_map map = {.start = pm_cur_u64(&c)};
	uint64_t length = pm_cur_u64(&c);
	map.offset = pm_cur_u64(&c);
	enum { HAS_BUILD_ID = 0x4000 };
	const uint8_t *more = place->type == MMAP2 ? pm_cur_take(&c, 32) : NULL;
	struct pm_bytes name = perf_string(pm_cur_bytes(&c, pm_cur_left(&c)));
	if (c.bad || length == 0)
		return;
	map.end = map.start + length - 1 < map.start ? UINT64_MAX : map.start + length - 1;
	if (more && perf_misc(f, place) & HAS_BUILD_ID)
		perf_set_build_id(f, name, more + 4, more[0]);
	if (perf_starts(name, "[kernel.kallsyms]") && name.len > 17 && f->reference.len == 0) {
		f->reference = pm_rec_copy(f->r, (struct pm_bytes){name.p + 17, name.len - 17});
		f->reference_address = map.offset;
	}
	if (perf_starts(name, "/dev/zero") || perf_starts(name, "/anon_hugepage"))
		name = pm_bytes_of("//anon"); /* memory, as perf has it */
	name = perf_module_name(name);
	map.kind = is_memory(name) || perf_starts(name, "[kernel.") ||
			perf_starts(name, "[guest.kernel.")
		? PLAIN_MAP
		: FILE_MAP;
	map.name = pm_strtab_add(&f->names, name);
	put_map(f,
		mode == KERNEL                 ? &f->kernel
			: mode == GUEST_KERNEL ? &f->guest
					       : maps_of(f, pid),
		&map, false);
}

void perf_take_ksymbol(struct perf *f, const struct perf_place *place)
{
	struct pm_cur c = perf_cur(f, perf_body(place));
	struct perf_map map = {.kind = SYMBOL_MAP, .start = pm_cur_u64(&c)};
	uint32_t length = pm_cur_u32(&c);
	pm_cur_u16(&c);
	bool gone = pm_cur_u16(&c) & 1;
	struct pm_bytes name = perf_string(pm_cur_bytes(&c, pm_cur_left(&c)));
	if (c.bad || length == 0 || map.start + length - 1 < map.start)
		return;
	map.end = map.start + length - 1;
	map.name = pm_strtab_add(&f->names, name);
	put_map(f, &f->kernel, &map, gone);
}

/* ---- threads ---- */

struct perf_thread *perf_thread_of(struct perf *f, uint64_t pid, uint64_t tid)
{
	bool fresh;
	uint32_t at =
		*pm_map_put(&f->thread_index, pid << 32 | tid, (uint32_t)f->n_threads, &fresh);
	if (fresh) {
		pm_items_grow(&f->arena, &f->threads, f->n_threads, &f->threads_room,
			sizeof(*f->threads));
		f->threads[f->n_threads++] =
			(struct perf_thread){.pid = pid, .tid = tid, .handle = PM_REC_NONE};
	}
	return &f->threads[at];
}

void perf_take_comm(struct perf *f, const struct perf_place *place)
{
	enum { EXEC = 0x2000 };
	struct pm_cur c = perf_cur(f, perf_body(place));
	uint64_t pid = pm_cur_u32(&c), tid = pm_cur_u32(&c);
	struct pm_bytes comm = perf_string(pm_cur_bytes(&c, pm_cur_left(&c)));
	if (c.bad)
		return;
	perf_thread_of(f, pid, tid)->comm = pm_strtab_add(&f->names, comm);
	if (perf_misc(f, place) & EXEC) {
		struct perf_maps **slot = maps_of(f, pid);
		drop(f, *slot);
		*slot = NULL;
	}
}

void perf_take_fork(struct perf *f, const struct perf_place *place)
{
	struct pm_cur c = perf_cur(f, perf_body(place));
	uint64_t pid = pm_cur_u32(&c), parent = pm_cur_u32(&c);
	uint64_t tid = pm_cur_u32(&c), parent_tid = pm_cur_u32(&c);
	if (c.bad)
		return;
	uint32_t comm = perf_thread_of(f, parent, parent_tid)->comm;
	perf_thread_of(f, pid, tid)->comm = comm;
	if (pid == parent)
		return;
	/* Both slots, before one of them moves the other. */
	maps_of(f, parent);
	struct perf_maps **child = maps_of(f, pid), **old = maps_of(f, parent);
	drop(f, *child);
	*child = *old;
	if (*child)
		(*child)->users++;
}

/* ---- places in code ---- */

struct perf_location perf_locate(struct perf *f, uint64_t pid, const struct perf_frame *at)
{
	static const char *const outside[] = {[KERNEL] = "[kernel.kallsyms]",
		[HYPERVISOR] = "[hypervisor]",
		[GUEST_KERNEL] = "[guest.kernel.kallsyms]",
		[GUEST_USER] = "[guest]"};
	const struct perf_map *map = NULL;
	if (at->mode == KERNEL) {
		map = find_map(f->kernel, at->ip);
	} else if (at->mode == GUEST_KERNEL) {
		map = find_map(f->guest, at->ip);
	} else if (at->mode == USER || at->mode == UNKNOWN) {
		const uint32_t *slot = pm_map_find(&f->processes, pid);
		map = slot ? find_map(f->maps_of[*slot], at->ip) : NULL;
	}
	struct perf_location l = {.offset = at->ip, .ip = at->ip, .standing = at->first};
	if (!map) {
		const char *module = at->mode <= GUEST_USER ? outside[at->mode] : NULL;
		l.kind = module ? IN_FILE : NOWHERE;
		l.module = pm_strtab_add(&f->names, pm_bytes_of(module));
		return l;
	}
	l.module = map->name;
	l.kind = map->kind == SYMBOL_MAP ? MADE : IN_FILE;
	if (map->kind == FILE_MAP)
		l.offset = at->ip - map->start + map->offset;
	if (perf_starts(perf_text(f, map->name), "//anon")) {
		char path[40];
		l.kind = IN_MEMORY;
		snprintf(path, sizeof(path), "/tmp/perf-%llu.map", (unsigned long long)pid);
		l.module = pm_strtab_add(&f->names, pm_bytes_of(path));
	}
	return l;
}

uint32_t perf_location_of(struct perf *f, const struct perf_location *l)
{
	struct perf_module *m = perf_module_of(f, l->module);
	bool fresh;
	uint32_t at = *pm_map_put(
		&m->locations[l->standing], l->offset, (uint32_t)f->n_locations, &fresh);
	if (fresh) {
		pm_items_grow(&f->arena, &f->locations, f->n_locations, &f->locations_room,
			sizeof(*f->locations));
		f->locations[f->n_locations] = *l;
		f->locations[f->n_locations++].context = PM_REC_NONE;
	}
	return at;
}
