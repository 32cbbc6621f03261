#include "exports.h"

#include <string.h>

static void add_part(struct fake *f, uint32_t number, uint32_t parent, enum pm_kind kind,
	const char *file, uint32_t line)
{
	struct pm_frame frame = {.kind = (uint8_t)kind,
		.function = PM_NONE,
		.file = fake_text(f, file),
		.line = line};
	fake_context(f, number, parent, &frame);
}

struct fake *fake_program(void)
{
	static const double times[][3] = {{1, 90, 10}, {2, 80, 10}, {3, 75, 10}, {4, 50, 10},
		{5, 40, 10}, {6, 20, 10}, {7, 20, 0}, {8, 4, 0}};
	struct fake *f = fake_with_time();
	fake_thread(f, 3, 0);
	fake_thread(f, 3, 1);
	f->profile.title = pm_bytes_of("app");
	uint32_t main_ = fake_function(f, "main", "/src/a.c", 3);
	uint32_t solve = fake_function(f, "solve", "/src/b.c", 7);
	fake_call(f, 1, 0, main_);
	add_part(f, 2, 1, PM_KIND_LOOP, "/src/a.c", 10);
	add_part(f, 3, 2, PM_KIND_LINE, "/src/a.c", 12);
	fake_call(f, 4, 3, solve);
	add_part(f, 5, 4, PM_KIND_LINE, "/src/b.c", 20);
	fake_call(f, 6, 5, solve);
	fake_call(f, 7, 3, fake_function(f, "io", NULL, 0));
	fake_call(f, 8, 1, fake_function(f, "init", "/src/a.c", 40));
	fake_call(f, 9, 1, fake_function(f, "idle", NULL, 0));
	for (uint32_t t = 0; t < 2; t++)
		for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
			if (times[i][t + 1] > 0)
				fake_value(f, t, (uint32_t)times[i][0], 1, times[i][t + 1]);
	return f;
}

struct fake *fake_with_thread(void)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "time", "ns");
	fake_thread(f, 0, 0);
	f->profile.title = pm_bytes_of("app");
	return f;
}

void fake_timed(struct fake *f, uint32_t number, uint32_t parent, const char *name, double time)
{
	fake_call(f, number, parent, fake_function(f, name, NULL, 0));
	fake_value(f, 0, number, 1, time);
}

int render_export(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item,
	uint32_t column, struct pm_text *ret)
{
	const struct pmfs_view *view = view_named(place, name);
	struct pm_error err = {.code = 0};
	struct pm_doc doc;
	assert_non_null(view);
	*ret = (struct pm_text){.p = NULL};
	assert_int_equal(pmfs_view_doc(view, m, item, column, &doc, &err), 0);
	assert_int_equal(doc.kind, PM_DOC_TEXT);
	int r = doc.text.render(&doc, ret, &err);
	assert_int_equal(r, err.code);
	return r;
}

static void assert_text(struct pmfs_model *m, enum pmfs_place place, const char *name,
	uint32_t item, uint32_t column, const char *want)
{
	struct pm_text text;
	assert_int_equal(render_export(m, place, name, item, column, &text), 0);
	pm_text_char(&text, '\0');
	assert_string_equal(text.p, want);
	pm_text_done(&text);
}

void assert_export(struct pmfs_model *m, const char *name, uint32_t column, const char *want)
{
	assert_text(m, PMFS_PLACE_EXPORT, name, 0, column, want);
}

void assert_thread_export(
	struct pmfs_model *m, const char *name, uint32_t thread, uint32_t column, const char *want)
{
	assert_text(m, PMFS_PLACE_THREAD_EXPORT, name, thread, column, want);
}
