#include "fs/windows/readme.h"

#include "formats/common/span.h"
#include "fs/windows/span.h"

static void add_commands(const struct pm_profile *p, uint64_t run_ns, struct pm_text *out)
{
	uint64_t tenth = run_ns / 10 ? run_ns / 10 : run_ns;
	const char *where = p->ops->threads ? "on all threads" : "in all traces";
	pm_text_printf(out, "  What ran at its beginning, %s?\n$ cat windows/", where);
	pm_span_print(out, 0, tenth);
	pm_text_str(out, "/summary.txt\n");
	if (p->ops->threads) {
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

int pmfs_windows_readme_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
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
	if (p->ops->threads)
		pm_text_str(out, " A thread has windows/ too, in its directory.");
	pm_text_str(out, "\n\n");
	if (run_ns == PM_NO_TIME || run_ns == 0) {
		pm_text_str(
			out, "The length of this run is not known, or 0: there are no windows.\n");
		return pm_text_status(out);
	}
	pm_text_str(out, "This run is ");
	pm_span_print(out, 0, run_ns);
	pm_text_str(out, ". In the folder above:\n\n");
	add_commands(p, run_ns, out);
	return pm_text_status(out);
}
