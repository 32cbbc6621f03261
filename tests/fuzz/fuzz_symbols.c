/* ELF files and their DWARF, tables of the kernel's symbols and mangled names, whichever the bytes
 * are taken for.
 */
#include "formats/hpcrun/symbols/demangle.h"
#include "formats/hpcrun/symbols/dwarf.h"
#include "formats/hpcrun/symbols/elf.h"
#include "formats/hpcrun/symbols/kernel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_bytes bytes = {data, size}, path;
	struct hpcrun_scopes scopes = {.n = 0};
	struct pm_text name = {.p = NULL}, copy = {.p = NULL};
	uint8_t id[HPCRUN_BUILD_ID_MAX];
	struct hpcrun_dwarf *dwarf;
	const struct hpcrun_scopes *unit;
	hpcrun_elf_build_id(bytes, id);
	hpcrun_elf_alternate(bytes, &path, id);
	hpcrun_elf_read(bytes, &scopes);
	pm_text_add(&copy, (const char *)data, size); /* libelf writes into it */
	struct hpcrun_dwarf_files files = {.file = pm_text_view(&copy), .symbols = &scopes};
	if (!copy.failed && hpcrun_dwarf_open(&dwarf, &files) == 0 && dwarf) {
		for (uint64_t address = 0x1000; address < 0x1100; address += 16)
			hpcrun_dwarf_find(dwarf, address, &unit);
		hpcrun_dwarf_free(dwarf);
	}
	hpcrun_scopes_done(&scopes);
	hpcrun_kernel_read(bytes, &scopes);
	hpcrun_scopes_done(&scopes);
	hpcrun_demangle(bytes, &name);
	pm_text_done(&name);
	pm_text_done(&copy);
	return 0;
}
