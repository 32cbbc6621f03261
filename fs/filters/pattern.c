/* The patterns of filters, and the names nearest to one that matches nothing. */
#include "fs/filters/pattern.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "formats/common/affix.h"
#include "formats/common/work.h"
#include "fs/filters/internal.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/model.h"

/* ---- patterns ---- */

bool pmfs_pattern_read(struct pmfs_pattern *p, struct pm_bytes text)
{
	static const struct {
		const char *prefix;
		enum pmfs_pattern_of of;
	} prefixes[] = {{"name:", PMFS_PATTERN_NAME}, {"module:", PMFS_PATTERN_MODULE},
		{"file:", PMFS_PATTERN_FILE}, {"category:", PMFS_PATTERN_CATEGORY},
		{"kind:", PMFS_PATTERN_KIND}};
	if (text.len == 0 || text.len >= sizeof(p->text) || text.p[0] == '.')
		return false;
	memcpy(p->text, text.p, text.len);
	p->text[text.len] = '\0';
	p->len = text.len;
	p->of = PMFS_PATTERN_NAME;
	p->rest = (struct pm_bytes){(const uint8_t *)p->text, text.len};
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t len = strlen(prefixes[i].prefix);
		if (!pm_begins_with(text, prefixes[i].prefix) || p->text[len] == ':')
			continue;
		p->of = prefixes[i].of;
		p->rest = (struct pm_bytes){(const uint8_t *)p->text + len, text.len - len};
		break;
	}
	pm_glob_read(&p->glob, p->rest);
	return true;
}

bool pmfs_pattern_has_name(const struct pmfs_pattern *p, struct pm_bytes name)
{
	if (pm_glob_matches(&p->glob, name))
		return true;
	struct pm_bytes bare = pmfs_name_bare(name);
	return bare.len != name.len && pm_glob_matches(&p->glob, bare);
}

bool pmfs_pattern_has_path(const struct pmfs_pattern *p, struct pm_bytes path)
{
	return pm_glob_matches(&p->glob, path) || pm_glob_matches(&p->glob, pmfs_base_name(path));
}

/* ---- names that are like a pattern which matches nothing ---- */

enum { SHOWN = 3, LETTERS = 48 }; /* of a name: its end is not compared */

/* The number of letters to be changed, added or removed; capitals are letters. */
static unsigned distance(struct pm_bytes a, struct pm_bytes b)
{
	unsigned row[LETTERS + 1];
	size_t n = a.len < LETTERS ? a.len : LETTERS, m = b.len < LETTERS ? b.len : LETTERS;
	for (size_t k = 0; k <= m; k++)
		row[k] = (unsigned)k;
	for (size_t i = 1; i <= n; i++) {
		unsigned corner = row[0];
		row[0] = (unsigned)i;
		for (size_t k = 1; k <= m; k++) {
			bool same = tolower(a.p[i - 1]) == tolower(b.p[k - 1]);
			unsigned best = corner + !same;
			corner = row[k];
			best = row[k] + 1 < best ? row[k] + 1 : best;
			row[k] = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
		}
	}
	return row[m];
}

static bool contains(struct pm_bytes text, struct pm_bytes wanted)
{
	for (size_t at = 0; at + wanted.len <= text.len; at++)
		if (strncasecmp((const char *)text.p + at, (const char *)wanted.p, wanted.len) == 0)
			return true;
	return false;
}

/* How far a name is from the pattern: whole, or the last part of it; 1 if it contains the pattern.
 */
static unsigned distance_to(struct pm_bytes name, struct pm_bytes wanted)
{
	if (contains(name, wanted))
		return 1;
	struct pm_bytes bare = pmfs_name_bare(name);
	size_t at = pmfs_name_component(bare, bare.len);
	unsigned whole = distance(bare, wanted);
	unsigned last = distance((struct pm_bytes){bare.p + at, bare.len - at}, wanted);
	return last < whole ? last : whole;
}

/* The text that a pattern of this kind is tried on, to be compared with it. */
static struct pm_bytes text_of(
	const struct pmfs_filter *f, const struct pm_tree *tree, const struct pmfs_function *is)
{
	if (f->pattern.of == PMFS_PATTERN_NAME)
		return is->name;
	return pmfs_base_name(
		tree->texts[f->pattern.of == PMFS_PATTERN_MODULE ? is->module : is->file]);
}

static void add_categories(struct pm_text *out)
{
	pm_text_str(out, " Categories: program");
	for (unsigned i = PMFS_PROGRAM + 1; i < PMFS_N_CATEGORIES; i++) {
		pm_text_str(out, ", ");
		pm_text_bytes(out, pmfs_category_name((enum pmfs_category)i));
	}
}

/* That what was asked for as a name is a category. */
static void add_category(struct pm_text *out, struct pm_bytes wanted)
{
	for (unsigned i = PMFS_PROGRAM + 1; i < PMFS_N_CATEGORIES; i++)
		if (pm_bytes_equal(pmfs_category_name((enum pmfs_category)i), wanted)) {
			pm_text_str(out, " There is category:");
			pm_text_bytes(out, wanted);
			pm_text_char(out, '.');
		}
}

int pmfs_filter_nearest(struct pmfs_filter *f, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_identity *id;
	struct {
		struct pm_bytes text;
		unsigned distance;
	} nearest[SHOWN + 1];
	unsigned n = 0;
	size_t most = f->pattern.rest.len > 2 ? f->pattern.rest.len / 2 : 1;
	if (f->pattern.of == PMFS_PATTERN_CATEGORY)
		add_categories(out);
	if (f->pattern.of == PMFS_PATTERN_KIND)
		pm_text_str(out,
			" Kinds: entry, function, inlined, loop, line, instruction, placeholder");
	if (f->pattern.of == PMFS_PATTERN_CATEGORY || f->pattern.of == PMFS_PATTERN_KIND)
		return 0;
	if (f->pattern.of == PMFS_PATTERN_NAME)
		add_category(out, f->pattern.rest);
	int r = pmfs_identity(f->model, &id, err);
	for (uint32_t i = 0; r == 0 && i < id->n; i++) {
		struct pm_bytes text = text_of(f, id->tree, &id->functions[i]);
		unsigned d = distance_to(text, f->pattern.rest), k = 0;
		if (i % PMFS_FILTER_STEP == 0 && pm_work_cancelled())
			return pm_error_plain(err, PM_CANCELLED);
		while (k < n && !pm_bytes_equal(nearest[k].text, text))
			k++;
		if (k < n || text.len == 0 || d > most ||
			pm_bytes_equal(text, f->pattern.rest)) /* it has no contexts */
			continue;
		for (k = n; k > 0 && nearest[k - 1].distance > d; k--)
			nearest[k] = nearest[k - 1];
		nearest[k].text = text;
		nearest[k].distance = d;
		n += n < SHOWN;
	}
	for (unsigned k = 0; r == 0 && k < n; k++) {
		pm_text_str(out, k ? ", " : " Nearest: ");
		pm_text_line(out, nearest[k].text);
	}
	if (r == 0 && n > 0 && contains(nearest[0].text, f->pattern.rest)) {
		pm_text_str(out, "; all that contain it: ");
		pm_text_str(out,
			f->pattern.of == PMFS_PATTERN_MODULE         ? "module:*"
				: f->pattern.of == PMFS_PATTERN_FILE ? "file:*"
								     : "*");
		pm_text_line(out, f->pattern.rest);
		pm_text_char(out, '*');
	}
	return r;
}
