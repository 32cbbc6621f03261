/* Names and units in exports; viewer-specific formatting is up to each export. */
#include "fs/views/exports/export.h"

#include <errno.h>
#include <string.h>

#include "profmount/limits.h"

int pmfs_export_has_metrics(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	(void)item;
	int r = pmfs_model_columns(m, &columns, NULL);
	return pm_is_passing(r) ? pmfs_no_memory(err) : r == 0 && columns->n > 0;
}

uint32_t pmfs_export_main_column(const struct pmfs_columns *c)
{
	return c->first_incl == PM_NONE ? 0 : c->first_incl;
}

const char *pmfs_export_unit(const struct pmfs_column *c, const char *other)
{
	struct pm_bytes unit = c->flat ? c->flat->unit : c->tree->unit;
	if (c->export_scale != 1 || pm_bytes_equal(unit, pm_bytes_of("ns")))
		return "nanoseconds";
	return pm_bytes_equal(unit, pm_bytes_of("bytes")) ? "bytes" : other;
}

const char *pmfs_export_thread_name(const struct pmfs_writing *w, uint32_t thread)
{
	const char *path;
	pm_build_check(w->a, pmfs_thread_path(w->model, thread, &path, w->err));
	return path + strlen("threads/");
}

void pmfs_export_check_length(const struct pmfs_writing *w, uint64_t bytes)
{
	if (bytes > PM_LIMIT_TEXT)
		pm_build_fail(w->a,
			pm_error_set(w->err, -EFBIG, NULL, PM_NO_OFFSET,
				"would have more than %zu bytes", PM_LIMIT_TEXT));
}

void pmfs_export_levels(uint32_t levels, struct pm_text *out)
{
	if (levels > PM_LIMIT_STACK_LEVELS)
		pm_text_printf(
			out, " (stacks end after %u of %u levels)", PM_LIMIT_STACK_LEVELS, levels);
}

void pmfs_export_title(const struct pmfs_writing *w, uint32_t thread, struct pm_text *out)
{
	const struct pm_profile *p = pmfs_model_profile(w->model);
	struct pm_bytes title;
	pm_build_check(w->a, pm_profile_title(p, &title, w->err));
	pm_text_line(out, title.len ? title : pmfs_base_name(pm_bytes_of(p->source)));
	if (thread != PM_NONE) {
		pm_text_str(out, ", ");
		pm_text_str(out, pmfs_export_thread_name(w, thread));
	}
}
