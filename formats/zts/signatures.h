/* Signatures of methods, as the JVM encodes them. */
#ifndef PROFMOUNT_FORMATS_ZTS_SIGNATURES_H
#define PROFMOUNT_FORMATS_ZTS_SIGNATURES_H

#include "formats/common/text.h"

/*
 * `(Ljava/lang/String;I)V` → arguments `String, int` and result `void`. False if it is not a
 * signature; both texts may then contain a part of it.
 */
bool zts_signature_read(
	struct pm_bytes signature, struct pm_text *arguments, struct pm_text *result);

#endif
