/*
 * A format: how to recognise and open an input. Each format has one const descriptor, at the bottom
 * of formats/NAME/format.c, listed in formats/registry.c.
 */
#ifndef PROFMOUNT_FORMAT_H
#define PROFMOUNT_FORMAT_H

#include "profmount/profile.h"

/* Input of a probe: an open file with its first bytes, or an open directory. */
struct pm_candidate {
	const char *path; /* absolute */
	int fd;           /* the file or directory; stays open until open() has returned */
	bool folder;
	uint64_t size; /* of a file */
	uint64_t mtime_ns;
	/* Of a file: its first 4096 bytes; of JSON of which no format is sure then, 1 MiB. */
	struct pm_bytes head;
	struct pm_bytes inflated; /* the same inflated, where it is compressed */
	struct pm_bytes text;     /* that as UTF-8, without a byte order mark */
	bool text_is_all;         /* there is no more of it */
	/* Of a folder, for formats with `run_file`: the files in it that are one run, by
	 * strverscmp. */
	const char *const *files;
	size_t n_files;
};

/* What a file is of a run whose parts are in several files of a folder. */
struct pm_run_file {
	uint64_t run;       /* a hash of what the parts of a run have in common */
	uint64_t member;    /* which of them: files with the same are parts of no run */
	const char *format; /* set by pm_profile_probe: NULL if the file is none */
};

/*
 * What a probe answers. Folders are searched, and sources without -o format opened, for what is
 * more than PM_PROBE_IF_ASKED; the highest is tried first, the next one if opening it fails.
 */
enum {
	PM_PROBE_NO = 0,
	PM_PROBE_IF_ASKED = 1,    /* could be, as could many other files */
	PM_PROBE_UNNAMED = 2,     /* all of the head says so, but nothing else: not in folders */
	PM_PROBE_BY_CONTENT = 40, /* its name and what is in it, or all of the head, say so */
	PM_PROBE_CERTAIN = 100,   /* a magic number */
};

struct pm_cache;

struct pm_open_options {
	const char *source;       /* what the source is called; NULL: by its path */
	bool keep_evals;          /* Perl: do not merge evals of the same source line */
	bool no_symbols;          /* hpcrun: do not look up names of addresses */
	const char *sysroot;      /* hpcrun: directory in which to look for load modules; NULL: this
				     machine */
	const char *values;       /* number fields of calls that are quantities, with `,` between
				     them; NULL: none. A format without takes_values is not opened */
	const char *const *files; /* NULL, or the parts of a run: names of files beside `path`,
				     which is one of them, of the named format */
	size_t n_files;
	/*
	 * Cache for what the format can rebuild (formats/common/cache.h). The caller frees it
	 * before closing the profile. If NULL, the profile gets a small cache of its own, so open()
	 * never sees NULL.
	 */
	struct pm_cache *cache;
};

struct pm_format {
	const char *name;
	const char *summary; /* for --formats: which versions */
	bool takes_values;   /* calls have fields: see pm_open_options.values */
	/*
	 * How likely the input is in this format: PM_PROBE_NO to PM_PROBE_CERTAIN. An input of this
	 * format that is not supported (an old version) is still likely; open then gives the
	 * reason. Looks at the head, or reads as much, and never fails.
	 */
	int (*probe)(const struct pm_candidate *c);
	/*
	 * Optional, where a run can be several files: 1, 0 if the file is to be ignored, -1 if it
	 * is of no such run, or -ENOMEM. Reads the head of the file.
	 */
	int (*run_file)(int folder, const char *name, struct pm_run_file *ret);
	/*
	 * Fills `ret` (zeroed by the caller) except format and source. On failure nothing is left
	 * allocated, and `err` names the file and the reason.
	 */
	int (*open)(const struct pm_candidate *c, const struct pm_open_options *options,
		struct pm_profile *ret, struct pm_error *err);
	void (*close)(struct pm_profile *p);
};

/* All formats, ending with NULL; const. */
extern const struct pm_format *const pm_formats[];

/*
 * Opens `path` with the named format, or with the most likely one if the name is NULL. `*ret` is
 * the caller's; close with pm_profile_close.
 */
int pm_profile_open(const char *path, const char *format, const struct pm_open_options *options,
	struct pm_profile **ret, struct pm_error *err);

/*
 * The highest result of pm_format.probe for `path`; 0 also up to PM_PROBE_UNNAMED, or if
 * `path` cannot be opened, is empty, or is neither a file nor a directory. `part` may be NULL.
 */
int pm_profile_probe(const char *path, struct pm_run_file *part);

/* Accepts NULL. Returns NULL. */
struct pm_profile *pm_profile_close(struct pm_profile *p);

#endif
