/*
 * A document: a description of the contents of a file in the mount, not rendered yet. Documents are
 * values; what they point to must live as long as the profile.
 */
#ifndef PROFMOUNT_DOCUMENT_H
#define PROFMOUNT_DOCUMENT_H

#include "profmount/table.h"

enum pm_doc_kind {
	PM_DOC_BYTES,   /* a slice of the mapped input, served as it is */
	PM_DOC_TEXT,    /* rendered as a whole by `render`, kept in the bounded cache */
	PM_DOC_CSV,     /* a table as CSV */
	PM_DOC_TSV,     /* a table as TSV */
	PM_DOC_PARQUET, /* a table as Parquet */
	PM_DOC_FILE,    /* a file of the source beside the mapped ones, passed through */
	PM_DOC_LINK,    /* a symbolic link; `render` makes its target */
};

struct pm_profile;

struct pm_doc {
	enum pm_doc_kind kind;
	const struct pm_profile *of; /* the profile it belongs to; set by the tree */
	union {
		struct pm_bytes bytes;
		struct pm_table table;
		struct {
			/*
			 * Appends the whole document, which may be binary. Returns 0 or a negative
			 * errno; if it fails, the document is listed, but stat and open give EIO.
			 */
			int (*render)(const struct pm_doc *doc, struct pm_text *out,
				struct pm_error *err);
			const void *self; /* with a, b, c: which document this is */
			uint64_t a, b, c;
			bool brief; /* a few bytes, rendered quickly: not cached */
			bool flows; /* may be much; `render` only appends (pm_text.flow) */
		} text;
		struct {
			int folder;       /* open directory of the source, owned by the profile */
			const char *path; /* below it; never leads out of it, not even through
					     symbolic links */
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
	bool unlisted; /* found by name: it may be many times the source */
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
