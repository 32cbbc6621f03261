#include "windowcheck.h"

#include <stdio.h>

void window_fail(struct window_check *c, const char *window, const char *what)
{
	if (c->n_failed++ < 20)
		fprintf(stderr, "%s: windows/%s: %s\n", c->source, window, what);
}

void window_name(const struct window_part *part, char *out, size_t size)
{
	snprintf(out, size, "%lluns-%lluns", (unsigned long long)part->start,
		(unsigned long long)part->end);
}

void window_canonical(struct window_check *c, char *name, size_t size)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_text target = {.p = NULL};
	struct pmfs_entry e;
	struct pm_doc doc;
	char path[240];
	snprintf(path, sizeof(path), "windows/%s", name);
	if (pmfs_tree_walk(c->in->tree, path, &e, &err) < 0) {
		window_fail(c, name, "is not there");
		return;
	}
	if (e.type != PMFS_LINK)
		return;
	if (pmfs_tree_document(c->in->tree, e.node, &doc, &err) < 0 ||
		doc.text.render(&doc, &target, &err) < 0)
		window_fail(c, name, "is a link that cannot be read");
	snprintf(name, size, "%.*s", (int)target.len, target.p);
	pm_text_done(&target);
}

bool window_table(struct window_check *c, const char *window, const char *folder, const char *name,
	struct sheet *ret)
{
	char path[1200];
	snprintf(path, sizeof(path), "windows/%s/%s%s", window, folder, name);
	if (sheet_read(c->in, path, ret))
		return true;
	window_fail(c, window, path);
	return false;
}
