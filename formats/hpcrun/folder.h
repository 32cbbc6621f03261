/* The measurement files of a source: listing and opening them. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_FOLDER_H
#define PROFMOUNT_FORMATS_HPCRUN_FOLDER_H

#include "formats/common/input.h"
#include "formats/symbols/symbols.h"

struct hpcrun_file {
	char *name; /* in the folder; owned; NULL: there is none */
	uint64_t size, mtime_ns;
	struct pm_watch *watch; /* owned */
};

/* The files of one thread: a profile, a trace, or both. */
struct hpcrun_source {
	struct hpcrun_file profile, trace;
};

struct hpcrun_folder {
	int fd;                        /* owned; -1 when closed */
	struct hpcrun_source *sources; /* owned; by name */
	uint32_t n;
	bool no_symbols;      /* do not look up names of addresses */
	struct sym_root root; /* where its load modules are looked for */
	bool changed;         /* atomic: a file has changed since it was listed */
};

/* 1 if the directory contains a name of a measurement file, else 0; -EIO if it cannot be listed. */
int hpcrun_folder_probe(int fd);

/* Lists the directory; opens nothing in it. */
int hpcrun_folder_open(struct hpcrun_folder *ret, int fd, const char *path, struct pm_error *err);

/*
 * One file, and the other file beside it of the same thread. `is_trace`: the given file is a trace.
 */
int hpcrun_folder_open_file(
	struct hpcrun_folder *ret, const char *path, bool is_trace, struct pm_error *err);

/* Accepts a zeroed one. */
void hpcrun_folder_close(struct hpcrun_folder *f);

/* Maps a listed file; -EIO if it has changed since, except by growing. Thread-safe. */
int hpcrun_file_open(struct hpcrun_folder *f, const struct hpcrun_file *file, struct pm_input *ret,
	struct pm_error *err);

/* Announces bytes of it that will be read next; not needed for heads, which are kept. */
void hpcrun_file_use(struct pm_input *in, uint64_t off, uint64_t len);

/* Accepts a zeroed one. Notices a file that has changed while it was open. */
void hpcrun_file_close(struct hpcrun_folder *f, struct pm_input *in);

bool hpcrun_folder_changed(const struct hpcrun_folder *f);

/* The name without .hpcrun or .hpctrace. */
struct pm_bytes hpcrun_file_stem(const struct hpcrun_file *file);

/* The name of the profile or, if there is none, of the trace. */
const struct hpcrun_file *hpcrun_source_file(const struct hpcrun_source *s);

#endif
