/* The text of source files. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SOURCES_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SOURCES_H

#include "formats/common/input.h"
#include "formats/common/map.h"
#include "fs/views/model/model.h"

/* The profile's sources, and the texts of the tree that are their file names. */
struct pmfs_sources {
	const struct pm_source *sources;
	uint32_t n;
	uint32_t *file;        /* source → text of the tree, or PM_NONE */
	struct pm_map of_file; /* text → source */
};

/* Matched on the first call; owned by the model. */
int pmfs_sources(struct pmfs_model *m, const struct pmfs_sources **ret, struct pm_error *err);

/* The text of a source file; free with pmfs_source_text_done. */
struct pmfs_source_text {
	struct pm_bytes bytes;
	struct pm_text rendered; /* if the format composes it */
	struct pm_input input;   /* if it is a file of the source */
};

/* Whether the profile has the text of the file named by the tree's text `file`. Opens nothing. */
int pmfs_source_is_there(struct pmfs_model *m, uint32_t file, struct pm_error *err);

/* Opens it: 1, or 0 if there is none. */
int pmfs_source_open(
	struct pmfs_model *m, uint32_t file, struct pmfs_source_text *ret, struct pm_error *err);

/* Opens the text of one of the sources. */
int pmfs_source_text_open(struct pmfs_model *m, const struct pm_source *source,
	struct pmfs_source_text *ret, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_source_text_done(struct pmfs_source_text *t);

/* Removes the next line from `text` and returns it without the line end. */
struct pm_bytes pmfs_source_line(struct pm_bytes *text);

#endif
