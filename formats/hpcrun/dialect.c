/*
 * Opens a .hpcrun file: determines its family from the magic and calls the reader of that family.
 * There is no public real file with the 16-byte magic; see docs/formats/hpcrun.md §3.
 */
#include "formats/hpcrun/dialect.h"

#include "formats/common/affix.h"
#include "formats/hpcrun/epochs.h"
#include "formats/hpcrun/sections.h"

#define EARLY_MAGIC "HPCRUN____02.00"
#define MAGIC       "HPCRUN-profile____"

enum { EARLY_MAGIC_SIZE = 16, MAGIC_SIZE = 24 };

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "02.00" → 0x0200; 01.9A has a letter. 0 for anything else. */
static unsigned version_of(const uint8_t *p)
{
	int digits[4] = {hex_digit(p[0]), hex_digit(p[1]), hex_digit(p[3]), hex_digit(p[4])};
	unsigned version = 0;
	for (size_t i = 0; i < 4; i++) {
		if (digits[i] < 0 || p[2] != '.')
			return 0;
		version = version << 4 | (unsigned)digits[i];
	}
	return version;
}

enum hpcrun_family hpcrun_family_of(struct pm_bytes head, unsigned *ret_version)
{
	*ret_version = 0;
	if (pm_begins_with(head, EARLY_MAGIC "l") || pm_begins_with(head, EARLY_MAGIC "b")) {
		*ret_version = 0x0200;
		return HPCRUN_FAMILY_EARLY;
	}
	struct pm_bytes version;
	if (!pm_begins_with(head, MAGIC) || !pm_bytes_sub(head, strlen(MAGIC), 6, &version) ||
		version.p[5] != 'b')
		return HPCRUN_FAMILY_NONE;
	*ret_version = version_of(version.p);
	return *ret_version >= 0x0400 ? HPCRUN_FAMILY_SECTIONS : HPCRUN_FAMILY_EPOCHS;
}

static int refuse(const struct hpcrun_profile *p, const char *file, struct pm_error *err)
{
	if (p->file.len == 0)
		return pm_error_set(err, -EINVAL, file, PM_NO_OFFSET,
			"is empty: the run ended before anything was written");
	if (p->family == HPCRUN_FAMILY_NONE)
		return pm_error_set(err, -EINVAL, file, 0,
			"is not an hpcrun profile: HPCRUN-profile____ or HPCRUN____02.00 expected here");
	return pm_error_set(err, -ENOTSUP, file, 0,
		"is an hpcrun profile of an unknown version (supported: 01.98 to 04.00)");
}

static bool is_known_version(const struct hpcrun_profile *p)
{
	switch (p->family) {
	case HPCRUN_FAMILY_NONE: return false;
	case HPCRUN_FAMILY_EARLY: return true;
	case HPCRUN_FAMILY_EPOCHS: return p->version >= 0x0198;
	case HPCRUN_FAMILY_SECTIONS: return p->version < 0x0500;
	}
	return false;
}

static int read_epoch_family(
	struct hpcrun_profile *p, enum hpcrun_extent extent, const struct hpcrun_report *report)
{
	struct pm_cur c = pm_cur_of(p->file, p->big);
	pm_cur_take(&c, p->magic.len);
	int r = hpcrun_pairs_read(&c, &p->header);
	if (r == -EINVAL) {
		hpcrun_report_loss(report, p->magic.len, p->file.len - p->magic.len,
			"the file ends within its header: %zu complete fields", p->header.n);
		return 0;
	}
	return r < 0 || extent == HPCRUN_WHO ? r : hpcrun_epochs_read(p, &c, report);
}

int hpcrun_profile_read(struct hpcrun_profile *ret, struct pm_bytes file, enum hpcrun_extent extent,
	const struct hpcrun_report *report, struct pm_error *err)
{
	*ret = (struct hpcrun_profile){.file = file};
	ret->family = hpcrun_family_of(file, &ret->version);
	if (!is_known_version(ret))
		return refuse(ret, report->file, err);
	bool early = ret->family == HPCRUN_FAMILY_EARLY;
	pm_bytes_sub(file, 0, early ? EARLY_MAGIC_SIZE : MAGIC_SIZE, &ret->magic);
	ret->big = ret->magic.p[ret->magic.len - 1] == 'b';
	int r = ret->family == HPCRUN_FAMILY_SECTIONS ? hpcrun_sections_read(ret, extent, report)
						      : read_epoch_family(ret, extent, report);
	return r < 0 ? pm_error_set(err, r, report->file, PM_NO_OFFSET, "no memory") : 0;
}
