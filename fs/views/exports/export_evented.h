/* Calls in time order, as evented profiles of speedscope. */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_EVENTED_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_EVENTED_H

#include "formats/common/json.h"
#include "fs/views/model/model.h"

/* Frames of the tree in the file, numbered on first use. */
struct pmfs_frame_places {
	uint32_t *place;  /* by frame of the tree: its index in the file, or PM_NONE */
	uint32_t *frames; /* frames of the tree, by index in the file */
	uint32_t n;
};

static inline uint32_t pmfs_frame_place(struct pmfs_frame_places *p, uint32_t frame)
{
	if (p->place[frame] == PM_NONE) {
		p->frames[p->n] = frame;
		p->place[frame] = p->n++;
	}
	return p->place[frame];
}

/*
 * Appends a profile for each thread with calls, or for a single thread (unless PM_NONE), to the
 * open array; nothing if traces do not consist of calls. Contains as many calls as pmfs_slices_make
 * keeps; names say what is left out.
 */
int pmfs_evented_write(struct pmfs_model *m, uint32_t thread, struct pmfs_frame_places *places,
	struct pm_json *j, struct pm_error *err);

#endif
