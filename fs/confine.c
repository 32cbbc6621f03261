/*
 * Least privilege. A profile is hostile input, and the process that reads it may run as root. So
 * before it reads the source, it drops everything that its duty does not need, in independent
 * layers: capabilities, Landlock (for paths), and a seccomp filter (for system calls,
 * fs/confine_calls.c). Mounting and unmounting are dropped, too: see fs/mount_keeper.c.
 * docs/decisions/0090-least-privilege.md lists what remains, and why.
 */
#include "fs/confine.h"

#include <sys/syscall.h>
#include <unistd.h>

#ifdef PMFS_CONFINE

#include <linux/capability.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "fs/confine_calls.h"

static void drop_capabilities(void)
{
	/* Root's right to read files of other users, because sources are opened late. */
	static const __u32 kept = 1u << CAP_DAC_READ_SEARCH;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	if (syscall(SYS_capget, &header, data) != 0)
		return;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= i == 0 ? kept : 0;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, data);
}

/* ---- Landlock: nothing is opened for writing, made, renamed, removed or executed ---- */

/* Definitions missing in old headers; the version of the running kernel decides. */
enum {
	RIGHT_REFER = 1 << 13,
	RIGHT_TRUNCATE = 1 << 14,
	RIGHT_IOCTL_DEVICE = 1 << 15,
	RIGHTS_TCP = 3,
	SCOPES = 3, /* abstract sockets and signals stay among the confined */
};

/* struct landlock_ruleset_attr of kernels that know all of this; older ones want zeros at its end.
 */
struct ruleset {
	__u64 files, net, scopes;
};

static struct ruleset ruleset_of(long abi)
{
	struct ruleset set = {
		.files = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
			LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
			LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
			LANDLOCK_ACCESS_FS_MAKE_SYM,
	};
	set.files |= abi >= 2 ? RIGHT_REFER : 0;
	set.files |= abi >= 3 ? RIGHT_TRUNCATE : 0;
	set.net = abi >= 4 ? RIGHTS_TCP : 0;
	set.files |= abi >= 5 ? RIGHT_IOCTL_DEVICE : 0;
	set.scopes = abi >= 6 ? SCOPES : 0;
	return set;
}

static void allow_target(int ruleset, int target)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
			LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SYM |
			LANDLOCK_ACCESS_FS_REMOVE_FILE,
		.parent_fd = target,
	};
	syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void forbid_changes(int target)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (abi < 1)
		return;
	struct ruleset set = ruleset_of(abi);
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &set, sizeof(set), 0);
	if (ruleset < 0)
		return;
	if (target >= 0)
		allow_target(ruleset, target);
	syscall(SYS_landlock_restrict_self, ruleset, 0);
	close(ruleset);
}

/* ---- */

static void *end_thread(void *arg)
{
	pthread_exit(arg);
}

/*
 * The C library loads its unwinder when the first thread is cancelled or leaves by pthread_exit;
 * afterwards no code can be mapped any more.
 */
static void load_unwinder(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, end_thread, NULL) == 0)
		pthread_join(thread, NULL);
}

static void set_limits(void)
{
	enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1 }; /* Linux 6.3 */
	static const struct rlimit none;
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0);
}

void pmfs_confine(enum pmfs_duty duty, int target)
{
	if (duty == PMFS_DUTY_SERVE) /* no other code ends threads in this way */
		load_unwinder();
	set_limits();
	drop_capabilities();
	forbid_changes(target);
	pmfs_forbid_other_calls(duty);
}

#else

void pmfs_confine(enum pmfs_duty duty, int target)
{
	(void)duty;
	(void)target;
}

#endif

void pmfs_close_inherited(void)
{
	enum { FIRST = 3, MOST = 4096 };
#ifdef SYS_close_range
	if (syscall(SYS_close_range, FIRST, ~0u, 0) == 0)
		return;
#endif
	for (int fd = FIRST; fd < MOST; fd++)
		close(fd);
}
