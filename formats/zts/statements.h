/* SQL in the values of attributes. */
#ifndef PROFMOUNT_FORMATS_ZTS_STATEMENTS_H
#define PROFMOUNT_FORMATS_ZTS_STATEMENTS_H

#include "formats/common/text.h"

/* Does it begin with a verb of SQL, in upper or lower case, and go on behind it? */
bool zts_is_statement(struct pm_bytes value);

/*
 * Appends the statement with each number and quoted text as `?`, a list of `?` behind IN as one,
 * and white space as one blank. Names in double quotes or backquotes stay. Linear.
 */
void zts_statement_shape(struct pm_bytes statement, struct pm_text *out);

#endif
