/* The payloads of Pynytprof's chunks: docs/formats/nytprof.md §pynytprof. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_PAYLOADS_H
#define PROFMOUNT_FORMATS_NYTPROF_PAYLOADS_H

#include "formats/nytprof/aggregate.h"

#define NYTP_PAYLOAD_OK "ok"

/*
 * Adds the payload of a chunk with this tag, or the existing part of its `whole` bytes, to
 * a->f->py, and files and attributes to their usual tables. *ret_status: static text,
 * NYTP_PAYLOAD_OK or the error. -ENOMEM.
 */
int nytp_payload_read(struct nytp_adding *a, uint8_t tag, struct pm_bytes payload, size_t whole,
	const char **ret_status);

#endif
