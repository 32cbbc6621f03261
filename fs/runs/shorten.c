/* Shortens paths to the components that differ, without those that all paths begin and end with. */
#include "fs/runs/shorten.h"

#include <stdlib.h>

/* A path as its components. */
struct split {
	const struct pm_bytes *parts;
	uint32_t n;
};

/* Components of a path without empty ones and `.`; at least one. */
static int split_path(struct pm_arena *arena, const char *path, struct split *ret)
{
	uint32_t n = 1;
	for (const char *p = path; *p; p++)
		n += *p == '/';
	struct pm_bytes *parts = pm_arena_array(arena, n, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	*ret = (struct split){.parts = parts};
	for (const char *p = path; *p; p += *p == '/') {
		size_t len = strcspn(p, "/");
		if (len > 0 && !(len == 1 && *p == '.'))
			parts[ret->n++] = (struct pm_bytes){(const uint8_t *)p, len};
		p += len;
	}
	if (ret->n == 0)
		parts[ret->n++] = pm_bytes_of("/");
	return 0;
}

/*
 * The number of components that all paths begin with (or end with), leaving each at least one after
 * `kept`.
 */
static uint32_t shared(const struct split *splits, uint32_t n, uint32_t kept, bool behind)
{
	for (uint32_t k = 0;; k++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct split *s = &splits[i];
			if (k + kept + 1 >= s->n)
				return k;
			const struct pm_bytes *first = splits[0].parts;
			struct pm_bytes a = behind ? first[splits[0].n - 1 - k] : first[k];
			if (!pm_bytes_equal(a, s->parts[behind ? s->n - 1 - k : k]))
				return k;
		}
	}
}

static const char *join(
	struct pm_arena *arena, const struct split *s, uint32_t front, uint32_t back)
{
	struct pm_bytes first = s->parts[front], last = s->parts[s->n - 1 - back];
	/* All results are slices of one path: from the first to the last remaining component. */
	size_t len = (size_t)(last.p + last.len - first.p);
	return pm_arena_printf(arena, "%.*s", (int)len, (const char *)first.p);
}

int pmfs_shorten_names(struct pmfs_runs *runs)
{
	struct split *splits = calloc(runs->n + (size_t)1, sizeof(*splits));
	int r = splits ? 0 : -ENOMEM;
	uint32_t unnamed = 0;
	for (uint32_t i = 0; i < runs->n && r == 0; i++) {
		unnamed += !runs->runs[i].name;
		r = split_path(&runs->arena, runs->runs[i].path, &splits[i]);
	}
	uint32_t front = r == 0 && unnamed ? shared(splits, runs->n, 0, false) : 0;
	uint32_t back = r == 0 && unnamed ? shared(splits, runs->n, front, true) : 0;
	for (uint32_t i = 0; i < runs->n && r == 0; i++) {
		struct pmfs_run *run = &runs->runs[i];
		if (!run->name && !(run->name = join(&runs->arena, &splits[i], front, back)))
			r = -ENOMEM;
	}
	free(splits);
	return r;
}
