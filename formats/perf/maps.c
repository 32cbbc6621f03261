/* Threads, and what is mapped where, as forks, execs and maps change it in time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/perf/data.h"

/* ---- maps ---- */

static struct perf_maps *new_maps(struct perf *f)
{
	struct perf_maps *m = calloc(1, sizeof(*m));
	if (!m)
		perf_no_memory(f);
	else
		m->users = 1;
	return m;
}

void perf_drop_maps(struct perf_maps *m)
{
	if (!m || --m->users > 0)
		return;
	free(m->items);
	free(m);
}

/* The slot of a process's maps, NULL after a failure. */
static struct perf_maps **maps_of(struct perf *f, uint64_t pid)
{
	bool fresh;
	uint32_t *at = pm_map_put(&f->processes, pid, (uint32_t)f->n_processes, &fresh);
	if (!at ||
		(fresh &&
			!perf_room(f, &f->maps_of, f->n_processes, &f->processes_room,
				sizeof(*f->maps_of)))) {
		perf_no_memory(f);
		return NULL;
	}
	if (fresh)
		f->maps_of[f->n_processes++] = NULL;
	return &f->maps_of[*at];
}

/* Maps that only this process has, to be changed. */
static struct perf_maps *own_maps(struct perf *f, struct perf_maps **slot)
{
	struct perf_maps *m = *slot;
	if (m && m->users == 1)
		return m;
	struct perf_maps *copy = new_maps(f);
	if (!copy)
		return NULL;
	if (m && m->n > 0) {
		f->copied += m->n;
		copy->items = f->copied > PM_LIMIT_MAPS ? NULL : malloc(m->n * sizeof(*m->items));
		if (!copy->items) {
			perf_drop_maps(copy);
			perf_no_memory(f);
			return NULL;
		}
		memcpy(copy->items, m->items, m->n * sizeof(*m->items));
		copy->n = copy->room = m->n;
	}
	perf_drop_maps(m);
	return *slot = copy;
}

/* The first map that ends at or behind an address. */
static size_t first_behind(const struct perf_maps *m, uint64_t address)
{
	size_t low = 0, high = m->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->items[middle].end < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct perf_map *find_map(const struct perf_maps *m, uint64_t address)
{
	size_t at = m ? first_behind(m, address) : 0;
	return m && at < m->n && m->items[at].start <= address ? &m->items[at] : NULL;
}

/* Makes `n` places at `at`. */
static bool make_places(struct perf *f, struct perf_maps *m, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!perf_room(f, &m->items, m->n + i, &m->room, sizeof(*m->items)))
			return false;
	memmove(m->items + at + n, m->items + at, (m->n - at) * sizeof(*m->items));
	m->n += n;
	return true;
}

/* Takes the addresses of a map out of the others; what is left of them stays. */
static void clear_range(struct perf *f, struct perf_maps *m, uint64_t start, uint64_t end)
{
	size_t at = first_behind(m, start);
	if (at < m->n && m->items[at].start < start) {
		struct perf_map *before = &m->items[at];
		if (before->end > end) { /* in its middle: two are left */
			struct perf_map behind = *before;
			behind.offset += end + 1 - behind.start;
			behind.start = end + 1;
			before->end = start - 1;
			if (make_places(f, m, at + 1, 1))
				m->items[at + 1] = behind;
			return;
		}
		before->end = start - 1;
		at++;
	}
	size_t gone = at;
	while (gone < m->n && m->items[gone].end <= end)
		gone++;
	if (gone < m->n && m->items[gone].start <= end) {
		m->items[gone].offset += end + 1 - m->items[gone].start;
		m->items[gone].start = end + 1;
	}
	if (gone > at)
		memmove(m->items + at, m->items + gone, (m->n - gone) * sizeof(*m->items));
	m->n -= gone - at;
}

static void add_map(struct perf *f, struct perf_maps *m, const struct perf_map *map)
{
	clear_range(f, m, map->start, map->end);
	size_t at = first_behind(m, map->start);
	if (make_places(f, m, at, 1))
		m->items[at] = *map;
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
	map.name = perf_name(f, name);
	if (mode == KERNEL) {
		add_map(f, &f->kernel, &map);
	} else if (mode == GUEST_KERNEL) {
		add_map(f, &f->guest, &map);
	} else {
		struct perf_maps **slot = maps_of(f, pid), *m = slot ? own_maps(f, slot) : NULL;
		if (m)
			add_map(f, m, &map);
	}
}

/* A function that the kernel made while it ran, as BPF programs are. */
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
	map.name = perf_name(f, name);
	if (gone)
		clear_range(f, &f->kernel, map.start, map.end);
	else
		add_map(f, &f->kernel, &map);
}

/* ---- threads ---- */

struct perf_thread *perf_thread_of(struct perf *f, uint64_t pid, uint64_t tid)
{
	bool fresh;
	uint32_t *at =
		pm_map_put(&f->thread_index, pid << 32 | tid, (uint32_t)f->n_threads, &fresh);
	if (!at ||
		(fresh &&
			!perf_room(f, &f->threads, f->n_threads, &f->threads_room,
				sizeof(*f->threads)))) {
		perf_no_memory(f);
		return NULL;
	}
	if (fresh)
		f->threads[f->n_threads++] =
			(struct perf_thread){.pid = pid, .tid = tid, .handle = PM_REC_NONE};
	return &f->threads[*at];
}

void perf_take_comm(struct perf *f, const struct perf_place *place)
{
	enum { EXEC = 0x2000 };
	struct pm_cur c = perf_cur(f, perf_body(place));
	uint64_t pid = pm_cur_u32(&c), tid = pm_cur_u32(&c);
	struct pm_bytes comm = perf_string(pm_cur_bytes(&c, pm_cur_left(&c)));
	struct perf_thread *t = c.bad ? NULL : perf_thread_of(f, pid, tid);
	if (!t)
		return;
	t->comm = perf_name(f, comm);
	if (perf_misc(f, place) & EXEC) {
		struct perf_maps **slot = maps_of(f, pid);
		if (slot) {
			perf_drop_maps(*slot);
			*slot = NULL;
		}
	}
}

void perf_take_fork(struct perf *f, const struct perf_place *place)
{
	struct pm_cur c = perf_cur(f, perf_body(place));
	uint64_t pid = pm_cur_u32(&c), parent = pm_cur_u32(&c);
	uint64_t tid = pm_cur_u32(&c), parent_tid = pm_cur_u32(&c);
	if (c.bad)
		return;
	struct perf_thread *from = perf_thread_of(f, parent, parent_tid);
	uint32_t comm = from ? from->comm : 0;
	struct perf_thread *to = perf_thread_of(f, pid, tid);
	if (to)
		to->comm = comm;
	if (pid == parent)
		return;
	/* Both slots, before one of them moves the other. */
	maps_of(f, parent);
	struct perf_maps **child = maps_of(f, pid), **old = maps_of(f, parent);
	if (!child || !old)
		return;
	perf_drop_maps(*child);
	*child = *old;
	if (*child)
		(*child)->users++;
}

/* ---- places in code ---- */

/* Where an address lies, with the maps of its time; false after a failure. */
bool perf_locate(
	struct perf *f, uint64_t pid, const struct perf_frame *at, struct perf_location *ret)
{
	static const char *const outside[] = {[KERNEL] = "[kernel.kallsyms]",
		[HYPERVISOR] = "[hypervisor]",
		[GUEST_KERNEL] = "[guest.kernel.kallsyms]",
		[GUEST_USER] = "[guest]"};
	const struct perf_map *map = NULL;
	if (at->mode == KERNEL) {
		map = find_map(&f->kernel, at->ip);
	} else if (at->mode == GUEST_KERNEL) {
		map = find_map(&f->guest, at->ip);
	} else if (at->mode == USER || at->mode == UNKNOWN) {
		const uint32_t *slot = pm_map_find(&f->processes, pid);
		map = slot ? find_map(f->maps_of[*slot], at->ip) : NULL;
	}
	*ret = (struct perf_location){.offset = at->ip, .ip = at->ip, .standing = at->first};
	if (!map) {
		const char *module = at->mode <= GUEST_USER ? outside[at->mode] : NULL;
		ret->kind = module ? IN_FILE : NOWHERE;
		ret->module = perf_name(f, pm_bytes_of(module));
		return pm_rec_goes_on(f->r);
	}
	ret->module = map->name;
	ret->kind = map->kind == SYMBOL_MAP ? MADE : IN_FILE;
	if (map->kind == FILE_MAP)
		ret->offset = at->ip - map->start + map->offset;
	if (perf_starts(perf_text(f, map->name), "//anon")) {
		char path[40];
		ret->kind = IN_MEMORY;
		snprintf(path, sizeof(path), "/tmp/perf-%llu.map", (unsigned long long)pid);
		ret->module = perf_name(f, pm_bytes_of(path));
	}
	return pm_rec_goes_on(f->r);
}

/* The number of a location, PM_NONE after a failure. */
uint32_t perf_location_of(struct perf *f, const struct perf_location *l)
{
	struct perf_module *m = perf_module_of(f, l->module);
	bool fresh;
	uint32_t *at = m ? pm_map_put(&m->locations[l->standing], l->offset,
				   (uint32_t)f->n_locations, &fresh)
			 : NULL;
	if (!at ||
		(fresh &&
			!perf_room(f, &f->locations, f->n_locations, &f->locations_room,
				sizeof(*f->locations)))) {
		perf_no_memory(f);
		return PM_NONE;
	}
	if (fresh)
		f->locations[f->n_locations++] = *l;
	return *at;
}
