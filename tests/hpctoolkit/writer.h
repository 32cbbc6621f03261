/*
 * Writes HPCToolkit databases of every layout of version 4.0, for tests and benchmarks. A database
 * is described piece by piece, then turned into the bytes of its files. Running out of memory
 * aborts: only tests use this.
 */
#ifndef PROFMOUNT_TESTS_HPCTOOLKIT_WRITER_H
#define PROFMOUNT_TESTS_HPCTOOLKIT_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hpctkw_generation { HPCTKW_FIRST, HPCTKW_APRIL, HPCTKW_JUNE, HPCTKW_RELEASED };

/* What writers may do differently within a layout. */
struct hpctkw_style {
	enum hpctkw_generation generation;
	bool big;            /* big-endian */
	bool children_first; /* arrays of children stand before their parents' records */
	bool odd_strings;    /* the string section begins at an odd offset */
	uint8_t garbage;     /* what gaps and reserved fields hold */
	uint8_t wider;       /* bytes by which strides exceed the records */
};

struct hpctkw_database;

struct hpctkw_database *hpctkw_new(const struct hpctkw_style *style);
void hpctkw_free(struct hpctkw_database *w);

/* The title; "a title" where none is given. Borrowed. */
void hpctkw_title(struct hpctkw_database *w, const char *title);

#define HPCTKW_NONE UINT32_MAX

/* Scopes of a metric, in the order in which the database lists them. */
enum hpctkw_scope { HPCTKW_POINT, HPCTKW_FUNCTION, HPCTKW_LEX_AWARE, HPCTKW_EXECUTION };

/* Each returns the index of what it adds. Strings are borrowed and outlive the database. */
uint32_t hpctkw_metric(struct hpctkw_database *w, const char *name);
uint32_t hpctkw_module(struct hpctkw_database *w, const char *path);
uint32_t hpctkw_file(struct hpctkw_database *w, const char *path, uint32_t flags);
uint32_t hpctkw_function(struct hpctkw_database *w, const char *name, uint32_t module,
	uint64_t offset, uint32_t file, uint32_t line);

/* Ids of a metric's values in profiles, and of their sum in the summary: two id spaces. */
uint16_t hpctkw_prop_id(uint32_t metric, enum hpctkw_scope scope);
uint16_t hpctkw_stat_id(uint32_t metric, enum hpctkw_scope scope);

/* A context; zeroed but for `parent` and `id` it is a function that nobody knows. */
struct hpctkw_context {
	uint32_t parent; /* index of an earlier one, or HPCTKW_NONE */
	uint32_t id;
	const char *entry; /* name of an entry point; older layouts have a function instead */
	uint8_t type, relation;
	bool has_function, has_place, has_point;
	uint32_t function, file, line, module;
	uint64_t offset;
};

uint32_t hpctkw_context(struct hpctkw_database *w, const struct hpctkw_context *context);

/* Profile 0 is the summary. What follows belongs to the profile added last. */
uint32_t hpctkw_profile(struct hpctkw_database *w);
void hpctkw_identity(
	struct hpctkw_database *w, uint8_t kind, uint32_t logical, uint64_t physical, bool real);
void hpctkw_value(struct hpctkw_database *w, uint32_t context_id, uint16_t id, double value);
void hpctkw_trace(struct hpctkw_database *w); /* an empty one, for samples to go to */
void hpctkw_sample(struct hpctkw_database *w, uint64_t time_ns, uint32_t context_id);

/* The files of a database; `trace` is empty if no profile has one. */
enum hpctkw_file { HPCTKW_META, HPCTKW_PROFILE, HPCTKW_CCT, HPCTKW_TRACE, HPCTKW_N_FILES };

struct hpctkw_files {
	struct {
		uint8_t *p;
		size_t n;
	} file[HPCTKW_N_FILES];
};

void hpctkw_write(const struct hpctkw_database *w, struct hpctkw_files *ret);
void hpctkw_files_free(struct hpctkw_files *files);

/* Writes the files that are not empty into a directory: 0, or -1 with errno. */
int hpctkw_save(const struct hpctkw_files *files, const char *folder);

#endif
