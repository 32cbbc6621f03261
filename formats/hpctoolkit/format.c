/*
 * HPCToolkit databases, version 4: a directory with meta.db and profile.db, and usually cct.db and
 * trace.db. Recognises and opens them; the model is in model.c, docs/formats/hpctoolkit.md
 * describes the bytes.
 */
#include "profmount/format.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/hpctoolkit/hpctoolkit.h"

/* The first bytes of a database file below a directory; returns their number, or -EIO. */
static ssize_t head_read(int folder, const char *name, uint8_t *head, size_t room)
{
	int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	ssize_t n = pread(fd, head, room, 0);
	if (n < 0)
		n = errno == EIO ? -EIO : 0;
	close(fd);
	return n;
}

static bool begins(const uint8_t *head, ssize_t len, const char *magic)
{
	return len >= (ssize_t)strlen(magic) && memcmp(head, magic, strlen(magic)) == 0;
}

/* The result for older versions and damaged databases, so that open() gives the reason. */
enum { SURE = 100, NO_META = 40, TOO_OLD = 20, UNREADABLE = 10 };

static int probe(const struct pm_candidate *c)
{
	static const char *const magics[] = {
		"HPCTOOLKITmeta", "HPCTOOLKITprof", "HPCTOOLKITctxt", "HPCTOOLKITtrce"};
	uint8_t head[16];
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]) && !c->folder; i++)
		if (begins(c->head.p, (ssize_t)c->head.len, magics[i]))
			return SURE;
	if (!c->folder)
		return 0;
	ssize_t n = head_read(c->fd, "meta.db", head, sizeof(head));
	if (begins(head, n, "HPCTOOLKITmeta"))
		return SURE;
	if (n < 0)
		return UNREADABLE;
	n = head_read(c->fd, "profile.db", head, sizeof(head));
	if (begins(head, n, "HPCTOOLKITprof"))
		return NO_META;
	return begins(head, n, "HPCPROF-") ? TOO_OLD : 0;
}

static int format_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	(void)options; /* opening scans nothing */
	struct hpctk_opened *db = malloc(sizeof(*db));
	if (!db)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	int folder = c->folder ? fcntl(c->fd, F_DUPFD_CLOEXEC, 0) : pm_folder_around(c->path);
	int r = folder < 0 ? pm_error_set(err, -EIO, c->path, PM_NO_OFFSET,
				     "its directory cannot be opened: %s", strerror(errno))
			   : hpctk_opened_init(db, folder, err);
	if (folder >= 0)
		close(folder);
	if (r < 0) {
		free(db);
		return r;
	}
	hpctk_model_init(db, ret);
	return 0;
}

const struct pm_format hpctk_format = {
	.name = "hpctoolkit",
	.summary = "HPCToolkit database, version 4.0 (released and draft layouts)",
	.probe = probe,
	.open = format_open,
	.close = hpctk_model_done,
};
