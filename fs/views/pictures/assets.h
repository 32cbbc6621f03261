/* Files of fs/views/assets/, built in. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_ASSETS_H
#define PROFMOUNT_FS_VIEWS_PICTURES_ASSETS_H

#include "profmount/bytes.h"

/* flamegraph.html: the page with its marks, and what goes there; see flamehtml.c. */
extern const struct pm_bytes pmfs_asset_page_html, pmfs_asset_page_css, pmfs_asset_page_js;

extern const struct pm_bytes pmfs_asset_labels_js;     /* goes before what draws labels */
extern const struct pm_bytes pmfs_asset_flamegraph_js; /* of flamegraph.svg */
extern const struct pm_bytes pmfs_asset_timeline_js;   /* of timeline.svg */
extern const struct pm_bytes pmfs_asset_picture_css;   /* of every SVG */

#endif
