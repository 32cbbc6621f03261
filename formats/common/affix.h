/* What a text begins or ends with. */
#ifndef PROFMOUNT_AFFIX_H
#define PROFMOUNT_AFFIX_H

#include "profmount/bytes.h"

static inline bool pm_begins_with(struct pm_bytes b, const char *text)
{
	size_t len = strlen(text);
	return b.len >= len && (len == 0 || memcmp(b.p, text, len) == 0);
}

static inline bool pm_ends_with(struct pm_bytes b, const char *text)
{
	size_t len = strlen(text);
	return b.len >= len && (len == 0 || memcmp(b.p + b.len - len, text, len) == 0);
}

/* Whether a file's name has this ending, with something before it. */
static inline bool pm_has_ending(struct pm_bytes name, const char *ending)
{
	return name.len > strlen(ending) && pm_ends_with(name, ending);
}

#endif
