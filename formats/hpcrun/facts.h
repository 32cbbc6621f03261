/* Facts about the run that need little reading. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_FACTS_H
#define PROFMOUNT_FORMATS_HPCRUN_FACTS_H

#include "formats/common/arena.h"
#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/profile.h"
#include "formats/hpcrun/trace.h"
#include "profmount/profile.h"

/* The layout as in info.json: sections-04.00; empty if the file cannot be read. */
void hpcrun_profile_layout(enum hpcrun_family family, unsigned version, char *ret, size_t size);
void hpcrun_trace_layout(const struct hpcrun_trace *trace, char *ret, size_t size);

/*
 * Finds the first file that can be read, and fills `ret` with its layout. 1, 0 where none
 * can, or -ENOMEM.
 */
int hpcrun_layout_find(struct hpcrun_folder *folder, char *ret, size_t size);

/* The program with most bytes in its files; lives as long as the folder. */
struct pm_bytes hpcrun_program_find(const struct hpcrun_folder *folder);

/* Where names of its addresses come from; lives as long as the folder. */
struct sym_place hpcrun_symbols_place(const struct hpcrun_folder *folder);

enum { HPCRUN_MOST_FACTS = 12 };

struct hpcrun_facts {
	struct pm_fact items[HPCRUN_MOST_FACTS];
	size_t n;
	struct pm_arena arena;
};

/* From the header of the first profile that can be read. 0 or -ENOMEM. */
int hpcrun_facts_read(struct hpcrun_facts *ret, struct hpcrun_folder *folder);

#endif
