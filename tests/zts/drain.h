/* Opens stores, and reads their documents through the format interface, as text. */
#ifndef PROFMOUNT_TESTS_ZTS_DRAIN_H
#define PROFMOUNT_TESTS_ZTS_DRAIN_H

#include "formats/common/text.h"
#include "profmount/format.h"

/* Opens a store that is only this traces.dat; NULL, with the reason on standard error, if not. */
struct pm_profile *zts_open_traces(const char *folder, struct pm_bytes traces);

/* Appends a document; tables as CSV without quotes. 0 or the negative errno of reading it. */
int zts_drain_doc(const struct pm_doc *doc, struct pm_text *out);

/* The document at `path`, of the fixed ones or of an item of a collection; -ENOENT without it. */
int zts_drain_path(const struct pm_profile *p, const char *path, struct pm_text *out);

/* Everything there is, each document behind its path; what cannot be read leaves a line. */
void zts_drain_all(const struct pm_profile *p, struct pm_text *out);

#endif
