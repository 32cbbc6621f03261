/*
 * The builder: makes a whole profile (include/profmount/profile.h) of what a reader tells about a
 * source. A format over it is a probe and a function that reads: quantities, functions, contexts,
 * threads and costs go in; opening, compression, laziness, inclusive costs, order, damage and every
 * operation of the format interface are the builder's. docs/adding-a-format.md has an example.
 *
 * Failure is sticky: after one, every function does nothing and returns PM_REC_BAD, which every
 * function accepts, and the end of reading says why. So a reader tests nothing but its own input.
 * What functions return is a handle: a number of that recording. Texts are copied.
 *
 * A recording belongs to one thread. Loops over the source ask pm_rec_goes_on at intervals.
 */
#ifndef PROFMOUNT_BUILDER_BUILDER_H
#define PROFMOUNT_BUILDER_BUILDER_H

#include "formats/common/folder.h"
#include "formats/common/inflate.h"
#include "formats/common/json_scan.h"
#include "formats/common/sheet.h"
#include "formats/common/textlines.h"
#include "profmount/format.h"
#include "profmount/limits.h"

/* A handle after a failure; never that of a thing. */
#define PM_REC_BAD (UINT32_MAX - 1)

/* No parent (a context at the top), no thread, no function. */
#define PM_REC_NONE UINT32_MAX

struct pm_recording;

/* What a format is, to the builder. Const data. */
struct pm_reader {
	/* info.json contexts_are: "samples", "calls", "edges"; pm_rec_contexts_are changes it. */
	const char *contexts_are;
	const char *layout; /* which variant; pm_rec_layout changes it */
	bool has_threads;   /* there is a list of threads, even if there is none in it */
	/*
	 * Reads the whole source from pm_rec_stream(r). What is wrong with it goes to pm_rec_damage
	 * and reading goes on; a negative errno with `err` filled refuses the source. Called again
	 * from the beginning, with an empty recording, if memory ran out or nobody waited for it.
	 */
	int (*read)(struct pm_recording *r, struct pm_error *err);
};

/*
 * pm_format.open and close of a format over the builder. Of a folder, each of the candidate's files
 * is read by one call of `read`, in this order, into one recording; pm_rec_stream, pm_rec_file and
 * so on are of the file that is read. Sources up to PM_LIMIT_READ_AT_OPENING are
 * read at once, so that one that is refused is not mounted; others in the background, and by the
 * first request that needs them.
 */
int pm_rec_open(const struct pm_reader *reader, const struct pm_candidate *c,
	const struct pm_open_options *options, struct pm_profile *ret, struct pm_error *err);
void pm_rec_close(struct pm_profile *p);

/* What else a source is opened with; zeroed = nothing. */
struct pm_rec_with {
	/* Of the format's own, what pm_rec_own returns while it is read; `done` frees it with the
	   profile, and on failure. */
	void *own;
	void (*done)(void *own);
};

int pm_rec_open_with(const struct pm_reader *reader, const struct pm_candidate *c,
	const struct pm_open_options *options, const struct pm_rec_with *with,
	struct pm_profile *ret, struct pm_error *err);
void *pm_rec_own(const struct pm_recording *r);

/*
 * Another profile of the same source, for items of a collection: read again, on first need, with
 * another `own`. The caller's, see pm_collection.profile; the recording outlives it.
 */
int pm_rec_again(const struct pm_recording *r, void *own, void (*done)(void *own),
	struct pm_profile **ret, struct pm_error *err);

/* ---- the source ---- */

/*
 * The source from its beginning, inflated where it is compressed; a second call begins again. The
 * recording's. NULL after a failure. What ends too early, or is followed by something else, is
 * damage that the builder adds.
 */
struct pm_inflate *pm_rec_stream(struct pm_recording *r);

/*
 * The lines of that stream, from its beginning; the recording's. Then the next one: false at the
 * end, after a failure, and if nobody waits for the profile any more.
 */
struct pm_textlines *pm_rec_lines(struct pm_recording *r);
bool pm_rec_next_line(struct pm_recording *r, struct pm_bytes *ret);

/*
 * A scanner of the stream, from its beginning, for sources that are JSON. At its end, what is wrong
 * becomes damage; false if the recording has failed.
 */
struct pm_scan pm_rec_json(struct pm_recording *r);
bool pm_rec_json_ends(struct pm_recording *r, struct pm_scan *s);

/*
 * The text of a value, up to PM_LIMIT_STRING of it; valid until the scanner moves on or `scratch`,
 * a text of the reader's build, changes. Empty if it is neither a text nor a number.
 */
struct pm_bytes pm_rec_json_text(const struct pm_scan_value *v, struct pm_text *scratch);

/*
 * The file as it is, for tables that read it again once the profile is there. Lives as long as the
 * profile.
 */
struct pm_bytes pm_rec_bytes(const struct pm_recording *r);

const char *pm_rec_file(const struct pm_recording *r);     /* its name, for messages */
unsigned pm_rec_file_number(const struct pm_recording *r); /* of the source's files, from 0 */
bool pm_rec_is_last_file(const struct pm_recording *r);
uint64_t pm_rec_mtime(const struct pm_recording *r); /* of the file, since 1970 */
const struct pm_open_options *pm_rec_options(const struct pm_recording *r);

/* False after a failure, or if nobody waits for the profile any more: then stop reading. */
bool pm_rec_goes_on(struct pm_recording *r);

/*
 * ---- readers that are a build of what they keep themselves (formats/common/arena.h) ----
 */

/* Fails after a failure, or if nobody waits for the profile any more. */
void pm_rec_proceed(struct pm_recording *r, struct pm_arena *a);

/* As pm_rec_alloc, but fails in its place. */
void *pm_rec_keep(struct pm_recording *r, struct pm_arena *a, size_t n);

/* ---- what there is ---- */

/*
 * A quantity: cost that lies at contexts and adds up from below. Units of time become ns and units
 * of bytes become bytes, exactly: costs are given in the source's own unit. `count`, `none`, `1`
 * are no unit. Quantities have columns in this order, even if all is 0.
 */
uint32_t pm_rec_metric(struct pm_recording *r, struct pm_bytes name, struct pm_bytes unit);

/* What becomes of its unit: the one that is shown, and by what its costs are multiplied. */
struct pm_bytes pm_rec_unit(const struct pm_recording *r, uint32_t quantity);
int64_t pm_rec_factor(const struct pm_recording *r, uint32_t quantity);

/* A quantity of this name that an earlier file has; PM_REC_NONE if none has. */
uint32_t pm_rec_known_metric(const struct pm_recording *r, const char *name);

/* A plain count without inclusive values: calls. */
uint32_t pm_rec_count(struct pm_recording *r, const char *name);

/*
 * Of graphs without call paths (contexts_are "edges"): a function has a context at the top, and
 * below it, or a line of it, one for each function that it calls. Costs of this handle are the
 * inclusive cost of these calls, as the source has it. What functions cost with all they call
 * follows from own costs and these.
 */
#define PM_REC_THROUGH 0x80000000u

static inline uint32_t pm_rec_through(uint32_t quantity)
{
	return quantity | PM_REC_THROUGH; /* PM_REC_BAD stays one that is none */
}

/* Where there is none of a quantity, its cell is empty instead of 0, as that of counts is. */
void pm_rec_no_zeros(struct pm_recording *r, uint32_t quantity);

/* The quantity that leads, whatever its name and unit. Without it, the usual rule decides. */
void pm_rec_primary(struct pm_recording *r, uint32_t quantity);

/* A function; equal ones are one. `line`, `column`: of its definition, 0 = unknown. */
struct pm_rec_function {
	struct pm_bytes name, file, module;
	uint32_t line, column;
};

uint32_t pm_rec_function(struct pm_recording *r, const struct pm_rec_function *function);

/*
 * Contexts: `parent` is a context or PM_REC_NONE; equal ones below one parent are one. Calls are
 * functions and inlined functions; lines and what lies on them are parts of the call above.
 */
enum {
	PM_REC_INLINED = 1,
	PM_REC_IDLE = 2,
	PM_REC_ON_GPU = 4,    /* time of GPUs */
	PM_REC_ANNOTATION = 8 /* of these: what the work below it is for */
};

uint32_t pm_rec_call(struct pm_recording *r, uint32_t parent, uint32_t function, unsigned flags);

/* Line `line` of a file (empty: of the function's), below a call; line 0 is the parent itself. */
uint32_t pm_rec_line(struct pm_recording *r, uint32_t parent, struct pm_bytes file, uint32_t line);

/* The source knows lines, even if this one turns out to have none: there is a lines.csv. */
void pm_rec_has_lines(struct pm_recording *r);

/*
 * Code of which only the address is known: MODULE+0xOFFSET, without a module 0xOFFSET, without
 * either (unknown). A function by itself. `flags`: PM_REC_IDLE, or 0.
 */
enum { PM_REC_ADDRESS_NAME = PM_LIMIT_BASE_NAME + 24 };
void pm_rec_address_name(struct pm_bytes module, uint64_t offset, char name[PM_REC_ADDRESS_NAME]);
uint32_t pm_rec_address(struct pm_recording *r, uint32_t parent, struct pm_bytes module,
	uint64_t offset, unsigned flags);

/* The innermost frame of the context `like`, below another parent. */
uint32_t pm_rec_like(struct pm_recording *r, uint32_t parent, uint32_t like);

/* Something that is no function: `(no stack)`, `<gpu kernel>`. */
uint32_t pm_rec_placeholder(struct pm_recording *r, uint32_t parent, const char *name);

/* The context above, PM_REC_NONE at the top. */
uint32_t pm_rec_parent(const struct pm_recording *r, uint32_t context);

/* ---- threads ---- */

/* A level of a thread's directory: KEY=NUMBER. */
struct pm_rec_key {
	const char *key; /* process, thread, lane …; a constant */
	uint64_t number;
	/*
	 * Instead of the number, if p is not NULL: text that the source has as its id. A number as
	 * text (`7`, `1.0`) is one; other texts get the smallest numbers that are free.
	 */
	struct pm_bytes text;
};

enum { PM_REC_KEYS = 4 /* levels at most */ };

/*
 * The thread with these ids, `n` of them, outermost first. `name` is taken if it is not empty; a
 * text id is the name of a thread that gets no other. If a cost lies on no thread (PM_REC_NONE),
 * the profile has no threads: a reader may tell of threads that only a part of the source has.
 */
uint32_t pm_rec_thread(
	struct pm_recording *r, const struct pm_rec_key *keys, unsigned n, struct pm_bytes name);

/* It is none by itself: further calls of a thread that overlap, or calls of no thread. */
void pm_rec_lane(struct pm_recording *r, uint32_t thread);

/* The thread is a GPU's stream. */
void pm_rec_thread_on_gpu(struct pm_recording *r, uint32_t thread);

/* Gives the thread's process another name; the last one holds. */
void pm_rec_process_name(struct pm_recording *r, uint32_t thread, struct pm_bytes name);

/* ---- costs ---- */

/*
 * Adds own cost of a context. Integers are summed exactly; a quantity whose sum leaves 64 bits, or
 * that has a cost that is no integer, consists of doubles. May be negative.
 */
void pm_rec_cost(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t quantity, int64_t cost);
void pm_rec_cost_f64(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t quantity, double cost);

/* The same for whole costs of several quantities, where they come in the same order each time. */
struct pm_rec_amount {
	uint32_t quantity;
	int64_t cost;
};

void pm_rec_costs(struct pm_recording *r, uint32_t thread, uint32_t context, bool through,
	const struct pm_rec_amount *amounts, size_t n);

/*
 * The same for a decimal of the source, digits × 10^-decimals, at most 18: summed exactly, and
 * shown as it would be written.
 */
void pm_rec_cost_decimal(struct pm_recording *r, uint32_t thread, uint32_t context,
	uint32_t quantity, int64_t digits, unsigned decimals);

/* ---- time ---- */

/*
 * What ran when on a thread: samples, or calls, a profile has one of them. They cost nothing by
 * themselves. About 10 bytes each. Times are in ns, and not negative; samples that are not in the
 * order of time are sorted.
 */

/* A sample, for `duration_ns` (PM_NO_TIME: unknown). PM_REC_NONE as context: nothing ran. */
void pm_rec_sample(struct pm_recording *r, uint32_t thread, uint64_t time_ns, uint64_t duration_ns,
	uint32_t context);

/*
 * A sample that is an instant with a weight (PM_NO_WEIGHT: none is known), of an event: all samples
 * of a profile are such, or none. Costs nothing by itself, either, but is the cost of windows:
 * weights are of the quantity `weights`, in the unit that is shown, and each sample is one of
 * `samples`; PM_REC_NONE if there is no such quantity.
 */
uint32_t pm_rec_event(
	struct pm_recording *r, struct pm_bytes name, uint32_t weights, uint32_t samples);
void pm_rec_instant(struct pm_recording *r, uint32_t thread, uint64_t time_ns, uint32_t context,
	uint32_t event, int64_t weight);

/* A call: each behind its caller and all that this one called before. */
struct pm_rec_called {
	uint64_t time_ns, duration_ns, self_ns, seq; /* as struct pm_sample has them */
	uint32_t context;
};

void pm_rec_called(struct pm_recording *r, uint32_t thread, const struct pm_rec_called *call);

/*
 * A number of the call that is told next, digits × 10^-decimals or a double: a cost of its context
 * in the quantity of an event without samples, as pm_rec_cost_decimal and pm_rec_cost_f64 have it,
 * and in windows that of the call. Events are made before the first call is told.
 */
void pm_rec_number(struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t event,
	int64_t digits, unsigned decimals);
void pm_rec_number_f64(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t event, double number);

/*
 * The costs of such a sample: `weight` of its event, and one of its samples. The same as
 * pm_rec_cost, in the same order with it, but faster for many in a row, whose sums lie far apart in
 * memory.
 */
void pm_rec_sample_cost(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t event, int64_t weight);

/* Where time begins, if it is before the first event. */
void pm_rec_origin(struct pm_recording *r, uint64_t time_ns);

/* Times count from 1970, in UTC. */
void pm_rec_since_epoch(struct pm_recording *r);

/* ---- what else the source says ---- */

/* For info.json; `key` is a constant. A text cell is copied. */
void pm_rec_fact(struct pm_recording *r, const char *key, struct pm_cell value);

/* A sentence for README.txt and summary.txt: what one must know to read the numbers. */
void pm_rec_remark(struct pm_recording *r, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A question for recipes.txt, and the command that answers it from tables of the mount. */
void pm_rec_recipe(struct pm_recording *r, const char *question, const char *command);

/* A row of damage.csv; offset and bytes may be PM_NO_OFFSET. */
void pm_rec_damage(struct pm_recording *r, uint64_t offset, uint64_t bytes, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Of machine code: why code has no names, `why` of modules that are not told, and what a reader can
 * do about it; constants. There is a missing-symbols.csv then. `build_id`: its bytes.
 */
void pm_rec_names_missing(struct pm_recording *r, const char *why, const char *advice);
void pm_rec_module_missing(struct pm_recording *r, struct pm_bytes module, struct pm_bytes build_id,
	const char *why, struct pm_bytes tried);

/* Memory that lives as long as the profile, zeroed; NULL after a failure. */
void *pm_rec_alloc(struct pm_recording *r, size_t n);
struct pm_bytes pm_rec_copy(struct pm_recording *r, struct pm_bytes text);

/* A table of the format's own, at sheet->path; `self` as in struct pm_table. */
void pm_rec_sheet(
	struct pm_recording *r, const struct pm_sheet *sheet, const void *self, uint64_t rows);

/* Other documents and collections of the format's own; what they point to lives as long. */
void pm_rec_document(struct pm_recording *r, const struct pm_named_doc *document);
void pm_rec_collection(struct pm_recording *r, const struct pm_collection *collection);

/* Numbers over time, and other events beside calls: what it points to lives as long. */
void pm_rec_series(struct pm_recording *r, const struct pm_series *series);

/* Root entries that only this source has, for README.txt: constants. */
void pm_rec_note(struct pm_recording *r, const char *name, const char *text);

/* Instead of the file's name, and of the reader's constants; constants, too. */
void pm_rec_title(struct pm_recording *r, struct pm_bytes title);
void pm_rec_layout(struct pm_recording *r, const char *layout);
void pm_rec_contexts_are(struct pm_recording *r, const char *what);

/* When it was measured (since 1970), and for how long; PM_NO_TIME: unknown. */
void pm_rec_measured(struct pm_recording *r, uint64_t time_ns, uint64_t duration_ns);

/* Fails the recording, as a limit does: code is a negative errno. */
void pm_rec_fail(struct pm_recording *r, int code, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
