/* ELF files and their DWARF, tables of the kernel's symbols and mangled names, whichever the bytes
 * are taken for.
 */
#include "formats/hpcrun/symbols/demangle.h"
#include "formats/hpcrun/symbols/dwarf.h"
#include "formats/hpcrun/symbols/elf.h"
#include "formats/hpcrun/symbols/kernel.h"

enum { MOST_ADDRESSES = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the units that have the file's symbols, or are near the start of a shared library. */
static void find(const struct hpcrun_dwarf_files *files)
{
	struct hpcrun_dwarf *dwarf;
	const struct hpcrun_scopes *unit;
	if (hpcrun_dwarf_open(&dwarf, files) < 0 || !dwarf)
		return;
	for (size_t i = 0; i < files->symbols->n_ranges && i < MOST_ADDRESSES; i++)
		hpcrun_dwarf_find(dwarf, files->symbols->ranges[i].start, &unit);
	for (uint64_t address = 0x1000; address < 0x1100; address += 16)
		hpcrun_dwarf_find(dwarf, address, &unit);
	hpcrun_dwarf_free(dwarf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_bytes bytes = {data, size}, path;
	struct hpcrun_scopes scopes = {.n = 0};
	struct pm_text name = {.p = NULL}, copies[2] = {{.p = NULL}, {.p = NULL}};
	uint8_t id[HPCRUN_BUILD_ID_MAX];
	hpcrun_elf_build_id(bytes, id);
	bool refers = hpcrun_elf_alternate(bytes, &path, id);
	hpcrun_elf_read(bytes, &scopes);
	for (size_t i = 0; i < 2; i++) /* libelf writes into them */
		pm_text_add(&copies[i], (const char *)data, size);
	struct hpcrun_dwarf_files files = {.file = pm_text_view(&copies[0]), .symbols = &scopes};
	if (refers)
		files.alternate = pm_text_view(&copies[1]);
	if (!copies[0].failed && !copies[1].failed)
		find(&files);
	hpcrun_scopes_done(&scopes);
	hpcrun_kernel_read(bytes, &scopes);
	hpcrun_scopes_done(&scopes);
	hpcrun_demangle(bytes, &name);
	pm_text_done(&name);
	pm_text_done(&copies[0]);
	pm_text_done(&copies[1]);
	return 0;
}
