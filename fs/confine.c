/*
 * Least privilege. A profile is hostile input, and the process that reads it may run as root. So
 * before it reads the source, it drops everything that its duty does not need, in independent
 * layers: capabilities, Landlock (for paths), and a seccomp filter (for system calls,
 * fs/confine_calls.c). Mounting and unmounting are dropped, too: see fs/mount_keeper.c.
 * docs/decisions/0090-least-privilege.md lists what remains, and why.
 */
#include "fs/confine.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel's interface, written out: headers are those of the machine that built this, and may be
 * older than the kernel, or missing.
 */
enum {
	LANDLOCK_CREATE = 444, /* numbers of calls, on every machine */
	LANDLOCK_ADD = 445,
	LANDLOCK_RESTRICT = 446,
	LANDLOCK_ASK_VERSION = 1, /* a flag of the first */
	LANDLOCK_BENEATH = 1,     /* a kind of rule */
	SET_MDWE = 65,            /* Linux 6.3 */
	GET_MDWE = 66,
	REFUSE_EXEC_GAIN = 1,
	MODE_FILTER = 2, /* seccomp */
};

static long landlock_version(void)
{
	return syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_ASK_VERSION);
}

#ifdef PMFS_CONFINE

#include <pthread.h>
#include <stddef.h>
#include <sys/resource.h>

static void drop_capabilities(void)
{
	enum { VERSION = 0x20080522, WORDS = 2, DAC_READ_SEARCH = 2 };
	/* Root's right to read files of other users, because sources are opened late. */
	static const uint32_t kept = 1u << DAC_READ_SEARCH;
	struct {
		uint32_t version;
		int pid;
	} header = {.version = VERSION};
	struct {
		uint32_t effective, permitted, inheritable;
	} data[WORDS];
	if (syscall(SYS_capget, &header, data) != 0)
		return;
	for (size_t i = 0; i < WORDS; i++) {
		data[i].permitted &= i == 0 ? kept : 0;
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, data);
}

/* ---- Landlock: nothing is opened for writing, made, renamed, removed or executed ---- */

/* The version of the running kernel decides. */
enum {
	RIGHT_EXECUTE = 1 << 0,
	RIGHT_WRITE_FILE = 1 << 1,
	RIGHT_REMOVE_DIR = 1 << 4,
	RIGHT_REMOVE_FILE = 1 << 5,
	RIGHT_MAKE_CHAR = 1 << 6,
	RIGHT_MAKE_DIR = 1 << 7,
	RIGHT_MAKE_REG = 1 << 8,
	RIGHT_MAKE_SOCK = 1 << 9,
	RIGHT_MAKE_FIFO = 1 << 10,
	RIGHT_MAKE_BLOCK = 1 << 11,
	RIGHT_MAKE_SYM = 1 << 12,
	RIGHT_REFER = 1 << 13,
	RIGHT_TRUNCATE = 1 << 14,
	RIGHT_IOCTL_DEVICE = 1 << 15,
	RIGHTS_TCP = 3,
	SCOPES = 3, /* abstract sockets and signals stay among the confined */
};

/* struct landlock_ruleset_attr of kernels that know all of this; older ones want zeros at its end.
 */
struct ruleset {
	uint64_t files, net, scopes;
};

/* struct landlock_path_beneath_attr, which is packed. */
struct __attribute__((packed)) beneath {
	uint64_t files;
	int32_t folder;
};

static struct ruleset ruleset_of(long abi)
{
	struct ruleset set = {
		.files = RIGHT_EXECUTE | RIGHT_WRITE_FILE | RIGHT_REMOVE_DIR | RIGHT_REMOVE_FILE |
			RIGHT_MAKE_CHAR | RIGHT_MAKE_DIR | RIGHT_MAKE_REG | RIGHT_MAKE_SOCK |
			RIGHT_MAKE_FIFO | RIGHT_MAKE_BLOCK | RIGHT_MAKE_SYM,
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
	struct beneath rule = {
		.files = RIGHT_WRITE_FILE | RIGHT_MAKE_REG | RIGHT_MAKE_DIR | RIGHT_MAKE_SYM |
			RIGHT_REMOVE_FILE,
		.folder = target,
	};
	syscall(LANDLOCK_ADD, ruleset, LANDLOCK_BENEATH, &rule, 0);
}

static void forbid_changes(int target)
{
	long abi = landlock_version();
	if (abi < 1)
		return;
	struct ruleset set = ruleset_of(abi);
	int ruleset = (int)syscall(LANDLOCK_CREATE, &set, sizeof(set), 0);
	if (ruleset < 0)
		return;
	if (target >= 0)
		allow_target(ruleset, target);
	syscall(LANDLOCK_RESTRICT, ruleset, 0);
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

static void note(
	struct pmfs_confinement *c, bool works, const char *layer, int version, const char *lacking)
{
	char *list = works ? c->layers : c->missing;
	size_t len = strlen(list), room = sizeof(c->layers) - len;
	len += (size_t)snprintf(list + len, room, "%s%s", len ? ", " : "", layer);
	if (works && version > 0)
		snprintf(list + len, sizeof(c->layers) - len, " (version %d)", version);
	else if (!works)
		snprintf(list + len, sizeof(c->layers) - len, " (%s)", lacking);
}

void pmfs_confinement(struct pmfs_confinement *ret)
{
	static const char kernel[] = "not in this kernel", build[] = "not in this build";
	/* A filter at NULL is refused as such only where there are filters. */
	bool filters = prctl(PR_SET_SECCOMP, MODE_FILTER, NULL, 0, 0) != 0 && errno == EFAULT;
	bool calls = pmfs_can_forbid_calls(), code = prctl(GET_MDWE, 0, 0, 0, 0) >= 0;
	int version = (int)landlock_version();
	bool all = false;
#ifdef PMFS_CONFINE
	all = true;
#endif
	*ret = (struct pmfs_confinement){.layers = ""};
	note(ret, all, "no new privileges", 0, build);
	note(ret, all, "capabilities", 0, build);
	note(ret, all && version > 0, "Landlock", version, all ? kernel : build);
	note(ret, all && calls && filters, "seccomp", 0, all && calls ? kernel : build);
	note(ret, all && code, "no new executable memory", 0, all ? kernel : build);
}

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
