/* The bytes as an ELF file with DWARF, as a table of kernel symbols, and as mangled names. */
#include "formats/hpcrun/symbols/demangle.h"
#include "formats/hpcrun/symbols/dwarf.h"
#include "formats/hpcrun/symbols/elf.h"
#include "formats/hpcrun/symbols/kernel.h"

enum { MOST_ADDRESSES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the units that have the file's symbols, or are near the start of a shared library. */
static void find(struct pm_input *file, const struct hpcrun_scopes *symbols)
{
	static const struct hpcrun_elsewhere nowhere;
	struct hpcrun_dwarf *dwarf;
	const struct hpcrun_scopes *unit;
	if (hpcrun_dwarf_open(&dwarf, file, &nowhere) < 0 || !dwarf)
		return;
	for (size_t i = 0; i < symbols->n_ranges && i < MOST_ADDRESSES; i++)
		hpcrun_dwarf_find(dwarf, symbols->ranges[i].start, &unit);
	for (uint64_t address = 0x1000; address < 0x1100; address += 16)
		hpcrun_dwarf_find(dwarf, address, &unit);
	hpcrun_dwarf_free(dwarf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_bytes bytes = {data, size};
	struct hpcrun_scopes scopes = {.n = 0};
	struct pm_text name = {.p = NULL}, copy = {.p = NULL};
	uint8_t id[HPCRUN_BUILD_ID_MAX];
	hpcrun_elf_build_id(bytes, id);
	hpcrun_elf_read(bytes, &scopes);
	pm_text_add(&copy, (const char *)data, size); /* libelf writes into it */
	struct pm_input file = {.bytes = pm_text_view(&copy), .fd = -1, .slot = -1};
	if (!copy.failed)
		find(&file, &scopes);
	hpcrun_scopes_done(&scopes);
	hpcrun_kernel_read(bytes, &scopes);
	hpcrun_scopes_done(&scopes);
	hpcrun_demangle(bytes, &name);
	pm_text_done(&name);
	pm_text_done(&copy);
	return 0;
}
