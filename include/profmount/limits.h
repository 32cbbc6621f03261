/*
 * All limits on the work that an input can cause, with their reasons. Reaching a limit is always
 * reported, in an error or in damage.csv.
 */
#ifndef PROFMOUNT_LIMITS_H
#define PROFMOUNT_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * A document that is rendered as a whole. Larger ones are a problem for every client that opens
 * them.
 */
#define PM_LIMIT_TEXT ((size_t)1 << 30)

/* Bytes of a directory entry's name, `~hash` included: leaves room for `~N` below NAME_MAX. */
#define PM_LIMIT_NAME 200

/*
 * Bytes of a path's last component in a name such as FILE:LINE. No file name is longer than
 * NAME_MAX; of a longer text, the end is shown.
 */
#define PM_LIMIT_BASE_NAME 255

/* Depth of a calling-context tree. The walk needs no stack, but a depth column and paths do. */
#define PM_LIMIT_DEPTH 1000000

/* Contexts, frames, functions, threads of one profile: indexes are 32 bits, one value is "none". */
#define PM_LIMIT_ITEMS ((uint32_t)0xfffffff0)

/* Histograms and longest calls of all functions: 7 kB for one with calls of every length. */
#define PM_LIMIT_DURATIONS ((size_t)128 << 20)

/* Iterations of -o iterations, 120 bytes each. A function with more calls is not an iteration. */
#define PM_LIMIT_ITERATIONS ((uint32_t)1 << 20)

/*
 * Steps of a formula, and how many of them may wait for what comes. METRICS.yaml of HPCToolkit adds
 * up a few dozen; a page of text is no formula.
 */
#define PM_LIMIT_FORMULA       1000
#define PM_LIMIT_FORMULA_DEPTH 100

/* Metrics of -o derive: a command line. */
#define PM_LIMIT_DERIVED 100

/* Names of windows and other things that are not listed, while they are in use: 150 bytes each. */
#define PM_LIMIT_UNLISTED ((uint32_t)1 << 16)

/* Their first number among the items of a collection: those below are listed. */
#define PM_FIRST_UNLISTED PM_LIMIT_ITERATIONS

/*
 * Rows of damage.csv; the last one says that there are more. Any byte of a source can be damaged.
 */
#define PM_LIMIT_DAMAGE 10000

/* A NUL-terminated string in an input. The longest real name seen has 3037 bytes. */
#define PM_LIMIT_STRING ((size_t)1 << 20)

/* A record of a compressed stream, which has to be in memory as a whole. */
#define PM_LIMIT_WINDOW ((size_t)64 << 20)

/*
 * What a source that zstd compressed may come to: this, and for each of its bytes what deflate can
 * make of one. Real ones have 20 to 50; zstd could have 32,768, and a few kB would be read for
 * hours.
 */
#define PM_LIMIT_ZSTD       ((uint64_t)64 << 20)
#define PM_LIMIT_ZSTD_RATIO 1032

/* A decompressed chunk of a trace store. Writers create one per upload, of 10 kB to 1 MB. */
#define PM_LIMIT_PAYLOAD ((size_t)256 << 20)

/* CBOR nesting in data.json. JSON parsers give up far earlier. */
#define PM_LIMIT_JSON_DEPTH 10000

/*
 * Lanes of a thread of trace events, on which calls are that overlap without nesting: for each
 * call, all of them are looked at. Real threads have two or three.
 */
#define PM_LIMIT_LANES 4096

/*
 * Levels of V8's stacks that are looked at for the calls of a trace, for each sample and node. Real
 * stacks have tens, and change by a few; all may be as deep as there are nodes.
 */
#define PM_LIMIT_SAMPLED_LEVELS 64

/* Counters of trace events, each a row of a picture, and their numbers; real ones have tens, few.
 */
#define PM_LIMIT_COUNTERS       4096
#define PM_LIMIT_COUNTER_FIELDS 64

/* Files of one recording that perf record --threads wrote, one for each processor. */
#define PM_LIMIT_PERF_FILES 65536

/* Nested calls of a recorded trace (each is two levels of CBOR), and its recorded calls. */
#define PM_LIMIT_CALL_DEPTH  10000
#define PM_LIMIT_TRACE_CALLS ((uint32_t)1 << 20)

/* Attributes of one trace with their texts. A reference of two bytes can refer to a long text. */
#define PM_LIMIT_TRACE_TEXT ((size_t)128 << 20)

/* A decoded text index file; inverting it needs six times as much. Stores rotate at 16 MB. */
#define PM_LIMIT_TEXT_INDEX ((size_t)128 << 20)

/*
 * Decoded bytes per byte of a text index, in addition to one block. Real files have 1.5; LZ4 can
 * have 255, and blocks without data any number.
 */
#define PM_LIMIT_TEXT_INDEX_RATIO 64

/* Call paths of all traces of a store together, 150 bytes each while they are counted. */
#define PM_LIMIT_CALL_PATHS ((uint32_t)1 << 22)

/*
 * Different durations of calls, by method, that are counted exactly: 16 bytes each, in a table that
 * is at least a quarter full; beside it are as many times two counters of brief calls, 4 bytes
 * each. Percentiles beyond that need another pass over the calls. A store with 60 MB of calls has
 * some ten thousand.
 */
#define PM_LIMIT_COUNTED ((size_t)1 << 21)

/*
 * Decoded data of measurement files kept in memory. A block of contexts takes half of it, a thread
 * of a large run 1 MB.
 */
#define PM_LIMIT_DECODED ((uint64_t)32 << 20)

/*
 * The same for data in use. The costs of a thread are 64 MB for a file of 150 kB with many metrics
 * at the end of a long path. The data used last may be larger, so that it is not decoded again for
 * every batch.
 */
#define PM_LIMIT_DECODED_READ ((uint64_t)256 << 20)

/*
 * Inclusive costs of a thread or a run by context and metric: this number, plus a number for each
 * value and context. Every context above a value has an inclusive cost for its metric, so 600 kB
 * with many metrics at the end of a long path would take 3 GB. A real value adds about ten.
 */
#define PM_LIMIT_SUMS      ((size_t)1 << 20)
#define PM_LIMIT_SUMS_EACH 64

/*
 * A source over the builder that is read when it is opened: 20 ms at most, and a source that turns
 * out to be none is refused instead of mounted.
 */
#define PM_LIMIT_READ_AT_OPENING ((size_t)2 << 20)

/*
 * Columns of metrics. A row has a number for each, whether the file has one or not: both may grow
 * with a file, their product must not. Real profiles have hundreds, of GPUs.
 */
#define PM_LIMIT_COLUMNS 4096

/* Numbers in the table of functions, which is summed before the first row is shown: 256 MiB. */
#define PM_LIMIT_CELLS ((size_t)1 << 25)

/* Causes of an exception. Real chains have less than ten; damaged ones may be circular. */
#define PM_LIMIT_CAUSES 64

/*
 * Sources of one mount, and entries of a folder that is searched for sources. A run takes 300 bytes
 * before it is opened, and runs with repetitions have 16-bit numbers.
 */
#define PM_LIMIT_RUNS   65000
#define PM_LIMIT_FOLDER 10000000

/* Functions of all runs together in the tables that show runs side by side: 16 bytes each. */
#define PM_LIMIT_MATRIX (1 << 24)

/* Rectangles in an SVG. Viewers lock up on 10 MB files; the omitted share is stated. */
#define PM_LIMIT_SVG_RECTS 5000

/* Functions in callgraph.dot; Graphviz takes minutes to place more. */
#define PM_LIMIT_DOT_NODES 200

/* Slices in a Chrome trace; more kill a viewer's tab. */
#define PM_LIMIT_TRACE_SLICES 200000

/*
 * Levels of the call path of a trace's samples, since each sample may open all of them. Viewers
 * show 512.
 */
#define PM_LIMIT_SAMPLE_LEVELS 1000

/*
 * Levels of a stack in exports that write the stack of each cost: a chain of n calls has n * n
 * frames. Costs of deeper levels are added to the last one.
 */
#define PM_LIMIT_STACK_LEVELS 1000

/* Per-thread profiles in a speedscope file, and the file size up to which they are added. */
#define PM_LIMIT_SPEEDSCOPE_THREADS 50
#define PM_LIMIT_SPEEDSCOPE_BYTES   ((size_t)64 << 20)

/*
 * Pairs of lines compared when the lines of a function or loop are matched in two runs: 128 on each
 * side. Longer lists are matched by position only.
 */
#define PM_LIMIT_PLACE_PAIRS ((uint32_t)1 << 14)

/*
 * The same for functions whose names have a line or an ordinal: 1,000 on each side, 8 MB. There are
 * few such families, and a name matched to the wrong function moves costs.
 */
#define PM_LIMIT_NAME_PAIRS 1000000

/*
 * What compressed records of a recording, or a recording that is compressed as a whole, may come
 * to: they are needed in the order of time, so all of them are in memory.
 */
#define PM_LIMIT_UNPACKED ((size_t)4 << 30)

#endif
