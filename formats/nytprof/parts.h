/* An opened source: its files, and the parts built from them on first need. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_PARTS_H
#define PROFMOUNT_FORMATS_NYTPROF_PARTS_H

#include "formats/common/lazy.h"
#include "formats/nytprof/built.h"
#include "formats/nytprof/facts.h"
#include "formats/nytprof/lengths.h"
#include "formats/nytprof/raw.h"
#include "formats/nytprof/sources.h"

/* A file of the source, in its state when it was opened. */
struct nytp_part {
	struct pm_watch watch;
	const char *name;
};

/* An opened source. */
struct nytp_opened {
	struct nytp native; /* first: nytp_scan */
	struct pm_arena arena;
	int folder;                    /* owned; -1 for a single file, which `input` is */
	struct pm_input input;         /* until it was read */
	struct nytp_part *parts;       /* by file of native */
	struct pm_damage_list unread;  /* files that are not part of it */
	uint64_t bytes;                /* of all files */
	bool changed;                  /* atomic: a file could not be read as it was when opened */
	bool alone;                    /* one file as written by the profiler: one process */
	bool may_have_text;            /* by the heads: `files` of native are the scan's */
	struct nytp_docs *docs;        /* by file */
	struct pm_named_doc processes; /* of several files: all of them */
	struct nytp_file all_processes;

	/* Filled with native. */
	struct nytp_threads threads;
	struct nytp_facts facts;

	struct pm_lazy model_once, times_once, sources_once, damage_once;
	struct nytp_model model;
	struct nytp_times times;
	struct nytp_sources sources;
	struct pm_damages damages;
};

static inline struct nytp_opened *nytp_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/* Reads all files; it is nytp.fill of an opened source. */
int nytp_scan(struct nytp *n, struct pm_error *err);

/*
 * Build, once, o->model, o->times, o->sources, o->damages. 0, or what nytp_ready fails with, or
 * -ENOMEM.
 */
int nytp_opened_model(struct nytp_opened *o, struct nytp_model **ret, struct pm_error *err);
int nytp_opened_times(struct nytp_opened *o, struct pm_error *err);
int nytp_opened_sources(struct nytp_opened *o, struct pm_error *err);
int nytp_opened_damage(struct nytp_opened *o, struct pm_error *err);

/* Seconds since the epoch as ns; doubles are accurate to a microsecond. */
uint64_t nytp_ns_of(double seconds);

#endif
