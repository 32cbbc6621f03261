/*
 * A document: what a file of the mount holds, described but not rendered. A value; whoever makes
 * one keeps what it points to alive as long as the profile.
 */
#ifndef PROFMOUNT_DOCUMENT_H
#define PROFMOUNT_DOCUMENT_H

#include "profmount/table.h"

enum pm_doc_kind {
	PM_DOC_BYTES, /* a slice of the mapped input, served as it is */
	PM_DOC_TEXT,  /* rendered whole by `render`, kept in a cache of bounded size */
	PM_DOC_CSV,   /* a table as CSV */
	PM_DOC_TSV,   /* a table as TSV */
	PM_DOC_FILE,  /* a file of the source beside the mapped ones, passed through */
	PM_DOC_LINK,  /* a symbolic link; `render` makes its target */
};

struct pm_profile;

struct pm_doc {
	enum pm_doc_kind kind;
	const struct pm_profile *of; /* whose it is: the tree says so */
	union {
		struct pm_bytes bytes;
		struct pm_table table;
		struct {
			/*
			 * Appends the whole document, binary ones too. Returns 0 or a negative
			 * errno: the document is then listed, and stat and open of it give EIO.
			 */
			int (*render)(const struct pm_doc *doc, struct pm_text *out,
				struct pm_error *err);
			const void *self; /* with a, b, c: which document this is */
			uint64_t a, b, c;
			bool brief; /* a few bytes, at once: rendered anew each time */
		} text;
		struct {
			int folder;       /* open directory of the source, owned by the profile */
			const char *path; /* below it; never leaves it, symbolic links included */
		} file;
	};
};

/* A document and its place below a directory: `raw/general.csv`. `path` lives with the profile. */
struct pm_named_doc {
	const char *path;
	struct pm_doc doc;
	/* Optional, for documents of a profile: 1, or 0 where it is not there, the same each time.
	 */
	int (*present)(const struct pm_profile *p, struct pm_error *err);
};

static inline struct pm_doc pm_doc_csv(struct pm_table table)
{
	return (struct pm_doc){.kind = PM_DOC_CSV, .table = table};
}

static inline struct pm_doc pm_doc_tsv(struct pm_table table)
{
	return (struct pm_doc){.kind = PM_DOC_TSV, .table = table};
}

#endif
