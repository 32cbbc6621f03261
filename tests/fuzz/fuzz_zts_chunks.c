/*
 * The walk over traces.dat, what its payloads hold, and what is added up over them: of the input as
 * traces.dat, and of the input as the payload of compressed chunks, so that what is inside of them
 * is mutated, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/zts/scan.h"
#include "profmount/format.h"
#include "tests/zts/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct scanning {
	struct pm_arena *arena;
	const struct zts_store *store;
};

static void scan_store(void *context)
{
	const struct scanning *s = context;
	struct zts_attr_names names = {pm_strtab_in(s->arena), {.arena = s->arena}};
	struct zts_scan found;
	zts_scan_store(s->arena, s->store, &names, NULL, &found);
}

static void scan(struct pm_bytes traces)
{
	struct zts_store store = {.number = "000000"};
	struct pm_arena arena = {.block = NULL};
	struct scanning scanning = {&arena, &store};
	if (zts_chunks_walk(&store.chunks, traces, NULL) < 0)
		return;
	pm_build(&arena, scan_store, &scanning);
	pm_arena_done(&arena);
	zts_chunks_done(&store.chunks);
}

static char folder[] = "/tmp/profmount-fuzz-XXXXXX";
static char file[sizeof(folder) + sizeof("/traces.dat")];

static void remove_folder(void)
{
	unlink(file);
	rmdir(folder);
}

static void make_folder(void)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		exit(1);
	}
	snprintf(file, sizeof(file), "%s/traces.dat", folder);
	atexit(remove_folder);
}

/* The tree of all calls is added up when it is asked for. */
static void aggregate(struct pm_bytes traces)
{
	struct pm_profile *p;
	const struct pm_tree *tree;
	const struct pm_damages *damages;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (!file[0])
		make_folder();
	if (!zts_write_file(folder, "traces.dat", traces))
		abort();
	if (pm_profile_open(folder, "zts", NULL, &p, &err) < 0)
		return;
	if (pm_profile_tree(p, &tree, &err) == 0 && tree->n_contexts &&
		tree->end[0] > tree->n_contexts)
		abort();
	pm_profile_damage(p, &damages, &err);
	pm_profile_close(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t flags[] = {0x11, 0x02};
	struct pm_bytes input = {data, size};
	scan(input);
	aggregate(input);
	for (size_t i = 0; i < 2; i++) {
		struct pm_text traces = {.p = NULL};
		zts_put_file_header(&traces, flags[i]);
		zts_put_chunk(&traces, flags[i], input);
		aggregate(pm_text_view(&traces));
		pm_text_done(&traces);
	}
	return 0;
}
