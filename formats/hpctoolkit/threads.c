/* Profiles as threads: identities, and their samples in trace.db. */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"

/*
 * ==== threads ====
 * Builds the list of threads from the identifier tuples of profile.db and the headers of trace.db.
 * Each thread takes an identity and a trace line, and nothing per value or sample.
 */

/* Levels of a tuple. Real ones have up to five; each is a level of directories. */
#define MAX_IDS 64

bool hpctk_profile_is_summary(const struct hpctk_opened *db, uint32_t i)
{
	struct hpctk_profile_record record;
	hpctk_profile_decode(&db->layout, hpctk_row(&db->profiles, i), &record);
	return record.flags == HPCTK_NONE ? i == 0 : record.flags & 1;
}

bool hpctk_threads_several(const struct hpctk_opened *db)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < db->profiles.n && n < 2; i++)
		n += !hpctk_profile_is_summary(db, i);
	return n == 2;
}

bool hpctk_tuple_find(
	const struct hpctk_opened *db, uint32_t i, struct pm_bytes *ret, uint32_t *ret_n)
{
	struct pm_bytes file = hpctk_bytes(db, HPCTK_PROFILE), head;
	uint32_t skip = hpctk_tuple_head(&db->layout);
	struct hpctk_profile_record record;
	*ret = (struct pm_bytes){NULL, 0};
	*ret_n = 0;
	hpctk_profile_decode(&db->layout, hpctk_row(&db->profiles, i), &record);
	if (record.tuple_at == 0)
		return true;
	if (!pm_bytes_sub(file, record.tuple_at, skip, &head))
		return false;
	uint32_t n = hpctk_u16(&db->layout, head.p);
	if (n > MAX_IDS ||
		!pm_bytes_table(
			file, record.tuple_at + skip, n, HPCTK_TUPLE_ID, HPCTK_TUPLE_ID, ret))
		return false;
	*ret_n = n;
	return true;
}

uint32_t hpctk_thread_of(
	const struct hpctk_opened *db, const struct hpctk_threads *t, uint32_t profile)
{
	return profile < db->profiles.n ? t->of_profile[profile] : PM_NONE;
}

struct builder {
	struct pm_arena *a, *scratch;
	struct hpctk_opened *db;
	struct hpctk_threads *t;
	struct pm_thread *threads;
	const char **keys;
	size_t n_keys, key_room;
	struct pm_map key_of_kind;
};

/*
 * The name of a kind as a column and directory name: lower case, without characters that are
 * special in paths or CSV.
 */
static const char *key_name(struct builder *b, uint32_t kind)
{
	struct pm_bytes name = hpctk_kind_name(b->db, kind);
	if (name.len == 0 || name.len > 64)
		return pm_arena_printf(b->a, "kind%u", kind);
	char *s = pm_arena_printf(b->a, "%.*s", (int)name.len, (const char *)name.p);
	for (char *c = s; *c; c++) {
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
		else if (!(*c >= 'a' && *c <= 'z') && !(*c >= '0' && *c <= '9'))
			*c = '_';
	}
	return s;
}

/* The index of a key by name; there are few, so a linear search is enough. */
static uint32_t key_index(struct builder *b, const char *name)
{
	for (uint32_t i = 0; i < b->n_keys; i++)
		if (strcmp(b->keys[i], name) == 0)
			return i;
	pm_list_grow(b->a, &b->keys, b->n_keys, &b->key_room, sizeof(*b->keys));
	b->keys[b->n_keys] = name;
	return (uint32_t)b->n_keys++;
}

/* A profile without a readable tuple still needs a directory, which is named by its index. */
static void identity_read(struct builder *b, uint32_t profile, struct pm_thread *thread)
{
	struct pm_bytes ids;
	uint32_t n;
	if (!hpctk_tuple_find(b->db, profile, &ids, &n))
		pm_damage_add(&b->t->damage, "profile.db", hpctk_row_at(&b->db->profiles, profile),
			b->db->profiles.stride, "profile %u: its identifier tuple cannot be read",
			profile);
	thread->n_identity = n ? n : 1;
	struct pm_identity *identity = pm_arena_array(b->a, thread->n_identity, sizeof(*identity));
	thread->identity = identity;
	if (n == 0)
		identity[0] =
			(struct pm_identity){.key = key_index(b, "profile"), .value = profile};
	for (uint32_t i = 0; i < n; i++) {
		struct hpctk_tuple_id id;
		bool fresh;
		hpctk_tuple_id_decode(&b->db->layout, pm_bytes_row(ids, i, HPCTK_TUPLE_ID), &id);
		uint32_t *key = pm_map_put(&b->key_of_kind, id.kind, PM_NONE, &fresh);
		if (fresh)
			*key = key_index(b, key_name(b, id.kind));
		identity[i] = (struct pm_identity){.key = *key, .value = id.logical};
	}
}

static void identities_read(struct builder *b)
{
	uint32_t n = 0;
	b->t->summary = PM_NONE;
	for (uint32_t i = 0; i < b->db->profiles.n; i++) {
		b->t->of_profile[i] = PM_NONE;
		if (hpctk_profile_is_summary(b->db, i)) {
			if (b->t->summary == PM_NONE)
				b->t->summary = i;
			continue;
		}
		b->threads[n].id = i;
		b->t->of_profile[i] = n;
		identity_read(b, i, &b->threads[n++]);
	}
	b->t->list.n = n;
}

/* Whether the file is cut off within the line; its footer is then missing, too. */
static bool line_is_cut(const struct hpctk_opened *db, const struct hpctk_trace_record *record)
{
	struct pm_bytes file = hpctk_bytes(db, HPCTK_TRACE), end;
	return record->at < file.len && record->end > file.len &&
		pm_bytes_sub(file, file.len - 8, 8, &end) && memcmp(end.p, "trace.db", 8) != 0;
}

/* Assigns a trace header to its thread, unless it already has one. */
static void line_read(struct builder *b, uint32_t i)
{
	struct hpctk_opened *db = b->db;
	uint64_t at = hpctk_row_at(&db->traces, i);
	struct hpctk_trace_record record;
	struct pm_bytes samples;
	hpctk_trace_decode(&db->layout, hpctk_row(&db->traces, i), &record);
	uint32_t thread = hpctk_thread_of(db, b->t, record.profile);
	if (thread == PM_NONE || b->t->lines[thread].present) {
		pm_damage_add(&b->t->damage, "trace.db", at, db->traces.stride,
			thread == PM_NONE ? "trace %u is of profile %u, which is not a thread"
					  : "trace %u is a second one of profile %u",
			i, record.profile);
		return;
	}
	struct hpctk_line *line = &b->t->lines[thread];
	*line = (struct hpctk_line){.at = record.at, .present = true};
	b->threads[thread].has_trace = true;
	if (record.end == record.at)
		return;
	if (line_is_cut(db, &record)) {
		uint64_t len = hpctk_bytes(db, HPCTK_TRACE).len;
		pm_damage_add(&b->t->damage, "trace.db", at, db->traces.stride,
			"trace %u: the file ends within its samples", i);
		record.end = len - (len - record.at) % HPCTK_SAMPLE;
	}
	if (record.end < record.at ||
		!pm_bytes_sub(hpctk_bytes(db, HPCTK_TRACE), record.at, record.end - record.at,
			&samples)) {
		line->damaged = true;
		pm_damage_add(&b->t->damage, "trace.db", at, db->traces.stride,
			"trace %u: its samples are outside the file", i);
		return;
	}
	line->n = samples.len / HPCTK_SAMPLE;
	b->threads[thread].n_samples = line->n;
	if (samples.len % HPCTK_SAMPLE)
		pm_damage_add(&b->t->damage, "trace.db", record.at + line->n * HPCTK_SAMPLE,
			samples.len % HPCTK_SAMPLE, "trace %u ends within a sample", i);
}

/* Of lines that share bytes with others, each would be read completely. */
static void lines_part(struct builder *b)
{
	uint32_t n_threads = b->t->list.n, n = 0;
	struct hpctk_stretch *all = pm_arena_array(b->scratch, n_threads, sizeof(*all));
	uint8_t *marks = pm_arena_alloc(b->scratch, n_threads / 8 + 1);
	for (uint32_t i = 0; i < n_threads; i++) {
		const struct hpctk_line *line = &b->t->lines[i];
		if (line->n)
			all[n++] = (struct hpctk_stretch){
				line->at, line->at + line->n * HPCTK_SAMPLE, i};
	}
	pm_build_check(b->a, hpctk_sharing_mark(all, n, marks));
	for (uint32_t i = 0; i < n_threads; i++) {
		struct hpctk_line *line = &b->t->lines[i];
		if (!hpctk_sharing_marked(marks, i))
			continue;
		pm_damage_add(&b->t->damage, "trace.db", line->at, line->n * HPCTK_SAMPLE,
			"profile %u: its samples overlap those of another one", b->threads[i].id);
		line->n = b->threads[i].n_samples = 0;
		line->damaged = true;
	}
}

static void threads_build(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct hpctk_threads *t = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct builder b = {
		.a = a, .scratch = scratch, .db = db, .t = t, .key_of_kind.arena = scratch};
	(void)err;
	pm_damage_list_in(&t->damage, a);
	b.threads = pm_arena_array(a, db->profiles.n, sizeof(*b.threads));
	t->of_profile = pm_arena_array(a, db->profiles.n, sizeof(*t->of_profile));
	t->lines = pm_arena_array(a, db->profiles.n, sizeof(*t->lines));
	identities_read(&b);
	for (uint32_t i = 0; i < db->traces.n; i++)
		line_read(&b, i);
	lines_part(&b);
	pm_build_check(a, t->damage.no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
	t->list.threads = b.threads;
	t->list.keys = b.keys;
	t->list.n_keys = (uint32_t)b.n_keys;
	db->parts.threads.it = &t->list;
}

int hpctk_threads_get(
	struct hpctk_opened *db, const struct hpctk_threads **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct hpctk_threads),
		.build = threads_build,
		.file = "profile.db",
		.what = "threads"};
	int r = pm_part_get(&db->threads, &type, db, ret, err);
	if (r == 0) /* so that lack of memory is not reported as damage of a thread's values */
		r = hpctk_blocks_ready(db, false, err);
	if (r < 0)
		*ret = NULL;
	return r;
}

/*
 * ==== samples ====
 * Traces, read in place. Lines are sorted by time; an unsorted line is presented as stored and
 * reported in damage.csv.
 */

struct hpctk_sample_record hpctk_sample_get(
	const struct hpctk_opened *db, const struct hpctk_line *line, uint64_t i)
{
	struct hpctk_sample_record sample;
	struct pm_bytes d;
	pm_bytes_sub(hpctk_bytes(db, HPCTK_TRACE), line->at + i * HPCTK_SAMPLE, HPCTK_SAMPLE, &d);
	hpctk_sample_decode(&db->layout, d.p, &sample);
	return sample;
}

int64_t hpctk_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	const struct hpctk_threads *threads;
	int r = hpctk_threads_get(db, &threads, err);
	if (r < 0)
		return r;
	const struct hpctk_line *line = &threads->lines[thread];
	if (line->damaged)
		return pm_error_set(err, -EINVAL, "trace.db", line->at,
			"the samples of profile %u are outside the file, or overlap those of another one",
			threads->list.threads[thread].id);
	if (first >= line->n)
		return 0;
	size_t n = room < line->n - first ? room : (size_t)(line->n - first);
	struct hpctk_sample_record now, next;
	struct pm_bytes d; /* the samples and the one after them; the line is within the file */
	pm_bytes_sub(hpctk_bytes(db, HPCTK_TRACE), line->at + first * HPCTK_SAMPLE,
		(line->n - first) * HPCTK_SAMPLE, &d);
	hpctk_sample_decode(&db->layout, pm_bytes_row(d, 0, HPCTK_SAMPLE), &now);
	for (size_t i = 0; i < n; i++) {
		bool last = first + i + 1 == line->n;
		next = now;
		if (!last)
			hpctk_sample_decode(
				&db->layout, pm_bytes_row(d, i + 1, HPCTK_SAMPLE), &next);
		ret[i] = (struct pm_sample){
			.time_ns = now.time_ns,
			.duration_ns = last || next.time_ns < now.time_ns
				? PM_NO_TIME
				: next.time_ns - now.time_ns,
			.context = now.context,
		};
		now = next;
	}
	return (int64_t)n;
}

static int span_build(void *context, struct pm_error *err)
{
	struct hpctk_opened *db = context;
	const struct hpctk_threads *threads;
	uint64_t first = UINT64_MAX, last = 0;
	int r = hpctk_threads_get(db, &threads, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < threads->list.n; i++) {
		const struct hpctk_line *line = &threads->lines[i];
		if (line->n == 0)
			continue;
		uint64_t begin = hpctk_sample_get(db, line, 0).time_ns;
		uint64_t end = hpctk_sample_get(db, line, line->n - 1).time_ns;
		first = begin < first ? begin : first;
		last = end > last ? end : last;
	}
	db->span.origin_ns = first == UINT64_MAX ? PM_NO_TIME : first;
	db->span.duration_ns = first == UINT64_MAX || last < first ? PM_NO_TIME : last - first;
	return 0;
}

int hpctk_span(void *opened, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	return pm_lazy_get(&db->span_lazy, span_build, db, err);
}
