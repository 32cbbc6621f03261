/*
 * The collection windows/. The canonical name of a window is its directory, other names are
 * symbolic links to it. Items below PM_FIRST_UNLISTED are the listed windows, ordered by time;
 * the others were found by name, and have their numbers from a list of such names
 * (formats/common/unlisted.h).
 */
#include "fs/windows/windows.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/span.h"
#include "fs/filters/filter.h"
#include "fs/windows/internal.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* ---- windows/README.txt: what windows are called, with commands for this run ---- */

static void add_commands(const struct pm_profile *p, uint64_t run_ns, struct pm_text *out)
{
	uint64_t tenth = run_ns / 10 ? run_ns / 10 : run_ns;
	const char *where = pm_profile_has(p, threads) ? "on all threads" : "in all traces";
	pm_text_printf(out, "  What ran at its beginning, %s?\n$ cat windows/", where);
	pm_span_print(out, 0, tenth);
	pm_text_str(out, "/summary.txt\n");
	if (pm_profile_has(p, threads)) {
		pm_text_str(out,
			"  What did each thread do then? (the last column is its directory there)\n"
			"$ cat windows/");
		pm_span_print(out, 0, tenth);
		pm_text_str(out, "/threads.csv\n");
	}
	pm_text_str(out, "  Which functions ran at its end?\n$ head -n 6 windows/");
	pm_span_print(out, run_ns - tenth, run_ns);
	pm_text_str(out, "/functions.txt\n");
}

/* Renders the document; its `self` is the profile of the run, its `a` is 1 if some are listed. */
/* The beginning of the run, from the second in which it is. */
static void add_times_of_day(uint64_t origin, struct pm_text *out)
{
	char from[sizeof("YYYYMMDDTHHMMSSZ")] = "", to[sizeof(from)] = "";
	time_t seconds = (time_t)(origin / 1000000000u);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	strftime(from, sizeof(from), "%Y%m%dT%H%M%SZ", &tm);
	seconds += 10;
	gmtime_r(&seconds, &tm);
	strftime(to, sizeof(to), "%Y%m%dT%H%M%SZ", &tm);
	pm_text_printf(out,
		"START and END can also be times of day, in UTC, of which the part in the run counts:\n"
		"windows/%s-%s\n\n",
		from, to);
}

static int windows_readme_render(
	const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct pm_profile *p = doc->text.self;
	uint64_t origin, run_ns;
	int r = pmfs_run_length(p, &origin, &run_ns, err);
	if (r < 0)
		return r;
	pm_text_str(out,
		"A window is a part of the run in time: START-END is a directory with what ran then.\n");
	pm_text_str(out,
		doc->text.a ? "Those of iterations are listed; ask for others by their names.\n\n"
			    : "Windows are not listed; ask for one by its name.\n\n");
	pm_text_str(out,
		"START and END count from the beginning of the run, in s, ms, us or ns: 1.5s-2s, 250ms-300ms,\n"
		"0-1000000ns. An empty side is that end of the run. Times outside of the run, and windows\n"
		"without a length, do not exist. Each window has one name; others are links to it.\n\n");
	pm_text_str(out,
		p->samples_are_weighed
			? "Costs are those of the run: what the samples inside stand for."
			: "Costs are times: the part of each sample or call that lies inside. calls counts those that\n"
			  "begin in it.");
	if (p->traces_are_calls && p->n_events > 0)
		pm_text_str(out, " Numbers of calls (-o values) count where their calls begin.");
	if (pm_profile_has(p, threads))
		pm_text_str(out, "\nA thread has windows/ too, in its directory.");
	pm_text_str(out, "\n\n");
	if (run_ns == PM_NO_TIME || run_ns == 0) {
		pm_text_str(
			out, "The length of this run is not known, or 0: there are no windows.\n");
		return pm_text_status(out);
	}
	if (p->times_since_epoch)
		add_times_of_day(origin, out);
	pm_text_str(out, "This run is ");
	pm_span_print(out, 0, run_ns);
	pm_text_str(out, ". In the folder above:\n\n");
	add_commands(p, run_ns, out);
	return pm_text_status(out);
}

/* ---- names and numbers ---- */

/* The number of the first item that was found by name. */
#define FIRST_FOUND PM_FIRST_UNLISTED

/* What the numbers of windows stand for: the key of the list, followed by the name of a link. */
struct found {
	uint8_t kind; /* of what has numbers from the list: `w` */
	uint8_t is_link;
	uint32_t thread;     /* PM_NONE: of the run */
	uint64_t start, end; /* since the run began */
};

struct pmfs_windows {
	const struct pm_profile *profile;  /* not a filter */
	const struct pm_profile *filtered; /* the filter of it, whose windows these are, or NULL */
	uint32_t only;                     /* the only thread that the filter has, or PM_NONE */
	struct pmfs_index index;
	struct pm_collection collection;
	struct pm_named_doc readme;
	int (*spans)(
		void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err);
	void *spans_context;
	struct pm_lazy listed_once; /* of the listed ones */
	struct pmfs_listed *listed;
	uint32_t n_listed;
	struct pm_unlisted *names;
};

/* ---- those that are listed ---- */

static int by_time(const void *a, const void *b)
{
	const struct pmfs_listed *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int listed_build(void *context, struct pm_error *err)
{
	struct pmfs_windows *w = context;
	uint32_t n = 0, kept = 0;
	free(w->listed);
	w->listed = NULL;
	int r = w->spans(w->spans_context, &w->listed, &n, err);
	if (r < 0)
		return r;
	if (pm_sort(w->listed, n, sizeof(*w->listed), by_time) < 0)
		return pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; i < n && kept < FIRST_FOUND; i++)
		if (kept == 0 || by_time(&w->listed[kept - 1], &w->listed[i]) != 0)
			w->listed[kept++] = w->listed[i];
	w->n_listed = kept;
	return 0;
}

/* If they cannot be determined, none are listed. */
static int listed_get(struct pmfs_windows *w, uint32_t *ret_n, struct pm_error *err)
{
	int r = w->spans ? pm_lazy_get(&w->listed_once, listed_build, w, NULL) : 0;
	*ret_n = r < 0 ? 0 : w->n_listed;
	return pm_is_passing(r) ? pm_error_plain(err, r) : 0;
}

static bool listed_find(const struct pmfs_windows *w, const struct pmfs_listed *span, uint32_t *ret)
{
	*ret = PM_LOWER_BOUND(i, 0, w->n_listed, by_time(&w->listed[i], span) < 0);
	return *ret < w->n_listed && by_time(&w->listed[*ret], span) == 0;
}

/* ---- names ---- */

/* The number for a name that denotes a window; a name that is not the canonical one is a link. */
static int number_of(struct pmfs_windows *w, const struct found *window, struct pm_bytes name,
	struct pmfs_window_number *ret)
{
	struct found head; /* padding is part of the key */
	struct pm_text canonical = {.p = NULL}, key = {.p = NULL};
	memset(&head, 0, sizeof(head));
	pm_span_print(&canonical, window->start, window->end);
	head.kind = 'w';
	head.is_link = !pm_bytes_equal(name, pm_text_view(&canonical));
	head.thread = window->thread;
	head.start = window->start;
	head.end = window->end;
	pm_text_add(&key, &head, sizeof(head));
	if (head.is_link)
		pm_text_bytes(&key, name);
	int r = canonical.failed || key.failed
		? -ENOMEM
		: pm_unlisted_number(w->names, pm_text_view(&key), &ret->item, &ret->generation);
	ret->is_link = head.is_link;
	ret->item += FIRST_FOUND;
	pm_text_done(&canonical);
	pm_text_done(&key);
	return r;
}

/* 1, 0 if there is none, or a negative errno. */
static int item_get(struct pmfs_windows *w, uint32_t i, struct found *ret, struct pm_error *err)
{
	uint32_t n_listed;
	if (i < FIRST_FOUND) {
		int r = listed_get(w, &n_listed, err);
		if (r < 0 || i >= n_listed)
			return r < 0 ? r : 0;
		*ret = (struct found){
			.thread = PM_NONE, .start = w->listed[i].start, .end = w->listed[i].end};
		return 1;
	}
	size_t n = pm_unlisted_get(w->names, i - FIRST_FOUND, ret, sizeof(*ret));
	return n >= sizeof(*ret) && ret->kind == 'w';
}

int pmfs_windows_find(struct pmfs_windows *w, uint32_t thread, struct pm_bytes name,
	struct pmfs_window_number *ret, struct pm_error *err)
{
	struct found window = {.thread = thread};
	uint64_t origin, run_ns;
	int r = pmfs_run_length(w->profile, &origin, &run_ns, err);
	if (r < 0)
		return r;
	uint64_t clock = w->profile->times_since_epoch ? origin : PM_NO_TIME;
	if (run_ns == PM_NO_TIME || !pm_span_read(name, clock, run_ns, &window.start, &window.end))
		return 0;
	uint32_t n_listed, found = 0;
	r = listed_get(w, &n_listed, err);
	if (r < 0)
		return r;
	const struct pmfs_listed span = {window.start, window.end};
	r = number_of(w, &window, name, ret);
	if (r > 0 && thread == PM_NONE && !ret->is_link && n_listed &&
		listed_find(w, &span, &found))
		*ret = (struct pmfs_window_number){.item = found};
	return r < 0 ? pm_error_plain(err, r) : r;
}

/* ---- the collection ---- */

static struct pmfs_windows *windows_of(const struct pm_collection *c)
{
	return (struct pmfs_windows *)(uintptr_t)c->self;
}

static int windows_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	uint64_t origin, run_ns;
	*ret = 0;
	int r = pmfs_run_length(windows_of(c)->profile, &origin, &run_ns, err);
	return r < 0 ? r : listed_get(windows_of(c), ret, err);
}

static int windows_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret)
{
	struct pmfs_window_number number;
	int r = pmfs_windows_find(windows_of(c), PM_NONE, name, &number, NULL);
	if (r > 0)
		*ret = number.item;
	return r;
}

static int windows_has(const struct pm_collection *c, uint32_t i, struct pm_error *err)
{
	struct found item;
	return item_get(windows_of(c), i, &item, err);
}

static struct pm_bytes windows_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	struct found item;
	pm_text_clear(scratch);
	if (item_get(windows_of(c), i, &item, NULL) > 0)
		pm_span_print(scratch, item.start, item.end);
	return pm_text_view(scratch);
}

static bool windows_is_document(const struct pm_collection *c, uint32_t i)
{
	struct found item;
	return item_get(windows_of(c), i, &item, NULL) > 0 && item.is_link;
}

static int link_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct found item;
	struct pmfs_windows *w = (struct pmfs_windows *)(uintptr_t)doc->text.self;
	int r = item_get(w, (uint32_t)doc->text.a, &item, err);
	if (r > 0)
		pm_span_print(out, item.start, item.end);
	return r < 0 ? r : pm_text_status(out);
}

static int windows_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	if (k > 0 || !windows_is_document(c, i))
		return 0;
	*ret = (struct pm_named_doc){.path = "",
		.doc = {.kind = PM_DOC_LINK,
			.text = {.render = link_render, .self = c->self, .a = i, .brief = true}}};
	return 1;
}

static int windows_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	struct pmfs_windows *w = windows_of(c);
	uint64_t origin, run_ns;
	struct found item;
	int r = item_get(w, i, &item, err);
	if (r <= 0)
		return pm_error_plain(err, r < 0 ? r : -ENOENT);
	r = pmfs_run_length(w->profile, &origin, &run_ns, err);
	if (r < 0 || (r = pmfs_index_open(&w->index, err)) < 0)
		return r;
	struct pmfs_span span = {.start = origin + item.start,
		.end = origin + item.end,
		.is_last = item.end == run_ns};
	uint32_t thread = w->only != PM_NONE ? w->only : item.thread;
	bool one = thread != PM_NONE;
	r = pmfs_window_open(
		&w->index, &span, one ? thread : 0, one ? 1 : w->index.threads->n, ret, err);
	return r == 0 && w->filtered ? pmfs_filter_again(w->filtered, *ret, ret, err) : r;
}

/* ---- the whole ---- */

struct pmfs_windows *pmfs_windows_new(const struct pm_profile *p)
{
	struct pmfs_windows *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->profile = pmfs_filter_bottom(p, &w->only);
	w->filtered = p == w->profile ? NULL : p;
	pmfs_index_init(&w->index, w->profile);
	w->readme = (struct pm_named_doc){.path = "windows/README.txt",
		.doc = {.kind = PM_DOC_TEXT, .text = {.render = windows_readme_render, .self = p}}};
	w->collection = (struct pm_collection){.path = "windows",
		.self = w,
		.count = windows_count,
		.name = windows_name,
		.find = windows_find,
		.has = windows_has,
		.has_unlisted = true,
		.is_document = windows_is_document,
		.document = windows_document,
		.profile = windows_profile,
		.shape = PM_SHAPE_WINDOW};
	return w;
}

void pmfs_windows_number_from(struct pmfs_windows *w, struct pm_unlisted *names)
{
	w->names = pm_unlisted_use(names);
}

struct pm_tap pmfs_windows_tap(struct pmfs_windows *w)
{
	/* Views read the filtered traces, and windows are made of the others. */
	return w->filtered ? (struct pm_tap){.begin = NULL} : pmfs_index_tap(&w->index);
}

void pmfs_windows_free(struct pmfs_windows *w)
{
	if (!w)
		return;
	pmfs_index_done(&w->index);
	pm_unlisted_drop(w->names);
	free(w->listed);
	free(w);
}

void pmfs_windows_list(struct pmfs_windows *w,
	int (*spans)(
		void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err),
	void *context)
{
	w->spans = spans;
	w->spans_context = context;
	w->readme.doc.text.a = 1;
}

int pmfs_windows_are_there(struct pmfs_windows *w, struct pm_error *err)
{
	const struct pm_profile *p = w->profile;
	const struct pm_threads *threads;
	if (!p->ops->samples || !pm_profile_has(p, span))
		return 0;
	if (!pm_profile_has(p, threads))
		return pm_profile_has(p, traces);
	if (p->ops->has)
		return p->ops->has(p, PM_HAS_TRACES, err);
	int r = pm_profile_threads(p, &threads, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < threads->n; i++)
		if (threads->threads[i].has_trace)
			return 1;
	return 0;
}

const struct pm_collection *pmfs_windows_collection(struct pmfs_windows *w)
{
	return &w->collection;
}

const struct pm_named_doc *pmfs_windows_readme(struct pmfs_windows *w)
{
	return &w->readme;
}

uint32_t pmfs_windows_thread(struct pmfs_windows *w, uint32_t i)
{
	struct found item;
	return item_get(w, i, &item, NULL) > 0 ? item.thread : PM_NONE;
}
