/* Slugs of names: lower case words joined by `_`. */
#include "formats/common/slug.h"

#include <string.h>

/* Lower case, runs of anything but [a-z0-9] as one `_`, none at either end. */
static void add_slug(struct pm_text *t, struct pm_bytes name)
{
	size_t start = t->len;
	bool gap = false;
	for (size_t i = 0; i < name.len; i++) {
		uint8_t c = name.p[i];
		if (c >= 'A' && c <= 'Z')
			c = (uint8_t)(c - 'A' + 'a');
		if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) {
			gap = true;
			continue;
		}
		if (gap && t->len > start)
			pm_text_char(t, '_');
		gap = false;
		pm_text_char(t, (char)c);
	}
}

/* Whether `slug` contains `word` (a slug) between `_` or its ends. */
static bool has_word(struct pm_bytes slug, struct pm_bytes word)
{
	for (size_t at = 0; at + word.len <= slug.len; at++) {
		size_t end = at + word.len;
		if (memcmp(slug.p + at, word.p, word.len) == 0 &&
			(at == 0 || slug.p[at - 1] == '_') &&
			(end == slug.len || slug.p[end] == '_'))
			return true;
	}
	return false;
}

struct pm_bytes pm_metric_slug(struct pm_text *t, const struct pm_metric *metric)
{
	pm_text_clear(t);
	add_slug(t, metric->unit);
	size_t unit_len = t->len;
	add_slug(t, metric->name);
	if (t->len == unit_len)
		pm_text_str(t, "metric");
	struct pm_bytes both = pm_text_view(t);
	struct pm_bytes unit = {both.p, unit_len};
	struct pm_bytes name = {both.p + unit_len, both.len - unit_len};
	if (t->failed || unit_len == 0 || has_word(name, unit))
		return name;
	pm_text_char(t, '_');
	if (pm_text_reserve(t, unit_len))
		pm_text_add(t, t->p, unit_len);
	both = pm_text_view(t);
	return (struct pm_bytes){both.p + unit_len, both.len - unit_len};
}
