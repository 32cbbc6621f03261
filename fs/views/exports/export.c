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

int pmfs_export_thread_name(
	struct pmfs_model *m, uint32_t thread, const char **ret, struct pm_error *err)
{
	int r = pmfs_thread_path(m, thread, ret, err);
	if (r == 0)
		*ret += strlen("threads/");
	return r;
}

int pmfs_export_check_length(uint64_t bytes, struct pm_error *err)
{
	if (bytes <= PM_LIMIT_TEXT)
		return 0;
	return pm_error_set(
		err, -EFBIG, NULL, PM_NO_OFFSET, "would have more than %zu bytes", PM_LIMIT_TEXT);
}

void pmfs_export_levels(uint32_t levels, struct pm_text *out)
{
	if (levels > PM_LIMIT_STACK_LEVELS)
		pm_text_printf(
			out, " (stacks end after %u of %u levels)", PM_LIMIT_STACK_LEVELS, levels);
}

int pmfs_export_title(
	struct pmfs_model *m, uint32_t thread, struct pm_text *out, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_bytes title;
	const char *name;
	int r = pm_profile_title(p, &title, err);
	if (r < 0)
		return r;
	pm_text_line(out, title.len ? title : pmfs_base_name(pm_bytes_of(p->source)));
	if (thread == PM_NONE)
		return 0;
	r = pmfs_export_thread_name(m, thread, &name, err);
	if (r < 0)
		return r;
	pm_text_str(out, ", ");
	pm_text_str(out, name);
	return 0;
}
