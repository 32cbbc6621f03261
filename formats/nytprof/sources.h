/* source/: the text of files and evals in a profile. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_SOURCES_H
#define PROFMOUNT_FORMATS_NYTPROF_SOURCES_H

#include "formats/nytprof/native.h"

struct nytp_sources {
	struct pm_arena arena;
	struct pm_source *list;
	struct nytp_text *texts; /* by index in the list */
	size_t n, room, texts_room;
};

/* -ENOMEM. Give back with nytp_sources_done, also after a failure. */
int nytp_sources_build(struct nytp_sources *s, const struct nytp *n);

void nytp_sources_done(struct nytp_sources *s);

#endif
