/* UTF-8 according to RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef PROFMOUNT_UTF8_H
#define PROFMOUNT_UTF8_H

#include "profmount/bytes.h"

/* Length (1 to 4) of the valid character that begins at p[at]; 0 if there is none. */
size_t pm_utf8_next(struct pm_bytes b, size_t at);

/* Whether all of b is valid UTF-8. */
bool pm_utf8_valid(struct pm_bytes b);

/*
 * The rule for names and messages, which are shown on terminals: invalid UTF-8, control characters
 * (C0, DEL, C1) and format controls (Unicode's Cf, Zl, Zp: bidi marks and overrides, invisible
 * characters, tags) are shown as U+FFFD. Returns the length of the character at p[at], or 1 for an
 * invalid byte; *ret_shown: whether it is shown unchanged.
 */
size_t pm_utf8_shown(struct pm_bytes b, size_t at, bool *ret_shown);

#define PM_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/*
 * `s` by that rule, NUL-terminated, truncated between characters if it does not fit into `size`
 * bytes.
 */
void pm_shown_copy(char *out, size_t size, const char *s);

#endif
