/*
 * Opens the files of a database, determines their layout, and locates their tables. Only headers
 * are read.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/beneath.h"
#include "formats/hpctoolkit/records.h"
#include "profmount/profile.h"

/*
 * ==== files ====
 * The files of a database: their names and magics, and opening them.
 */

const char *hpctk_file_name(enum hpctk_file file)
{
	static const char *const names[HPCTK_N_FILES] = {
		[HPCTK_META] = "meta.db",
		[HPCTK_PROFILE] = "profile.db",
		[HPCTK_CCT] = "cct.db",
		[HPCTK_TRACE] = "trace.db",
	};
	return names[file];
}

static const char magics[HPCTK_N_FILES][4] = {
	[HPCTK_META] = {'m', 'e', 't', 'a'},
	[HPCTK_PROFILE] = {'p', 'r', 'o', 'f'},
	[HPCTK_CCT] = {'c', 't', 'x', 't'},
	[HPCTK_TRACE] = {'t', 'r', 'c', 'e'},
};

static int magic_check(struct pm_bytes bytes, enum hpctk_file file, struct pm_error *err)
{
	const char *name = hpctk_file_name(file);
	if (pm_begins_with(bytes, "HPCPROF-"))
		return pm_error_set(err, -ENOTSUP, name, 0,
			"belongs to a database older than version 4 (HPCPROF-), which is not supported");
	if (bytes.len < HPCTK_FILE_HEADER + HPCTK_SECTION)
		return pm_error_set(err, -EINVAL, name, 0,
			"has %zu bytes, which is too short for its header", bytes.len);
	if (!pm_begins_with(bytes, "HPCTOOLKIT") || memcmp(bytes.p + 10, magics[file], 4) != 0)
		return pm_error_set(
			err, -EINVAL, name, 0, "does not begin with HPCTOOLKIT%.4s", magics[file]);
	if (bytes.p[0x0e] != 4)
		return pm_error_set(err, -ENOTSUP, name, 0x0e,
			"is version %u.%u, only 4 is supported", bytes.p[0x0e], bytes.p[0x0f]);
	return 0;
}

/* Opens a file and checks its magic. A damaged optional file is reported as damage. */
static int file_open(struct hpctk_folder *f, enum hpctk_file file, struct pm_damage_list *damage,
	struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	bool optional = file > HPCTK_PROFILE;
	int r = pm_input_open(&f->files[file], f->fd, hpctk_file_name(file), &why);
	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = magic_check(f->files[file].bytes, file, &why);
	f->present[file] = r == 0;
	if (optional && (r == -EINVAL || r == -EIO)) {
		pm_damage_add(damage, hpctk_file_name(file), 0, PM_NO_OFFSET, "%s", why.text);
		return 0;
	}
	if (r < 0 && err && !err->code)
		*err = why;
	return r;
}

/* Opens metrics/default.yaml; it is kept open like the others, so that columns stay as they are. */
static int formulas_open(
	struct hpctk_folder *f, struct pm_damage_list *damage, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int fd = pm_open_beneath(f->fd, HPCTK_FORMULAS);
	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	int r = fd < 0 ? pm_error_set(&why, fd, HPCTK_FORMULAS, PM_NO_OFFSET,
				 "cannot be opened: %s", strerror(-fd))
		       : pm_input_take(&f->formulas, fd, HPCTK_FORMULAS, &why);
	f->has_formulas = r == 0;
	if (pm_is_passing(r))
		return pm_error_set(err, r, HPCTK_FORMULAS, PM_NO_OFFSET, "no memory");
	if (r < 0)
		pm_damage_add(damage, HPCTK_FORMULAS, 0, PM_NO_OFFSET, "%s", why.text);
	return 0;
}

/*
 * Opens the existing files in directory `folder` (borrowed). -ENOTSUP for unsupported versions,
 * -EINVAL if meta.db or profile.db is missing or of another kind; a broken optional file is
 * reported in `damage`. Must be closed after a failure, too.
 */
static int folder_open(
	struct hpctk_folder *f, int folder, struct pm_damage_list *damage, struct pm_error *err)
{
	*f = (struct hpctk_folder){.fd = fcntl(folder, F_DUPFD_CLOEXEC, 0)};
	if (f->fd < 0)
		return pm_error_set(
			err, -EIO, NULL, PM_NO_OFFSET, "the directory cannot be kept open");
	for (enum hpctk_file i = 0; i < HPCTK_N_FILES; i++) {
		int r = file_open(f, i, damage, err);
		if (r < 0)
			return r;
	}
	for (enum hpctk_file i = HPCTK_META; i <= HPCTK_PROFILE; i++)
		if (!f->present[i])
			return pm_error_set(err, -EINVAL, hpctk_file_name(i), PM_NO_OFFSET,
				"is missing; a database cannot be read without it");
	return formulas_open(f, damage, err);
}

/*
 * ==== layouts ====
 * Layout detection. Each file is consistent with some of the layouts, according to the sizes of
 * structures that it stores; the layout of the database is the one that is consistent with all
 * files. meta.db and profile.db together always decide; cct.db and trace.db can only contradict.
 */

#define BIT(generation) (1u << (generation))

enum {
	NESTED = BIT(HPCTK_FIRST) | BIT(HPCTK_APRIL),
	SHARED = BIT(HPCTK_JUNE) | BIT(HPCTK_RELEASED),
	DRAFTS = BIT(HPCTK_APRIL) | BIT(HPCTK_JUNE),
	ALL = NESTED | SHARED,
};

/*
 * Files begin with a pointer to a position shortly after the header. In the wrong byte order it is
 * far beyond the end of the file, so the smaller value is correct.
 */
static bool is_big(struct pm_bytes file)
{
	return pm_be64(file.p + 0x18) < pm_le64(file.p + 0x18);
}

/* The start of the section described at `at` in the file's header. */
static const uint8_t *section_head(
	const struct hpctk_layout *l, struct pm_bytes file, size_t at, size_t need)
{
	struct pm_bytes header, head;
	struct hpctk_section section;
	if (!pm_bytes_sub(file, at, HPCTK_SECTION, &header))
		return NULL;
	hpctk_section_decode(l, header.p, &section);
	return pm_bytes_sub(file, section.at, need, &head) ? head.p : NULL;
}

static unsigned meta_admits(const struct hpctk_layout *l, struct pm_bytes file)
{
	const uint8_t *d = section_head(l, file, 0x30, HPCTK_METRICS_NESTED);
	if (!d)
		return 0;
	if (d[0x0c] >= 0x20 && d[0x0d] >= 0x10 && d[0x0e] >= 0x18)
		return SHARED;
	return d[0x0c] >= 0x18 && d[0x0d] >= 0x18 && d[0x0e] >= 0x10 ? NESTED : 0;
}

/* The first specification has the size where the count is now: less than 16 means a size. */
static unsigned profile_admits(const struct hpctk_layout *l, struct pm_bytes file)
{
	const uint8_t *d = section_head(l, file, 0x10, HPCTK_TABLE);
	if (!d)
		return 0;
	if (d[0x0c] >= 0x30)
		return BIT(HPCTK_RELEASED);
	return d[0x0c] >= 0x28 ? DRAFTS : BIT(HPCTK_FIRST);
}

static unsigned cct_admits(const struct hpctk_layout *l, struct pm_bytes file)
{
	const uint8_t *d = section_head(l, file, 0x10, HPCTK_TABLE);
	if (!d)
		return 0;
	return d[0x0c] >= HPCTK_BLOCK ? ALL & ~BIT(HPCTK_FIRST) : BIT(HPCTK_FIRST);
}

/* Later layouts have 16 bytes of time bounds between the start of the section and its table. */
static unsigned trace_admits(const struct hpctk_layout *l, struct pm_bytes file)
{
	struct hpctk_section section;
	const uint8_t *d = section_head(l, file, 0x10, HPCTK_TABLE);
	if (!d)
		return 0;
	hpctk_section_decode(l, file.p + 0x10, &section);
	return hpctk_u64(l, d) < section.at + HPCTK_TRACES_TIMED ? BIT(HPCTK_FIRST) : ALL;
}

static int byte_order_detect(struct hpctk_opened *db, struct pm_error *err)
{
	db->layout.big = is_big(hpctk_bytes(db, HPCTK_META));
	for (enum hpctk_file i = HPCTK_PROFILE; i < HPCTK_N_FILES; i++)
		if (db->folder.present[i] && is_big(hpctk_bytes(db, i)) != db->layout.big)
			return pm_error_set(err, -EINVAL, hpctk_file_name(i), HPCTK_FILE_HEADER,
				"has a different byte order than meta.db (%s-endian): "
				"files of different databases",
				db->layout.big ? "big" : "little");
	return 0;
}

/*
 * Fills db->layout from the open files. Unreadable optional files are removed from db->present and
 * reported as damage; -EINVAL if files contradict each other.
 */
static int detect_layout(struct hpctk_opened *db, struct pm_error *err)
{
	static unsigned (*const admits[HPCTK_N_FILES])(
		const struct hpctk_layout *l, struct pm_bytes file) = {
		[HPCTK_META] = meta_admits,
		[HPCTK_PROFILE] = profile_admits,
		[HPCTK_CCT] = cct_admits,
		[HPCTK_TRACE] = trace_admits,
	};
	unsigned all = ALL;
	int r = byte_order_detect(db, err);
	if (r < 0)
		return r;
	for (enum hpctk_file i = 0; i < HPCTK_N_FILES; i++) {
		if (!db->folder.present[i])
			continue;
		unsigned some = admits[i](&db->layout, hpctk_bytes(db, i));
		if (!some && i <= HPCTK_PROFILE)
			return pm_error_set(err, -EINVAL, hpctk_file_name(i), HPCTK_FILE_HEADER,
				"its header does not point to %s of a known layout",
				i == HPCTK_META ? "metrics" : "profiles");
		if (!some) {
			/* An unusable optional file is treated as missing; damage.csv reports it.
			 */
			db->folder.present[i] = false;
			pm_damage_add(&db->damage, hpctk_file_name(i), 0, hpctk_bytes(db, i).len,
				"its header has no valid pointer: the file is ignored");
			continue;
		}
		if (!(all & some))
			return pm_error_set(err, -EINVAL, hpctk_file_name(i), HPCTK_FILE_HEADER,
				"has a different layout than %s: files of different databases",
				i == HPCTK_PROFILE ? "meta.db" : "meta.db and profile.db");
		all &= some;
	}
	db->layout.generation = (enum hpctk_generation)__builtin_ctz(all);
	return 0;
}

const char *hpctk_layout_name(const struct hpctk_layout *l)
{
	static const char *const names[HPCTK_N_GENERATIONS] = {
		[HPCTK_FIRST] = "4.0-first-draft",
		[HPCTK_APRIL] = "4.0-draft-2022-04",
		[HPCTK_JUNE] = "4.0-draft-2022-06",
		[HPCTK_RELEASED] = "4.0",
	};
	return names[l->generation];
}

/*
 * ==== tables ====
 * Opens the files of a database and locates their tables. This only reads headers, so opening costs
 * the same for any size; the contents of tables are not checked. The available part of a truncated
 * table is used.
 */

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

int hpctk_opened_init(struct hpctk_opened *db, int folder, struct pm_error *err)
{
	*db = (struct hpctk_opened){.damage = PM_DAMAGE_LIST_INIT};
	int r = folder_open(&db->folder, folder, &db->damage, err);
	if (r == 0)
		r = detect_layout(db, err);
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
	struct pm_bytes head;
	db->first_ns = PM_NO_TIME;
	if (db->folder.present[HPCTK_TRACE] && db->layout.generation != HPCTK_FIRST &&
		pm_bytes_sub(hpctk_bytes(db, HPCTK_TRACE),
			place_of(db, HPCTK_TRACE, 0, "traces").section.at, HPCTK_TRACES_TIMED,
			&head))
		db->first_ns = hpctk_u64(&db->layout, head.p + 0x10);
	if (!db->damage.no_memory)
		return 0;
	hpctk_opened_done(db);
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the list of damage");
}

void hpctk_opened_done(struct hpctk_opened *db)
{
	struct pm_part *const parts[] = {&db->metrics, &db->columns, &db->tree, &db->threads,
		&db->documents, &db->copied, &db->any_copied, &db->gathered, &db->found};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		pm_part_done(parts[i]);
	for (unsigned i = 0; i < HPCTK_N_FILES; i++)
		pm_input_close(&db->folder.files[i]);
	pm_input_close(&db->folder.formulas);
	if (db->folder.fd >= 0)
		close(db->folder.fd);
	free(db->sharing[0]);
	free(db->sharing[1]);
	pm_damage_done(&db->damage);
}
