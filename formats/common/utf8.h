/* UTF-8, as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef PROFMOUNT_UTF8_H
#define PROFMOUNT_UTF8_H

#include "profmount/bytes.h"

/* Length (1 to 4) of the valid character that begins at p[at]; 0 where there is none. */
size_t pm_utf8_next(struct pm_bytes b, size_t at);

/* True where all of b is valid UTF-8. */
bool pm_utf8_valid(struct pm_bytes b);

#endif
