/*
 * Writes hpcrun files of every version, for tests, fuzzing and benchmarks. Follows
 * docs/formats/hpcrun.md and shares nothing with the reader.
 */
#ifndef PROFMOUNT_TESTS_HPCRUN_FIXTURE_H
#define PROFMOUNT_TESTS_HPCRUN_FIXTURE_H

#include "formats/common/text.h"

/* Snapshots of 04.00 from 2020 and 2021 wrote no dictionary, and shorter footers. */
enum fixture_footer {
	FIXTURE_FOOTER,        /* as released */
	FIXTURE_FOOTER_STARTS, /* 56 bytes: where five sections start */
	FIXTURE_FOOTER_FIVE,   /* 96 bytes: where five sections start and end */
};

enum fixture_version {
	FIXTURE_ERA_LITTLE, /* HPCRUN____02.00l, as the code of July 2009 wrote it */
	FIXTURE_ERA_BIG,    /* HPCRUN____02.00b, of one day in August */
	FIXTURE_0200_2009,  /* the same bytes behind the 24-byte magic, of three days in August */
	FIXTURE_SEED,       /* HPCRUN____02.00l, as its design note says */
	FIXTURE_0198,       /* 24-byte magic, load map without ids */
	FIXTURE_019A,       /* load map with ids and addresses */
	FIXTURE_0200_2010,  /* long metric flags, still addresses */
	FIXTURE_0200,       /* to 2017.06: no metric tail */
	FIXTURE_0200_TAIL,  /* from 2017.10: 20 bytes */
	FIXTURE_0200_LONG,  /* some weeks of 2017: 28 bytes */
	FIXTURE_0300,
	FIXTURE_0400,
	FIXTURE_N_VERSIONS,
};

extern const char *const fixture_version_names[FIXTURE_N_VERSIONS];

struct fixture_pair {
	const char *key, *value;
};

struct fixture_metric {
	const char *name;
	bool real;
	uint64_t period;
	bool moves; /* values are of the function that they are in */
};

struct fixture_module {
	const char *name;
	uint64_t vaddr;
};

struct fixture_node {
	uint32_t number, parent; /* 0 = none */
	bool leaf;               /* written with a negative id where the version has them */
	uint16_t module;         /* 1 = the first; 0 = placeholder */
	uint64_t ip;
	uint64_t values[4]; /* bits, by metric; 0 = none */
};

struct fixture_level {
	uint16_t kind; /* with `interpret` in its two upper bits */
	uint64_t physical, logical;
};

struct fixture_profile {
	enum fixture_version version;
	const struct fixture_pair *pairs;
	size_t n_pairs;
	const struct fixture_metric *metrics;
	size_t n_metrics; /* at most 4 */
	const struct fixture_module *modules;
	size_t n_modules;
	const struct fixture_node *nodes;
	size_t n_nodes;
	const struct fixture_level *levels; /* of 0400 */
	size_t n_levels;
	size_t n_epochs;            /* the same one again; 0 = a header alone */
	enum fixture_footer footer; /* of 0400 */
	bool short_nodes;           /* of 0400: without flags, as snapshots of the end of 2021 */
	bool lush;                  /* with fields of logical unwinding, where they are a choice */
};

void fixture_profile_write(const struct fixture_profile *p, struct pm_text *out);

/* A small run: 2 metrics, 2 modules, 8 nodes, 5 values; the same in every version. */
enum { FIXTURE_NODES = 8, FIXTURE_VALUES = 5 };
struct fixture_profile fixture_small(enum fixture_version version);

struct fixture_sample {
	uint64_t time; /* bits of a double without a header */
	uint32_t node, metric;
};

enum fixture_trace { FIXTURE_TRACE_BARE, FIXTURE_TRACE_0100, FIXTURE_TRACE_0101 };

void fixture_trace_write(enum fixture_trace version, uint64_t flags,
	const struct fixture_sample *samples, size_t n, struct pm_text *out);

/* Writes what was built to folder/name, and empties it; 0 or -errno. */
int fixture_save(struct pm_text *t, const char *folder, const char *name);

/*
 * Writes the run of a made program into `folder`: `n` threads of 04.00, each a profile of
 * `n_nodes` nodes and, with `n_samples`, a trace. The same arguments write the same bytes.
 */
int fixture_run_write(const char *folder, uint32_t n, uint32_t n_nodes, uint32_t n_samples);

/* The same of a program with n_paths call paths, of which each thread takes some; 0: as above. */
int fixture_wide_run_write(
	const char *folder, uint32_t n, uint32_t n_nodes, uint32_t n_samples, uint32_t n_paths);

#endif
