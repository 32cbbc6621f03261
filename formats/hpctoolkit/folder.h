/* The files of a database. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_FOLDER_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_FOLDER_H

#include "formats/common/damage.h"
#include "formats/common/input.h"

enum hpctk_file { HPCTK_META, HPCTK_PROFILE, HPCTK_CCT, HPCTK_TRACE, HPCTK_N_FILES };

/* meta.db, profile.db, cct.db, trace.db */
const char *hpctk_file_name(enum hpctk_file file);

struct hpctk_folder {
	int fd; /* the directory; negative: not open */
	struct pm_input files[HPCTK_N_FILES];
	bool present[HPCTK_N_FILES]; /* the file is there and can be read */
};

/*
 * Opens the existing files in directory `folder` (borrowed). -ENOTSUP for unsupported versions,
 * -EINVAL if meta.db or profile.db is missing or of another kind; a broken optional file is
 * reported in `damage`. Must be closed after a failure, too.
 */
int hpctk_folder_open(
	struct hpctk_folder *f, int folder, struct pm_damage_list *damage, struct pm_error *err);

void hpctk_folder_close(struct hpctk_folder *f);

#endif
