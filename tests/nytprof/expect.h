/* Shared by tests of whole profiles; failures are reported through cmocka. */
#ifndef PROFMOUNT_TESTS_NYTPROF_EXPECT_H
#define PROFMOUNT_TESTS_NYTPROF_EXPECT_H

#include "profmount/format.h"
#include "tests/nytprof/writer.h"

/* Of a group of tests: a folder for files that are written. */
extern char nytpx_folder[64];
int nytpx_folder_make(void **state);
int nytpx_folder_remove(void **state);

/* Writes a file into the folder; removes it. */
void nytpx_save(struct nytpw *w, const char *name);
void nytpx_drop(const char *name);

/* Opens what was written; the file is gone afterwards. */
struct pm_profile *nytpx_open_written(struct nytpw *w);

/* What was written is refused with that code and a text that holds `text`. */
void nytpx_expect_refused(struct nytpw *w, int code, const char *text);

/* The table at that path, or NULL. */
const struct pm_table *nytpx_find_table(const struct pm_profile *p, const char *path);

/* The rows of a table: cells with `|` between, a line feed after each row. */
void nytpx_expect_table(const struct pm_profile *p, const char *path, const char *want);

/* The context tree: `depth name values…` a line, values in the order of metrics. */
void nytpx_expect_tree(const struct pm_profile *p, const char *want);

/* How many rows of damage hold `text`. */
size_t nytpx_count_damage(const struct pm_profile *p, const char *text);

#endif
