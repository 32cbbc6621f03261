/*
 * Reads the beginnings of all files in parallel: the writer and metrics of a profile, the number of
 * samples of a trace. Damage is reported by the code that reads whole files.
 */
#include "formats/hpcrun/who.h"

#include <stdlib.h>

#include "formats/common/pipeline.h"
#include "formats/common/quantity.h"
#include "formats/hpcrun/dialect.h"
#include "formats/hpcrun/identity.h"
#include "formats/hpcrun/names.h"
#include "formats/hpcrun/runs.h"

struct result {
	struct hpcrun_thread thread;
	struct hpcrun_claim claim;
	bool gpu, times;
};

struct reading {
	struct hpcrun_folder *folder;
	struct hpcrun_who *who;
	struct pm_thread *threads;
	struct hpcrun_claim *claims;
};

/* ---- one thread's files ---- */

/* hpcrun's names for the kinds, for dictionaries without them. */
static const char *const known_kinds[] = {
	"summary", "node", "rank", "thread", "gpudevice", "gpucontext", "gpustream", "core"};

static struct pm_bytes kind_name(const struct hpcrun_profile *p, uint16_t kind)
{
	for (size_t i = 0; i < p->n_kinds; i++)
		if (p->kinds[i].kind == kind)
			return p->kinds[i].name;
	if (kind < sizeof(known_kinds) / sizeof(known_kinds[0]))
		return pm_bytes_of(known_kinds[kind]);
	return (struct pm_bytes){NULL, 0};
}

static void claim_tuple(const struct hpcrun_profile *p, struct hpcrun_claim *claim)
{
	for (size_t i = 0; i < p->n_identity; i++) {
		const struct hpcrun_identity *from = &p->identity[i];
		struct hpcrun_level *level = hpcrun_claim_add(claim, kind_name(p, from->kind));
		if (!level)
			continue;
		level->renumber = from->interpret == 1;
		level->physical = from->physical;
		level->logical = from->logical;
	}
}

static void claim_number(struct hpcrun_claim *claim, const char *key, uint64_t value)
{
	struct hpcrun_level *level = hpcrun_claim_add(claim, pm_bytes_of(key));
	if (level)
		level->logical = value;
}

/* A number of the header under either of two keys. */
static bool header_number(
	const struct hpcrun_profile *p, const char *key, const char *other, uint64_t *ret)
{
	return hpcrun_number_parse(hpcrun_pairs_find(&p->header, key), ret) ||
		hpcrun_number_parse(hpcrun_pairs_find(&p->header, other), ret);
}

static void claim_names(
	const struct hpcrun_profile *p, struct pm_bytes stem, struct hpcrun_claim *claim)
{
	struct hpcrun_file_name name = hpcrun_file_name_parse(stem);
	uint64_t value;
	claim->has_process = header_number(p, "process-id", "process_id", &claim->process);
	if (!claim->has_process && name.has_parts) {
		claim->has_process = true;
		claim->process = name.pid;
	}
	if (claim->n > 0)
		return;
	if (header_number(p, "mpi-rank", "mpi-rank", &value))
		claim_number(claim, "rank", value);
	else if (name.has_parts)
		claim_number(claim, "rank", name.rank);
	if (header_number(p, "thread-id", "canonical-thread-id", &value))
		claim_number(claim, "thread", value);
	else if (name.has_parts)
		claim_number(claim, "thread", name.thread);
}

static void look_at_names(const struct hpcrun_profile *p, struct result *ret)
{
	for (size_t e = 0; e < p->n_epochs; e++)
		for (size_t i = 0; i < p->epochs[e].metrics.n; i++) {
			struct pm_bytes name = p->epochs[e].metrics.items[i].name;
			ret->gpu |= name.len > 0 && name.p[0] == 'G'; /* GKER, GXCOPY … */
			ret->times |=
				pm_quantity_of(name, hpcrun_metric_unit(name)) == PM_QUANTITY_TIME;
		}
}

/* For an unreadable profile, the file name is used. */
static int read_profile(
	struct hpcrun_folder *folder, const struct hpcrun_source *source, struct result *ret)
{
	struct hpcrun_report silent = {.file = NULL};
	struct hpcrun_profile p = {.family = HPCRUN_FAMILY_NONE};
	struct pm_input in = {.name = NULL};
	int r = -ENOENT;
	if (source->profile.name)
		r = hpcrun_file_open(folder, &source->profile, &in, NULL);
	if (r == 0) {
		r = hpcrun_profile_read(&p, in.bytes, HPCRUN_METRICS, &silent, NULL);
		if (r == 0) {
			ret->thread.family = p.family;
			ret->thread.version = p.version;
			claim_tuple(&p, &ret->claim);
			look_at_names(&p, ret);
		}
	}
	claim_names(&p, hpcrun_file_stem(hpcrun_source_file(source)), &ret->claim);
	hpcrun_profile_done(&p);
	hpcrun_file_close(folder, &in);
	return r == -ENOMEM ? r : 0;
}

static int read_trace(
	struct hpcrun_folder *folder, const struct hpcrun_source *source, struct result *ret)
{
	struct hpcrun_report silent = {.file = NULL};
	struct pm_input in;
	ret->thread.has_trace = source->trace.name != NULL;
	if (!ret->thread.has_trace)
		return 0;
	int r = hpcrun_file_open(folder, &source->trace, &in, NULL);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	hpcrun_trace_read(&ret->thread.trace, in.bytes, &silent, NULL);
	ret->thread.trace.magic = (struct pm_bytes){NULL, 0}; /* of the file */
	hpcrun_file_close(folder, &in);
	return 0;
}

static int make_result(void *context, uint32_t i, void *result)
{
	struct reading *reading = context;
	struct result *ret = result;
	const struct hpcrun_source *source = &reading->folder->sources[i];
	int r = read_trace(reading->folder, source, ret);
	return r < 0 ? r : read_profile(reading->folder, source, ret);
}

/* ---- all of them ---- */

static int take_result(void *context, uint32_t i, void *result)
{
	struct reading *reading = context;
	const struct result *from = result;
	const struct hpcrun_source *source = &reading->folder->sources[i];
	reading->who->items[i] = from->thread;
	reading->claims[i] = from->claim;
	reading->who->may_have_gpu |= from->gpu;
	reading->who->may_have_times |= from->times;
	reading->threads[i] = (struct pm_thread){.id = i + 1,
		.has_trace = from->thread.has_trace,
		.n_samples = from->thread.trace.n,
		.file = pm_bytes_of(hpcrun_source_file(source)->name)};
	return 0;
}

static int read_all(struct reading *reading, uint32_t n)
{
	struct pm_pipeline pipeline = {.n = n,
		.size = sizeof(struct result),
		.make = make_result,
		.take = take_result,
		.context = reading};
	struct hpcrun_who *who = reading->who;
	if (!who->items || !reading->threads || !reading->claims)
		return -ENOMEM;
	int r = pm_pipeline_run(&pipeline);
	who->threads = (struct pm_threads){.n = n, .threads = reading->threads, .has_files = true};
	if (r == 0)
		r = hpcrun_runs_find(
			reading->folder, who, reading->claims, &who->damage, &who->n_runs);
	if (r == 0)
		r = hpcrun_identities_settle(
			reading->claims, n, reading->threads, &who->arena, &who->threads);
	return r;
}

int hpcrun_who_read(struct hpcrun_who *ret, struct hpcrun_folder *folder, struct pm_error *err)
{
	struct reading reading = {.folder = folder, .who = ret};
	size_t n = folder->n;
	*ret = (struct hpcrun_who){
		.items = calloc(n, sizeof(*ret->items)), .damage = PM_DAMAGE_LIST_INIT};
	reading.threads = pm_arena_array(&ret->arena, n, sizeof(*reading.threads));
	reading.claims = calloc(n, sizeof(*reading.claims));
	int r = read_all(&reading, folder->n);
	free(reading.claims);
	if (r == 0)
		return 0;
	hpcrun_who_done(ret);
	return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for %zu threads", n);
}

void hpcrun_who_done(struct hpcrun_who *w)
{
	if (w->items)
		pm_damage_done(&w->damage);
	free(w->items);
	pm_arena_done(&w->arena);
	*w = (struct hpcrun_who){.items = NULL};
}
