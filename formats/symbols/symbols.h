/*
 * Names of addresses, for every sampled format: functions, inlined functions, loops and lines of
 * the load modules of a measurement, and why there are none. docs/formats/hpcrun.md, section 8, and
 * decisions 32 and 33 say which files are read, and when they are trusted.
 *
 * A format opens a root before there is a mount (sym_root_open), describes where its names may come
 * from (struct sym_place), and asks for each module once (sym_names_module) and for each address
 * once (sym_names_find, or sym_frames_find for frames of its tree). This is the only header of the
 * room that formats include.
 */
#ifndef PROFMOUNT_FORMATS_SYMBOLS_SYMBOLS_H
#define PROFMOUNT_FORMATS_SYMBOLS_SYMBOLS_H

#include "formats/common/damage.h"
#include "formats/common/input.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/common/tree.h"

/* ---- where files are looked for ---- */

/* Load modules are files below a folder: the root of this machine, or -o sysroot. Zeroed = none. */
struct sym_root {
	bool is_open;
	int fd;           /* owned: the folder that paths start from */
	bool is_given;    /* from -o sysroot: its files are assumed to be the measured ones */
	int copies;       /* owned: ~/.debug, where perf keeps copies by build id; -1: none */
	char *copies_at;  /* owned: its path, for messages */
	uint64_t *mounts; /* owned: ids of the mounts that may be entered: those that existed when
			     it was opened, and are not profmount's */
	size_t n_mounts;
};

/*
 * Opens `dir` (NULL: the root of this machine); call it before mounting, so that the server never
 * waits for itself. If it cannot be opened: -EINVAL, or an empty result if `dir` is NULL. -ENOMEM.
 */
int sym_root_open(struct sym_root *root, const char *dir, struct pm_error *err);

/* Also for a zeroed one. */
void sym_root_done(struct sym_root *root);

/* Where the names of a measurement may come from; all of it outlives the names. */
struct sym_place {
	int folder; /* of the measurement, with structs/, vdso/, gpubins/, kernel_symbols/; -1: none
		     */
	const struct sym_root *root;
	uint64_t started_ns, written_ns; /* when the measurement began, and was last written */
	struct pm_bytes program;         /* the measured program's name, without its folder; see
					    sym_names_announce */
	bool is_here;  /* known to have been recorded on this machine, as by its host name */
	bool unwinds;  /* files stay open without names, too: for sym_names_step */
	bool sizeless; /* functions whose symbols have no size end where the next symbol begins,
			  and stubs are NAME@plt; false: they have no names */
};

/* ---- scopes ---- */

/* What an address lies in: a chain of scopes, of which the outermost is a function. */
enum sym_scope_kind {
	SYM_SCOPE_FUNCTION,
	SYM_SCOPE_INLINED, /* a function inlined into the enclosing scope */
	SYM_SCOPE_LOOP,
	SYM_SCOPE_LINE, /* a statement, or where the function inside of it was inlined */
};

/* Scopes within scopes: the longest chain; each becomes a level of the tree of contexts. Real code
 * has loops and inlined calls 40 deep at most. */
#define SYM_SCOPE_DEPTH_MAX 128

struct sym_scope {
	uint8_t kind;    /* enum sym_scope_kind */
	uint32_t parent; /* an earlier scope, or UINT32_MAX; only a function has none */
	uint32_t name;   /* texts.items[…], demangled; 0 is the empty text */
	uint32_t file;   /* absolute path of the source as the compiler had it; 0 = unknown */
	uint32_t line;   /* 0 = unknown */
	uint64_t offset; /* address of a function or loop in the module; else 0 */
};

/* Addresses start … end - 1 belong to a scope. */
struct sym_range {
	uint64_t start, end;
	uint32_t scope;
};

/* The scopes of a module or of a part of it. Const and thread-safe once they are handed out. */
struct sym_scopes {
	struct sym_scope *items;
	struct sym_range *ranges; /* once settled: by start, none overlaps another */
	uint32_t n;
	size_t n_ranges, room, ranges_room;
	struct pm_strtab texts;
	struct pm_arena arena; /* has all of it */
	size_t said;           /* bytes of texts that were added, also of those that were there */
	bool is_full;          /* a limit of limits.h was reached, and the rest was left out */
	bool only_stubs;       /* of a file without symbols: of functions that it calls in others */
};

static inline struct pm_bytes sym_scopes_text_of(const struct sym_scopes *s, uint32_t text)
{
	return text < s->texts.n ? s->texts.items[text] : (struct pm_bytes){NULL, 0};
}

/* ---- names ---- */

/* The names of all modules of a measurement. */
struct sym_names;

/* Whether lines may be known for a measurement. Opens one or two files. */
bool sym_have_lines(const struct sym_place *place);

/*
 * The caller owns `*ret`. Structure files are read up to their module's path, other files when
 * their module is requested. `damage` gets what cannot be read of the measurement's own files, and
 * outlives `*ret`. 0 or -ENOMEM.
 */
int sym_names_new(
	struct sym_names **ret, const struct sym_place *place, struct pm_damage_list *damage);

/*
 * Announces the path of a module without a build id; announce all of them before requesting an
 * address. Files of this machine that cannot be told by a build id are used only if the measured
 * program is among them, because on another machine the same paths may be different files. 0 or
 * -ENOMEM.
 */
int sym_names_announce(struct sym_names *s, struct pm_bytes path);

/* What code a module is, and what its addresses are. */
enum sym_module_kind {
	/* A file, with addresses as linked, as hpcrun has them (or offsets, for GPU binaries that
	   are not linked). */
	SYM_LINKED,
	SYM_OFFSETS, /* a file, with offsets in it, as perf and pprof have them */
	/* The kernel with its modules, with addresses as they were in memory. Needs a build id. */
	SYM_KERNEL,
	SYM_VDSO, /* with offsets; needs a build id */
	/* Code made at run time, with addresses in memory: the path is that of /tmp/perf-PID.map.
	   Without -o sysroot it is used only if the measurement is_here, and the map is of its
	   time. */
	SYM_PERF_MAP,
};

/* A load module, as a measurement describes it. */
struct sym_module {
	struct pm_bytes path; /* as recorded */
	/* Its bytes; empty: not recorded. If there is one, only files with the same are used,
	   whenever they were written: the one at the path, its debug file, or perf's copy
	   (.build-id/ in ~/.debug, or below -o sysroot). */
	struct pm_bytes build_id;
	enum sym_module_kind kind;
	/* Of the kernel: a symbol, and where it was in memory, by which those that were moved at
	   boot are found. Empty: not recorded. */
	struct pm_bytes reference;
	uint64_t reference_address;
	uint64_t since_ns; /* of a perf map: when its process began, 0 if that is not recorded. An
			      older map is of another process that had the same number */
};

/*
 * The number of a module, whose files are read on the first call: it is compared here and not for
 * each address, because paths may be long. Numbers count from 0. 0 or -ENOMEM.
 */
int sym_names_module(struct sym_names *s, const struct sym_module *module, uint32_t *ret);

/*
 * The innermost scope of an address in a module: `*ret_scope` of `*ret`, the same each time; `*ret`
 * is NULL if nothing is known. They live as long as `s`. Reads a compilation unit when one of its
 * addresses is first requested; else O(log n). Not thread-safe. 0 or -ENOMEM.
 */
int sym_names_find(struct sym_names *s, uint32_t module, uint64_t address,
	const struct sym_scopes **ret, uint32_t *ret_scope);

/*
 * The address as linked of an offset in a file that was opened and trusted: what addr2line and
 * objdump take. False if there is no such file, or nothing is loaded from there.
 */
bool sym_names_linked(const struct sym_names *s, uint32_t module, uint64_t offset, uint64_t *ret);

/* Why addresses of a module have no names: for missing-symbols.csv. */
struct sym_absence {
	const char *why;       /* one clause in plain words; lives as long as the program */
	struct pm_bytes tried; /* paths that were looked at, separated by "; "; lives as long as the
				  names */
	struct pm_bytes build_id; /* its bytes, recorded or of the file; empty: unknown */
	bool is_whole; /* no address has a name; false: the module has symbols, but not for all */
};
struct sym_absence sym_names_absence(const struct sym_names *s, uint32_t module);

/* ---- stacks ---- */

/* Registers by their numbers in DWARF; those that are known have their bit. */
enum { SYM_REGISTERS = 33 };
struct sym_registers {
	uint64_t value[SYM_REGISTERS], known;
	uint64_t pc;
	bool is_return; /* a call returns to pc; false: it was about to run */
};

/* A copy of the top of a thread's stack, little-endian. */
struct sym_stack {
	uint64_t start; /* where the copy begins: the stack pointer */
	struct pm_bytes bytes;
	unsigned n_registers, pointer; /* that the machine has; which is the stack pointer */
};

/* What the step to a caller came to. */
enum sym_step {
	SYM_STEP_UP,      /* `registers` are the caller's */
	SYM_STEP_END,     /* there is no caller */
	SYM_STEP_BEYOND,  /* the copy of the stack ends before it */
	SYM_STEP_NO_FILE, /* there is no file of that build */
	SYM_STEP_UNKNOWN, /* the file does not say where it is, or what it says cannot be */
	SYM_STEP_NO_MEMORY,
};

/*
 * Goes to the caller of a function, by the call frame information of its file, which is used as for
 * names: never that of another build. `offset` is that of `registers->pc` in the module. The stack
 * pointer grows by each step, so that steps are bounded by the copy. ~1 us.
 */
enum sym_step sym_names_step(struct sym_names *s, uint32_t module, uint64_t offset,
	const struct sym_stack *stack, struct sym_registers *registers);

/* Accepts NULL. */
void sym_names_free(struct sym_names *s);

/* ---- frames ---- */

/*
 * Scopes as frames of a tree. Zeroed but for `names`, which are the caller's, and the arena of
 * `by_address`, which has all of it.
 */
struct sym_frames {
	struct sym_names *names;
	struct pm_map by_address; /* of scopes in memory → place in `frames` */
	uint32_t **frames;        /* by scope; PM_NONE = not yet */
	uint32_t n;
	size_t room;
};

/*
 * Fills `ret` with the frames of an address in module number `module`, the outermost first: how
 * many, 0 if nothing is known of it. `module_text`: the module's name among the tree's texts.
 * Functions are told by their scopes: two of the same name in one file stay two. In a build.
 */
int sym_frames_find(struct sym_frames *f, struct pm_tree_builder *builder, uint32_t module,
	uint32_t module_text, uint64_t address, uint32_t ret[SYM_SCOPE_DEPTH_MAX]);

/* Does a frame of that kind lie in the function of the place it is made for? */
static inline bool sym_frame_is_inner(uint8_t kind)
{
	return kind == PM_KIND_INLINED || kind == PM_KIND_LOOP || kind == PM_KIND_LINE;
}

/* ---- single names ---- */

/*
 * Replaces `ret` by the demangled name of a C++ or Rust symbol, or by the symbol itself if it is
 * neither, or if the result would be too long (SYM_DEMANGLED_MAX). This also bounds the time.
 */
void sym_demangle(struct pm_bytes symbol, struct pm_text *ret);

#endif
