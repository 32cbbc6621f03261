#include "fs/commands.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/text.h"
#include "fs/bar.h"
#include "fs/log.h"
#include "fs/resolve.h"

enum { PIECE = 1 << 20 };

int pmfs_write_all(int fd, const void *from, size_t n, struct pm_error *err)
{
	const char *p = from;
	while (n > 0) {
		ssize_t done = write(fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "cannot be written: %s",
				strerror(errno));
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int write_pieces(struct pmfs_instance *in, pm_node node, const struct pm_doc *doc, int fd,
	struct pm_error *err)
{
	for (uint64_t off = 0;;) {
		struct pmfs_piece piece;
		int r = pmfs_engine_read(in->engine, node, doc, off, PIECE, &piece, err);
		if (r < 0)
			return r;
		size_t n = piece.len;
		pmfs_bar_give_way(fd);
		r = pmfs_write_all(fd, piece.p, n, err);
		pmfs_engine_release(in->engine, &piece);
		if (r < 0 || n == 0)
			return r;
		off += n;
	}
}

static bool write_piece(void *context, struct pm_bytes piece, struct pm_error *err)
{
	const int *fd = context;
	pmfs_bar_give_way(*fd);
	return pmfs_write_all(*fd, piece.p, piece.len, err) == 0;
}

int pmfs_document_write(struct pmfs_instance *in, pm_node node, const struct pm_doc *doc, int fd,
	struct pm_error *err)
{
	if (pmfs_engine_flows(doc))
		return pmfs_engine_flow(in->engine, doc, write_piece, &fd, err);
	int r = write_pieces(in, node, doc, fd, err);
	pmfs_engine_forget(in->engine, node);
	return r;
}

/* A failed walk: the usual reasons need no text from below. */
static void say(const char *path, int code, const struct pm_error *err)
{
	if (err->code)
		pmfs_log_error(path, err);
	else
		pmfs_log("%s: %s", path, strerror(-code));
}

/* Flushes the buffer: 1 with a message if that fails. */
static int flush(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	pmfs_log("standard output: cannot be written: %s", strerror(errno));
	return 1;
}

/* A line of --ls. False if the target of a link cannot be read, which is reported. */
static bool print_entry(struct pmfs_instance *in, const struct pmfs_entry *entry)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	char target[PMFS_TARGET_SIZE] = "?", name[PMFS_NAME_SIZE];
	bool is_link = entry->type == PMFS_LINK;
	int r = is_link ? pmfs_link_target(in, entry->node, target, &err) : 0;
	printf("%.*s%s%s%s\n", (int)entry->len, entry->name,
		entry->type == PMFS_DIRECTORY ? "/" : "", is_link ? " -> " : "",
		is_link ? target : "");
	if (r < 0) {
		snprintf(name, sizeof(name), "%.*s", (int)entry->len, entry->name);
		say(name, r, &err);
	}
	return r == 0;
}

static int list(struct pmfs_instance *in, const char *path, pm_node dir)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry entry;
	uint64_t cookie = 0;
	bool whole = true;
	int r;
	while ((r = pmfs_tree_next(in->tree, dir, &cookie, &entry, &err)) > 0)
		whole = print_entry(in, &entry) && whole;
	if (r < 0)
		say(path, r, &err);
	return flush() != 0 || r < 0 || !whole;
}

int pmfs_command_ls(struct pmfs_instance *in, const char *path)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_resolved at;
	int r = pmfs_resolve(in, path, &at, &err), status = 1;
	pmfs_bar_give_way(STDOUT_FILENO);
	if (r == 0 && at.entry.type == PMFS_DIRECTORY) {
		status = list(in, path, at.entry.node);
	} else if (r == 0) {
		printf("%.*s\n", (int)at.entry.len, at.entry.name);
		status = flush();
	}
	if (r < 0)
		say(path, r, &err);
	pmfs_resolved_done(&at);
	return status;
}

static int cat(struct pmfs_instance *in, const char *path, struct pm_error *err)
{
	struct pmfs_resolved at;
	struct pm_doc doc;
	int r = pmfs_resolve(in, path, &at, err);
	pm_node node = at.entry.node;
	pmfs_resolved_done(&at);
	if (r == 0)
		r = pmfs_tree_document(in->tree, node, &doc, err);
	if (r < 0)
		return r;
	r = pmfs_document_write(in, node, &doc, STDOUT_FILENO, err);
	pmfs_tree_release(in->tree, node);
	return r;
}

int pmfs_command_cat(struct pmfs_instance *in, const char *const *paths, int n)
{
	int status = 0;
	for (int i = 0; i < n; i++) {
		struct pm_error err = {.offset = PM_NO_OFFSET};
		int r = cat(in, paths[i], &err);
		if (r < 0) {
			say(paths[i], r, &err);
			status = 1;
		}
	}
	return status;
}

int pmfs_command_check(struct pmfs_instance *in, const struct pmfs_options *o)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	const struct pm_damages *damages;
	struct pm_text line = {.p = NULL};
	int r = pm_profile_damage(in->profile, &damages, &err);
	pmfs_bar_give_way(STDOUT_FILENO);
	if (r < 0) {
		say(in->profile->source, r, &err);
		return 2;
	}
	for (size_t i = 0; i < damages->n; i++) {
		const struct pm_damage *d = &damages->rows[i];
		pm_text_clear(&line);
		pm_text_shown(&line, pm_bytes_of(*d->file ? d->file : in->profile->source));
		if (d->offset != PM_NO_OFFSET)
			pm_text_printf(&line, "+0x%llx", (unsigned long long)d->offset);
		pm_text_str(&line, ": ");
		pm_text_shown(&line, pm_bytes_of(d->what));
		if (d->bytes != PM_NO_OFFSET)
			pm_text_printf(&line, " (%llu bytes)", (unsigned long long)d->bytes);
		pm_text_char(&line, '\n');
		fwrite(line.p, 1, line.failed ? 0 : line.len, stdout);
	}
	if (damages->n == 0) {
		pm_text_clear(&line);
		if (o->n_sources == 1)
			pm_text_shown(&line, pm_bytes_of(o->sources[0]));
		else
			pm_text_printf(&line, "all %d sources", o->n_sources);
		pm_text_str(&line, ": sound\n");
		fwrite(line.p, 1, line.failed ? 0 : line.len, stdout);
	}
	pm_text_done(&line);
	return flush() != 0 || damages->n > 0;
}
