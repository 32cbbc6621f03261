#include "fs/filters/readme.h"

#include "formats/common/text.h"
#include "fs/filters/filter.h"
#include "fs/views/model/shortname.h"
#include "fs/views/sums/functions.h"

static const char *const meanings[PMFS_N_FILTERS] = {
	[PMFS_FILTER_FOCUS] =
		"focus/PATTERN has the call paths on which some frame matches: the cost of the frames\n"
		"that match and of what they call. What calls them is shown, without its own cost.\n"
		"focus and ignore of one pattern add up to the whole.\n",
	[PMFS_FILTER_IGNORE] =
		"ignore/PATTERN has the call paths on which no frame matches: what the run would cost\n"
		"without the frames that match and what they call. focus and ignore of one pattern add\n"
		"up to the whole.\n",
	[PMFS_FILTER_HIDE] =
		"hide/PATTERN leaves out the frames that match; their cost goes to what called them, so\n"
		"the whole is unchanged. Cost whose whole path is hidden is shown as (hidden).\n",
	[PMFS_FILTER_FROM] =
		"from/PATTERN has the call paths of focus/PATTERN, beginning at the outermost frame that\n"
		"matches.\n",
};

/* The name of the costliest function, as far as it is an identifier, for examples. */
static void add_name(struct pm_text *out, const struct pmfs_functions *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct pm_bytes name = pmfs_name_bare(pmfs_function_name(f, i));
		bool plain = name.len > 1 && name.len <= 40;
		for (size_t k = 0; k < name.len && plain; k++)
			plain = name.p[k] == '_' || name.p[k] == ':' || name.p[k] == '.' ||
				(name.p[k] >= '0' && name.p[k] <= '9') ||
				((name.p[k] | 0x20) >= 'a' && (name.p[k] | 0x20) <= 'z');
		if (!plain || name.p[0] == '.')
			continue;
		pm_text_bytes(out, name);
		return;
	}
	pm_text_str(out, "main");
}

int pmfs_filters_readme_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = (struct pmfs_model *)(uintptr_t)doc->text.self;
	const struct pm_profile *p = pmfs_model_profile(m);
	const char *kind = pmfs_filter_names[doc->text.a];
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0)
		return r;
	pm_text_str(out, meanings[doc->text.a]);
	r = pmfs_can_be_filtered(p, err);
	if (r < 0)
		return r;
	if (r == 0) {
		pm_text_str(out,
			"\nThis source has costs by call edge and no call paths, which filters need: there are\n"
			"none here.\n");
		return pm_text_status(out);
	}
	pm_text_str(out,
		"\nFilters are not shown by ls; open them by name. PATTERN is\n\n"
		"  NAME                a function, as in functions/; or with * for any text, ? for one\n"
		"                      character, [abc] for one of some, \\ before a character that is\n"
		"                      meant itself; with or without parameters and module;\n"
		"                      *::NAME for a member of any class\n"
		"  module:GLOB         by load module, the whole path or its last part\n"
		"  file:GLOB           by source file, likewise\n"
		"  category:NAME       as in categories.csv: category:mpi\n"
		"  kind:NAME           as in contexts.csv: kind:loop\n"
		"  name:GLOB           a name that begins like one of these\n\n"
		"A filter is a directory with the tables, pictures and exports of the whole. Filters,\n"
		"windows, threads and runs can be in one another. -o focus=PATTERN and its like filter\n"
		"a whole mount; a comma in PATTERN is \\, there. In the folder above:\n\n");
	pm_text_printf(out, "$ head -n 6 %s/", kind);
	add_name(out, f);
	pm_text_printf(out, "/functions.txt\n$ cat %s/", kind);
	add_name(out, f);
	pm_text_str(out, "/summary.txt\n");
	if (p->ops->threads) {
		pm_text_printf(out, "$ cat %s/", kind);
		add_name(out, f);
		pm_text_str(out, "/threads.csv\n");
	}
	return pm_text_status(out);
}
