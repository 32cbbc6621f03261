/*
 * Layout detection. Each file is consistent with some of the layouts, according to the sizes of
 * structures that it stores; the layout of the database is the one that is consistent with all
 * files. meta.db and profile.db together always decide; cct.db and trace.db can only contradict.
 */
#include "formats/hpctoolkit/dialect.h"

#include <string.h>

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

/* An unusable optional file is treated as missing; damage.csv reports it. */
static void leave_out(struct hpctk_opened *db, enum hpctk_file file, const char *why)
{
	db->folder.present[file] = false;
	pm_damage_add(&db->damage, hpctk_file_name(file), 0, hpctk_bytes(db, file).len, "%s", why);
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

int hpctk_layout_detect(struct hpctk_opened *db, struct pm_error *err)
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
			leave_out(db, i, "its header has no valid pointer: the file is ignored");
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
