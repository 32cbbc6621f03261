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
 * Opens the files in directory `folder` (borrowed) that are there. -ENOTSUP for versions that are
 * not read, -EINVAL where meta.db or profile.db is missing or is no such file; an optional file
 * that is broken goes into `damage`. To be closed also after a failure.
 */
int hpctk_folder_open(
	struct hpctk_folder *f, int folder, struct pm_damage_list *damage, struct pm_error *err);

void hpctk_folder_close(struct hpctk_folder *f);

#endif
