/* Source text with the cost of each line beside it. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SOURCE_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SOURCE_H

#include "formats/common/map.h"
#include "fs/views/model/model.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/lines.h"

/* The document source/X.annotated.txt of one of the profile's sources. */
int pmfs_source_annotated(struct pmfs_model *m, const struct pm_source *source, struct pm_doc *ret,
	struct pm_error *err);

/* ---- the text of source files ---- */

/* Whether the profile has the text of the file named by the tree's text `file`. Opens nothing. */
int pmfs_source_is_there(struct pmfs_model *m, uint32_t file, struct pm_error *err);

/* Opens it, in a build of the arena: false if there is none. */
bool pmfs_source_open(struct pm_arena *a, struct pmfs_model *m, uint32_t file, struct pm_bytes *ret,
	struct pm_error *err);

/* Removes the next line from `text` and returns it without the line end. */
struct pm_bytes pmfs_source_line(struct pm_bytes *text);

/*
 * ---- what lines call and evaluate ----
 *
 * What the lines of a file call and evaluate, which annotated source shows below a line.
 */

struct pmfs_sites {
	const struct pmfs_calls *calls;
	uint32_t *rows; /* indexes of calls, by line, then in the order of callers.csv */
	uint32_t n;
	uint32_t at;                  /* lines are requested in ascending order */
	struct pmfs_site_eval *evals; /* by line, then most expensive first */
	uint32_t n_evals, at_eval;
	const struct pmfs_functions *functions;
	uint32_t *subs; /* rows of functions that evals define, in order */
	const struct pmfs_lines *lines;
};

/* A text that a line compiled. */
struct pmfs_site_eval {
	uint32_t line;
	uint32_t text;          /* name of its file */
	uint32_t texts;         /* that are not told apart */
	uint64_t n;             /* how often; 0: before the measurement */
	double ns;              /* of its statements; NaN: none ran */
	uint32_t first, n_subs; /* in pmfs_sites.subs */
};

/* The lines: of the file with this text (PM_NONE: none), first … last. */
struct pmfs_lines_of {
	uint32_t file, first, last;
};

/* In a build of the arena. */
struct pmfs_sites *pmfs_sites_of(struct pm_arena *a, struct pmfs_model *m,
	const struct pmfs_lines_of *of, struct pm_error *err);

#endif
