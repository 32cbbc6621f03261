/* Source text with the cost of each line beside it. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SOURCE_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SOURCE_H

#include "formats/common/input.h"
#include "fs/views/model/model.h"

/* The document source/X.annotated.txt of one of the profile's sources. */
int pmfs_source_annotated(struct pmfs_model *m, const struct pm_source *source, struct pm_doc *ret,
	struct pm_error *err);

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

/* Accepts a zeroed one. */
void pmfs_source_text_done(struct pmfs_source_text *t);

/* Removes the next line from `text` and returns it without the line end. */
struct pm_bytes pmfs_source_line(struct pm_bytes *text);

#endif
