/*
 * The life of a mount: session, mountpoint, background, loop, unmount.
 */
#include "fs/mount.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/confine.h"
#include "fs/log.h"
#include "fs/mount_jobs.h"
#include "fs/mount_keeper.h"
#include "fs/mount_ops.h"
#include "fs/mountpoint.h"

enum { FREE_THREADS = 3 }; /* to read requests, whatever else goes on */

/* libfuse's messages go where ours go; what its debug mode prints keeps its lines. */
static void log_fuse(enum fuse_log_level level, const char *format, va_list args)
{
	char line[1024];
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = 0;
	if (level == FUSE_LOG_DEBUG)
		fprintf(stderr, "%s\n", line);
	else if (line[0])
		pmfs_log("%s", line);
}

static bool add_options(
	struct fuse_args *args, const struct pmfs_instance *in, const struct pmfs_options *options)
{
	char *all = NULL, *name = NULL;
	if (asprintf(&name, "fsname=%s", in->profile->source) < 0)
		return false;
	bool good = fuse_opt_add_arg(args, "profmount") == 0 &&
		fuse_opt_add_opt(&all, "subtype=profmount,ro,nosuid,nodev,default_permissions") ==
			0 &&
		/* Commas and backslashes in the source's path must survive. */
		fuse_opt_add_opt_escaped(&all, name) == 0 &&
		(!options->fuse || fuse_opt_add_opt(&all, options->fuse) == 0) &&
		(!options->debug || fuse_opt_add_opt(&all, "debug") == 0) &&
		fuse_opt_add_arg(args, "-o") == 0 && fuse_opt_add_arg(args, all) == 0;
	free(all);
	free(name);
	return good;
}

static int loop(struct fuse_session *se, unsigned n_hosted, bool single_thread)
{
	if (single_thread)
		return fuse_session_loop(se);
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	if (!config)
		return -ENOMEM;
	/* Idle threads are kept: making one anew costs more than it gives back. */
	fuse_loop_cfg_set_max_threads(config, n_hosted + FREE_THREADS);
	fuse_loop_cfg_set_idle_threads(config, n_hosted + FREE_THREADS);
	fuse_loop_cfg_set_clone_fd(config, 1);
	int r = fuse_session_loop_mt(se, config);
	fuse_loop_cfg_destroy(config);
	return r;
}

static bool is_unmounted(struct fuse_session *se)
{
	struct pollfd device = {.fd = fuse_session_fd(se)};
	return poll(&device, 1, 0) == 1 && (device.revents & POLLERR);
}

/* Work that does not end, as on a disk that does not answer, keeps nobody from unmounting. */
static void leave(void *keeper)
{
	pmfs_keeper_unmount(keeper);
	_exit(0);
}

/* Serves with what little privilege that takes. A signal that ends the loop is a normal end. */
static int serve_confined(
	struct fuse_session *se, struct pmfs_mount *m, const struct pmfs_options *options)
{
	struct pmfs_keeper keeper;
	int r = pmfs_keeper_start(&keeper, se, options->auto_unmount);
	if (r < 0) {
		pmfs_log("cannot start the process that unmounts: %s", strerror(-r));
		fuse_session_unmount(se);
		return 1;
	}
	pmfs_confine();
	m->jobs = pmfs_jobs_start(se, options->single_thread, leave, &keeper);
	r = m->jobs ? loop(se, pmfs_jobs_hosted(m->jobs), options->single_thread) : -ENOMEM;
	fuse_session_exit(se);
	pmfs_jobs_stop(m->jobs);
	pmfs_keeper_unmount(&keeper);
	/* Frees what libfuse remembers. While clients are still inside it would unmount again. */
	if (is_unmounted(se))
		fuse_session_unmount(se);
	return r < 0;
}

/* Mounted: into the background, and serve. */
static int run(struct fuse_session *se, struct pmfs_mount *m, const struct pmfs_options *options,
	const char *mountpoint)
{
	if (fuse_daemonize(options->foreground) != 0 || fuse_set_signal_handlers(se) != 0) {
		fuse_session_unmount(se);
		return 1;
	}
	if (!options->foreground)
		pmfs_log_to_syslog();
	/* The greeting bounds what the kernel reads ahead, but only once. */
	if (pmfs_mount_greet(se) < 0)
		pmfs_log("lookups in one directory will wait for each other");
	pmfs_mountpoint_raise_readahead(mountpoint);
	int status = serve_confined(se, m, options);
	fuse_remove_signal_handlers(se);
	return status;
}

int pmfs_mount_serve(
	struct pmfs_instance *in, const struct pmfs_options *options, const char *mountpoint)
{
	struct pmfs_mount m = {.in = in, .uid = options->uid, .gid = options->gid};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_lowlevel_ops operations;
	char absolute[PATH_MAX];
	int status = 1;
	if (pmfs_mountpoint_check(mountpoint, &err) < 0) {
		pmfs_log_error(NULL, &err);
		return 1;
	}
	if (!realpath(mountpoint, absolute)) {
		pmfs_log("%s: cannot be used as mountpoint: %s", mountpoint, strerror(errno));
		return 1;
	}
	fuse_set_log_func(log_fuse);
	pmfs_mount_operations(&operations, options->xattr);
	struct fuse_session *se = add_options(&args, in, options)
		? fuse_session_new(&args, &operations, sizeof(operations), &m)
		: NULL;
	/* Where these fail libfuse has said why. */
	if (se && fuse_session_mount(se, absolute) == 0)
		status = run(se, &m, options, absolute);
	if (se)
		fuse_session_destroy(se);
	fuse_opt_free_args(&args);
	return status;
}
