/*
 * Opens the files of a database and locates their tables. This only reads headers, so opening costs
 * the same for any size; the contents of tables are not checked. The available part of a truncated
 * table is used.
 */
#include "formats/hpctoolkit/parts.h"

#include <stdlib.h>

#include "formats/hpctoolkit/dialect.h"
#include "profmount/profile.h"

static const char *const section_names[HPCTK_N_META_SECTIONS] = {
	[HPCTK_GENERAL_SECTION] = "general properties",
	[HPCTK_KINDS_SECTION] = "identifier names",
	[HPCTK_METRICS_SECTION] = "metrics",
	[HPCTK_CONTEXT_SECTION] = "context tree",
	[HPCTK_STRINGS_SECTION] = "strings",
	[HPCTK_MODULES_SECTION] = "load modules",
	[HPCTK_FILES_SECTION] = "source files",
	[HPCTK_FUNCTIONS_SECTION] = "functions",
};

/* A section as described in the header of its file. */
struct place {
	enum hpctk_file file;
	const char *what;
	uint64_t described_at; /* position of its size and pointer */
	struct hpctk_section section;
};

/* Section i of a file's header, which has been checked to contain it. */
static struct place place_of(
	const struct hpctk_opened *db, enum hpctk_file file, unsigned i, const char *what)
{
	struct place place = {file, what, HPCTK_FILE_HEADER + (uint64_t)i * HPCTK_SECTION, {0, 0}};
	hpctk_section_decode(
		&db->layout, hpctk_bytes(db, file).p + place.described_at, &place.section);
	return place;
}

/* The first `need` bytes of a section; if it is outside the file, this is reported as damage. */
static bool head_open(
	struct hpctk_opened *db, const struct place *place, size_t need, struct pm_bytes *ret)
{
	struct pm_bytes bytes = hpctk_bytes(db, place->file), whole;
	bool inside = pm_bytes_sub(bytes, place->section.at, place->section.size, &whole);
	bool begins = pm_bytes_sub(bytes, place->section.at, need, ret);
	if (!inside || !begins)
		pm_damage_add(&db->damage, hpctk_file_name(place->file), place->described_at,
			HPCTK_SECTION, "%s: the section at 0x%llx is outside the file", place->what,
			(unsigned long long)place->section.at);
	return begins;
}

/*
 * The rows of a table that are within the file; truncation, or a stride that is too small for the
 * records, is reported as damage.
 */
static void rows_open(struct hpctk_opened *db, const struct place *place,
	const struct hpctk_table *table, uint32_t need, struct hpctk_rows *ret)
{
	struct pm_bytes bytes = hpctk_bytes(db, place->file);
	const char *name = hpctk_file_name(place->file);
	*ret = (struct hpctk_rows){.at = table->at, .n = table->n, .stride = table->stride};
	if (table->n == 0 ||
		pm_bytes_table(bytes, table->at, table->n, table->stride, need, &ret->rows))
		return;
	ret->n = 0;
	ret->cut = true;
	if (table->stride < need) {
		pm_damage_add(&db->damage, name, place->section.at, PM_NO_OFFSET,
			"%s: records of %u bytes are smaller than the %u of this layout",
			place->what, table->stride, need);
		return;
	}
	if (table->at < bytes.len)
		ret->n = (uint32_t)((bytes.len - table->at) / table->stride);
	pm_bytes_table(bytes, table->at, ret->n, table->stride, need, &ret->rows);
	pm_damage_add(&db->damage, name, place->section.at, PM_NO_OFFSET,
		"%s: of %u records at 0x%llx only %u lie in the file", place->what, table->n,
		(unsigned long long)table->at, ret->n);
}

static void meta_table_open(
	struct hpctk_opened *db, enum hpctk_meta_section i, uint32_t need, struct hpctk_rows *ret)
{
	struct place place = place_of(db, HPCTK_META, i, section_names[i]);
	struct hpctk_table table;
	struct pm_bytes head;
	if (!head_open(db, &place, HPCTK_META_TABLE, &head))
		return;
	hpctk_table16_decode(&db->layout, head.p, &table);
	rows_open(db, &place, &table, need, ret);
}

/* Only big-endian databases have 16-bit kinds; in the others, garbage follows the 8 bits. */
static void kinds_open(struct hpctk_opened *db)
{
	unsigned i = HPCTK_KINDS_SECTION;
	struct place place = place_of(db, HPCTK_META, i, section_names[i]);
	struct pm_bytes head;
	if (!head_open(db, &place, HPCTK_KINDS, &head))
		return;
	struct hpctk_table table = {
		.at = hpctk_u64(&db->layout, head.p + 0x00),
		.n = db->layout.big ? hpctk_u16(&db->layout, head.p + 0x08) : head.p[0x08],
		.stride = 8,
	};
	rows_open(db, &place, &table, 8, &db->kinds);
}

static int meta_open(struct hpctk_opened *db, struct pm_error *err)
{
	struct pm_bytes header;
	if (!pm_bytes_sub(hpctk_bytes(db, HPCTK_META), HPCTK_FILE_HEADER,
		    (uint64_t)HPCTK_N_META_SECTIONS * HPCTK_SECTION, &header))
		return pm_error_set(
			err, -EINVAL, "meta.db", HPCTK_FILE_HEADER, "ends within its header");
	for (unsigned i = 0; i < HPCTK_N_META_SECTIONS; i++) {
		struct place place = place_of(db, HPCTK_META, i, section_names[i]);
		db->meta[i] = place.section;
		if (i == HPCTK_GENERAL_SECTION || i == HPCTK_STRINGS_SECTION)
			head_open(db, &place, 0, &header);
	}
	kinds_open(db);
	meta_table_open(db, HPCTK_MODULES_SECTION, HPCTK_MODULE, &db->modules);
	meta_table_open(db, HPCTK_FILES_SECTION, HPCTK_SOURCE, &db->sources);
	meta_table_open(db, HPCTK_FUNCTIONS_SECTION, HPCTK_FUNCTION, &db->functions);
	return 0;
}

/* The table at the beginning of profile.db, cct.db and trace.db. */
static void first_table_open(struct hpctk_opened *db, enum hpctk_file file, uint32_t need,
	const char *what, struct hpctk_rows *ret)
{
	struct hpctk_table table;
	struct pm_bytes head;
	if (!db->folder.present[file])
		return;
	struct place place = place_of(db, file, 0, what);
	if (!head_open(db, &place, HPCTK_TABLE, &head))
		return;
	hpctk_table8_decode(&db->layout, head.p, &table);
	if (file == HPCTK_PROFILE && db->layout.generation == HPCTK_FIRST && table.stride < need)
		table.stride = need; /* its specification has no usable position for the size */
	rows_open(db, &place, &table, need, ret);
}

/* The lower bound of times in the header of trace.db. */
static uint64_t first_time(const struct hpctk_opened *db)
{
	struct pm_bytes head;
	if (!db->folder.present[HPCTK_TRACE] || db->layout.generation == HPCTK_FIRST)
		return PM_NO_TIME;
	struct place place = place_of(db, HPCTK_TRACE, 0, "traces");
	if (!pm_bytes_sub(
		    hpctk_bytes(db, HPCTK_TRACE), place.section.at, HPCTK_TRACES_TIMED, &head))
		return PM_NO_TIME;
	return hpctk_u64(&db->layout, head.p + 0x10);
}

int hpctk_opened_init(struct hpctk_opened *db, int folder, struct pm_error *err)
{
	*db = (struct hpctk_opened){.damage = PM_DAMAGE_LIST_INIT};
	int r = hpctk_folder_open(&db->folder, folder, &db->damage, err);
	if (r == 0)
		r = hpctk_layout_detect(db, err);
	if (r == 0)
		r = meta_open(db, err);
	if (r < 0) {
		hpctk_opened_done(db);
		return r;
	}
	uint32_t context_size = db->layout.generation == HPCTK_FIRST ? 8 : HPCTK_BLOCK;
	first_table_open(
		db, HPCTK_PROFILE, hpctk_profile_size(&db->layout), "profiles", &db->profiles);
	first_table_open(db, HPCTK_CCT, context_size, "contexts", &db->contexts);
	first_table_open(db, HPCTK_TRACE, HPCTK_TRACE_HEADER, "traces", &db->traces);
	db->first_ns = first_time(db);
	if (!db->damage.no_memory)
		return 0;
	hpctk_opened_done(db);
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the list of damage");
}

void hpctk_opened_done(struct hpctk_opened *db)
{
	struct pm_part *const parts[] = {&db->metrics, &db->columns, &db->tree, &db->threads,
		&db->documents, &db->copied, &db->gathered, &db->found};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		pm_part_done(parts[i]);
	hpctk_folder_close(&db->folder);
	free(db->sharing[0]);
	free(db->sharing[1]);
	pm_damage_done(&db->damage);
}
