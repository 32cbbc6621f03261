/* Contexts of an address from symbols: the functions, inlined ones and lines that it lies in. */
#include "formats/builder/named.h"

#include <errno.h>

uint32_t pm_rec_named(struct pm_recording *r, uint32_t parent, struct sym_names *names,
	uint32_t module, struct pm_bytes module_name, uint64_t address, unsigned flags)
{
	const struct sym_scopes *scopes;
	uint32_t at, chain[SYM_SCOPE_DEPTH_MAX], n = 0;
	if (sym_names_find(names, module, address, &scopes, &at) < 0) {
		pm_rec_fail(r, -ENOMEM, PM_NO_OFFSET, "no memory for symbols");
		return PM_REC_BAD;
	}
	if (!scopes)
		return PM_REC_NONE;
	for (; at != UINT32_MAX && n < SYM_SCOPE_DEPTH_MAX; at = scopes->items[at].parent)
		chain[n++] = at;
	uint32_t last = 0; /* the innermost call */
	while (last < n && scopes->items[chain[last]].kind != SYM_SCOPE_FUNCTION &&
		scopes->items[chain[last]].kind != SYM_SCOPE_INLINED)
		last++;
	while (n-- > 0) {
		const struct sym_scope *s = &scopes->items[chain[n]];
		struct pm_bytes file = sym_scopes_text_of(scopes, s->file);
		struct pm_rec_function f = {.name = sym_scopes_text_of(scopes, s->name),
			.file = file,
			.module = module_name,
			.line = s->line};
		if (s->kind == SYM_SCOPE_LINE)
			parent = pm_rec_line(r, parent, file, s->line);
		else if (s->kind != SYM_SCOPE_LOOP)
			parent = pm_rec_call(r, parent, pm_rec_function(r, &f),
				(s->kind == SYM_SCOPE_INLINED ? PM_REC_INLINED : 0) |
					(n == last ? flags : 0));
	}
	return parent;
}
