/* A payload as data.json: its top-level CBOR items, without loss. See docs/formats/zts.md. */
#ifndef PROFMOUNT_FORMATS_ZTS_PAYLOAD_H
#define PROFMOUNT_FORMATS_ZTS_PAYLOAD_H

#include "formats/common/text.h"
#include "profmount/error.h"

/* 0, or -EINVAL with the reason if the payload cannot be represented in JSON. */
int zts_payload_check(struct pm_bytes payload, struct pm_error *err);

/* Appends the whole document; fails like zts_payload_check. */
int zts_payload_write(struct pm_bytes payload, struct pm_text *out, struct pm_error *err);

#endif
