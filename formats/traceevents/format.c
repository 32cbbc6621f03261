/* Recognises trace events, and opens them. */
#include <string.h>

#include "formats/traceevents/traceevents.h"

static const struct pm_reader reader = {
	.contexts_are = "calls",
	.layout = "array of events",
	.has_threads = true,
	.read = tev_read,
};

static bool is(struct pm_bytes key, const char *name)
{
	return pm_bytes_equal(key, pm_bytes_of(name));
}

/* An object with a phase of one character. */
static bool is_event(struct pm_scan s)
{
	struct pm_scan_value v;
	struct pm_bytes key;
	if (pm_scan_peek(&s) != PM_SCAN_OBJECT || !pm_scan_enter(&s))
		return false;
	while (pm_scan_key(&s, &key)) {
		if (pm_scan_value(&s, &v) == PM_SCAN_NOTHING)
			return false;
		if (is(key, "ph"))
			return v.kind == PM_SCAN_TEXT && v.text.len == 1;
	}
	return false;
}

static bool is_list_of_events(struct pm_scan s)
{
	if (pm_scan_peek(&s) != PM_SCAN_ARRAY || !pm_scan_enter(&s))
		return false;
	for (unsigned i = 0; i < 50 && pm_scan_item(&s) && s.code == 0; i++)
		if (is_event(s) || !pm_scan_skip(&s))
			return is_event(s);
	return false;
}

/* `traceEvents` may stand behind what does not fit into the head: then the name has to say it. */
static int probe(const struct pm_candidate *c)
{
	struct pm_scan s = pm_scan_of(c->text);
	struct pm_bytes key;
	enum pm_scan_kind kind = c->folder ? PM_SCAN_NOTHING : pm_scan_peek(&s);
	if (kind == PM_SCAN_ARRAY)
		return is_list_of_events(s) ? PM_PROBE_CERTAIN : PM_PROBE_NO;
	if (kind != PM_SCAN_OBJECT)
		return PM_PROBE_NO;
	if (is_event(s))
		return PM_PROBE_CERTAIN;
	pm_scan_enter(&s);
	while (pm_scan_key(&s, &key)) {
		if (is(key, "traceEvents") && pm_scan_peek(&s) == PM_SCAN_ARRAY)
			return PM_PROBE_CERTAIN;
		/* Kineto begins with the properties of devices, which are longer than a head. */
		if (is(key, "schemaVersion") || is(key, "deviceProperties") ||
			is(key, "baseTimeNanoseconds"))
			return PM_PROBE_BY_CONTENT;
		if (!pm_scan_skip(&s))
			break;
	}
	const char *name = strstr(c->path, ".trace.json");
	return s.cut && name ? PM_PROBE_BY_CONTENT : s.cut ? PM_PROBE_IF_ASKED : PM_PROBE_NO;
}

static int open_source(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	return pm_rec_open(&reader, c, options, ret, err);
}

const struct pm_format tev_format = {
	.name = "traceevents",
	.summary =
		"Chrome trace events: PyTorch, clang, Bazel, DevTools, node, VizTracer and others",
	.takes_values = true,
	.probe = probe,
	.open = open_source,
	.close = pm_rec_close,
};
