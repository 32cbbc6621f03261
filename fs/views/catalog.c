/*
 * The catalogue: which documents there are, where, in the order in which directories list them, and
 * what makes them.
 */
#include "fs/views/model/catalog.h"

#include "fs/views/exports/export.h"
#include "fs/views/sums/threads.h"

#define TEXT(file, words, there, fn)                                                               \
	{                                                                                          \
		.name = (file), .about = (words), .form = PM_DOC_TEXT, .present = (there),         \
		.render = (fn)                                                                     \
	}

#define TABLE(file, words, there, fn)                                                              \
	{                                                                                          \
		.name = file ".csv", .twin = file ".parquet", .about = (words),                    \
		.form = PM_DOC_CSV, .present = (there), .table = (fn)                              \
	}

/* A table for programs only: found by name. Other tables have `.parquet` beside their CSV. */
#define PARQUET(file, words, there, fn)                                                            \
	{                                                                                          \
		.name = file ".parquet", .about = (words), .unlisted = true,                       \
		.form = PM_DOC_PARQUET, .present = (there), .table = (fn)                          \
	}

/* A table in every form: a further form is a further line here. */
#define TABLES(file, words, there, fn)                                                             \
	TABLE(file, words, there, fn),                                                             \
	{                                                                                          \
		.name = file ".tsv", .unlisted = true, .form = PM_DOC_TSV, .present = (there),     \
		.table = (fn)                                                                      \
	}

/* A text that one function renders for several kinds of items. */
#define TEXT_OF(what, file, words, there, fn)                                                      \
	{                                                                                          \
		.name = (file), .about = (words), .of = (what), .form = PM_DOC_TEXT,               \
		.present = (there), .render = (fn)                                                 \
	}

/* The same, with one file for each metric. */
#define EACH_OF(what, file, words, fn)                                                             \
	{                                                                                          \
		.name = (file), .about = (words), .of = (what), .form = PM_DOC_TEXT,               \
		.each_metric = true, .render = (fn)                                                \
	}

static const struct pmfs_view root[] = {
	TEXT("README.txt", "This page; more questions, each with a command that answers it.", NULL,
		pmfs_readme_render),
	TEXT("recipes.txt", NULL, NULL, pmfs_recipes_render),
	TEXT("summary.txt", "One screen: the most expensive functions, hot path, worst imbalances.",
		NULL, pmfs_summary_render),
	TEXT("summary.json", NULL, NULL, pmfs_summary_json_render),
	TEXT("functions.txt", "The most expensive functions, as a table for people.", NULL,
		pmfs_functions_text_render),
	TEXT("report.html",
		"The profile in a browser: flame graph, tree, functions, source, timeline.", NULL,
		pmfs_report_page_render),
	TEXT("info.json",
		"What the profile records about the run; quantities, their columns, units.", NULL,
		pmfs_info_render),
	TABLE("metrics", NULL, NULL, pmfs_metrics_table),
	TABLES("contexts",
		"Every calling context with its costs; parents come before their children.", NULL,
		pmfs_contexts_table),
	TABLES("functions",
		"The flat profile: costs of each function, highest exclusive cost first.", NULL,
		pmfs_functions_table),
	TABLES("modules", "The same by load module, package or class, and by source file.",
		pmfs_has_modules, pmfs_modules_table),
	TABLES("files", NULL, pmfs_has_files, pmfs_files_table),
	TABLES("lines", "The costs of each source line, highest exclusive cost first.",
		pmfs_has_lines, pmfs_lines_table),
	TABLES("callers", "Call edges: caller, callee, call site, number and cost of the calls.",
		NULL, pmfs_callers_table),
	TABLE("cycles", "Functions that call one another in a circle: costs of all together.",
		pmfs_has_cycles, pmfs_cycles_table),
	TABLE("cycle-members", NULL, pmfs_has_cycles, pmfs_cycle_members_table),
	TABLE("categories", "Cost by category of work: mpi, io, memory and so on.", NULL,
		pmfs_categories_table),
	TABLE("gpu", "GPU kernels, copies and other operations: launches, times, bytes.",
		pmfs_has_gpu, pmfs_gpu_table),
	TABLE("gpu-gaps", NULL, pmfs_has_gpu_gaps, pmfs_gpu_gaps_table),
	TABLE("threads", "Costs by thread, by rank, by thread and category.", pmfs_has_threads,
		pmfs_threads_table),
	TABLE("ranks", NULL, pmfs_has_ranks, pmfs_ranks_table),
	TABLE("threads-by-category", NULL, pmfs_has_several_threads, pmfs_thread_categories_table),
	TABLE("imbalance", "How unevenly the costs of contexts are spread over threads.",
		pmfs_has_several_threads, pmfs_imbalance_table),
	TABLE("imbalance-functions", "The same of functions.", pmfs_has_several_threads,
		pmfs_imbalance_functions_table),
	TABLE("efficiency",
		"Where threads wait or are not used, by kind of loss; what ran meanwhile.",
		pmfs_has_efficiency, pmfs_efficiency_table),
	TABLE("blame", NULL, pmfs_has_blame, pmfs_blame_table),
	TABLE("iterations", "The calls that -o iterations named: time, duration, own time, window.",
		pmfs_has_iterations, pmfs_iterations_table),
	TEXT("iterations.svg", NULL, pmfs_has_iterations, pmfs_iterations_render),
	TEXT("hotpath.txt", "The most expensive call path: share, value, name, place.", NULL,
		pmfs_hotpath_render),
	TABLE("damage", "What could not be read, with file and offset.", NULL, pmfs_damage_table),
	TABLE("missing-symbols", "Modules of which code has no names: cost, why, what was tried.",
		pmfs_may_miss_names, pmfs_missing_table),
	PARQUET("profiles", "The profiles of all threads; found by name, not listed.",
		pmfs_has_threads, pmfs_profiles_table),
	PARQUET("timeline", "The traces of all threads; likewise.", pmfs_some_thread_has_trace,
		pmfs_timeline_table),
};

static const struct pmfs_view context[] = {
	TEXT("info.txt", "Kind, name and place of this context.", NULL, pmfs_context_info_render),
	TEXT("path.txt", "The call path, outermost first.", NULL, pmfs_context_path_render),
	TABLE("metrics", "Its costs over the whole run.", NULL, pmfs_context_metrics_table),
	TABLE("functions", "The flat profile of this context and all below it.", NULL,
		pmfs_context_functions_table),
	{.name = "functions.txt",
		.about = "The most expensive functions there, for people.",
		.unlisted = true, /* as report.html below */
		.of = PMFS_OF_CONTEXT,
		.form = PM_DOC_TEXT,
		.render = pmfs_functions_text_render},
	TABLE("children", "Where its cost comes from: its child contexts and its own cost.", NULL,
		pmfs_context_children_table),
	TABLE("threads", "The costs of this context on each thread.", pmfs_has_threads,
		pmfs_context_threads_table),
	TABLE("values", "Its values on each thread, exactly as stored.", pmfs_has_threads,
		pmfs_context_values_table),
	TEXT_OF(PMFS_OF_CONTEXT, "flamegraph.svg",
		"Flame graph of this context and everything below it.", NULL,
		pmfs_flamegraph_svg_render),
	/* Unlisted: one more file in each of a million directories would slow down every walk. */
	{.name = "report.html",
		.about = "This context in the tree of report.html.",
		.unlisted = true,
		.form = PM_DOC_TEXT,
		.render = pmfs_context_report_render},
};

static const struct pmfs_view function[] = {
	TEXT("info.txt", "Name, file and module of this function.", NULL,
		pmfs_function_info_render),
	TABLE("metrics", "Its costs over the whole run.", NULL, pmfs_function_metrics_table),
	TABLE("callers", "The callers of this function.", NULL, pmfs_function_callers_table),
	TABLE("callees", "The functions that this function calls.", NULL,
		pmfs_function_callees_table),
	TABLE("contexts", "Its calling contexts; columns as in the root's contexts.csv.", NULL,
		pmfs_function_contexts_table),
	TEXT("source.txt", "Its source code with the cost of each line.", pmfs_has_source,
		pmfs_function_source_render),
	TABLE("histogram", "Its calls by how long they took.", pmfs_has_histogram,
		pmfs_function_histogram_table),
	TABLE("slowest", "Its 100 longest calls: time, thread, context.", pmfs_has_slowest,
		pmfs_function_slowest_table),
};

#define THREAD_TIMELINE                                                                            \
	TEXT_OF(PMFS_OF_THREAD, "timeline.svg",                                                    \
		"What ran when, as a picture: the call path over time.", pmfs_thread_has_trace,    \
		pmfs_timeline_render)

static const struct pmfs_view thread[] = {
	TEXT("summary.txt", "This thread on one screen.", NULL, pmfs_thread_summary_render),
	TEXT_OF(PMFS_OF_THREAD, "functions.txt", "Its most expensive functions, for people.", NULL,
		pmfs_functions_text_render),
	TEXT("report.html", "This thread in report.html.", NULL, pmfs_thread_report_render),
	THREAD_TIMELINE,
	TABLES("profile", "The contexts that have a value on this thread.", NULL,
		pmfs_thread_profile_table),
	TABLE("values", "Every value of this thread, exactly as stored.", NULL,
		pmfs_thread_values_table),
	TABLES("trace", "What ran when: one row per sample or call, in time order.",
		pmfs_thread_has_trace, pmfs_thread_trace_table),
	TABLE("functions", "The flat profile of this thread.", NULL, pmfs_thread_functions_table),
};

static const struct pmfs_view export[] = {
	TEXT("flamegraph.svg", "Flame graph of the run: width is cost, callers are on top.", NULL,
		pmfs_flamegraph_svg_render),
	TEXT("flamegraph.html",
		"Interactive flame graph for a browser: every metric, zoom, search.", NULL,
		pmfs_flamegraph_html_render),
	TEXT("timeline.svg", "What ran when on every thread, as a picture.",
		pmfs_some_thread_has_trace, pmfs_timeline_render),
	TEXT("report.html",
		"report.html with its data inside, to be sent: tables, flame graphs, timeline, "
		"source, at most 20 MB.",
		NULL, pmfs_report_sent_render),
	EACH_OF(PMFS_OF_RUN, "*.collapsedstack.txt",
		"Folded stacks, one path a line with its own cost in whole units: "
		"flamegraph.pl, speedscope, inferno. Paths end after 1,000 frames.",
		pmfs_folded_render),
	TEXT("profile.speedscope.json",
		"For speedscope: every metric of the whole run and of the first 50 threads (fewer "
		"if that would exceed 64 MiB; the profile's name says how many are left out); "
		"calls also in time order.",
		pmfs_export_has_metrics, pmfs_speedscope_render),
	EACH_OF(PMFS_OF_RUN, "callgrind.out.*",
		"For kcachegrind and callgrind_annotate: own costs by line, and calls; the call "
		"counts of sampled profiles are 0.",
		pmfs_callgrind_render),
	TEXT("profile.pb.gz",
		"For go tool pprof: all quantities, with lines and inlined functions.",
		pmfs_export_has_metrics, pmfs_pprof_all_render),
	EACH_OF(PMFS_OF_RUN, "*.pb.gz", "For go tool pprof and other tools that read its format.",
		pmfs_pprof_render),
	TEXT("trace.json",
		"The traces for chrome://tracing, Perfetto and speedscope. Beyond 200000 slices "
		"only the topmost levels, or the first slices, are kept; otherData says so. Each "
		"thread also has its own file.",
		pmfs_some_thread_has_trace, pmfs_chrome_render),
	TEXT("callgraph.dot",
		"The call graph for Graphviz: functions and calls with at least 1 % of the total "
		"cost, at most 200 functions.",
		pmfs_export_has_metrics, pmfs_dot_render),
};

static const struct pmfs_view thread_export[] = {
	TEXT_OF(PMFS_OF_THREAD, "flamegraph.svg", "Flame graph of this thread.", NULL,
		pmfs_flamegraph_svg_render),
	TEXT_OF(PMFS_OF_THREAD, "flamegraph.html",
		"Interactive flame graph of this thread: every metric, zoom, search.", NULL,
		pmfs_flamegraph_html_render),
	THREAD_TIMELINE,
	EACH_OF(PMFS_OF_THREAD, "*.collapsedstack.txt", NULL, pmfs_folded_render),
	TEXT_OF(PMFS_OF_THREAD, "profile.speedscope.json", NULL, pmfs_export_has_metrics,
		pmfs_speedscope_render),
	EACH_OF(PMFS_OF_THREAD, "callgrind.out.*", NULL, pmfs_callgrind_render),
	EACH_OF(PMFS_OF_THREAD, "*.pb.gz", NULL, pmfs_pprof_render),
	TEXT_OF(PMFS_OF_THREAD, "trace.json", NULL, pmfs_thread_has_trace, pmfs_chrome_render),
	TEXT_OF(PMFS_OF_THREAD, "callgraph.dot", NULL, pmfs_export_has_metrics, pmfs_dot_render),
};

static const struct pmfs_view trace[] = {
	TEXT_OF(PMFS_OF_ITEM, "flamegraph.svg", "Flame graph of this trace.", NULL,
		pmfs_flamegraph_svg_render),
	TEXT_OF(PMFS_OF_ITEM, "trace.chrome.json",
		"The calls for chrome://tracing, Perfetto and speedscope.", NULL,
		pmfs_calls_render),
};

static const struct pmfs_view window[] = {
	TEXT("summary.txt", "This time on one screen.", NULL, pmfs_summary_render),
	TEXT("summary.json", NULL, NULL, pmfs_summary_json_render),
	TEXT("functions.txt", "Its most expensive functions, for people.", NULL,
		pmfs_functions_text_render),
	TEXT("report.html", "This time in a browser.", NULL, pmfs_report_page_render),
	TABLES("functions", "The flat profile of this time.", NULL, pmfs_functions_table),
	TABLES("contexts", "Every calling context that ran.", NULL, pmfs_contexts_table),
	TABLES("callers", "Call edges: caller, callee, call site, cost.", NULL, pmfs_callers_table),
	TABLES("lines", "Costs by source line.", pmfs_has_lines, pmfs_lines_table),
	TABLE("categories", "Cost by category of work.", NULL, pmfs_categories_table),
	TABLE("gpu", "GPU kernels, copies and other operations.", pmfs_has_gpu, pmfs_gpu_table),
	TABLE("gpu-gaps", "When streams of GPUs had nothing to do.", pmfs_has_gpu_gaps,
		pmfs_gpu_gaps_table),
	TABLE("threads", "One row per thread.", pmfs_has_threads, pmfs_threads_table),
	TABLE("threads-by-category", "What each thread costs, by category of work.",
		pmfs_has_several_threads, pmfs_thread_categories_table),
	TABLE("blame", "Who holds up whom: waiting, and what the others ran meanwhile.",
		pmfs_has_blame, pmfs_blame_table),
	TEXT("hotpath.txt", "The most expensive call path.", NULL, pmfs_hotpath_render),
	TEXT("flamegraph.svg", "Flame graph of this time.", NULL, pmfs_flamegraph_svg_render),
	TEXT("timeline.svg", "What ran when on every thread, as a picture.", pmfs_has_threads,
		pmfs_timeline_render),
	TABLE("damage", "Traces that could not be read, and are not in the other tables.",
		pmfs_has_threads, pmfs_damage_table),
};

static const struct pmfs_view comparison[] = {
	TEXT("report.html", "The runs in a browser: what changed, and where.", NULL,
		pmfs_report_page_render),
};

#define PLACE(views)                                                                               \
	{                                                                                          \
		views, sizeof(views) / sizeof(*(views))                                            \
	}

static const struct {
	const struct pmfs_view *views;
	uint32_t n;
} places[PMFS_N_PLACES] = {
	[PMFS_PLACE_ROOT] = PLACE(root),
	[PMFS_PLACE_EXPORT] = PLACE(export),
	[PMFS_PLACE_CONTEXT] = PLACE(context),
	[PMFS_PLACE_FUNCTION] = PLACE(function),
	[PMFS_PLACE_THREAD] = PLACE(thread),
	[PMFS_PLACE_THREAD_EXPORT] = PLACE(thread_export),
	[PMFS_PLACE_TRACE] = PLACE(trace),
	[PMFS_PLACE_BARE] = {NULL, 0},
	[PMFS_PLACE_WINDOW] = PLACE(window),
	[PMFS_PLACE_COMPARISON] = PLACE(comparison),
};

const struct pmfs_shape *pmfs_shape_of(enum pm_shape shape)
{
	static const struct pmfs_shape shapes[PM_N_SHAPES] = {
		[PM_SHAPE_TRACE] = {.place = PMFS_PLACE_TRACE},
		[PM_SHAPE_RUN] = {.place = PMFS_PLACE_ROOT,
			.is_tree = true,
			.has_report = true,
			.folders = PMFS_FOLDER_CONTEXTS | PMFS_FOLDER_FUNCTIONS |
				PMFS_FOLDER_THREADS | PMFS_FOLDER_EXPORT | PMFS_FOLDER_WINDOWS |
				PMFS_FOLDER_FILTERS},
		[PM_SHAPE_COMPARISON] = {.place = PMFS_PLACE_COMPARISON,
			.is_tree = true,
			.has_report = true},
		[PM_SHAPE_ENSEMBLE] = {.place = PMFS_PLACE_COMPARISON,
			.is_tree = true,
			.has_report = true,
			.folders = PMFS_FOLDER_FILTERS,
			.apart = true},
		[PM_SHAPE_WINDOW] = {.place = PMFS_PLACE_WINDOW,
			.is_tree = true,
			.has_report = true,
			.folders = PMFS_FOLDER_THREADS | PMFS_FOLDER_EXPORT | PMFS_FOLDER_FILTERS},
	};
	return &shapes[shape];
}

const struct pmfs_view *pmfs_views(enum pmfs_place place, uint32_t *ret_n)
{
	*ret_n = places[place].n;
	return places[place].views;
}

int pmfs_view_doc(const struct pmfs_view *view, struct pmfs_model *m, uint32_t item,
	uint32_t column, struct pm_doc *ret, struct pm_error *err)
{
	*ret = (struct pm_doc){.kind = view->form};
	if (view->table)
		return view->table(m, item, &ret->table, err);
	ret->text.render = view->render;
	ret->text.self = m;
	ret->text.a = item;
	ret->text.b = column;
	ret->text.c = view->of;
	return 0;
}
