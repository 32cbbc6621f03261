/*
 * Least privilege. A profile is hostile input, and the process that reads it may run as root. So
 * after mounting it keeps only what serving takes, in layers that do not depend on each other:
 * capabilities, Landlock (which knows paths), and a seccomp filter (which knows system calls).
 * Unmounting is not among what is kept: see fs/mount_keeper.c. Why it is done in this way stands
 * in docs/decisions/0090-least-privilege.md.
 */
#include "fs/confine.h"

#ifdef PMFS_CONFINE

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void drop_capabilities(void)
{
	/* Root's own right to read what belongs to others: sources are opened late. */
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

static __u64 rights_to_change(int abi)
{
	__u64 rights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
		LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		LANDLOCK_ACCESS_FS_MAKE_SYM;
#ifdef LANDLOCK_ACCESS_FS_REFER
	if (abi >= 2)
		rights |= LANDLOCK_ACCESS_FS_REFER;
#endif
#ifdef LANDLOCK_ACCESS_FS_TRUNCATE
	if (abi >= 3)
		rights |= LANDLOCK_ACCESS_FS_TRUNCATE;
#endif
	return rights;
}

/* libfuse opens the device once more for each thread. */
static void allow_device(int ruleset)
{
	struct landlock_path_beneath_attr rule = {.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE,
		.parent_fd = open("/dev/fuse", O_PATH | O_CLOEXEC)};
	if (rule.parent_fd < 0)
		return;
	syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
}

static void forbid_changes(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (abi < 1)
		return;
	struct landlock_ruleset_attr attr = {.handled_access_fs = rights_to_change((int)abi)};
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return;
	allow_device(ruleset);
	syscall(SYS_landlock_restrict_self, ruleset, 0);
	close(ruleset);
}

/* ---- seccomp: what is not named here is answered as by a kernel that lacks it ---- */

#ifdef PMFS_SECCOMP

#include <errno.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <seccomp.h>

/* Where the kernel takes clone's flags. */
#if defined(__s390__) || defined(__s390x__)
#define CLONE_FLAGS SCMP_A1
#else
#define CLONE_FLAGS SCMP_A0
#endif

#define CHANGES_FILES (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))

static const int allowed_calls[] = {
	/* requests and answers, sources, the log */
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
	SCMP_SYS(writev), SCMP_SYS(lseek), SCMP_SYS(_llseek), SCMP_SYS(close), SCMP_SYS(fcntl),
	SCMP_SYS(fcntl64), SCMP_SYS(dup), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(poll),
	SCMP_SYS(ppoll), SCMP_SYS(ppoll_time64), SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(openat2),
	SCMP_SYS(getdents64), SCMP_SYS(stat), SCMP_SYS(fstat), SCMP_SYS(lstat), SCMP_SYS(stat64),
	SCMP_SYS(fstat64), SCMP_SYS(lstat64), SCMP_SYS(newfstatat), SCMP_SYS(fstatat64),
	SCMP_SYS(statx), SCMP_SYS(statfs), SCMP_SYS(statfs64), SCMP_SYS(fstatfs),
	SCMP_SYS(fstatfs64), SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(faccessat2),
	SCMP_SYS(readlink), SCMP_SYS(readlinkat), SCMP_SYS(getcwd), SCMP_SYS(fadvise64),
	SCMP_SYS(fadvise64_64), SCMP_SYS(readahead), SCMP_SYS(connect), SCMP_SYS(sendto),
	SCMP_SYS(sendmsg), SCMP_SYS(recvfrom), SCMP_SYS(recvmsg),
	/* memory */
	SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect),
	SCMP_SYS(madvise), SCMP_SYS(mincore), SCMP_SYS(brk), SCMP_SYS(membarrier),
	/* threads and signals */
	SCMP_SYS(futex), SCMP_SYS(futex_time64), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(set_tid_address), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn),
	SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(tgkill), SCMP_SYS(wait4),
	SCMP_SYS(waitid), SCMP_SYS(waitpid), SCMP_SYS(restart_syscall), SCMP_SYS(arch_prctl),
	SCMP_SYS(prctl),
	/* who, when, how much */
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
	SCMP_SYS(getegid), SCMP_SYS(getuid32), SCMP_SYS(geteuid32), SCMP_SYS(getgid32),
	SCMP_SYS(getegid32), SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64),
	SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_nanosleep_time64),
	SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom),
	SCMP_SYS(getrlimit), SCMP_SYS(ugetrlimit), SCMP_SYS(prlimit64), SCMP_SYS(getrusage),
	SCMP_SYS(sysinfo), SCMP_SYS(uname)};

static int allow(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition);
}

/* Calls that serving needs in one form only. */
static int allow_forms(scmp_filter_ctx filter)
{
	/* libfuse, for another thread's device; Landlock sees to it that it is this file. */
	static const scmp_datum_t device = O_RDWR | O_CLOEXEC;
	int r = allow(filter, SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, CHANGES_FILES, 0));
	r |= allow(filter, SCMP_SYS(open), SCMP_A1(SCMP_CMP_EQ, device));
	r |= allow(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, CHANGES_FILES, 0));
	r |= allow(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_EQ, device));
	r |= allow(filter, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, FUSE_DEV_IOC_CLONE));
	r |= allow(filter, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, TCGETS));
	/* Threads, not processes. clone3 hides its flags, and is not named: clone takes over. */
	r |= allow(filter, SCMP_SYS(clone),
		CLONE_FLAGS(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	/* syslog */
	r |= allow(filter, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_EQ, AF_UNIX));
	return r;
}

static void forbid_other_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!filter)
		return;
	int r = allow_forms(filter);
	for (size_t i = 0; r == 0 && i < sizeof(allowed_calls) / sizeof(allowed_calls[0]); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0);
	/* A list with a hole would break the mount: better no filter than that. */
	if (r == 0)
		seccomp_load(filter);
	seccomp_release(filter);
}

#else

static void forbid_other_calls(void)
{
}

#endif

void pmfs_confine(void)
{
	static const struct rlimit none;
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_capabilities();
	forbid_changes();
	forbid_other_calls();
}

#else

void pmfs_confine(void)
{
}

#endif
