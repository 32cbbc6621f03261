/*
 * Source files as mappings, and the guard against files that are truncated while mapped. The guard
 * needs process-wide state, the only such state below fs/: a signal handler only gets an address,
 * so mapped ranges are in a global table. The handler takes no lock: an entry is valid if its
 * length is not 0; the length is set last and cleared first. Flags are in the table and not in
 * struct pm_input, which may move. A lost page is replaced by zeros together with the rest of the
 * file: a file loses data at its end, so a sequential reader faults once instead of once per page.
 * If the table is full, or the file system does not support mapping, a file of moderate size is
 * read into memory instead.
 */
#include "formats/common/input.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/reason.h"
#define N_RANGES     16384
#define LARGEST_READ ((size_t)64 << 20)
#define PASSED_STEP  ((size_t)16 << 20)

struct range {
	uintptr_t start;
	size_t len;     /* 0: unused */
	bool taken;     /* the entry is taken, or about to be filled */
	bool lost;      /* a page was replaced by zeros */
	int protection; /* of pages that replace lost ones */
};

static struct range ranges[N_RANGES];
static struct sigaction before_guard; /* the previous action of SIGBUS */
static uintptr_t page_mask;

/* ---- the guard ---- */

/* The range around an address at this moment; other threads may open and close files. */
static struct range *range_of(uintptr_t address, uintptr_t *ret_end)
{
	for (size_t i = 0; i < N_RANGES; i++) {
		struct range *range = &ranges[i];
		size_t len = __atomic_load_n(&range->len, __ATOMIC_ACQUIRE);
		uintptr_t start = __atomic_load_n(&range->start, __ATOMIC_ACQUIRE);
		if (address - start >= len || address < start)
			continue;
		if (__atomic_load_n(&range->len, __ATOMIC_ACQUIRE) != len)
			continue;
		*ret_end = start + len;
		return range;
	}
	return NULL;
}

/* Runs inside the code that accessed the page: no locks, no allocation, preserves errno. */
static void on_sigbus(int signal, siginfo_t *info, void *machine)
{
	(void)machine;
	int saved = errno;
	uintptr_t page = (uintptr_t)info->si_addr & page_mask, end;
	struct range *range = range_of((uintptr_t)info->si_addr, &end);
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
	int protection = range ? __atomic_load_n(&range->protection, __ATOMIC_RELAXED) : 0;
	if (range && mmap((void *)page, end - page, protection, flags, -1, 0) != MAP_FAILED)
		__atomic_store_n(&range->lost, true, __ATOMIC_RELEASE);
	else
		sigaction(signal, &before_guard, NULL); /* faults again, without us */
	errno = saved;
}

static void install_guard(void)
{
	struct sigaction guard = {.sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO};
	page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	sigemptyset(&guard.sa_mask);
	sigaction(SIGBUS, &guard, &before_guard);
}

/* The entry that guards a mapping, or -1 if the table is full. */
static int guard_range(const void *start, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, install_guard);
	for (int i = 0; i < N_RANGES; i++) {
		struct range *range = &ranges[i];
		if (__atomic_load_n(&range->taken, __ATOMIC_RELAXED) ||
			__atomic_exchange_n(&range->taken, true, __ATOMIC_ACQUIRE))
			continue;
		__atomic_store_n(&range->lost, false, __ATOMIC_RELAXED);
		__atomic_store_n(&range->protection, PROT_READ, __ATOMIC_RELAXED);
		__atomic_store_n(&range->start, (uintptr_t)start, __ATOMIC_RELAXED);
		__atomic_store_n(&range->len, len, __ATOMIC_RELEASE);
		return i;
	}
	return -1;
}

static void unguard_range(int slot)
{
	__atomic_store_n(&ranges[slot].len, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&ranges[slot].taken, false, __ATOMIC_RELEASE);
}

/* ---- inputs ---- */

/* True if the file was mapped and guarded. */
static bool map_file(struct pm_input *in, size_t len)
{
	/* Private for pm_input_allow_writes, after which few pages are written. */
	void *p = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, in->fd, 0);
	if (p == MAP_FAILED)
		return false;
	in->slot = guard_range(p, len);
	if (in->slot < 0) {
		munmap(p, len);
		return false;
	}
	in->bytes = (struct pm_bytes){p, len};
	return true;
}

static int read_file(struct pm_input *in, size_t len, struct pm_error *err)
{
	if (len > LARGEST_READ)
		return pm_error_set(err, -ENOMEM, in->name, PM_NO_OFFSET,
			"cannot be mapped, and %zu bytes are too many to be read into memory", len);
	uint8_t *p = malloc(len);
	if (!p)
		return pm_error_set(err, -ENOMEM, in->name, PM_NO_OFFSET, "no memory");
	in->bytes = (struct pm_bytes){p, len};
	for (size_t at = 0; at < len;) {
		ssize_t n = pread(in->fd, p + at, len - at, (off_t)at);
		if (n == 0)
			return pm_error_set(
				err, -EIO, in->name, at, "the file ends here, %zu expected", len);
		if (n < 0 && errno != EINTR)
			return pm_error_set(
				err, -EIO, in->name, at, "cannot be read: %s", strerror(errno));
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A file whose first byte cannot be read is rejected rather than read as zeros. */
static int read_first(struct pm_input *in, struct pm_error *err)
{
	char first;
	if (pread(in->fd, &first, 1, 0) >= 0)
		return 0;
	return pm_error_set(err, -EIO, in->name, 0, "cannot be read: %s", strerror(errno));
}

static int load(struct pm_input *in, struct pm_error *err)
{
	static const uint8_t nothing[1];
	struct stat st;
	if (fstat(in->fd, &st) < 0)
		return pm_error_set(err, -EIO, in->name, PM_NO_OFFSET, "cannot be examined: %s",
			strerror(errno));
	if (!S_ISREG(st.st_mode))
		return pm_error_set(err, -EINVAL, in->name, PM_NO_OFFSET, "is not a regular file");
	in->stamp = pm_stamp_of(&st);
	in->bytes = (struct pm_bytes){nothing, 0};
	if (in->watch && pm_stamp_compare(&in->watch->was, &in->stamp) == PM_CHANGED) {
		pm_watch_spoil(in->watch);
		return pm_error_set(
			err, -EIO, in->name, PM_NO_OFFSET, "has changed since it was mounted");
	}
	if (in->watch)
		in->stamp = in->watch->was;
	in->mtime_ns = in->stamp.mtime_ns;
	if (in->stamp.size == 0)
		return 0;
	int r = read_first(in, err);
	if (r < 0 || map_file(in, in->stamp.size))
		return r;
	return read_file(in, in->stamp.size, err);
}

int pm_input_take_watched(
	struct pm_input *in, int fd, const char *name, struct pm_watch *watch, struct pm_error *err)
{
	*in = (struct pm_input){.name = strdup(name), .fd = fd, .slot = -1, .watch = watch};
	if (!in->name) {
		close(fd);
		in->fd = -1;
		return pm_error_set(err, -ENOMEM, name, PM_NO_OFFSET, "no memory");
	}
	int r = load(in, err);
	if (r < 0)
		pm_input_close(in);
	return r;
}

int pm_input_take(struct pm_input *in, int fd, const char *name, struct pm_error *err)
{
	return pm_input_take_watched(in, fd, name, NULL, err);
}

int pm_input_open_watched(struct pm_input *in, int folder, const char *path, struct pm_watch *watch,
	struct pm_error *err)
{
	*in = (struct pm_input){.fd = -1, .slot = -1};
	/* O_NONBLOCK: opening a pipe must not wait for its other end. */
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return pm_input_take_watched(in, fd, path, watch, err);
	if (errno == ENOENT || errno == ENOTDIR)
		return pm_error_set(err, -ENOENT, path, PM_NO_OFFSET, "there is no such file");
	if (errno == ENXIO)
		return pm_error_set(err, -EINVAL, path, PM_NO_OFFSET, "is not a regular file");
	bool later = errno == ENOMEM || errno == EMFILE || errno == ENFILE;
	if (errno == EMFILE || errno == ENFILE)
		pm_reason_files();
	return pm_error_set(err, later ? -ENOMEM : -EIO, path, PM_NO_OFFSET, "cannot be opened: %s",
		strerror(errno));
}

int pm_input_open(struct pm_input *in, int folder, const char *path, struct pm_error *err)
{
	return pm_input_open_watched(in, folder, path, NULL, err);
}

static bool is_same(struct pm_input *in)
{
	struct stat st;
	if (in->watch)
		return pm_watch_good(in->watch, in->bytes, in->fd);
	if (fstat(in->fd, &st) != 0)
		return false;
	struct pm_stamp is = pm_stamp_of(&st);
	return pm_stamp_compare(&in->stamp, &is) == PM_UNCHANGED;
}

bool pm_input_changed(struct pm_input *in)
{
	if (__atomic_load_n(&in->changed, __ATOMIC_ACQUIRE))
		return true;
	bool lost = in->slot >= 0 && __atomic_load_n(&ranges[in->slot].lost, __ATOMIC_ACQUIRE);
	if (!lost && (in->fd < 0 || is_same(in)))
		return false;
	__atomic_store_n(&in->changed, true, __ATOMIC_RELEASE);
	return true;
}

int pm_input_allow_writes(struct pm_input *in)
{
	const int protection = PROT_READ | PROT_WRITE;
	if (in->slot < 0)
		return 0;
	if (mprotect((void *)(uintptr_t)in->bytes.p, in->bytes.len, protection) != 0)
		return -ENOMEM;
	__atomic_store_n(&ranges[in->slot].protection, protection, __ATOMIC_RELAXED);
	return 0;
}

void pm_input_passed(struct pm_input *in, uint64_t upto)
{
	size_t end = upto / PASSED_STEP * PASSED_STEP;
	if (in->slot < 0 || upto > in->bytes.len || end <= in->passed)
		return;
	void *p = (void *)(uintptr_t)(in->bytes.p + in->passed);
	madvise(p, end - in->passed, MADV_DONTNEED);
	in->passed = end;
}

static void drop_bytes(struct pm_input *in)
{
	void *p = (void *)(uintptr_t)in->bytes.p;
	if (in->slot >= 0) {
		unguard_range(in->slot);
		munmap(p, in->bytes.len);
	} else if (in->bytes.len) {
		free(p);
	}
}

void pm_input_replace(struct pm_input *in, uint8_t *p, size_t n)
{
	drop_bytes(in);
	in->slot = -1;
	in->bytes = (struct pm_bytes){p, n};
}

void pm_input_close(struct pm_input *in)
{
	if (!in->name) /* zeroed, or never opened: fd says nothing */
		return;
	drop_bytes(in);
	if (in->fd >= 0)
		close(in->fd);
	free(in->name);
	*in = (struct pm_input){.fd = -1, .slot = -1};
}
