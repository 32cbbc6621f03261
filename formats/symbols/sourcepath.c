#include "formats/symbols/internal.h"

#include <string.h>

static bool is(struct pm_bytes component, const char *name)
{
	return pm_bytes_equal(component, pm_bytes_of(name));
}

/* Where the last component begins. */
static size_t last_of(const struct pm_text *t)
{
	const char *slash = t->len ? memrchr(t->p, '/', t->len) : NULL;
	return slash ? (size_t)(slash + 1 - t->p) : 0;
}

static void leave_folder(struct pm_text *t)
{
	size_t at = last_of(t);
	struct pm_bytes last = {(const uint8_t *)t->p + at, t->len - at};
	if (last.len > 0 && !is(last, ".."))
		t->len = at > 1 ? at - 1 : at; /* the root keeps its slash */
	else if (at != 1 || last.len > 0)      /* nothing is above the root */
		pm_text_str(t, t->len ? "/.." : "..");
}

static void add_components(struct pm_text *t, struct pm_bytes path)
{
	if (path.len && path.p[0] == '/')
		pm_text_char(t, '/');
	while (path.len && !t->failed) {
		const uint8_t *slash = memchr(path.p, '/', path.len);
		struct pm_bytes component = {path.p, slash ? (size_t)(slash - path.p) : path.len};
		if (is(component, "..")) {
			leave_folder(t);
		} else if (component.len && !is(component, ".")) {
			if (t->len && t->p[t->len - 1] != '/')
				pm_text_char(t, '/');
			pm_text_bytes(t, component);
		}
		size_t next = component.len + (slash != NULL);
		path = (struct pm_bytes){path.p + next, path.len - next};
	}
}

void sym_source_path(struct pm_text *t, struct pm_bytes folder, struct pm_bytes path)
{
	pm_text_clear(t);
	if (path.len && path.p[0] != '/')
		add_components(t, folder);
	add_components(t, path);
}
