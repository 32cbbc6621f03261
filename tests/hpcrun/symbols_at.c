/*
 * Prints what is known about addresses of a program: symbols_at ROOT PATH, with an address in hex
 * in each line of standard input. A line for each: functions with the line that runs in them, the
 * innermost first, as `NAME<tab>FILE:LINE` with tabs between them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/hpcrun/symbols/symbols.h"

static void print(const struct hpcrun_scopes *s, uint32_t i)
{
	const struct hpcrun_scope *line = NULL;
	for (; s && i != UINT32_MAX; i = s->items[i].parent) {
		const struct hpcrun_scope *scope = &s->items[i];
		if (scope->kind == HPCRUN_SCOPE_LINE) {
			line = scope;
			continue;
		}
		struct pm_bytes name = hpcrun_scopes_text_of(s, scope->name);
		struct pm_bytes file = hpcrun_scopes_text_of(s, line ? line->file : 0);
		printf("%.*s\t%.*s:%u\t", (int)name.len, (const char *)name.p, (int)file.len,
			(const char *)file.p, line ? line->line : 0);
		line = NULL;
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	struct hpcrun_elsewhere elsewhere = {.is_open = false};
	const struct hpcrun_symbols_place place = {.folder = -1, .elsewhere = &elsewhere};
	struct pm_damage_list damage = {.n = 0};
	struct hpcrun_symbols *symbols = NULL;
	char text[64];
	int r = argc == 3 ? hpcrun_elsewhere_open(&elsewhere, argv[1], NULL) : -EINVAL;
	if (r == 0)
		r = hpcrun_symbols_new(&symbols, &place, &damage);
	while (r == 0 && fgets(text, sizeof(text), stdin)) {
		const struct hpcrun_scopes *s;
		uint32_t i, module;
		r = hpcrun_symbols_module(symbols, pm_bytes_of(argv[2]), &module);
		if (r == 0)
			r = hpcrun_symbols_find(symbols, module, strtoull(text, NULL, 16), &s, &i);
		if (r == 0)
			print(s, i);
	}
	hpcrun_symbols_free(symbols);
	hpcrun_elsewhere_done(&elsewhere);
	return r != 0;
}
