/* Bounds of what names are read from, each with its reason. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_LIMITS_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_LIMITS_H

/*
 * Scopes and ranges of one load module. The 1.5 MB structure file of an MPI library has 30,000;
 * with the bound a module takes 300 MB at most, and 150 MB more while its ranges are put in order.
 */
#define HPCRUN_SCOPES_MAX (1u << 22)
#define HPCRUN_RANGES_MAX (1u << 22)

/* Longer names are cut. The longest known ones, of C++ templates, have 20 KB. */
#define HPCRUN_NAME_MAX (1u << 16)

/*
 * Names and paths of one load module, counted for each symbol: many symbols may share one long name
 * or its suffixes. A library with a million functions has 100 MB.
 */
#define HPCRUN_TEXTS_MAX ((size_t)256 << 20)

/*
 * Uncompressed size of the compressed sections of a file, from their headers: libdw decompresses
 * DWARF sections when it opens the file. Large programs have some hundred MB.
 */
#define HPCRUN_DWARF_UNPACKED_MAX ((uint64_t)1 << 30)

/* An element of a structure file with its attributes: the longest ones known, of 20 KB, are names
 * of C++ templates. */
#define HPCRUN_STRUCT_ELEMENT_MAX (1u << 20)

/* Attributes with a default in the DTD; that of hpcstruct has none. */
#define HPCRUN_STRUCT_DEFAULTS_MAX 16

/*
 * Scopes within scopes: each becomes a level of the tree of contexts. Real code has loops and
 * inlined calls 40 deep at most.
 */
#define HPCRUN_SCOPE_DEPTH_MAX 128

/* Symbols of a kernel, uncompressed: 1.5 MB in the corpus, 10 MB with debugging and modules. */
#define HPCRUN_KERNEL_BYTES_MAX ((size_t)64 << 20)

/* The last function before a gap between symbols: the kernel's largest are some 100 KB. */
#define HPCRUN_KERNEL_FUNCTION_MAX (1u << 17)

/* Length of symbols that are demangled, and of the result. Both demanglers use some 64 bytes of
 * stack for each byte of a symbol. */
#define HPCRUN_MANGLED_MAX   2048
#define HPCRUN_DEMANGLED_MAX 16384

/* Depth of nested blocks in DWARF. An inlined function becomes two scopes, so that paths stay
 * within HPCRUN_SCOPE_DEPTH_MAX. */
#define HPCRUN_DWARF_DEPTH_MAX 60

/* Structure files of a measurement: one per load module; large programs have some hundreds. */
#define HPCRUN_STRUCTS_MAX 16384

#endif
