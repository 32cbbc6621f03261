/* Names of columns that depend on the runs. */
#include "fs/runs/internal.h"

const char *const *pmfs_header_of(struct pm_arena *arena, const char *const *before,
	const struct pm_strtab *middle, const char *const *after, uint32_t *ret_n)
{
	uint32_t n = 0, n_before = 0, n_after = 0;
	while (before[n_before])
		n_before++;
	while (after[n_after])
		n_after++;
	const char **names =
		pm_arena_array(arena, n_before + (size_t)middle->n + n_after, sizeof(*names));
	if (!names)
		return NULL;
	for (uint32_t i = 0; i < n_before; i++)
		names[n++] = before[i];
	for (uint32_t i = 0; i < middle->n; i++, n++) {
		struct pm_bytes name = middle->items[i];
		names[n] = pm_arena_printf(arena, "%.*s", (int)name.len, (const char *)name.p);
		if (!names[n])
			return NULL;
	}
	for (uint32_t i = 0; i < n_after; i++)
		names[n++] = after[i];
	*ret_n = n;
	return names;
}

int pmfs_headers_make(struct pmfs_facts *facts)
{
	static const char *const run[] = {"run", "repetition", NULL};
	static const char *const facts_of[] = {"contexts", "threads", "duration_ns", "format",
		"time", "host", "command", "path", "source", "error", NULL};
	static const char *const function[] = {
		"run", "repetition", "function_id", "contexts", NULL};
	static const char *const place[] = {"line", "category", "module", "file", "name", NULL};
	struct pm_arena *arena = &facts->arena;
	facts->header = pmfs_header_of(arena, run, &facts->quantities, facts_of, &facts->n_header);
	facts->functions_header =
		pmfs_header_of(arena, function, &facts->columns, place, &facts->n_functions_header);
	return facts->header && facts->functions_header ? 0 : -ENOMEM;
}
