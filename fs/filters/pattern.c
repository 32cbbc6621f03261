/* The patterns of filters, and the names nearest to one that matches nothing. */
#include "fs/filters/pattern.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/common/affix.h"
#include "formats/common/utf8.h"
#include "formats/common/work.h"
#include "fs/filters/internal.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/model.h"
#include "fs/views/model/shortname.h"

/* ---- globs ---- */

enum { ANY_TEXT, ANY_ONE, ONE_OF, ONE_BUT, THIS, SLASH };

static const char slash[] = "\xe2\x88\x95"; /* U+2215, which names of entries have for `/` */

/* The end of the set that `[` at `at` opens, or 0. A `]` that comes first belongs to it. */
static size_t end_of_set(struct pm_bytes text, size_t at, size_t *ret_from)
{
	*ret_from = at + 1;
	if (*ret_from < text.len && (text.p[*ret_from] == '!' || text.p[*ret_from] == '^'))
		++*ret_from;
	const uint8_t *end = *ret_from + 1 < text.len
		? memchr(text.p + *ret_from + 1, ']', text.len - *ret_from - 1)
		: NULL;
	return end ? (size_t)(end - text.p) : 0;
}

static size_t length_at(struct pm_bytes text, size_t at)
{
	size_t len = pm_utf8_next(text, at);
	return len ? len : 1;
}

/* The text must outlive it. O(its length). */
static void glob_read(struct pmfs_glob *g, struct pm_bytes text)
{
	g->text = text;
	g->n = 0;
	for (size_t at = 0; at < text.len && g->n < PMFS_PATTERN_SIZE;) {
		struct pmfs_glob_step *s = &g->steps[g->n];
		size_t from = 0, end = text.p[at] == '[' ? end_of_set(text, at, &from) : 0;
		bool again = g->n > 0 && s[-1].kind == ANY_TEXT;
		struct pm_bytes rest = {text.p + at, text.len - at};
		if (text.p[at] == '*') {
			*s = (struct pmfs_glob_step){.kind = ANY_TEXT};
			g->n += !again;
			at++;
			continue;
		}
		if (end) {
			*s = (struct pmfs_glob_step){
				from == at + 1 ? ONE_OF : ONE_BUT, (uint8_t)from, (uint8_t)end};
			at = end + 1;
		} else if (text.p[at] == '?') {
			*s = (struct pmfs_glob_step){.kind = ANY_ONE};
			at++;
		} else if (pm_begins_with(rest, slash)) {
			*s = (struct pmfs_glob_step){.kind = SLASH};
			at += strlen(slash);
		} else {
			at += text.p[at] == '\\' && at + 1 < text.len;
			size_t len = length_at(text, at);
			*s = (struct pmfs_glob_step){THIS, (uint8_t)at, (uint8_t)(at + len)};
			at += len;
		}
		g->n++;
	}
}

/* Whether a set (`a-z` is a range of it) has the character. */
static bool is_in_set(struct pm_bytes set, struct pm_bytes c)
{
	for (size_t at = 0, len; at < set.len; at += len) {
		len = length_at(set, at);
		struct pm_bytes low = {set.p + at, len}, high = low;
		size_t dash = at + len;
		if (dash + 1 < set.len && set.p[dash] == '-') {
			high = (struct pm_bytes){set.p + dash + 1, length_at(set, dash + 1)};
			len += 1 + high.len;
		}
		/* The order of bytes is that of characters. */
		if (pm_bytes_compare(low, c) <= 0 && pm_bytes_compare(c, high) <= 0)
			return true;
	}
	return false;
}

/* The length of what the step matches at that place of the name, 0 if it does not match. */
static size_t step_matches(
	const struct pmfs_glob *g, const struct pmfs_glob_step *s, struct pm_bytes name, size_t at)
{
	if (at >= name.len)
		return 0;
	size_t len = length_at(name, at);
	struct pm_bytes c = {name.p + at, len};
	struct pm_bytes text = {g->text.p + s->from, (size_t)(s->to - s->from)};
	bool matches = s->kind == ANY_ONE || (s->kind == SLASH && name.p[at] == '/') ||
		(s->kind == SLASH && pm_bytes_equal(c, pm_bytes_of(slash))) ||
		(s->kind == THIS && pm_bytes_equal(c, text)) ||
		(s->kind == ONE_OF && is_in_set(text, c)) ||
		(s->kind == ONE_BUT && !is_in_set(text, c));
	return matches ? len : 0;
}

/*
 * Whether it matches the whole name: `*` is any text, `?` one character, `[…]` one of a set,
 * `\` takes away the meaning of the next one, U+2215 is a slash. At most pattern × name steps.
 */
static bool glob_matches(const struct pmfs_glob *g, struct pm_bytes name)
{
	unsigned i = 0, after_any = 0; /* steps; 0: there was no ANY_TEXT */
	size_t at = 0, any_at = 0, len;
	for (;;) {
		if (i < g->n && g->steps[i].kind == ANY_TEXT) {
			after_any = ++i;
			any_at = at;
		} else if (i == g->n && at == name.len) {
			return true;
		} else if (i < g->n && (len = step_matches(g, &g->steps[i], name, at)) > 0) {
			i++;
			at += len;
		} else if (after_any == 0 || any_at >= name.len) {
			return false;
		} else {
			i = after_any;
			any_at += length_at(name, any_at);
			at = any_at;
		}
	}
}

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
	glob_read(&p->glob, p->rest);
	return true;
}

bool pmfs_pattern_has_name(const struct pmfs_pattern *p, struct pm_bytes name)
{
	if (glob_matches(&p->glob, name))
		return true;
	struct pm_bytes bare = pmfs_name_bare(name);
	return bare.len != name.len && glob_matches(&p->glob, bare);
}

bool pmfs_pattern_has_path(const struct pmfs_pattern *p, struct pm_bytes path)
{
	return glob_matches(&p->glob, path) || glob_matches(&p->glob, pmfs_base_name(path));
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
			return pm_error_plain(err, -ENOMEM);
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
