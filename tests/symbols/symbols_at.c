/*
 * Prints what is known about addresses of a program: symbols_at ROOT PATH, with an address in hex
 * in each line of standard input. A line for each: functions with the line that runs in them, the
 * innermost first, as `NAME<tab>FILE:LINE` with tabs between them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/symbols/internal.h"

static void print(const struct sym_scopes *s, uint32_t i)
{
	const struct sym_scope *line = NULL;
	for (; s && i != UINT32_MAX; i = s->items[i].parent) {
		const struct sym_scope *scope = &s->items[i];
		if (scope->kind == SYM_SCOPE_LINE) {
			line = scope;
			continue;
		}
		struct pm_bytes name = sym_scopes_text_of(s, scope->name);
		struct pm_bytes file = sym_scopes_text_of(s, line ? line->file : 0);
		printf("%.*s\t%.*s:%u\t", (int)name.len, (const char *)name.p, (int)file.len,
			(const char *)file.p, line ? line->line : 0);
		line = NULL;
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct sym_root root = {.is_open = false};
	const struct sym_place place = {.folder = -1, .root = &root};
	struct pm_damage_list damage = {.n = 0};
	struct sym_names *symbols = NULL;
	char text[64];
	int r = argc == 3 ? sym_root_open(&root, argv[1], NULL) : -EINVAL;
	if (r == 0)
		r = sym_names_new(&symbols, &place, &damage);
	while (r == 0 && fgets(text, sizeof(text), stdin)) {
		const struct sym_scopes *s;
		uint32_t i, module;
		r = sym_names_module(
			symbols, &(struct sym_module){.path = pm_bytes_of(argv[2])}, &module);
		if (r == 0)
			r = sym_names_find(symbols, module, strtoull(text, NULL, 16), &s, &i);
		if (r == 0)
			print(s, i);
	}
	sym_names_free(symbols);
	sym_root_done(&root);
	return r != 0;
}
