/* The bytes as an ELF file with DWARF, as a table of kernel symbols, and as mangled names. */
#include "formats/symbols/internal.h"

enum { MOST_ADDRESSES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the units that have the file's symbols, or are near the start of a shared library. */
static void find(struct pm_input *file, const struct sym_scopes *symbols)
{
	static const struct sym_root nowhere;
	struct sym_dwarf *dwarf;
	const struct sym_scopes *unit;
	if (sym_dwarf_open(&dwarf, file, &nowhere) < 0 || !dwarf)
		return;
	for (size_t i = 0; i < symbols->n_ranges && i < MOST_ADDRESSES; i++)
		sym_dwarf_find(dwarf, symbols->ranges[i].start, &unit);
	for (uint64_t address = 0x1000; address < 0x1100; address += 16)
		sym_dwarf_find(dwarf, address, &unit);
	sym_dwarf_free(dwarf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_bytes bytes = {data, size};
	struct sym_scopes scopes = {.n = 0};
	struct pm_text name = {.p = NULL}, copy = {.p = NULL};
	uint8_t id[SYM_BUILD_ID_MAX];
	struct sym_segment segments[SYM_SEGMENTS_MAX];
	uint64_t delta;
	sym_elf_segments(bytes, segments);
	sym_elf_value(bytes, pm_bytes_of("main"), &delta);
	sym_notes_build_id(bytes, id);
	sym_elf_build_id(bytes, id);
	sym_elf_read(bytes, true, bytes, &scopes);
	pm_text_add(&copy, (const char *)data, size); /* libelf writes into it */
	struct pm_input file = {.bytes = pm_text_view(&copy), .fd = -1, .slot = -1};
	if (!copy.failed)
		find(&file, &scopes);
	sym_scopes_done(&scopes);
	sym_kernel_read(bytes, "", pm_bytes_of("first"), 1, &scopes, &delta);
	sym_scopes_done(&scopes);
	sym_perf_map_read(bytes, &scopes);
	sym_scopes_done(&scopes);
	sym_demangle(bytes, &name);
	pm_text_done(&name);
	pm_text_done(&copy);
	return 0;
}
