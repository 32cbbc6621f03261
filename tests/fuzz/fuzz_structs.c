/* Structure files: for any contents, an address has at most one scope, and scopes form no cycle. */
#include <stdlib.h>

#include "formats/symbols/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct sym_scopes *s)
{
	for (size_t i = 0; i < s->n_ranges; i++) {
		const struct sym_range *r = &s->ranges[i];
		if (r->start >= r->end || r->scope >= s->n ||
			(i && s->ranges[i - 1].end > r->start) ||
			sym_scopes_find(s, r->start) != r->scope ||
			sym_scopes_find(s, r->end - 1) != r->scope)
			abort();
	}
	for (uint32_t i = 0; i < s->n; i++) {
		const struct sym_scope *scope = &s->items[i];
		bool is_function = scope->kind == SYM_SCOPE_FUNCTION;
		if ((scope->name && scope->name >= s->texts.n) ||
			(scope->file && scope->file >= s->texts.n) ||
			(is_function ? scope->parent != UINT32_MAX : scope->parent >= i))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_bytes xml = {data, size};
	struct sym_scopes scopes = {.n = 0};
	struct sym_struct_fault fault;
	struct pm_text module = {.p = NULL};
	if (sym_struct_module(xml, &module) == 0 && sym_struct_read(xml, &scopes, &fault) == 0)
		look_at(&scopes);
	sym_scopes_done(&scopes);
	pm_text_done(&module);
	return 0;
}
