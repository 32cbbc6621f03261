/*
 * The life of a mount: session, background, keeper, confinement, source, loop, unmount.
 */
#include "fs/mount.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/confine.h"
#include "fs/log.h"
#include "fs/mount_follow.h"
#include "fs/mount_jobs.h"
#include "fs/mount_keeper.h"
#include "fs/mount_ops.h"
#include "fs/mount_progress.h"
#include "fs/mount_unlisted.h"
#include "fs/mount_warm.h"
#include "fs/mountpoint.h"
#include "fs/opening.h"

/*
 * Threads that are always free to read requests. Idle ones are kept: creating them again costs more
 * than they take.
 */
enum { FREE_THREADS = 3 };

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 7) /* older ones write to standard error */

/* The reason in a libfuse message that fusermount3 cannot be run, else NULL. */
static const char *cannot_run(const char *line)
{
	static const char *const forms[] = {
		"fuse: failed to exec fusermount3: ", "On calling fusermount posix_spawn failed: ",
		"posix_spawn(p)() for fusermount3 failed: "};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (strncmp(line, forms[i], strlen(forms[i])) == 0)
			return line + strlen(forms[i]);
	return NULL;
}

/*
 * libfuse's messages go to our log; debug output is unchanged. Since 3.15, libfuse reports four
 * times that fusermount3 cannot be run; this is reduced to once.
 */
static void log_fuse(enum fuse_log_level level, const char *format, va_list args)
{
	static bool said;
	char line[1024];
	vsnprintf(line, sizeof(line), format, args);
	line[strcspn(line, "\n")] = 0;
	const char *reason = cannot_run(line);
	if (level == FUSE_LOG_DEBUG)
		fprintf(stderr, "%s\n", line);
	else if (reason && !said)
		pmfs_log("fuse: failed to exec fusermount3: %s", reason);
	else if (!reason && line[0])
		pmfs_log("%s", line);
	said = said || reason;
}

#endif

/* `ret_shared` are those for any program that mounts; the caller's. */
static bool add_options(struct fuse_args *args, const struct pmfs_options *options,
	const struct pmfs_source_paths *sources, char **ret_shared)
{
	char *all = NULL, *name = NULL, more[32] = "";
	if (sources->n > 1)
		snprintf(more, sizeof(more), " and %d more", sources->n - 1);
	if (asprintf(&name, "fsname=%s%s", sources->paths[0], more) < 0)
		return false;
	bool good = fuse_opt_add_arg(args, "profmount") == 0 &&
		fuse_opt_add_opt(&all, "subtype=profmount,ro,nosuid,nodev,default_permissions") ==
			0 &&
		/* Commas and backslashes in the source's path must survive. */
		fuse_opt_add_opt_escaped(&all, name) == 0;
	*ret_shared = good ? strdup(all) : NULL;
	/* allow_root is libfuse's own: for everybody else it is allow_other. */
	good = *ret_shared &&
		(!options->fuse || fuse_opt_add_opt(ret_shared, "allow_other") == 0) &&
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
#if FUSE_VERSION < FUSE_MAKE_VERSION(3, 12) /* has no bound on the threads */
	struct fuse_loop_config config = {.max_idle_threads = n_hosted + FREE_THREADS};
	return fuse_session_loop_mt(se, &config);
#else
	struct fuse_loop_config *config = fuse_loop_cfg_create();
	if (!config)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(config, n_hosted + FREE_THREADS);
	fuse_loop_cfg_set_idle_threads(config, n_hosted + FREE_THREADS);
	/* A device per thread would have to be opened for writing. */
	fuse_loop_cfg_set_clone_fd(config, 0);
	int r = fuse_session_loop_mt(se, config);
	fuse_loop_cfg_destroy(config);
	return r;
#endif
}

/* What happens between the command line and the loop. */
struct mounting {
	const struct pmfs_options *options;
	const struct pmfs_source_paths *sources;
	const char *mountpoint; /* a real path */
	char *shared_options;   /* of mount(8) */
	struct fuse_session *session;
	struct pmfs_background background;
	struct pmfs_instance in;
	struct pmfs_mount mount;
	int line;      /* to the keeper */
	uint64_t mark; /* of the source before it was opened, for -o follow */
};

/* The keeper mounts; libfuse is given the descriptor of the open device. */
static int take_device(struct mounting *m)
{
	char name[32];
	int device = pmfs_keeper_mount(m->line);
	if (device < 0)
		return -EIO;
	snprintf(name, sizeof(name), "/dev/fd/%d", device);
	return fuse_session_mount(m->session, name) == 0 ? 0 : -EIO;
}

/*
 * Work that does not end, for example on a disk that does not respond, must not prevent unmounting.
 */
static void leave(void *mounting)
{
	const struct mounting *m = mounting;
	pmfs_keeper_unmount(m->line);
	_exit(0);
}

static void leave_if_unused(void *context)
{
	const struct mounting *m = context;
	pmfs_keeper_leave(m->line);
}

/* Mounted: into the background, and serve. A signal that ends the loop is a normal end. */
static int serve_requests(struct mounting *m)
{
	bool single = m->options->single_thread;
	/* The greeting bounds what the kernel reads ahead, but only once. */
	if (pmfs_mount_greet(m->session, &m->mount) < 0)
		pmfs_log("lookups in one directory will wait for each other");
	pmfs_keeper_ready(m->line);
	if (m->background.wanted)
		pmfs_log_to_keeper(m->line);
	if (!pmfs_background_ready(&m->background))
		return -ECANCELED;
	struct pmfs_jobs *jobs = pmfs_jobs_start(m->session, single, leave, m);
	m->mount.jobs = jobs;
	if (jobs && m->options->idle_ms)
		pmfs_jobs_when_idle(jobs, m->options->idle_ms, leave_if_unused, m);
	m->mount.progress = pmfs_progress_new();
	if (!m->mount.follows)
		m->mount.unlisted = pmfs_unlisted_names_new(m->session);
	struct pmfs_warm *warm = NULL;
	struct pmfs_follow *follow = NULL;
	int r = jobs && m->mount.progress && (m->mount.unlisted || m->mount.follows) ? 0 : -ENOMEM;
	if (r == 0 && m->options->follow)
		follow = pmfs_follow_start(&m->mount, m->options, m->sources->paths[0], m->mark);
	else if (r == 0)
		m->mount.warm = warm = pmfs_warm_start(m->mount.in->profile);
	if (r == 0)
		r = m->options->follow && !follow
			? -ENOMEM
			: loop(m->session, pmfs_jobs_hosted(jobs), single);
	fuse_session_exit(m->session);
	pmfs_jobs_stop(jobs);
	if (!pmfs_warm_stop(warm) || (follow && !pmfs_follow_stop(follow)))
		leave(m);
	pmfs_progress_free(m->mount.progress);
	pmfs_unlisted_names_free(m->mount.unlisted);
	return r;
}

static int serve(struct mounting *m)
{
	if (fuse_set_signal_handlers(m->session) != 0)
		return 1;
	int r = take_device(m);
	if (r == 0)
		r = serve_requests(m);
	pmfs_keeper_unmount(m->line);
	fuse_remove_signal_handlers(m->session);
	return r < 0;
}

/* Everything after this runs with the minimal privileges for serving. */
static int open_and_serve(struct mounting *m)
{
	const struct pmfs_keeping keeping = {.session = m->session,
		.mountpoint = m->mountpoint,
		.options = m->shared_options,
		.always = m->options->auto_unmount,
		.background = &m->background};
	m->line = pmfs_keeper_start(&keeping);
	if (m->line < 0) {
		pmfs_log("cannot start the process that mounts: %s", strerror(-m->line));
		return 1;
	}
	pmfs_confine(PMFS_DUTY_SERVE, -1);
	if (m->options->follow)
		m->mark = pmfs_source_mark(m->sources->paths[0]);
	if (pmfs_open_sources(m->options, m->sources, m->mountpoint, &m->in) < 0)
		return 1;
	int status = serve(m);
	pmfs_instance_close(&m->in);
	return status;
}

static int run(struct mounting *m)
{
	int status;
	int r = pmfs_background_start(&m->background, &status);
	if (r == 0)
		return open_and_serve(m);
	if (r < 0)
		pmfs_log("cannot go into the background: %s", strerror(-r));
	return r < 0 ? 1 : status;
}

static bool is_usable(const char *mountpoint, char absolute[PATH_MAX])
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (pmfs_mountpoint_check(mountpoint, &err) < 0)
		pmfs_log_error(NULL, &err);
	else if (realpath(mountpoint, absolute))
		return true;
	else
		pmfs_log("%s: cannot be used as mountpoint: %s", mountpoint, strerror(errno));
	return false;
}

int pmfs_mount(const struct pmfs_options *options, const struct pmfs_source_paths *sources)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_lowlevel_ops operations;
	char absolute[PATH_MAX];
	struct mounting m = {.options = options, .sources = sources, .mountpoint = absolute};
	int status = 1;
	if (!is_usable(options->paths[0], absolute))
		return 1;
	m.background.wanted = !options->foreground;
	m.mount = (struct pmfs_mount){
		.in = &m.in, .uid = options->uid, .gid = options->gid, .follows = options->follow};
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 7)
	fuse_set_log_func(log_fuse);
#endif
	pmfs_mount_operations(&operations, options->xattr);
	/* If this fails, libfuse has reported the reason. */
	m.session = add_options(&args, options, sources, &m.shared_options)
		? fuse_session_new(&args, &operations, sizeof(operations), &m.mount)
		: NULL;
	if (m.session) {
		status = run(&m);
		fuse_session_destroy(m.session);
	}
	fuse_opt_free_args(&args);
	free(m.shared_options);
	return status;
}
