/* UTF-8, as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef PROFMOUNT_UTF8_H
#define PROFMOUNT_UTF8_H

#include "profmount/bytes.h"

/* Length (1 to 4) of the valid character that begins at p[at]; 0 where there is none. */
size_t pm_utf8_next(struct pm_bytes b, size_t at);

/* True where all of b is valid UTF-8. */
bool pm_utf8_valid(struct pm_bytes b);

/*
 * The one rule for names and messages, which reach terminals: what is no UTF-8, control characters
 * (C0, DEL, C1) and format controls (Unicode's Cf, Zl, Zp: bidi marks and overrides, invisible
 * characters, tags) are shown as U+FFFD. Length of the character at p[at], or of the byte where
 * there is none; *ret_shown: may it be shown as it is?
 */
size_t pm_utf8_shown(struct pm_bytes b, size_t at, bool *ret_shown);

#define PM_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* `s` by that rule, NUL-terminated, cut between characters where `size` bytes do not hold it. */
void pm_shown_copy(char *out, size_t size, const char *s);

#endif
