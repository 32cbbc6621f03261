/*
 * What the FUSE protocol costs by itself: a copy of a folder, served out of memory by a process
 * that does nothing else, with the answers that profmount gives.
 *
 *     serve_memory FOLDER MOUNTPOINT
 *
 * Nodes are in breadth-first order, so that the entries of a folder are adjacent; an inode number
 * is a node's index plus one. Attributes come with the listing for folders, and for the files that
 * profmount knows the size of: those of metrics/.
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/make.h"

struct node {
	char *path, *data;
	const char *name; /* in path */
	struct stat st;
	size_t first, n; /* of a folder: its entries */
	bool attributes; /* come with the listing */
};

struct memory {
	struct node *nodes;
	size_t n, room;
};

/* ---- the copy ---- */

static void node_add(struct memory *m, char *path, bool attributes)
{
	if (m->n == m->room) {
		m->room = m->room ? 2 * m->room : 1024;
		m->nodes = realloc(m->nodes, m->room * sizeof(*m->nodes));
	}
	if (!path || !m->nodes)
		make_die("no memory");
	struct node *node = &m->nodes[m->n++];
	const char *slash = strrchr(path, '/');
	*node = (struct node){.path = path, .name = slash ? slash + 1 : path};
	if (lstat(path, &node->st) < 0)
		make_die(path);
	node->st.st_ino = m->n;
	node->attributes = attributes || S_ISDIR(node->st.st_mode);
}

static void load_entries(struct memory *m, size_t folder)
{
	DIR *dir = opendir(m->nodes[folder].path);
	bool metrics = strcmp(m->nodes[folder].name, "metrics") == 0;
	m->nodes[folder].first = m->n;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		char *path;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (asprintf(&path, "%s/%s", m->nodes[folder].path, e->d_name) < 0)
			make_die("no memory");
		node_add(m, path, metrics);
	}
	m->nodes[folder].n = m->n - m->nodes[folder].first;
	closedir(dir);
}

static void load_data(struct node *node)
{
	size_t size = (size_t)node->st.st_size;
	int fd = open(node->path, O_RDONLY | O_CLOEXEC);
	node->data = malloc(size + 1);
	if (fd < 0 || !node->data || read(fd, node->data, size) != (ssize_t)size)
		make_die(node->path);
	close(fd);
}

static void load(struct memory *m, const char *folder)
{
	node_add(m, strdup(folder), true);
	for (size_t i = 0; i < m->n; i++) {
		if (S_ISDIR(m->nodes[i].st.st_mode))
			load_entries(m, i);
		else if (S_ISREG(m->nodes[i].st.st_mode))
			load_data(&m->nodes[i]);
	}
}

/* ---- requests ---- */

static const struct node *node_of(fuse_req_t req, fuse_ino_t ino)
{
	const struct memory *m = fuse_req_userdata(req);
	return &m->nodes[ino - 1];
}

static struct fuse_entry_param entry_of(const struct node *node)
{
	return (struct fuse_entry_param){.ino = node->st.st_ino,
		.attr = node->st,
		.attr_timeout = DBL_MAX,
		.entry_timeout = DBL_MAX};
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	const struct node *folder = node_of(req, parent);
	struct fuse_entry_param e = {.entry_timeout = DBL_MAX};
	for (size_t i = 0; i < folder->n; i++) {
		const struct node *node = node_of(req, folder->first + i + 1);
		if (strcmp(node->name, name) == 0)
			e = entry_of(node);
	}
	fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)fi;
	fuse_reply_attr(req, &node_of(req, ino)->st, DBL_MAX);
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, ENOSYS);
}

static void op_read(
	fuse_req_t req, fuse_ino_t ino, size_t len, off_t off, struct fuse_file_info *fi)
{
	const struct node *node = node_of(req, ino);
	size_t at = off < node->st.st_size ? (size_t)off : (size_t)node->st.st_size;
	size_t left = (size_t)node->st.st_size - at;
	(void)fi;
	fuse_reply_buf(req, node->data + at, len < left ? len : left);
}

static void op_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	const struct node *folder = node_of(req, ino);
	char *buf = malloc(size);
	size_t used = 0;
	(void)fi;
	for (size_t at = (size_t)off; buf && at < folder->n + 2; at++) {
		bool dots = at < 2;
		const struct node *node = dots ? folder : node_of(req, folder->first + at - 1);
		const char *name = at == 0 ? "." : at == 1 ? ".." : node->name;
		struct fuse_entry_param e = entry_of(node);
		if (dots || !node->attributes)
			e.ino = 0;
		size_t n = fuse_add_direntry_plus(
			req, buf + used, size - used, name, &e, (off_t)at + 1);
		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
	free(buf);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	(void)userdata;
	conn->want |= conn->capable & (FUSE_CAP_READDIRPLUS | FUSE_CAP_PARALLEL_DIROPS);
	conn->want &= ~(unsigned)(FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA |
		FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

int main(int argc, char **argv)
{
	static const struct fuse_lowlevel_ops operations = {.init = op_init,
		.lookup = op_lookup,
		.getattr = op_getattr,
		.open = op_open,
		.opendir = op_open,
		.read = op_read,
		.readdirplus = op_readdirplus};
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct memory m = {.n = 0};
	if (argc != 3) {
		fprintf(stderr, "usage: serve_memory FOLDER MOUNTPOINT\n");
		return 2;
	}
	load(&m, argv[1]);
	fuse_opt_add_arg(&args, "serve_memory");
	fuse_opt_add_arg(&args, "-oro,default_permissions");
	struct fuse_session *se = fuse_session_new(&args, &operations, sizeof(operations), &m);
	if (!se || fuse_session_mount(se, argv[2]) < 0)
		make_die("cannot be mounted");
	int r = fuse_session_loop(se);
	fuse_session_unmount(se);
	fuse_session_destroy(se);
	fuse_opt_free_args(&args);
	return r < 0;
}
