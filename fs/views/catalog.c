/* Which views stand where, in the order in which directories list them. */
#include "fs/views/model/catalog.h"

static const struct pmfs_view *const root[] = {
	&pmfs_readme_txt,
	&pmfs_summary_txt,
	&pmfs_info_json,
	&pmfs_metrics_csv,
	&pmfs_contexts_csv,
	&pmfs_contexts_tsv,
	&pmfs_functions_csv,
	&pmfs_functions_tsv,
	&pmfs_modules_csv,
	&pmfs_modules_tsv,
	&pmfs_files_csv,
	&pmfs_files_tsv,
	&pmfs_lines_csv,
	&pmfs_lines_tsv,
	&pmfs_callers_csv,
	&pmfs_callers_tsv,
	&pmfs_categories_csv,
	&pmfs_gpu_csv,
	&pmfs_threads_csv,
	&pmfs_imbalance_csv,
	&pmfs_hotpath_txt,
	&pmfs_damage_csv,
};

static const struct pmfs_view *const export[] = {
	&pmfs_flamegraph_svg,
	&pmfs_flamegraph_html,
	&pmfs_timeline_svg,
	&pmfs_export_folded,
	&pmfs_export_speedscope,
	&pmfs_export_callgrind,
	&pmfs_export_pprof,
	&pmfs_export_chrome,
	&pmfs_export_dot,
};

static const struct pmfs_view *const context[] = {
	&pmfs_context_info,
	&pmfs_context_path,
	&pmfs_context_metrics,
	&pmfs_context_functions,
	&pmfs_context_children,
	&pmfs_context_threads,
	&pmfs_context_values,
	&pmfs_context_flamegraph,
};

static const struct pmfs_view *const function[] = {
	&pmfs_function_info,
	&pmfs_function_metrics,
	&pmfs_function_callers,
	&pmfs_function_callees,
	&pmfs_function_contexts,
	&pmfs_function_source,
};

static const struct pmfs_view *const thread[] = {
	&pmfs_thread_summary,
	&pmfs_thread_timeline,
	&pmfs_thread_profile_csv,
	&pmfs_thread_profile_tsv,
	&pmfs_thread_values,
	&pmfs_thread_trace_csv,
	&pmfs_thread_trace_tsv,
	&pmfs_thread_functions_csv,
};

static const struct pmfs_view *const thread_export[] = {
	&pmfs_thread_flamegraph_svg,
	&pmfs_thread_flamegraph_html,
	&pmfs_thread_timeline,
	&pmfs_thread_folded,
	&pmfs_thread_speedscope,
	&pmfs_thread_callgrind,
	&pmfs_thread_pprof,
	&pmfs_thread_chrome,
	&pmfs_thread_dot,
};

static const struct pmfs_view *const trace[] = {
	&pmfs_trace_flamegraph,
	&pmfs_trace_chrome,
};

#define PLACE(views)                                                                               \
	{                                                                                          \
		views, sizeof(views) / sizeof(*(views))                                            \
	}

static const struct {
	const struct pmfs_view *const *views;
	uint32_t n;
} places[PMFS_N_PLACES] = {
	[PMFS_PLACE_ROOT] = PLACE(root),
	[PMFS_PLACE_EXPORT] = PLACE(export),
	[PMFS_PLACE_CONTEXT] = PLACE(context),
	[PMFS_PLACE_FUNCTION] = PLACE(function),
	[PMFS_PLACE_THREAD] = PLACE(thread),
	[PMFS_PLACE_THREAD_EXPORT] = PLACE(thread_export),
	[PMFS_PLACE_TRACE] = PLACE(trace),
};

const struct pmfs_shape *pmfs_shape_of(enum pm_shape shape)
{
	static const struct pmfs_shape shapes[PM_N_SHAPES] = {
		[PM_SHAPE_TRACE] = {.place = PMFS_PLACE_TRACE},
		[PM_SHAPE_RUN] = {.place = PMFS_PLACE_ROOT,
			.is_tree = true,
			.folders = PMFS_FOLDER_CONTEXTS | PMFS_FOLDER_FUNCTIONS |
				PMFS_FOLDER_THREADS | PMFS_FOLDER_EXPORT},
	};
	return &shapes[shape];
}

const struct pmfs_view *const *pmfs_views(enum pmfs_place place, uint32_t *ret_n)
{
	*ret_n = places[place].n;
	return places[place].views;
}
