/*
 * The category of each context. Rules are tried once for each distinct frame, and only those for
 * functions with a text that begins with the letter of one of their words; then one pass in
 * pre-order passes categories down to frames whose function has none.
 */
#include "fs/views/model/categories.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/affix.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/model.h"
#include "fs/views/model/parts.h"

/* ---- rules ---- */

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct pmfs_rule pmfs_rules[] = {
	/* clang-format off */
	{PMFS_PROGRAM, false, PMFS_RULE_HOLDS, WORDS("._omp_fn.", ".omp_outlined", "omp_task_entry")},
	{PMFS_OPENMP, false, PMFS_RULE_BEGINS, WORDS("GOMP_parallel_end", "kmp_api_GOMP_parallel_end")},
	{PMFS_PROGRAM, false, PMFS_RULE_BEGINS, WORDS("kmpc_fork_call", "kmp_fork_call", "kmp_invoke_",
		"kmp_launch_", "kmp_GOMP_microtask", "kmpc_omp_task", "kmp_GOMP_fork", "GOMP_parallel",
		"GOMP_task", "kmp_api_GOMP_parallel",
		"kmp_api_GOMP_task", "gomp_thread_start", "gomp_barrier_handle_tasks", "omp_outlined")},
	{PMFS_PROGRAM, false, PMFS_RULE_IS, WORDS("start_thread", "clone", "clone3", "thread_start",
		"libc_start_main", "libc_start_call_main", "start", "main")},

	{PMFS_IO, false, PMFS_RULE_BEGINS, WORDS("MPI_File_", "PMPI_File_", "mpi_file_", "mca_io_",
		"ADIOI_", "ADIO_")},
	{PMFS_MPI, false, PMFS_RULE_BEGINS, WORDS("MPI_", "PMPI_", "mpi_", "pmpi_", "MPIR_", "MPID_",
		"MPIDI_", "MPIDU_", "MPIDIG_", "MPIU_", "MPII_", "ompi_", "opal_", "orte_", "prte_", "pmix_",
		"PMIx_", "PMI_", "PMI2_", "mca_", "ucp_", "uct_", "ucs_", "ucm_", "psm2_", "shmem_", "mpi4py")},
	{PMFS_MPI, false, PMFS_RULE_MODULE, WORDS("libmpi", "libpmpi", "libopen-pal", "libopen-rte",
		"libpmix", "libprrte", "libucp", "libuct", "libucs", "libucm", "libpsm", "libhcoll",
		"libsharp", "liboshmem", "mca_", "libmpl.", "libopa.")},
	{PMFS_OPENMP, false, PMFS_RULE_BEGINS, WORDS("<omp ", "omp_", "GOMP_", "gomp_", "kmp_", "kmpc_",
		"ompt_", "ompc_")},
	{PMFS_OPENMP, false, PMFS_RULE_MODULE, WORDS("libomp", "libgomp", "libiomp", "libnvomp",
		"libcraymp")},

	{PMFS_GPU, false, PMFS_RULE_BEGINS, WORDS("<gpu ", "<cuda ", "cuda", "hsa_", "nccl", "rccl",
		"cublas", "cudnn", "cufft", "cusparse", "cusolver", "curand", "rocblas", "rocfft", "hipblas",
		"acc_", "pgi_uacc", "sycl::", "oneapi::", "roctracer_", "rocprofiler_", "cupti")},
	{PMFS_GPU, false, PMFS_RULE_CAMEL, WORDS("cu", "hip", "cl", "ze")},
	{PMFS_GPU, false, PMFS_RULE_MODULE, WORDS("libcuda", "libcupti", "libcublas", "libcudnn",
		"libcufft", "libcusparse", "libcusolver", "libnccl", "libnvidia", "libamdhip", "libhsa-",
		"libroctracer", "librocprofiler", "librocblas", "librccl", "libamd_comgr", "libOpenCL",
		"libze_", "libsycl", "libigc", "libigdgmm", "nvidia.ko", "nvidia_uvm", "<nvidia", "<amdgpu")},
	{PMFS_GPU, false, PMFS_RULE_SUFFIX, WORDS(".gpubin", ".cubin")},

	/* Threads of the JVM that have nothing to collect; and selectors, which only wait. */
	{PMFS_THREAD, false, PMFS_RULE_BEGINS, WORDS("java.lang.ref.ReferenceQueue.remove",
		"java.lang.ref.ReferenceQueue.await", "java.lang.ref.Reference.waitFor",
		"sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollArrayWrapper.epollWait", "sun.nio.ch.KQueue.poll",
		"io.netty.channel.epoll.Native.epollWait")},
	{PMFS_GC, false, PMFS_RULE_BEGINS, WORDS("GC_", "GC.", "gc_collect", "php::gc_", "PyGC_", "PyObject_GC_",
		"runtime.gc", "runtime.scanobject", "runtime.greyobject", "runtime.sweep", "System.GC.",
		"V8.GC", "BlinkGC", "CppGC",
		"java.lang.System.gc", "java.lang.Runtime.gc", "java.lang.ref.", "G1CollectedHeap", "G1ParScan",
		"ParallelScavengeHeap", "PSParallelCompact", "GenCollectedHeap", "ZMark",
		"ZRelocate", "ShenandoahHeap", "SafepointSynchronize")},
	{PMFS_GC, false, PMFS_RULE_IS, WORDS("GC", "gc", "GarbageCollect", "Garbage collection",
		"(garbage collector)", "(garbage collection)", "MinorGC", "MajorGC", "GCMinor", "GCMajor")},
	{PMFS_GC, false, PMFS_RULE_MODULE, WORDS("libgc.")},

	{PMFS_SQL, false, PMFS_RULE_BEGINS, WORDS("sqlite3", "PQexec", "PQsend", "PQget", "PQprepare",
		"mysql_", "OCIStmt", "SQLExec", "SQLFetch", "DBI::", "DBD::", "DBIx::", "SQL::", "java.sql.",
		"javax.sql.", "org.postgresql.", "com.mysql.", "org.mariadb.", "oracle.jdbc.", "org.h2.",
		"org.hsqldb.", "org.sqlite.", "org.apache.derby.", "com.microsoft.sqlserver.", "com.ibm.db2.",
		"com.zaxxer.hikari.", "System.Data.", "Microsoft.Data.", "Npgsql.", "MySql.Data.",
		"php::mysql", "php::PDO", "php::pg_", "php::sqlite", "php::SQLite3", "php::oci_", "php::odbc_",
		"php::sqlsrv_")},
	{PMFS_SQL, false, PMFS_RULE_MODULE, WORDS("libsqlite", "libpq.", "libmysqlclient", "libmariadb",
		"libclntsh")},

	{PMFS_NET, false, PMFS_RULE_BEGINS, WORDS("LWP::", "HTTP::Tiny", "HTTP::Request", "HTTP::Response",
		"Net::", "IO::Socket", "Socket::", "java.net.", "javax.net.", "sun.net.", "sun.security.ssl.",
		"sun.nio.ch.Socket", "sun.nio.ch.Net.", "org.apache.http.", "org.apache.hc.", "okhttp3.",
		"System.Net.", "curl_", "Curl_", "SSL_", "net/http.(*Client)", "net/http.(*Transport)",
		"rsocket", "rdma_", "ibv_", "fi_", "php::curl_", "php::fsockopen", "php::socket_",
		"php::stream_socket_", "php::Soap", "php::ftp_", "php::gethostby", "php::dns_", "php::mail",
		"php::Memcache", "php::Redis")},
	{PMFS_NET, false, PMFS_RULE_MODULE, WORDS("libcurl", "libssl", "libgnutls", "libibverbs",
		"librdmacm", "libfabric", "libmlx", "libresolv", "libzmq")},
	{PMFS_IO, false, PMFS_RULE_BEGINS, WORDS("IO::", "File::", "PerlIO::", "java.io.", "java.nio.file.",
		"sun.nio.fs.", "sun.nio.ch.File", "java.util.zip.ZipFile", "System.IO.", "H5D", "H5F", "H5G",
		"H5A", "H5O", "nc_", "ncmpi_", "adios2_", "io_uring_", "aio_", "php::file", "php::fopen",
		"php::fclose", "php::fread", "php::fwrite", "php::fget", "php::fput", "php::fflush", "php::flock",
		"php::is_file", "php::is_dir", "php::readfile", "php::opendir", "php::readdir", "php::scandir",
		"php::unlink", "php::rename", "php::mkdir", "php::rmdir", "php::copy", "php::touch")},
	{PMFS_IO, false, PMFS_RULE_MODULE, WORDS("libhdf5", "libnetcdf", "libpnetcdf", "libadios",
		"liburing", "libaio", "liblustre")},

	{PMFS_NET, true, PMFS_RULE_IS, WORDS("socket", "socketpair", "connect", "accept", "accept4", "bind",
		"listen", "send", "sendto", "sendmsg", "sendmmsg", "recv", "recvfrom", "recvmsg", "recvmmsg",
		"shutdown", "getaddrinfo", "gethostbyname", "gethostbyname_r", "getnameinfo", "sys_sendto",
		"sys_recvfrom", "sock_sendmsg", "sock_recvmsg", "net_rx_action")},
	{PMFS_NET, true, PMFS_RULE_BEGINS, WORDS("tcp_", "udp_", "inet_", "ip_queue", "ip_rcv", "ip_local",
		"ip_finish", "unix_stream", "unix_dgram")},
	{PMFS_NET, true, PMFS_RULE_CORE, WORDS("socket", "connect", "accept", "bind", "listen", "send",
		"recv", "shutdown", "ghbyname")},
	{PMFS_IO, true, PMFS_RULE_IS, WORDS("open", "open64", "openat", "openat64", "creat", "close", "read",
		"write", "pread", "pread64", "pwrite", "pwrite64", "readv", "writev", "preadv", "pwritev",
		"lseek", "lseek64", "fsync", "fdatasync", "stat", "fstat", "lstat", "fstatat", "fstatat64",
		"newfstatat", "stat64", "fstat64", "lstat64", "xstat", "fxstat", "lxstat", "xstat64",
		"fxstat64", "lxstat64", "access", "unlink", "unlinkat", "rename", "renameat", "mkdir",
		"rmdir", "opendir", "readdir", "readdir64", "getdents", "getdents64", "scandir", "fopen",
		"fopen64", "fdopen", "fclose", "fread", "fwrite", "fflush", "fseek", "fgets", "fgetc",
		"getline", "getdelim", "fputs", "fputc", "putc", "putchar", "puts", "printf", "fprintf",
		"vprintf", "vfprintf", "dprintf", "vdprintf", "scanf", "fscanf", "vfscanf", "ftruncate",
		"sendfile", "sendfile64", "copy_file_range", "splice", "ioctl", "fcntl", "fcntl64", "msync",
		"posix_fadvise", "open64_nocancel", "read_nocancel", "write_nocancel", "close_nocancel", "getc", "ungetc")},
	{PMFS_IO, true, PMFS_RULE_BEGINS, WORDS("IO_file_", "IO_new_file_", "IO_new_do_write",
		"IO_do_write", "IO_un_link", "IO_switch_to", "std::basic_filebuf", "std::basic_ofstream",
		"std::basic_ifstream", "std::ostream", "std::basic_ostream", "std::istream",
		"std::basic_istream", "vfs_", "ksys_read", "ksys_write", "ext4_", "xfs_", "nfs_", "btrfs_",
		"ll_file_", "submit_bio", "do_sys_open", "generic_file_",
		"filemap_read", "internal/poll.", "syscall.read", "syscall.write", "std::io::", "std::fs::")},
	{PMFS_IO, true, PMFS_RULE_CORE, WORDS("print", "printf", "prtf", "say", "open", "sysopen", "close",
		"readline", "read", "sysread", "syswrite", "eof", "seek", "sysseek", "tell", "stat", "lstat",
		"ft", "unlink", "rename", "mkdir", "rmdir", "opendir", "open_dir", "readdir", "closedir",
		"rewinddir", "truncate", "select", "binmode", "flock", "backtick", "glob", "getc",
		"chmod", "chown", "utime", "fileno", "pipe_op", "symlink", "readlink", "link", "chdir")},
	{PMFS_THREAD, true, PMFS_RULE_IS, WORDS("sched_yield", "nanosleep", "clock_nanosleep", "usleep",
		"sleep", "futex", "futex_wait", "futex_wake", "do_futex", "do_sched_yield", "schedule",
		"schedule_timeout", "lll_lock_wait", "lll_lock_wait_private", "lll_lock_wake",
		"lll_lock_wake_private", "wait4", "waitpid", "waitid", "pause", "sigwait", "mtx_lock",
		"cnd_wait", "thrd_join", "thrd_yield", "thrd_sleep",
		/* These only wait, for data or for a time: what is ready is read by another call. */
		"poll", "ppoll", "select", "pselect", "pselect6", "epoll_wait", "epoll_pwait",
		"epoll_pwait2", "do_sys_poll", "do_select", "do_epoll_wait", "ep_poll")},
	{PMFS_THREAD, true, PMFS_RULE_BEGINS, WORDS("pthread_", "sem_", "futex_", "std::mutex",
		"std::condition_variable", "std::thread::join", "std::this_thread", "std::lock_guard",
		"std::unique_lock", "absl::Mutex", "absl::CondVar", "java.lang.Thread.sleep",
		"java.lang.Thread.yield", "java.lang.Thread.join", "java.lang.Object.wait",
		"sun.misc.Unsafe.park", "jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.",
		"java.util.concurrent.CountDownLatch.await", "java.util.concurrent.Semaphore.acquire",
		"java.util.concurrent.SynchronousQueue", "System.Threading.Monitor.",
		"System.Threading.Thread.Sleep", "System.Threading.WaitHandle.", "runtime.futex",
		"runtime.semacquire", "runtime.lock", "runtime.usleep", "sync.(*Mutex)", "sync.(*RWMutex)",
		"WaitFor", "NtWaitFor", "ZwWaitFor", "Gfx.WaitFor", "Semaphore.WaitForSignal", /* Windows, Unity */
		"php::sleep", "php::usleep", "threads::", "Thread::", "Time::HiRes::sleep", "Time::HiRes::usleep",
		"Time::HiRes::nanosleep")},
	{PMFS_THREAD, true, PMFS_RULE_CORE, WORDS("sleep", "sselect", "wait", "waitpid", "fork")},
	{PMFS_THREAD, true, PMFS_RULE_MODULE, WORDS("libpthread")},
	{PMFS_MEMORY, true, PMFS_RULE_IS, WORDS("malloc", "free", "calloc", "realloc", "reallocarray",
		"memalign", "posix_memalign", "aligned_alloc", "valloc", "cfree", "int_malloc", "int_free",
		"int_realloc", "int_memalign", "malloc_consolidate", "unlink_chunk", "sysmalloc", "systrim",
		"malloc_trim", "tcache_init", "mmap", "mmap64", "munmap", "mremap", "brk", "sbrk", "morecore",
		"madvise", "mprotect", "page_fault", "asm_exc_page_fault", "exc_page_fault",
		"do_user_addr_fault", "do_page_fault", "handle_mm_fault", "do_anonymous_page",
		"do_huge_pmd_anonymous_page", "clear_page_erms", "clear_page_rep", "clear_huge_page",
		"clear_user_highpage", "get_page_from_freelist", "do_mmap", "do_munmap", "do_madvise",
		"unmap_region", "unmap_vmas", "exit_mmap", "mem_cgroup_charge", "PyObject_Malloc",
		"PyObject_Free", "PyMem_Malloc", "PyMem_Free")},
	{PMFS_MEMORY, true, PMFS_RULE_BEGINS, WORDS("operator new", "operator delete", "alloc_pages",
		"zap_p", "free_pages", "tc_malloc", "tc_free", "tc_new", "tc_delete", "je_", "mi_malloc",
		"mi_free", "tcmalloc::", "runtime.mallocgc", "runtime.newobject", "numa_alloc", "numa_free",
		"memkind_", "rust_alloc", "rust_dealloc", "rust_realloc", "alloc::alloc::")},
	{PMFS_MEMORY, true, PMFS_RULE_MODULE, WORDS("libjemalloc", "libtcmalloc", "libmimalloc",
		"libmemkind", "libnuma")},
	/* clang-format on */
};

const size_t pmfs_n_rules = sizeof(pmfs_rules) / sizeof(*pmfs_rules);

/* ---- the rule of a function ---- */

/* What a rule compares. */
struct subject {
	struct pm_bytes stored, name, core, module;
};

/* Whether the word is followed by a capital letter in `name`. */
static bool is_camel(struct pm_bytes name, const char *word)
{
	if (!pm_begins_with(name, word))
		return false;
	size_t len = strlen(word);
	return name.len > len + 1 && name.p[len] >= 'A' && name.p[len] <= 'Z' &&
		name.p[len + 1] >= 'a' && name.p[len + 1] <= 'z';
}

/* Also if packages have slashes, as in class files, which profilers of the JVM show. */
static bool begins(struct pm_bytes name, const char *word)
{
	size_t n = 0;
	for (; word[n]; n++)
		if (n == name.len || (name.p[n] != word[n] && (word[n] != '.' || name.p[n] != '/')))
			return false;
	return true;
}

static bool matches(enum pmfs_rule_of of, const struct subject *s, const char *word)
{
	switch (of) {
	case PMFS_RULE_IS: return pm_bytes_equal(s->name, pm_bytes_of(word));
	case PMFS_RULE_BEGINS: return begins(s->name, word);
	case PMFS_RULE_CAMEL: return is_camel(s->name, word);
	case PMFS_RULE_HOLDS:
		return s->stored.len && memmem(s->stored.p, s->stored.len, word, strlen(word));
	case PMFS_RULE_CORE: return s->core.len && pm_begins_with(s->core, word);
	case PMFS_RULE_MODULE: return pm_begins_with(s->module, word);
	case PMFS_RULE_SUFFIX: return pm_ends_with(s->module, word);
	}
	return false;
}

/* Without what linkers and compilers add: `foo@plt`, `foo@@GLIBC_2.2.5`, `foo.isra.0`. */
static struct pm_bytes plain_name(struct pm_bytes stored)
{
	static const char *const prefixes[] = {"__GI_", "__libc_"};
	struct pm_bytes mark, name = pmfs_name_original(stored, &mark);
	const uint8_t *version = name.len > 1 ? memchr(name.p + 1, '@', name.len - 1) : NULL;
	if (version)
		name.len = (size_t)(version - name.p);
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (pm_begins_with(name, prefixes[i]) && !pm_begins_with(name, "__libc_start_"))
			name = (struct pm_bytes){
				name.p + strlen(prefixes[i]), name.len - strlen(prefixes[i])};
	while (name.len > 1 && name.p[0] == '_')
		name = (struct pm_bytes){name.p + 1, name.len - 1};
	return name;
}

/* The Perl built-in of `main::CORE:print`; empty for other names. */
static struct pm_bytes core_word(struct pm_bytes stored)
{
	const uint8_t *at = stored.len ? memmem(stored.p, stored.len, "CORE:", 5) : NULL;
	size_t before = at ? (size_t)(at - stored.p) : 0;
	if (!at || before + 5 == stored.len || at[5] == ':')
		return (struct pm_bytes){stored.p, 0};
	return (struct pm_bytes){at + 5, stored.len - before - 5};
}

/*
 * Which text of a function a rule is about. Most words differ in the first letter from all texts,
 * so words are looked up by it: they have a bucket for each letter of each text.
 */
enum text { NAME, CORE, MODULE, WHOLE, N_TEXTS };

enum { LETTERS = 256, N_BUCKETS = N_TEXTS * LETTERS, MOST_WORDS = 2048 };

struct word {
	size_t rule;
	const char *word;
};

static pthread_once_t words_once = PTHREAD_ONCE_INIT;
static struct word words[MOST_WORDS]; /* by bucket, then rule */
static size_t bucket_starts[N_BUCKETS + 1];

static enum text text_of(enum pmfs_rule_of of)
{
	switch (of) {
	case PMFS_RULE_IS:
	case PMFS_RULE_BEGINS:
	case PMFS_RULE_CAMEL: return NAME;
	case PMFS_RULE_CORE: return CORE;
	case PMFS_RULE_MODULE: return MODULE;
	case PMFS_RULE_HOLDS:
	case PMFS_RULE_SUFFIX: break;
	}
	return WHOLE;
}

/* Most modules begin with `lib`: the letter after it tells them apart. */
static size_t bucket_of(enum text text, struct pm_bytes what)
{
	size_t letter = text == MODULE && what.len > 3 && pm_begins_with(what, "lib") ? 3 : 0;
	return text == WHOLE ? WHOLE * LETTERS : text * LETTERS + (size_t)what.p[letter];
}

static size_t bucket_of_word(enum pmfs_rule_of of, const char *word)
{
	return bucket_of(text_of(of), pm_bytes_of(word));
}

static void sort_words(void)
{
	size_t ends[N_BUCKETS] = {0};
	for (size_t i = 0; i < pmfs_n_rules; i++)
		for (const char *const *word = pmfs_rules[i].words; *word; word++)
			ends[bucket_of_word(pmfs_rules[i].of, *word)]++;
	for (size_t i = 0; i < N_BUCKETS; i++) {
		bucket_starts[i + 1] = bucket_starts[i] + ends[i];
		ends[i] = bucket_starts[i];
	}
	assert(bucket_starts[N_BUCKETS] <= MOST_WORDS);
	for (size_t i = 0; i < pmfs_n_rules; i++)
		for (const char *const *word = pmfs_rules[i].words; *word; word++)
			words[ends[bucket_of_word(pmfs_rules[i].of, *word)]++] =
				(struct word){i, *word};
}

/* The first rule of a bucket that matches, if it is before `rule`; else `rule`. */
static size_t first_rule(const struct subject *s, size_t bucket, size_t rule)
{
	for (size_t i = bucket_starts[bucket]; i < bucket_starts[bucket + 1]; i++) {
		if (words[i].rule >= rule)
			break;
		if (matches(pmfs_rules[words[i].rule].of, s, words[i].word))
			return words[i].rule;
	}
	return rule;
}

const struct pmfs_rule *pmfs_rule_of_function(struct pm_bytes name, struct pm_bytes module)
{
	const struct subject s = {.stored = name,
		.name = plain_name(name),
		.core = core_word(name),
		.module = pmfs_base_name(module)};
	const struct pm_bytes texts[] = {[NAME] = s.name, [CORE] = s.core, [MODULE] = s.module};
	pthread_once(&words_once, sort_words);
	size_t rule = first_rule(&s, bucket_of(WHOLE, name), pmfs_n_rules);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].len)
			rule = first_rule(&s, bucket_of((enum text)i, texts[i]), rule);
	return rule < pmfs_n_rules ? &pmfs_rules[rule] : NULL;
}

const struct pmfs_rule *pmfs_rule_in_tree(struct pmfs_rules_found *found,
	const struct pm_tree *tree, struct pm_bytes name, uint32_t module)
{
	bool fresh = false;
	uint32_t *index = NULL;
	if (name.len > PM_STRTAB_LONG)
		index = pm_map_put(&found->rules,
			(uint64_t)pm_strtab_add_lasting(&found->names, name) << 32 | module,
			PM_NONE, &fresh);
	if (index && !fresh)
		return *index == PM_NONE ? NULL : &pmfs_rules[*index];
	const struct pmfs_rule *rule = pmfs_rule_of_function(name, tree->texts[module]);
	if (index && rule)
		*index = (uint32_t)(rule - pmfs_rules);
	return rule;
}

/* ---- the category of each context ---- */

static const char *const names[PMFS_N_CATEGORIES] = {
	[PMFS_PROGRAM] = "",
	[PMFS_IDLE] = "idle",
	[PMFS_MPI] = "mpi",
	[PMFS_OPENMP] = "openmp",
	[PMFS_GPU] = "gpu",
	[PMFS_THREAD] = "thread",
	[PMFS_IO] = "io",
	[PMFS_MEMORY] = "memory",
	[PMFS_GC] = "gc",
	[PMFS_SQL] = "sql",
	[PMFS_NET] = "net",
};

struct pm_bytes pmfs_category_name(enum pmfs_category category)
{
	return pm_bytes_of(names[category]);
}

/* What a context passes down: its category, and whether it comes from a system rule. */
enum {
	CATEGORY = 0x1f,
	BY_MODULE = 0x20, /* code without a name in a library that starts threads or regions */
	NO_RULE = 0x40,
	IS_SYSTEM = 0x80,
};

static uint8_t said_by(
	struct pmfs_rules_found *found, const struct pm_tree *tree, const struct pm_frame *frame)
{
	bool named = frame->kind != PM_KIND_INSTRUCTION && frame->kind != PM_KIND_ENTRY;
	if (frame->is_idle)
		return PMFS_IDLE;
	if (frame->on_gpu && !frame->is_annotation)
		return PMFS_GPU;
	if (frame->kind == PM_KIND_LOOP || frame->kind == PM_KIND_LINE)
		return NO_RULE;
	const struct pmfs_rule *rule =
		pmfs_rule_in_tree(found, tree, tree->texts[named ? frame->name : 0], frame->module);
	if (!rule)
		return NO_RULE;
	bool starts_code = rule->category == PMFS_OPENMP || rule->category == PMFS_THREAD;
	return (uint8_t)(rule->category | (rule->is_system ? IS_SYSTEM : 0) |
		(!named && starts_code ? BY_MODULE : 0));
}

/*
 * The module of the outermost code that is in no library, i.e. the program's own; 0 if there is
 * none.
 */
static uint32_t program_module(const struct pm_tree *tree, const uint8_t *said)
{
	static const char *const others[] = {"lib", "ld-", "ld.", "<", "[", "linux-", "vdso"};
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t module = pm_tree_frame(tree, i)->module;
		struct pm_bytes name = pmfs_base_name(tree->texts[module]);
		bool is_other = name.len == 0 || said[tree->frame[i]] != NO_RULE;
		for (size_t k = 0; !is_other && k < sizeof(others) / sizeof(*others); k++)
			is_other = pm_begins_with(name, others[k]);
		if (!is_other)
			return module;
	}
	return 0;
}

/* By context: 1 if the program's own code is called anywhere below it. */
static uint8_t *find_callers_of_program(
	struct pm_arena *a, const struct pm_tree *tree, const uint8_t *said)
{
	uint32_t program = program_module(tree, said);
	uint8_t *calls = pm_arena_alloc(a, (size_t)tree->n_contexts + 1);
	for (uint32_t i = tree->n_contexts; program != 0 && i-- > 0;) {
		bool is_program = said[tree->frame[i]] == NO_RULE &&
			pm_tree_frame(tree, i)->module == program;
		if (tree->parent[i] != PM_NONE)
			calls[tree->parent[i]] |= calls[i] || is_program;
	}
	return calls;
}

/* Loops, lines and instructions that are part of a function have its category. */
static void hand_down(
	struct pm_arena *scratch, const struct pmfs_identity *id, const uint8_t *said, uint8_t *of)
{
	/* A part of a tree may lack what a context calls; its category is the same all the same. */
	const struct pm_tree *tree = id->tree, *whole = tree->whole ? tree->whole : tree;
	const uint8_t *calls_program = find_callers_of_program(scratch, whole, said);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		uint8_t above = parent == PM_NONE ? PMFS_PROGRAM : of[parent];
		uint8_t own = said[tree->frame[i]];
		if (own != NO_RULE && (own & BY_MODULE) &&
			calls_program[pm_tree_find(whole, pm_tree_number(tree, i))])
			own = PMFS_PROGRAM;
		bool library_above = above != PMFS_PROGRAM && !(above & IS_SYSTEM);
		bool inherits = own == NO_RULE || ((own & IS_SYSTEM) && library_above) ||
			!pmfs_is_call(id, i);
		of[i] = inherits ? above : own;
	}
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		of[i] &= CATEGORY;
}

struct categories_part {
	uint8_t *of; /* by context */
};

/* What a filter leaves has the categories of before. */
static void copy_unfiltered(struct pm_arena *a, const struct pm_tree *tree,
	struct pmfs_model *unfiltered, uint8_t *of, struct pm_error *err)
{
	const struct pm_tree *whole;
	const uint8_t *from;
	pm_build_check(a, pmfs_categories(unfiltered, &from, err));
	pm_build_check(a, pmfs_model_tree(unfiltered, &whole, err));
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t context = pm_tree_find(whole, pm_tree_number(tree, i));
		of[i] = context == PM_NONE ? PMFS_PROGRAM : from[context];
	}
}

static void build_categories(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct categories_part *part = p;
	struct pmfs_model *unfiltered = pmfs_model_unfiltered(m);
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct pmfs_identity *id;
	pm_build_check(a, pmfs_identity(m, &id, err));
	const struct pm_tree *tree = id->tree;
	part->of = pm_arena_alloc(a, (size_t)tree->n_contexts + 1);
	if (unfiltered) {
		copy_unfiltered(a, tree, unfiltered, part->of, err);
		return;
	}
	uint8_t *said = pm_arena_alloc(scratch, (size_t)tree->n_frames + 1);
	struct pmfs_rules_found found = {
		{.home = scratch, .lasting.arena = scratch}, {.arena = scratch}};
	for (uint32_t i = 0; i < tree->n_frames; i++) {
		said[i] = said_by(&found, tree, &tree->frames[i]);
		pm_build_proceed(a);
	}
	hand_down(scratch, id, said, part->of);
	pm_arena_done(scratch);
}

int pmfs_categories(struct pmfs_model *m, const uint8_t **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct categories_part),
		.what = "the categories", .build = build_categories};
	const struct categories_part *part;
	int r = pmfs_model_part(m, PMFS_PART_CATEGORIES, &type, &part, err);
	*ret = r < 0 ? NULL : part->of;
	return r;
}
