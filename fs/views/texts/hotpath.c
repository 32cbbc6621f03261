/* hotpath.txt: the most expensive call path, one step per line. */
#include <stdlib.h>

#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/screen.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/totals.h"

int pmfs_hotpath_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	struct pm_text scratch = {.p = NULL};
	const struct pm_tree *tree;
	struct pmfs_hot *path;
	uint32_t n;
	const struct pmfs_totals *totals;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0 || (r = pmfs_totals(m, &totals, err)) < 0 ||
		(r = pmfs_hotpath(m, &path, &n, err)) < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		pm_text_printf(out, "%.1f%%\t", 100 * path[i].value / totals->busy);
		pm_text_f64(out, path[i].value);
		pm_text_char(out, '\t');
		pmfs_add_stop(out, tree, path[i].context, &scratch);
	}
	free(path);
	pm_text_end(&scratch, out);
	return pm_text_status(out);
}
