#include "fs/resolve.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"

enum { MOST_LINKS = 40 }; /* as Linux has it */

int pmfs_link_target(struct pmfs_instance *in, pm_node link, char ret[static PMFS_TARGET_SIZE],
	struct pm_error *err)
{
	struct pmfs_piece piece;
	struct pm_doc doc;
	int r = pmfs_tree_document(in->tree, link, &doc, err);
	if (r < 0)
		return r;
	r = pmfs_engine_read(in->engine, link, &doc, 0, PMFS_TARGET_SIZE - 1, &piece, err);
	pmfs_tree_release(in->tree, link);
	if (r < 0)
		return r;
	memcpy(ret, piece.p, piece.len);
	ret[piece.len] = 0;
	pmfs_engine_release(in->engine, &piece);
	return 0;
}

static void go_up(struct pmfs_resolved *w)
{
	if (w->n == 0)
		return;
	const struct pmfs_above *above = &w->above[--w->n];
	w->entry = (struct pmfs_entry){.node = above->dir, .type = PMFS_DIRECTORY};
	w->path.len = above->path_len;
}

static int go_down(
	struct pmfs_resolved *w, struct pmfs_tree *tree, struct pm_bytes name, struct pm_error *err)
{
	struct pmfs_above above = {.dir = w->entry.node, .path_len = w->path.len};
	int r = pmfs_tree_lookup(tree, above.dir, name, &w->entry, err);
	if (r < 0)
		return r;
	if (pm_list_room(&w->above, w->n, &w->room, sizeof(*w->above)) < 0)
		return -ENOMEM;
	w->above[w->n++] = above;
	if (w->path.len)
		pm_text_char(&w->path, '/');
	pm_text_bytes(&w->path, name);
	return pm_text_status(&w->path);
}

/* One name of a path. "." is looked up in a directory only, as is an empty name. */
static int go(
	struct pmfs_resolved *w, struct pmfs_tree *tree, struct pm_bytes name, struct pm_error *err)
{
	if (w->entry.type != PMFS_DIRECTORY)
		return -ENOTDIR;
	if (name.len == 0 || pm_bytes_equal(name, pm_bytes_of(".")))
		return 0;
	if (!pm_bytes_equal(name, pm_bytes_of("..")))
		return go_down(w, tree, name, err);
	go_up(w);
	return 0;
}

/*
 * Goes on from the directory of the link that is at the end. `left` is what follows it, within
 * `rest`, which becomes the target and that.
 */
static int go_along(struct pmfs_resolved *w, struct pmfs_instance *in, struct pm_text *rest,
	struct pm_bytes left, struct pm_error *err)
{
	struct pm_text whole = {.p = NULL};
	char target[PMFS_TARGET_SIZE];
	int r = pmfs_link_target(in, w->entry.node, target, err);
	if (r < 0)
		return r;
	if (target[0] == '/')
		return -EXDEV;
	pm_text_bytes(&w->links, pm_text_view(&w->path));
	pm_text_char(&w->links, '\0');
	pm_text_str(&whole, target);
	if (left.len) {
		pm_text_char(&whole, '/');
		pm_text_bytes(&whole, left);
	}
	pm_text_done(rest);
	*rest = whole;
	go_up(w);
	return w->links.failed ? -ENOMEM : pm_text_status(rest);
}

/* Cuts the first name off. */
static struct pm_bytes first_name(struct pm_bytes *rest)
{
	const uint8_t *slash = rest->len ? memchr(rest->p, '/', rest->len) : NULL;
	struct pm_bytes name = {rest->p, slash ? (size_t)(slash - rest->p) : rest->len};
	size_t gone = name.len + (slash != NULL);
	*rest = (struct pm_bytes){rest->p + gone, rest->len - gone};
	return name;
}

static int go_all(struct pmfs_resolved *w, struct pmfs_instance *in, struct pm_text *rest,
	struct pm_error *err)
{
	struct pm_bytes left = pm_text_view(rest);
	unsigned links = 0;
	while (left.len > 0) {
		int r = go(w, in->tree, first_name(&left), err);
		if (r == 0 && w->entry.type == PMFS_LINK) {
			r = ++links > MOST_LINKS ? -ELOOP : go_along(w, in, rest, left, err);
			left = pm_text_view(rest);
		}
		if (r < 0)
			return r;
	}
	return 0;
}

int pmfs_resolve(
	struct pmfs_instance *in, const char *path, struct pmfs_resolved *ret, struct pm_error *err)
{
	struct pm_text rest = {.p = NULL};
	*ret = (struct pmfs_resolved){.entry = {.node = PMFS_NODE_ROOT, .type = PMFS_DIRECTORY}};
	pm_text_str(&rest, path);
	int r = pm_text_status(&rest);
	if (r == 0)
		r = go_all(ret, in, &rest, err);
	pm_text_char(&ret->path, '\0');
	pm_text_done(&rest);
	return r < 0 ? r : pm_text_status(&ret->path);
}

void pmfs_resolved_done(struct pmfs_resolved *w)
{
	pm_text_done(&w->path);
	pm_text_done(&w->links);
	free(w->above);
}
