/* The views that there are, for catalog.c, which says where they stand. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_CATALOG_H
#define PROFMOUNT_FS_VIEWS_MODEL_CATALOG_H

#include "fs/views/model/views.h"

extern const struct pmfs_view pmfs_readme_txt, pmfs_summary_txt;
extern const struct pmfs_view pmfs_info_json;
extern const struct pmfs_view pmfs_metrics_csv;
extern const struct pmfs_view pmfs_contexts_csv, pmfs_contexts_tsv;
extern const struct pmfs_view pmfs_functions_csv, pmfs_functions_tsv;
extern const struct pmfs_view pmfs_modules_csv, pmfs_modules_tsv;
extern const struct pmfs_view pmfs_files_csv, pmfs_files_tsv;
extern const struct pmfs_view pmfs_lines_csv, pmfs_lines_tsv;
extern const struct pmfs_view pmfs_callers_csv, pmfs_callers_tsv;
extern const struct pmfs_view pmfs_categories_csv, pmfs_gpu_csv;
extern const struct pmfs_view pmfs_threads_csv;
extern const struct pmfs_view pmfs_imbalance_csv;
extern const struct pmfs_view pmfs_hotpath_txt;
extern const struct pmfs_view pmfs_damage_csv;

extern const struct pmfs_view pmfs_context_info, pmfs_context_path, pmfs_context_metrics;
extern const struct pmfs_view pmfs_context_functions;
extern const struct pmfs_view pmfs_context_children;
extern const struct pmfs_view pmfs_context_threads, pmfs_context_values;

extern const struct pmfs_view pmfs_function_info, pmfs_function_metrics;
extern const struct pmfs_view pmfs_function_callers, pmfs_function_callees;
extern const struct pmfs_view pmfs_function_contexts, pmfs_function_source;

extern const struct pmfs_view pmfs_thread_profile_csv, pmfs_thread_profile_tsv;
extern const struct pmfs_view pmfs_thread_values;
extern const struct pmfs_view pmfs_thread_trace_csv, pmfs_thread_trace_tsv;
extern const struct pmfs_view pmfs_thread_functions_csv, pmfs_thread_summary;

extern const struct pmfs_view pmfs_flamegraph_svg, pmfs_flamegraph_html;
extern const struct pmfs_view pmfs_context_flamegraph;
extern const struct pmfs_view pmfs_thread_flamegraph_svg, pmfs_thread_flamegraph_html;
extern const struct pmfs_view pmfs_trace_flamegraph, pmfs_trace_chrome;
extern const struct pmfs_view pmfs_timeline_svg, pmfs_thread_timeline;

extern const struct pmfs_view pmfs_export_folded, pmfs_thread_folded;
extern const struct pmfs_view pmfs_export_speedscope, pmfs_thread_speedscope;
extern const struct pmfs_view pmfs_export_callgrind, pmfs_thread_callgrind;
extern const struct pmfs_view pmfs_export_pprof, pmfs_thread_pprof;
extern const struct pmfs_view pmfs_export_chrome, pmfs_thread_chrome;
extern const struct pmfs_view pmfs_export_dot, pmfs_thread_dot;

#endif
