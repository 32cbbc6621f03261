/*
 * An open database: the mapped files, their common layout, and the positions of their tables. These
 * are fixed once hpctk_opened_init has returned; anything that takes work is in lazy objects.
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_PARTS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_PARTS_H

#include "formats/common/lazy.h"
#include "formats/hpctoolkit/folder.h"
#include "formats/hpctoolkit/records.h"
#include "profmount/profile.h"

/* Sections of meta.db in the order of its header. */
enum hpctk_meta_section {
	HPCTK_GENERAL_SECTION,
	HPCTK_KINDS_SECTION,
	HPCTK_METRICS_SECTION,
	HPCTK_CONTEXT_SECTION,
	HPCTK_STRINGS_SECTION,
	HPCTK_MODULES_SECTION,
	HPCTK_FILES_SECTION,
	HPCTK_FUNCTIONS_SECTION,
	HPCTK_N_META_SECTIONS,
};

/* An array of records inside its file: row i is at rows.p + i × stride. */
struct hpctk_rows {
	struct pm_bytes rows;
	uint64_t at; /* in the file */
	uint32_t n;
	uint32_t stride;
	bool cut; /* the file promises more rows than it holds */
};

#define HPCTK_N_FACTS 3

struct hpctk_opened {
	struct hpctk_folder folder;
	struct hpctk_layout layout;
	const struct pm_profile *profile; /* the profile of this database; owned by the model */
	char version[8];                  /* of meta.db: 4.0 */
	struct pm_fact facts[HPCTK_N_FACTS];

	struct hpctk_section meta[HPCTK_N_META_SECTIONS];
	struct hpctk_rows kinds; /* pointers to names */
	struct hpctk_rows modules, sources, functions;
	struct hpctk_rows profiles;
	struct hpctk_rows contexts; /* of cct.db */
	/* Rows of profiles, and of contexts, whose values overlap those of others: see block.c. */
	struct pm_lazy sharing_lazy[2];
	uint8_t *sharing[2]; /* NULL: none */
	struct hpctk_rows traces;
	uint64_t first_ns; /* earliest time according to trace.db; PM_NO_TIME = unknown */

	/* Found while opening; parts keep what is found while they are built, to be built again. */
	struct pm_damage_list damage;

	struct pm_part metrics, columns, tree, threads, documents, copied, gathered, found;
	struct pm_lazy span_lazy, has_copied_lazy;
	bool has_copied; /* of `copied` there is at least one */
	uint64_t origin_ns, duration_ns;
};

/*
 * Opens the database in directory `folder` (borrowed). -ENOTSUP for unsupported versions, -EINVAL
 * for files that do not belong together; on failure nothing is left open.
 */
int hpctk_opened_init(struct hpctk_opened *db, int folder, struct pm_error *err);

/* Closes the files and frees what was built. */
void hpctk_opened_done(struct hpctk_opened *db);

static inline struct pm_bytes hpctk_bytes(const struct hpctk_opened *db, enum hpctk_file file)
{
	return db->folder.files[file].bytes;
}

static inline const uint8_t *hpctk_row(const struct hpctk_rows *rows, uint64_t i)
{
	return pm_bytes_row(rows->rows, i, rows->stride);
}

/* The position of row i in its file. */
static inline uint64_t hpctk_row_at(const struct hpctk_rows *rows, uint64_t i)
{
	return rows->at + i * rows->stride;
}

/* The profile's mutable parts, for lazy objects and the damage list, which do their own locking. */
static inline struct hpctk_opened *hpctk_opened_of(const struct pm_profile *p)
{
	return p->self;
}

#endif
