/*
 * A format: how to recognise an input and open it. One const descriptor each, at the bottom of
 * formats/NAME/format.c, listed in formats/registry.c.
 */
#ifndef PROFMOUNT_FORMAT_H
#define PROFMOUNT_FORMAT_H

#include "profmount/profile.h"

/* What a probe sees: an open file with its beginning, or an open directory. */
struct pm_candidate {
	const char *path; /* absolute */
	int fd;           /* the file or directory; stays open until open() has returned */
	bool folder;
	uint64_t size; /* of a file */
	uint64_t mtime_ns;
	struct pm_bytes head; /* of a file: its first bytes, at most 4096 */
};

struct pm_cache;

struct pm_open_options {
	bool keep_evals;     /* Perl: evals of one place in the source are not shown as one */
	bool no_symbols;     /* hpcrun: addresses stay addresses */
	const char *sysroot; /* hpcrun: where load modules are looked for; NULL: here */
	/*
	 * Where the format keeps what it can make again (formats/common/cache.h). The caller frees
	 * it before the profile is closed. NULL: the profile gets a small one of its own, so that
	 * open() always finds one.
	 */
	struct pm_cache *cache;
};

struct pm_format {
	const char *name;
	const char *summary; /* for --formats: which versions */
	/*
	 * How sure this input is of this format: 0 = no, 100 = certain. An input that is the
	 * format's but cannot be served (an old version) gets a low number: open then says why.
	 * Reads at most 4 KiB, allocates nothing, never fails.
	 */
	int (*probe)(const struct pm_candidate *c);
	/*
	 * Fills `ret` (zeroed by the caller) but for format and source. On failure nothing is left
	 * allocated, and `err` names the file and the reason.
	 */
	int (*open)(const struct pm_candidate *c, const struct pm_open_options *options,
		struct pm_profile *ret, struct pm_error *err);
	void (*close)(struct pm_profile *p);
};

/* All formats, ending with NULL; const. */
extern const struct pm_format *const pm_formats[];

/*
 * Opens `path` with the format of that name, or with the one that is surest (name NULL).
 * `*ret` is the caller's; close with pm_profile_close.
 */
int pm_profile_open(const char *path, const char *format, const struct pm_open_options *options,
	struct pm_profile **ret, struct pm_error *err);

/*
 * How sure the surest format is of what is at `path`, as pm_format.probe; 0 also where it cannot be
 * opened, is empty, or is no file and no directory.
 */
int pm_profile_probe(const char *path);

/* Accepts NULL. Returns NULL. */
struct pm_profile *pm_profile_close(struct pm_profile *p);

#endif
