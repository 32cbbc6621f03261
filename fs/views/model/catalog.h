/* The functions listed in catalog.c: tables, texts, and conditions for optional files. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_CATALOG_H
#define PROFMOUNT_FS_VIEWS_MODEL_CATALOG_H

#include "fs/views/model/views.h"

/* ---- tables ---- */

extern pmfs_table_fn pmfs_metrics_table, pmfs_contexts_table, pmfs_functions_table;
extern pmfs_table_fn pmfs_modules_table, pmfs_files_table, pmfs_lines_table, pmfs_callers_table;
extern pmfs_table_fn pmfs_categories_table, pmfs_cycle_members_table, pmfs_cycles_table,
	pmfs_gpu_table, pmfs_gpu_gaps_table, pmfs_threads_table;
extern pmfs_table_fn pmfs_imbalance_table, pmfs_efficiency_table, pmfs_blame_table,
	pmfs_imbalance_functions_table;
extern pmfs_table_fn pmfs_ranks_table, pmfs_thread_categories_table, pmfs_missing_table,
	pmfs_damage_table, pmfs_iterations_table;

extern pmfs_table_fn pmfs_profiles_table, pmfs_timeline_table;

extern pmfs_table_fn pmfs_context_metrics_table, pmfs_context_functions_table;
extern pmfs_table_fn pmfs_context_children_table, pmfs_context_threads_table;
extern pmfs_table_fn pmfs_context_values_table;

extern pmfs_table_fn pmfs_function_metrics_table, pmfs_function_contexts_table;
extern pmfs_table_fn pmfs_function_histogram_table, pmfs_function_slowest_table;
extern pmfs_table_fn pmfs_function_callers_table, pmfs_function_callees_table;

extern pmfs_table_fn pmfs_thread_profile_table, pmfs_thread_values_table;
extern pmfs_table_fn pmfs_thread_trace_table, pmfs_thread_functions_table;

/* ---- texts, pictures, exports ---- */

extern pmfs_render_fn pmfs_readme_render, pmfs_recipes_render, pmfs_summary_render,
	pmfs_summary_json_render, pmfs_functions_text_render, pmfs_info_render;
extern pmfs_render_fn pmfs_report_page_render, pmfs_report_sent_render, pmfs_thread_report_render,
	pmfs_context_report_render;
extern pmfs_render_fn pmfs_hotpath_render, pmfs_thread_summary_render;
extern pmfs_render_fn pmfs_context_info_render, pmfs_context_path_render;
extern pmfs_render_fn pmfs_function_info_render, pmfs_function_source_render;

extern pmfs_render_fn pmfs_flamegraph_svg_render, pmfs_flamegraph_html_render;
extern pmfs_render_fn pmfs_timeline_render, pmfs_iterations_render;

extern pmfs_render_fn pmfs_folded_render, pmfs_speedscope_render, pmfs_callgrind_render;
extern pmfs_render_fn pmfs_pprof_render, pmfs_pprof_all_render, pmfs_chrome_render, pmfs_dot_render,
	pmfs_calls_render;

/* ---- present ---- */

extern pmfs_present_fn pmfs_has_cycles, pmfs_has_modules, pmfs_has_files, pmfs_has_lines,
	pmfs_has_gpu, pmfs_has_threads;
extern pmfs_present_fn pmfs_has_several_threads, pmfs_has_ranks, pmfs_may_miss_names,
	pmfs_has_source, pmfs_has_efficiency, pmfs_has_gpu_gaps, pmfs_has_blame,
	pmfs_has_iterations;
extern pmfs_present_fn pmfs_has_histogram, pmfs_has_slowest;

#endif
