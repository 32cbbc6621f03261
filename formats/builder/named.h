/* For sampled formats that have addresses, over formats/symbols. */
#ifndef PROFMOUNT_BUILDER_NAMED_H
#define PROFMOUNT_BUILDER_NAMED_H

#include "formats/builder/builder.h"
#include "formats/symbols/symbols.h"

/*
 * The innermost context of an address in module number `module` (sym_names_module), below `parent`;
 * `module_name` is what its functions show, `flags` (PM_REC_IDLE, or 0) those of the innermost one.
 * PM_REC_NONE if nothing is known of the address.
 */
uint32_t pm_rec_named(struct pm_recording *r, uint32_t parent, struct sym_names *names,
	uint32_t module, struct pm_bytes module_name, uint64_t address, unsigned flags);

#endif
