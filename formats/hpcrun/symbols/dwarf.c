/* The units of a file; each is read when one of its addresses is first looked up. */
#include "formats/hpcrun/symbols/dwarf.h"

#include <errno.h>

#ifdef HPCRUN_DWARF

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <endian.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/work.h"
#include "formats/hpcrun/symbols/dwarfunit.h"
#include "formats/hpcrun/symbols/limits.h"

struct unit {
	Dwarf_Die die;
	struct hpcrun_scopes *scopes; /* NULL: not read yet */
};

/* A file as libdw has it; both are NULL if it has no DWARF. */
struct image {
	Elf *elf;
	Dwarf *dwarf;
};

struct hpcrun_dwarf {
	struct image own, alternate;
	struct pm_input file_of_alternate;
	struct unit *units;
	size_t n, room;
	struct hpcrun_scopes addresses; /* its scopes are indexes of units */
};

/*
 * libdw 0.188 does not return from many failed allocations: it exits, or dereferences NULL. So the
 * memory that a step may need is allocated first, and freed for libdw to use.
 */
enum {
	ROOM = 4 << 20,    /* for units, and tables without a bound below */
	ROOM_OF_LINE = 64, /* per byte of a line table: a row takes 1 to 5 */
};

static int make_room(size_t n)
{
	char *volatile p = malloc(n); /* keeps the allocation from being optimised away */
	bool good = p != NULL;
	free(p);
	return good ? 0 : -ENOMEM;
}

/* The line tables of a file; NULL if it has none. */
static Elf_Data *lines_of(const struct image *image)
{
	size_t index;
	Elf_Scn *section = NULL;
	if (!image->elf || elf_getshdrstrndx(image->elf, &index) != 0)
		return NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
			? elf_strptr(image->elf, index, header.sh_name)
			: NULL;
		if (name && strcmp(name, ".debug_line") == 0)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

/* Bytes of the unit's line table, and of those that it may need of the alternate. */
static size_t lines_length(struct hpcrun_dwarf *d, Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	Dwarf_Word at;
	uint32_t length;
	const Elf_Data *data = lines_of(&d->own), *more = lines_of(&d->alternate);
	size_t n = more ? more->d_size : 0;
	if (!data || !dwarf_attr(unit, DW_AT_stmt_list, &a) || dwarf_formudata(&a, &at) != 0 ||
		at > data->d_size || data->d_size - at < sizeof(length))
		return n;
	memcpy(&length, (const char *)data->d_buf + at, sizeof(length));
	return n + (length < data->d_size - at ? length : data->d_size - at);
}

static int list_units(struct hpcrun_dwarf *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	Dwarf_Die die;
	struct hpcrun_dwarf_effort effort = {.n_ranges = 0};
	int r = 0;
	while (r == 0 && dwarf_get_units(d->own.dwarf, cu, &cu, &version, &type, &die, NULL) == 0) {
		if (pm_work_cancelled())
			return -ENOMEM;
		if (type != DW_UT_compile || dwarf_hasattr(&die, DW_AT_GNU_dwo_name))
			continue;
		if (pm_list_room(&d->units, d->n, &d->room, sizeof(*d->units)) < 0)
			return -ENOMEM;
		d->units[d->n] = (struct unit){.die = die};
		r = hpcrun_dwarf_add_ranges(&d->addresses, &die, (uint32_t)d->n, &effort);
		d->n++;
	}
	return r < 0 ? r : hpcrun_scopes_settle(&d->addresses);
}

/*
 * The decompressed size that a section declares: by its flag, or in front of the data as in
 * `.zdebug`.
 */
static uint64_t unpacked_size(Elf_Scn *section)
{
	GElf_Shdr header;
	GElf_Chdr packed;
	Elf_Data *data;
	uint64_t size;
	if (gelf_getchdr(section, &packed))
		return packed.ch_size;
	if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
		!(data = elf_rawdata(section, NULL)) || data->d_size < 12 ||
		memcmp(data->d_buf, "ZLIB", 4) != 0)
		return 0;
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	return be64toh(size);
}

/* libdw decompresses sections when it opens a file, without a limit. */
static bool is_moderate(Elf *elf)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	while ((section = elf_nextscn(elf, section))) {
		uint64_t size = unpacked_size(section);
		if (size > HPCRUN_DWARF_UNPACKED_MAX - sum)
			return false;
		sum += size;
	}
	return true;
}

bool hpcrun_dwarf_is_read(void)
{
	return true;
}

/* False if the mapping cannot be made writable. */
static bool open_image(struct image *image, struct pm_input *file)
{
	if (pm_input_allow_writes(file) < 0) {
		errno = 0;
		return false;
	}
	image->elf = elf_memory((char *)(uintptr_t)file->bytes.p, file->bytes.len);
	image->dwarf = image->elf && is_moderate(image->elf)
		? dwarf_begin_elf(image->elf, DWARF_C_READ, NULL)
		: NULL;
	return true;
}

static void close_image(struct image *image)
{
	if (image->dwarf)
		dwarf_end(image->dwarf);
	if (image->elf)
		elf_end(image->elf);
}

/*
 * dwz moves what several files have in common into an alternate file. 1 if it is open or there is
 * none, 0 if it is missing: libdw would look for it by itself, in any place and without checks.
 * `*refused`: it is there, and cannot be made writable.
 */
static int open_alternate(
	struct hpcrun_dwarf *d, const struct hpcrun_elsewhere *elsewhere, bool *refused)
{
	const char *path;
	const void *id;
	ssize_t n = dwelf_dwarf_gnu_debugaltlink(d->own.dwarf, &path, &id);
	if (n <= 0)
		return 1;
	int r = hpcrun_elsewhere_find_alternate(
		elsewhere, pm_bytes_of(path), id, (size_t)n, &d->file_of_alternate);
	errno = 0;
	if (r <= 0)
		return r;
	*refused = !open_image(&d->alternate, &d->file_of_alternate);
	if (!d->alternate.dwarf)
		return 0;
	dwarf_setalt(d->own.dwarf, d->alternate.dwarf);
	return 1;
}

int hpcrun_dwarf_open(
	struct hpcrun_dwarf **ret, struct pm_input *file, const struct hpcrun_elsewhere *elsewhere)
{
	struct hpcrun_dwarf *d = calloc(1, sizeof(*d));
	*ret = NULL;
	if (!d)
		return -ENOMEM;
	if (make_room(ROOM) < 0) {
		free(d);
		return -ENOMEM;
	}
	errno = 0;
	elf_version(EV_CURRENT);
	bool refused = !open_image(&d->own, file);
	int r = d->own.dwarf ? open_alternate(d, elsewhere, &refused) : 0;
	if (r > 0)
		r = list_units(d);
	r = hpcrun_dwarf_result(r);
	if (r < 0 || d->n == 0) {
		hpcrun_dwarf_free(d);
		return r < 0 ? r : refused;
	}
	*ret = d;
	return 0;
}

static int read_unit(struct hpcrun_dwarf *d, struct unit *u)
{
	if (make_room(ROOM + ROOM_OF_LINE * lines_length(d, &u->die)) < 0)
		return -ENOMEM;
	return hpcrun_dwarf_read_unit(&u->die, &u->scopes);
}

int hpcrun_dwarf_find(struct hpcrun_dwarf *d, uint64_t address, const struct hpcrun_scopes **ret)
{
	uint32_t i = hpcrun_scopes_find(&d->addresses, address);
	int r = 0;
	*ret = NULL;
	if (i == UINT32_MAX)
		return 0;
	if (!d->units[i].scopes)
		r = read_unit(d, &d->units[i]);
	*ret = d->units[i].scopes;
	return r;
}

void hpcrun_dwarf_free(struct hpcrun_dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++) {
		if (d->units[i].scopes)
			hpcrun_scopes_done(d->units[i].scopes);
		free(d->units[i].scopes);
	}
	free(d->units);
	hpcrun_scopes_done(&d->addresses);
	close_image(&d->own);
	close_image(&d->alternate);
	pm_input_close(&d->file_of_alternate);
	free(d);
}

#else

bool hpcrun_dwarf_is_read(void)
{
	return false;
}

int hpcrun_dwarf_open(
	struct hpcrun_dwarf **ret, struct pm_input *file, const struct hpcrun_elsewhere *elsewhere)
{
	(void)file, (void)elsewhere;
	*ret = NULL;
	return 0;
}

int hpcrun_dwarf_find(struct hpcrun_dwarf *d, uint64_t address, const struct hpcrun_scopes **ret)
{
	(void)d, (void)address;
	*ret = NULL;
	return 0;
}

void hpcrun_dwarf_free(struct hpcrun_dwarf *d)
{
	(void)d;
}

#endif
