/* Databases that tests use, and what is in them. */
#ifndef PROFMOUNT_TESTS_HPCTOOLKIT_FIXTURES_H
#define PROFMOUNT_TESTS_HPCTOOLKIT_FIXTURES_H

#include "profmount/format.h"
#include "tests/hpctoolkit/writer.h"

/* Every layout in every byte order and way of writing that has been met. */
struct fixture_style {
	const char *name;
	const char *layout; /* as profmount calls it */
	struct hpctkw_style style;
};

extern const struct fixture_style fixture_styles[];
extern const size_t n_fixture_styles;

/*
 * A small database with a bit of everything: all kinds of contexts, duplicate siblings, unknown
 * functions, long and missing names, a metric without values, values of context 0 and of a context
 * that is not in the tree, a thread without values with an empty trace, one without a trace.
 */
struct hpctkw_database *fixture_rich(const struct hpctkw_style *style);

struct fixture_context {
	uint32_t id, parent;
	enum pm_kind kind;
	const char *name, *file, *module;
	uint32_t line;
	uint64_t offset;
	bool has_offset;
};

/* The rich database's contexts in the order of its file. */
extern const struct fixture_context fixture_contexts[];
extern const size_t n_fixture_contexts;

/* Its values: metric 0 in one scope at one context, on threads 0 and 1 (0 = none is stored). */
struct fixture_value {
	uint32_t context;
	enum hpctkw_scope scope;
	double value[2];
	bool summed; /* the summary has the sum, too */
};

extern const struct fixture_value fixture_values[];
extern const size_t n_fixture_values;

/* The samples of its thread 0. */
struct fixture_sample {
	uint64_t time_ns;
	uint32_t context;
};

extern const struct fixture_sample fixture_samples[];
extern const size_t n_fixture_samples;

/* One entry point with `n` lines below it; line i costs i on each of `n_threads` threads. */
struct hpctkw_database *fixture_wide(
	const struct hpctkw_style *style, uint32_t n, uint32_t n_threads);

/* A chain of `n` contexts. */
struct hpctkw_database *fixture_deep(const struct hpctkw_style *style, uint32_t n);

/* No metrics, no contexts, no threads. */
struct hpctkw_database *fixture_empty(const struct hpctkw_style *style);

/* A folder of files of a database, as it is on disk. */
struct fixture_folder {
	char path[64];
};

/* Abort where the file system fails. */
void fixture_folder_make(struct fixture_folder *f);
void fixture_folder_save(const struct fixture_folder *f, const struct hpctkw_files *files);
void fixture_folder_remove(const struct fixture_folder *f, const char *name); /* one file of it */
void fixture_folder_done(const struct fixture_folder *f);

/* Writes the database into the folder and frees it. */
void fixture_folder_write(const struct fixture_folder *f, struct hpctkw_database *w);

/* Opens what is in the folder; prints the error and aborts where it is refused. */
struct pm_profile *fixture_open(const struct fixture_folder *f);

/* The costs of the context with that number; index PM_NONE where there is none. */
struct pm_values_of fixture_costs_of(const struct pm_profile *p, uint64_t number);

/* Uses every op of an opened profile, as views do, whatever it holds. */
void fixture_exercise(const struct pm_profile *p);

#endif
