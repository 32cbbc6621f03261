/*
 * seccomp: calls that are not listed here fail with ENOSYS, as on a kernel without them. The filter
 * sees numbers, but not memory behind pointers: openat2 and clone3 pass their flags there, and are
 * not listed. docs/decisions/0090-least-privilege.md has the reason for each line.
 */
#include "fs/confine.h"

#ifdef PMFS_SECCOMP

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <seccomp.h>

/* Where the kernel takes clone's flags. */
#if defined(__s390__) || defined(__s390x__)
#define CLONE_FLAGS SCMP_A1
#else
#define CLONE_FLAGS SCMP_A0
#endif

#define CHANGES_FILES (O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY))
/* New files only, never existing ones: fs/extract.c */
#define MAKES_A_FILE (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)

static const int allowed_calls[] = {
	/* requests and replies, sources, the socket to the keeper */
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(preadv), SCMP_SYS(write),
	SCMP_SYS(writev), SCMP_SYS(lseek), SCMP_SYS(_llseek), SCMP_SYS(close), SCMP_SYS(dup),
	SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(poll), SCMP_SYS(ppoll), SCMP_SYS(ppoll_time64),
	SCMP_SYS(pipe), SCMP_SYS(pipe2), SCMP_SYS(eventfd2), SCMP_SYS(getdents64), SCMP_SYS(stat),
	SCMP_SYS(fstat), SCMP_SYS(lstat), SCMP_SYS(stat64), SCMP_SYS(fstat64), SCMP_SYS(lstat64),
	SCMP_SYS(newfstatat), SCMP_SYS(fstatat64), SCMP_SYS(statx), SCMP_SYS(statfs),
	SCMP_SYS(statfs64), SCMP_SYS(fstatfs), SCMP_SYS(fstatfs64), SCMP_SYS(access),
	SCMP_SYS(faccessat), SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
	SCMP_SYS(getcwd), SCMP_SYS(chdir), SCMP_SYS(fadvise64), SCMP_SYS(fadvise64_64),
	SCMP_SYS(readahead), SCMP_SYS(recvmsg),
	/* memory */
	SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(mincore), SCMP_SYS(brk),
	SCMP_SYS(membarrier),
	/* threads and signals */
	SCMP_SYS(futex), SCMP_SYS(futex_time64), SCMP_SYS(set_robust_list), SCMP_SYS(rseq),
	SCMP_SYS(set_tid_address), SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(getcpu), SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigreturn),
	SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigtimedwait), SCMP_SYS(wait4), SCMP_SYS(waitid),
	SCMP_SYS(waitpid), SCMP_SYS(restart_syscall), SCMP_SYS(arch_prctl), SCMP_SYS(setsid),
	/* identity, time, resources */
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getuid), SCMP_SYS(geteuid), SCMP_SYS(getgid),
	SCMP_SYS(getegid), SCMP_SYS(getuid32), SCMP_SYS(geteuid32), SCMP_SYS(getgid32),
	SCMP_SYS(getegid32), SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64),
	SCMP_SYS(clock_getres), SCMP_SYS(clock_nanosleep), SCMP_SYS(clock_nanosleep_time64),
	SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(getrandom),
	SCMP_SYS(getrlimit), SCMP_SYS(ugetrlimit), SCMP_SYS(getrusage), SCMP_SYS(sysinfo),
	SCMP_SYS(uname)};

static int allow(scmp_filter_ctx filter, int call, struct scmp_arg_cmp condition)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, condition);
}

static int allow_files(scmp_filter_ctx filter)
{
	static const int commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};
	/* isatty of glibc; from 2.42 on, where it is TCGETS2 (its macro takes a struct that older
	 * ones lack); of musl */
	static const unsigned long asks[] = {TCGETS, _IOC(_IOC_READ, 'T', 0x2a, 44), TIOCGWINSZ};
	int r = allow(filter, SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, CHANGES_FILES, 0));
	r |= allow(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, CHANGES_FILES, 0));
	for (size_t i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		r |= allow(filter, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, asks[i]));
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		struct scmp_arg_cmp is = SCMP_A1(SCMP_CMP_EQ, (scmp_datum_t)commands[i]);
		r |= allow(filter, SCMP_SYS(fcntl), is) | allow(filter, SCMP_SYS(fcntl64), is);
	}
	/* A terminal with O_ASYNC sends signals to its foreground processes. */
	r |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2,
		SCMP_A1(SCMP_CMP_EQ, F_SETFL), SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0));
	return r;
}

/* Memory without code; threads, not processes; oneself, not others. */
static int allow_process(scmp_filter_ctx filter)
{
	enum { SET_VMA = 0x53564d41 }; /* the C library names its memory */
	int r = allow(filter, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	r |= allow(filter, SCMP_SYS(mmap2), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	r |= allow(filter, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	r |= allow(filter, SCMP_SYS(clone),
		CLONE_FLAGS(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	r |= allow(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	r |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2,
		SCMP_A0(SCMP_CMP_EQ, 0), SCMP_A2(SCMP_CMP_EQ, 0));
	r |= allow(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
	r |= allow(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_GET_NAME));
	r |= allow(filter, SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, SET_VMA));
	/* To outlive the command in the background: see fs/mount_keeper.c. */
	r |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 2,
		SCMP_A0(SCMP_CMP_EQ, PR_SET_PDEATHSIG), SCMP_A1(SCMP_CMP_EQ, 0));
	return r;
}

/* Without Landlock, these can reach beyond the target. */
static int allow_extracting(scmp_filter_ctx filter)
{
	int r = allow(filter, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_EQ, MAKES_A_FILE));
	r |= allow(filter, SCMP_SYS(unlinkat), SCMP_A2(SCMP_CMP_EQ, 0));
	r |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mkdirat), 0);
	r |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(symlinkat), 0);
	return r;
}

void pmfs_forbid_other_calls(enum pmfs_duty duty)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!filter)
		return;
	int r = allow_files(filter) | allow_process(filter);
	if (duty == PMFS_DUTY_EXTRACT)
		r |= allow_extracting(filter);
	for (size_t i = 0; r == 0 && i < sizeof(allowed_calls) / sizeof(allowed_calls[0]); i++)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed_calls[i], 0);
	/* An incomplete list would break the mount: no filter is better than that. */
	if (r == 0)
		seccomp_load(filter);
	seccomp_release(filter);
}

bool pmfs_can_forbid_calls(void)
{
	return true;
}

#else

void pmfs_forbid_other_calls(enum pmfs_duty duty)
{
	(void)duty;
}

bool pmfs_can_forbid_calls(void)
{
	return false;
}

#endif
