/* Labels of calls: texts, and numbers with the mapping in force at the call. */
#ifndef PROFMOUNT_HTDUMP_LABELS_H
#define PROFMOUNT_HTDUMP_LABELS_H

#include "formats/htdump/stream.h"

struct htd_labels {
	struct pm_arena arena;
	struct pm_strtab texts;
	struct htd_label_span *spans; /* by number, then place */
	size_t n_spans;
	struct pm_map mapped; /* number → its first span */
	struct pm_map plain;  /* number without a mapping → label */
};

/* Takes over the stream's mappings. 0 or -ENOMEM; end with htd_labels_done in both cases. */
int htd_labels_init(struct htd_labels *l, const struct htd_stream *s);
void htd_labels_done(struct htd_labels *l);

/* The label of a call, an index into texts; added where new. HTD_NONE without memory. */
uint32_t htd_labels_add(
	struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

/* The same for a call that was added before, or HTD_NONE. For several threads at once. */
uint32_t htd_labels_find(
	const struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

#endif
