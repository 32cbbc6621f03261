/* FM files: finished text index files, stored as their Burrows-Wheeler transform. */
#ifndef PROFMOUNT_FORMATS_ZTS_FM_H
#define PROFMOUNT_FORMATS_ZTS_FM_H

#include "profmount/bytes.h"
#include "profmount/error.h"

struct zts_fm {
	uint8_t *data; /* the text, the caller's to free() */
	size_t len;
};

/* -EINVAL with the offset in the file where it cannot be read, or -ENOMEM. */
int zts_fm_read(struct pm_bytes file, struct zts_fm *ret, struct pm_error *err);

#endif
