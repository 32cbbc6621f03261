/* Files of the folders assets/ of pictures and report, built into the program. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_ASSETS_H
#define PROFMOUNT_FS_VIEWS_PICTURES_ASSETS_H

#include "profmount/bytes.h"

/* flamegraph.html: the page with its placeholders, and their contents; see flamehtml.c. */
extern const struct pm_bytes pmfs_asset_page_html, pmfs_asset_page_css, pmfs_asset_page_js;

extern const struct pm_bytes
	pmfs_asset_labels_js; /* to be placed before scripts that draw labels */
extern const struct pm_bytes pmfs_asset_flamegraph_js; /* of flamegraph.svg */
extern const struct pm_bytes pmfs_asset_timeline_js;   /* of timeline.svg */
extern const struct pm_bytes pmfs_asset_picture_css;   /* of every SVG */

/* report.html, and its scripts in order; see report/page.c. */
extern const struct pm_bytes pmfs_asset_report_html, pmfs_asset_report_css;
extern const struct pm_bytes pmfs_asset_core_js, pmfs_asset_overview_js, pmfs_asset_functions_js,
	pmfs_asset_flame_js, pmfs_asset_tree_js, pmfs_asset_source_js, pmfs_asset_threads_js,
	pmfs_asset_time_js, pmfs_asset_tables_js, pmfs_asset_traces_js, pmfs_asset_main_js;

#endif
