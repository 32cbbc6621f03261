/*
 * Every bound on what an input may make us do, with its reason. Whoever enforces a limit says so
 * in an error or in damage.csv; none cuts silently.
 */
#ifndef PROFMOUNT_LIMITS_H
#define PROFMOUNT_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* A document that is rendered whole. Larger ones would hurt every client that opens them. */
#define PM_LIMIT_TEXT ((size_t)1 << 30)

/* Bytes of a directory entry's name, `~hash` included: leaves room for `~N` below NAME_MAX. */
#define PM_LIMIT_NAME 200

/* Depth of a calling-context tree. The walk needs no stack, but a depth column and paths do. */
#define PM_LIMIT_DEPTH 1000000

/* Contexts, frames, functions, threads of one profile: indexes are 32 bits, one value is "none". */
#define PM_LIMIT_ITEMS ((uint32_t)0xfffffff0)

/* Names of windows that are remembered, some 100 bytes each: a name is a number until the mount
 * ends.
 */
#define PM_LIMIT_WINDOWS ((uint32_t)1 << 16)

/* Rows of damage.csv; the last one says that there is more. A broken source can break everywhere.
 */
#define PM_LIMIT_DAMAGE 10000

/* A string of an input that ends with NUL: longest real name seen is 3037 bytes. */
#define PM_LIMIT_STRING ((size_t)1 << 20)

/* A record that a compressed stream must hold in memory at once. */
#define PM_LIMIT_WINDOW ((size_t)64 << 20)

/* A decompressed chunk of a trace store: writers make them of one upload, 10 kB to 1 MB. */
#define PM_LIMIT_PAYLOAD ((size_t)256 << 20)

/* CBOR nesting that data.json shows: parsers of JSON give up far earlier. */
#define PM_LIMIT_JSON_DEPTH 10000

/* Nested calls of a recorded trace (each is two levels of CBOR), and its recorded calls. */
#define PM_LIMIT_CALL_DEPTH  10000
#define PM_LIMIT_TRACE_CALLS ((uint32_t)1 << 20)

/* Attributes of one trace, with their texts: a reference of two bytes may name a long text. */
#define PM_LIMIT_TRACE_TEXT ((size_t)128 << 20)

/* A decoded text index file; inverting it needs six times as much. Stores rotate at 16 MB. */
#define PM_LIMIT_TEXT_INDEX ((size_t)128 << 20)

/* Bytes that one byte of a text index may decode to, beyond a block's worth: writers' come to 1.5,
 * their LZ4 could give 255 and a block without data any number. */
#define PM_LIMIT_TEXT_INDEX_RATIO 64

/* Call paths of all traces of a store together: 150 bytes each while they are counted. */
#define PM_LIMIT_CALL_PATHS ((uint32_t)1 << 22)

/* What was decoded of measurement files and is kept for a while: a block of contexts is half of it,
 * a thread of a large run 1 MB. */
#define PM_LIMIT_DECODED ((uint64_t)32 << 20)

/* The same while it is read: a thread's costs are 64 MB where 150 kB have many metrics at the end
 * of a long path. What is read last may be larger, so that it is not decoded for every batch. */
#define PM_LIMIT_DECODED_READ ((uint64_t)256 << 20)

/*
 * Inclusive costs that one thread, or a run, has by context and metric: that many, and more for
 * each value and context. Each metric has one at every context above its values, so that many
 * metrics at the end of a long path, in 600 kB, would take 3 GB. Real values have some ten above
 * them that they do not share.
 */
#define PM_LIMIT_SUMS      ((size_t)1 << 20)
#define PM_LIMIT_SUMS_EACH 64

/*
 * Columns of metrics. A row has a number for each, whether the file has one or not: both may grow
 * with a file, their product must not. Real profiles have hundreds, of GPUs.
 */
#define PM_LIMIT_COLUMNS 4096

/* Numbers in the table of functions, which is summed before anything of it is shown: 256 MiB. */
#define PM_LIMIT_CELLS ((size_t)1 << 25)

/* Causes of an exception; real chains are below ten, damaged ones may run in a circle. */
#define PM_LIMIT_CAUSES 64

/*
 * Sources of one mount, and entries of a folder that is searched for some: each run costs 300 bytes
 * before it is opened, and a number of 16 bits where runs have repetitions.
 */
#define PM_LIMIT_RUNS   65000
#define PM_LIMIT_FOLDER 10000000

/* Functions of all runs together that tables of all runs show side by side: 24 bytes each. */
#define PM_LIMIT_MATRIX (1 << 24)

/* Rectangles in an SVG. Viewers lock up on 10 MB files; the omitted share is stated. */
#define PM_LIMIT_SVG_RECTS 5000

/* Functions in callgraph.dot; Graphviz takes minutes to place more. */
#define PM_LIMIT_DOT_NODES 200

/* Slices in a Chrome trace; more kill a viewer's tab. */
#define PM_LIMIT_TRACE_SLICES 200000

/* Levels of the call path of a trace's samples: each may open all of them. Viewers show 512. */
#define PM_LIMIT_SAMPLE_LEVELS 1000

/*
 * Levels of a stack in exports that write out the stack of each cost: a chain of n calls has n * n
 * frames there. What lies deeper is cost of the last level.
 */
#define PM_LIMIT_STACK_LEVELS 1000

/* Per-thread profiles inside one speedscope file, and the size up to which they are added. */
#define PM_LIMIT_SPEEDSCOPE_THREADS 50
#define PM_LIMIT_SPEEDSCOPE_BYTES   ((size_t)64 << 20)

/*
 * Pairs of lines that are looked at when the lines of a function, or of a loop, are matched in two
 * runs: 128 on each side. Longer lists are matched by place alone.
 */
#define PM_LIMIT_PLACE_PAIRS ((uint32_t)1 << 14)

#endif
