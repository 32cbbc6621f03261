/* What the readers of this room share: scopes while they are added, and the readers themselves. */
#ifndef PROFMOUNT_FORMATS_SYMBOLS_INTERNAL_H
#define PROFMOUNT_FORMATS_SYMBOLS_INTERNAL_H

#include "formats/symbols/symbols.h"

/* ---- bounds, each with its reason ---- */

/*
 * Scopes and ranges of one load module. The 1.5 MB structure file of an MPI library has 30,000;
 * with the bound a module takes 300 MB at most, and 150 MB more while its ranges are put in order.
 */
#define SYM_SCOPES_MAX (1u << 22)
#define SYM_RANGES_MAX (1u << 22)

/* Longer names are cut. The longest known ones, of C++ templates, have 20 KB. */
#define SYM_NAME_MAX (1u << 16)

/*
 * Names and paths of one load module, counted for each symbol: many symbols may share one long name
 * or its suffixes. A library with a million functions has 100 MB.
 */
#define SYM_TEXTS_MAX ((size_t)256 << 20)

/*
 * Uncompressed size of the compressed sections of all files that are open, from their headers:
 * libdw decompresses DWARF sections when it opens a file. Large programs have some hundred MB.
 */
#define SYM_DWARF_UNPACKED_MAX ((uint64_t)1 << 30)

/* The same of one file, per byte of it: what compilers write has five to ten. */
#define SYM_DWARF_RATIO_MAX 64

/* An element of a structure file with its attributes: the longest ones known, of 20 KB, are names
 * of C++ templates. */
#define SYM_STRUCT_ELEMENT_MAX (1u << 20)

/* Attributes with a default in the DTD; that of hpcstruct has none. */
#define SYM_STRUCT_DEFAULTS_MAX 16

/* Symbols of a kernel, uncompressed: 1.5 MB in the corpus, 10 MB with debugging and modules. */
#define SYM_KERNEL_BYTES_MAX ((size_t)64 << 20)

/* A perf map: 1 MB for a JVM, 100 MB for one with its inlined methods as entries. */
#define SYM_PERF_MAP_BYTES_MAX ((size_t)256 << 20)

/* The last function before a gap between symbols: the kernel's largest are some 100 KB. */
#define SYM_KERNEL_FUNCTION_MAX (1u << 17)

/* Length of symbols that are demangled, and of the result. Both demanglers use some 64 bytes of
 * stack for each byte of a symbol. */
#define SYM_MANGLED_MAX   2048
#define SYM_DEMANGLED_MAX 16384

/* Depth of nested blocks in DWARF. An inlined function becomes two scopes, so that paths stay
 * within SYM_SCOPE_DEPTH_MAX. */
#define SYM_DWARF_DEPTH_MAX 60

/* Structure files of a measurement: one per load module; large programs have some hundreds. */
#define SYM_STRUCTS_MAX 16384

/* Segments of a file that are looked at: real programs have four to six that are loaded. */
#define SYM_SEGMENTS_MAX 32

/* Paths that are named as those tried for a module: more would not help anybody. */
#define SYM_TRIED_MAX 8

/* Addresses of a file whose place in a stack is described: 400 bytes each; more are looked up anew.
 */
#define SYM_FRAMES_MAX (1u << 14)

/*
 * libdw 0.188 does not return from many failed allocations: it exits, or dereferences NULL. So the
 * memory that a step may need is allocated first, and freed for libdw to use: this for units, and
 * for tables without a bound of their own.
 */
#define SYM_ROOM ((size_t)4 << 20)

/*
 * ---- scopes, while they are added ----
 * In a build of their arena (formats/common/arena.h), which has all that they consist of.
 */

/* Counts n bytes that a text is made of; false beyond SYM_TEXTS_MAX. */
bool sym_scopes_say(struct sym_scopes *s, size_t n);

/* The index of a text, cut at SYM_NAME_MAX; 0 beyond SYM_TEXTS_MAX. */
uint32_t sym_scopes_text(struct sym_scopes *s, struct pm_bytes text);

/*
 * Adds a scope, and returns its index. Where it `is_full`, that of its parent, which has then what
 * would have been its own.
 */
uint32_t sym_scopes_add(struct sym_scopes *s, const struct sym_scope *scope);

/*
 * Adds an address range of a scope. If ranges overlap, the one that was added first gets the common
 * addresses. Empty ranges, and those of scope PM_NONE, are ignored.
 */
void sym_scopes_range(struct sym_scopes *s, uint64_t start, uint64_t end, uint32_t scope);

/* Puts ranges in order; to be called once, after all were added. O(n log n). */
void sym_scopes_finish(struct sym_scopes *s);

/* The first range that ends beyond an address, or n_ranges. O(log n). */
size_t sym_scopes_after(const struct sym_scopes *s, uint64_t address);

/* The innermost scope of an address, or PM_NONE. O(log n). */
uint32_t sym_scopes_find(const struct sym_scopes *s, uint64_t address);

/* Also for a zeroed one. */
void sym_scopes_done(struct sym_scopes *s);

/* ---- root.c: files of this machine or of -o sysroot ---- */

enum { SYM_BUILD_ID_MAX = 64 };

/* The files that were looked for, and why the last one is not used. Zeroed = none. */
struct sym_search {
	struct pm_text tried;
	unsigned n_tried;
	const char *why;
};

/*
 * Maps the ELF file of a load module: 1, 0 if it does not exist or is not known to be the measured
 * one, or -ENOMEM. It is the one with this build id or, if `build_id` is empty, one that has not
 * changed since `written_ns`. `search` may be NULL.
 */
int sym_root_find(const struct sym_root *root, const struct sym_module *module, uint64_t written_ns,
	struct pm_input *ret, struct sym_search *search);

/*
 * The same for perf's copy of a file with this build id, in ~/.debug or a cache that -o sysroot is:
 * .build-id/XX/REST/NAME, where NAME is elf, kallsyms or vdso. The build ids of ELF files are
 * compared; others have none.
 */
int sym_root_find_copy(const struct sym_root *root, struct pm_bytes build_id, const char *name,
	struct pm_input *ret, struct sym_search *search);

/*
 * Reads a file whose size is not known beforehand, as those of /proc are: 1, 0 if it cannot be
 * read, or is longer than `most`, or -ENOMEM. `ret` is the caller's; `*ret_changed_ns` and
 * `*ret_born_ns` are its times (born: 0 if the file system does not say).
 */
struct sym_times {
	uint64_t changed_ns, born_ns;
};
int sym_root_read(const struct sym_root *root, const char *path, size_t most, struct pm_text *ret,
	struct sym_times *ret_times, struct sym_search *search);

/* The same for the debug file with this build id. */
int sym_root_find_debug(const struct sym_root *root, struct pm_bytes build_id, struct pm_input *ret,
	struct sym_search *search);

/*
 * The same for the alternate that a debug file names: by its build id, or at its path, where a
 * relative one is that of a file in usr/lib/debug/.dwz.
 */
int sym_root_find_alternate(const struct sym_root *root, struct pm_bytes path,
	struct pm_bytes build_id, struct pm_input *ret);

/* ---- elf.c: the symbol table of an ELF file, which is untrusted ---- */

bool sym_elf_is(struct pm_bytes file);

/*
 * Adds and settles functions with the sizes of their symbols; symbols without a size are ignored.
 * Addresses are virtual ones, or file offsets for GPU code that has no addresses. An unreadable
 * file has no functions. 0 or -ENOMEM. `sizeless`: functions without a size end where the next
 * symbol of their section begins, or with it. `code`: the same file, or the one that its debug file
 * belongs to; stubs in it, through which other files are called, are functions NAME@plt. Empty:
 * none are.
 * Of a file that is not linked, as kernel modules are, there are those of .text, by their place in
 * it.
 */
int sym_elf_read(struct pm_bytes file, bool sizeless, struct pm_bytes code, struct sym_scopes *ret);

/* False for a kernel module: it gets its addresses when it is loaded. */
bool sym_elf_is_linked(struct pm_bytes file);

/* The value of a symbol with that name; false if there is none. O(symbols). */
bool sym_elf_value(struct pm_bytes file, struct pm_bytes name, uint64_t *ret);

/* The file's build id; returns its length, 0 if there is none. */
size_t sym_elf_build_id(struct pm_bytes file, uint8_t ret[SYM_BUILD_ID_MAX]);

/* The same of notes alone, as /sys/kernel/notes has them, in this machine's byte order. */
size_t sym_notes_build_id(struct pm_bytes notes, uint8_t ret[SYM_BUILD_ID_MAX]);

/* Bytes of a file that are loaded. */
struct sym_segment {
	uint64_t offset, size, address;
};

/* The first SYM_SEGMENTS_MAX segments that are loaded; returns how many. Of a file that is not
 * linked, .text is one. */
unsigned sym_elf_segments(struct pm_bytes file, struct sym_segment ret[SYM_SEGMENTS_MAX]);

/* ---- root.c, structs.c, kernel.c: files of the measurement, which are untrusted ---- */

/*
 * The key of a load module: its path, or for files of the measurement directory, which may have
 * been moved, the last two components: gpubins/X.gpubin. `<vmlinux.X>` is an older name for
 * kernel_symbols/vmlinux.X.
 */
struct pm_bytes sym_module_key(struct pm_bytes path);

/*
 * Reads and settles the functions of a load module in the measurement directory `folder`. 1, 0 if
 * it does not exist or has none, or -ENOMEM. One that exists and cannot be opened is damage.
 */
int sym_own_read(
	int folder, struct pm_bytes path, struct sym_scopes *ret, struct pm_damage_list *damage);

/* Whether a file is compressed by xz, zstd or gzip. */
bool sym_is_packed(struct pm_bytes file);

/*
 * What it holds, in memory that is the caller's also after a failure: at most SYM_KERNEL_BYTES_MAX.
 * -EINVAL if it is damaged, empty or larger; -ENOMEM.
 */
int sym_unpack(struct pm_bytes file, uint8_t **ret, size_t *ret_n);

/*
 * Adds and settles the functions of a copy of /proc/kallsyms, plain or compressed by xz: `NAME
 * [MODULE]`, or `NAME KERNEL` for those of the kernel itself (`kernel`, which may be empty). If it
 * cannot be unpacked, or is not such a table, there are none.
 * `*ret_delta` is what has to be added to an address of the table to have that in memory, by where
 * the symbol `reference` was; 0 without one. If it is not 0, modules have no names: they are
 * elsewhere after each boot. 0 or -ENOMEM.
 */
int sym_kernel_read(struct pm_bytes file, const char *kernel, struct pm_bytes reference,
	uint64_t reference_address, struct sym_scopes *ret, uint64_t *ret_delta);

/*
 * Adds and settles functions of a perf map: lines of start, size (both in hex) and name. Where
 * entries overlap, the later one is used: code was made anew. 0 or -ENOMEM.
 */
int sym_perf_map_read(struct pm_bytes file, struct sym_scopes *ret);

/* The structure files of a measurement, structs/ beside its profiles. Zeroed = none. */
struct sym_structs {
	bool is_open; /* there is a folder */
	int folder;   /* structs/; owned */
	char **names; /* sorted */
	size_t n, room;
	struct pm_strtab modules; /* by place: what sym_module_key makes of their modules' paths */
	uint32_t *files;          /* by module: the first file that describes it */
	size_t files_room;
	struct pm_arena arena; /* has all of it */
};

/* Lists `structs/` below the directory `folder`, with the module of each file. 0 or -ENOMEM. */
int sym_structs_open(struct sym_structs *s, int folder, struct pm_damage_list *damage);

/*
 * Reads and settles the scopes of a load module. 1, 0 if there is no structure file for it, or
 * -ENOMEM.
 */
int sym_structs_read(const struct sym_structs *s, struct pm_bytes path, struct sym_scopes *ret,
	struct pm_damage_list *damage);

/* Also for a zeroed one. */
void sym_structs_done(struct sym_structs *s);

/* Where and why reading stopped before the end of a structure file. */
struct sym_struct_fault {
	uint64_t offset;
	const char *what; /* NULL: the file is sound; lives as long as the program */
};

/*
 * The path of the load module that a structure file describes (the first one); empty if there is
 * none. Reads no further than that. 0 or -ENOMEM.
 */
int sym_struct_module(struct pm_bytes xml, struct pm_text *ret);

/*
 * Adds and settles the scopes of that load module, up to the first error; the rest then has no
 * names. O(bytes). 0 or -ENOMEM.
 */
int sym_struct_read(struct pm_bytes xml, struct sym_scopes *ret, struct sym_struct_fault *fault);

/* ---- dwarf.c: with elfutils' libdw, which is not designed for hostile input: never for files of
 * a measurement ---- */

struct sym_dwarf;

/* False if the program was built without libdw. */
bool sym_dwarf_is_read(void);

/*
 * `*ret` is the caller's; NULL if there is no DWARF, or if the alternate debug file that it needs
 * is not found below `root`. `file` outlives it; its mapping becomes writable, because libelf
 * decompresses a section and then changes its header where it stands. Reads only the addresses of
 * compilation units. Does not look for split DWARF files. 0, 1 if it is not read because it
 * would take too much memory: sections that unpack to more than SYM_DWARF_UNPACKED_MAX together
 * with those of other files, or than SYM_DWARF_RATIO_MAX allows, or a mapping that must not be made
 * writable (pm_input_allow_writes). -ENOMEM.
 */
int sym_dwarf_open(struct sym_dwarf **ret, struct pm_input *file, const struct sym_root *root);

/*
 * The scopes of the compilation unit that contains an address, read on first need; NULL if there is
 * none. They live as long as `d`. 0 or -ENOMEM.
 */
int sym_dwarf_find(struct sym_dwarf *d, uint64_t address, const struct sym_scopes **ret);

/* Its .debug_frame, as libdw has it, which `d` owns; NULL if there is none. */
struct Dwarf_CFI_s *sym_dwarf_frames(struct sym_dwarf *d);

/* Accepts NULL. */
void sym_dwarf_free(struct sym_dwarf *d);

/* Allocates and frees: see SYM_ROOM. 0 or -ENOMEM. */
int sym_make_room(size_t n);

/* ---- unwind.c: with libdw, too ---- */

struct sym_unwind;

/* Call frame information of a file (empty: none), and of the DWARF (NULL: none) of its debug file;
 * both outlive it. NULL where there is no libdw. 0 or -ENOMEM. */
int sym_unwind_open(struct sym_unwind **ret, struct pm_bytes file, struct sym_dwarf *dwarf);

/* See sym_names_step; `address` is as linked, and in the call. */
enum sym_step sym_unwind_step(struct sym_unwind *u, uint64_t address, const struct sym_stack *stack,
	struct sym_registers *registers);

/* Accepts NULL. */
void sym_unwind_free(struct sym_unwind *u);

/*
 * The path of a source file as DWARF has it: replaces what `t` holds by `path`, below `folder` if
 * it is relative and a folder is known, without empty components, "." and, where it follows a name,
 * "..". Thus a header has one path, from wherever it was included. Symbolic links are not looked
 * at: the folder need not be on this machine.
 */
void sym_source_path(struct pm_text *t, struct pm_bytes folder, struct pm_bytes path);

#endif
