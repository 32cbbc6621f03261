/* Names of windows: the duration of the run (8 bytes), then one name per line. */
#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/span.h"
#include "fs/windows/windows.h"

enum { MOST = 1000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t length;

static void must(bool good)
{
	if (!good)
		abort();
}

/* The canonical name of a window denotes it, and is its own canonical name. */
static void check_canonical(uint64_t start, uint64_t end, struct pm_text *name)
{
	struct pm_text again = {.p = NULL};
	uint64_t from, to;
	must(start < end && end <= length);
	pm_span_print(name, start, end);
	must(pm_span_read(pm_text_view(name), PM_NO_TIME, length, &from, &to) && from == start &&
		to == end);
	pm_span_print(&again, from, to);
	must(pm_bytes_equal(pm_text_view(name), pm_text_view(&again)));
	pm_text_done(&again);
}

static void forget_nothing(void *context, uint8_t *numbers)
{
	(void)context, (void)numbers;
}

static void check_name(struct pmfs_windows *w, struct pm_bytes name)
{
	const struct pm_collection *c = pmfs_windows_collection(w);
	struct pm_text canonical = {.p = NULL}, listed = {.p = NULL};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	uint64_t start, end;
	struct pmfs_window_number item, again;
	uint32_t thread;
	bool is_window = pm_span_read(name, PM_NO_TIME, length, &start, &end);
	for (unsigned i = 0; i < 2; i++) {
		thread = i ? 0 : PM_NONE;
		must(pmfs_windows_find(w, thread, name, &item, &err) == is_window);
		if (!is_window)
			continue;
		must(pmfs_windows_find(w, thread, name, &again, &err) == 1 &&
			item.item == again.item);
		must(pmfs_windows_thread(w, item.item) == thread);
		pm_text_clear(&canonical);
		check_canonical(start, end, &canonical);
		must(pm_bytes_equal(c->name(c, item.item, &listed), pm_text_view(&canonical)));
		must(c->is_document(c, item.item) !=
			pm_bytes_equal(name, pm_text_view(&canonical)));
	}
	pm_text_done(&canonical);
	pm_text_done(&listed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pm_span span = {.origin_ns = 1};
	static const struct pm_profile_ops ops;
	static const struct pm_parts parts = {.span.it = &span};
	static const struct pm_profile profile = {.ops = &ops, .parts = &parts};
	struct pm_cur c = pm_cur_of((struct pm_bytes){data, size}, false);
	if (size < sizeof(length))
		return 0;
	length = pm_cur_u64(&c);
	if (length == PM_NO_TIME)
		length--;
	span.duration_ns = length;
	struct pmfs_windows *w = pmfs_windows_new(&profile);
	struct pm_unlisted *names = pm_unlisted_new(forget_nothing, NULL);
	must(w != NULL && names != NULL);
	pmfs_windows_number_from(w, names);
	for (unsigned i = 0; i < MOST && pm_cur_left(&c) > 0; i++) {
		const uint8_t *rest = data + (size - pm_cur_left(&c));
		const uint8_t *end = memchr(rest, '\n', pm_cur_left(&c));
		struct pm_bytes name = {rest, end ? (size_t)(end - rest) : pm_cur_left(&c)};
		pm_cur_bytes(&c, name.len + (end != NULL));
		check_name(w, name);
	}
	pmfs_windows_free(w);
	pm_unlisted_drop(names);
	return 0;
}
