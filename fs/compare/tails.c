/* The ends of paths: two paths of a run with the same base name keep one more component than they
 * share. */
#include "fs/compare/tails.h"

#include <errno.h>

#include "formats/common/sort.h"
#include "profmount/tree.h"

/* The start of the last `depth` components. */
static size_t tail_start(struct pm_bytes path, uint32_t depth)
{
	size_t at = path.len;
	while (at > 0 && depth > 0)
		if (path.p[--at] == '/' && --depth == 0)
			return at + 1;
	return 0;
}

static struct pm_bytes tail(struct pm_bytes path, uint32_t depth)
{
	size_t start = tail_start(path, depth);
	return (struct pm_bytes){path.p + start, path.len - start};
}

/* By run and kind, then by the text compared from its end. */
static int by_end(const void *a, const void *b, void *texts)
{
	const struct pmfs_match_path *x = a, *y = b;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->is_file != y->is_file)
		return x->is_file ? 1 : -1;
	const struct pm_bytes *t = texts;
	struct pm_bytes s = t[x->text], u = t[y->text];
	for (size_t i = 1; i <= s.len && i <= u.len; i++)
		if (s.p[s.len - i] != u.p[u.len - i])
			return s.p[s.len - i] < u.p[u.len - i] ? -1 : 1;
	return (s.len > u.len) - (s.len < u.len);
}

/* The number of components at the end that two paths have in common. */
static uint32_t shared_components(struct pm_bytes a, struct pm_bytes b)
{
	uint32_t n = 0;
	size_t i = 1;
	for (; i <= a.len && i <= b.len && a.p[a.len - i] == b.p[b.len - i]; i++)
		n += a.p[a.len - i] == '/';
	bool whole = (i > a.len || a.p[a.len - i] == '/') && (i > b.len || b.p[b.len - i] == '/');
	return n + (whole ? 1 : 0);
}

static int keep_components(
	struct pmfs_tails *t, unsigned what, struct pm_bytes path, uint32_t depth)
{
	bool fresh;
	uint32_t base = pm_strtab_add(&t->bases[what], tail(path, 1));
	uint32_t *kept = base == PM_NONE ? NULL : pm_map_put(&t->depth[what], base, depth, &fresh);
	if (!kept)
		return -ENOMEM;
	if (*kept < depth)
		*kept = depth;
	return 0;
}

int pmfs_tails_find(
	struct pmfs_tails *t, struct pmfs_match_path *p, size_t n, const struct pm_bytes *texts)
{
	if (pm_sort_with(p, n, sizeof(*p), by_end, (void *)(uintptr_t)texts) < 0)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++) {
		if (p[i].run != p[i - 1].run || p[i].is_file != p[i - 1].is_file)
			continue;
		struct pm_bytes path = texts[p[i].text];
		uint32_t shared = shared_components(path, texts[p[i - 1].text]);
		if (shared > 0 && keep_components(t, p[i].is_file, path, shared + 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct pm_bytes pmfs_tails_cut(
	const struct pmfs_tails *t, unsigned what, struct pm_bytes path, bool base)
{
	struct pm_bytes last = tail(path, 1);
	uint32_t known = base ? PM_NONE : pm_strtab_find(&t->bases[what], last);
	const uint32_t *depth = known == PM_NONE ? NULL : pm_map_find(&t->depth[what], known);
	return depth ? tail(path, *depth) : last;
}

void pmfs_tails_done(struct pmfs_tails *t)
{
	for (unsigned what = 0; what < 2; what++) {
		pm_strtab_done(&t->bases[what]);
		pm_map_done(&t->depth[what]);
	}
}
