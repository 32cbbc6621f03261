/* Labels of calls: texts, and numbers with the mapping valid at the call. */
#ifndef PROFMOUNT_HTDUMP_LABELS_H
#define PROFMOUNT_HTDUMP_LABELS_H

#include "formats/htdump/stream.h"

/* The labels that mappings assign to numbers; const once taken over. */
struct htd_mapped {
	struct pm_strtab texts;
	struct htd_label_span *spans; /* by number, then place */
	size_t n_spans;
	struct pm_map first; /* number → its first span */
};

/* A number that has the same label everywhere. */
struct htd_lasting {
	uint64_t number;
	uint32_t label; /* HTD_NONE: a free slot */
};

enum { HTD_N_LASTING = 2048 };

/* These, followed by the labels contained in calls. */
struct htd_labels {
	const struct htd_mapped *mapped;
	struct pm_strtab texts;
	struct pm_map plain; /* number without a mapping → label */
	struct htd_lasting
		*lasting; /* HTD_N_LASTING, by number; made by the first htd_labels_add */
	struct pm_arena
		arena; /* copies of texts, because the contents of a growing file may change */
};

/* Takes over the stream's mappings. 0 or -ENOMEM; end with htd_mapped_done in both cases. */
int htd_mapped_init(struct htd_mapped *m, const struct htd_stream *s);
void htd_mapped_done(struct htd_mapped *m);

/* `l` is zeroed but for `mapped`. */
void htd_labels_done(struct htd_labels *l);

static inline struct pm_bytes htd_labels_text(const struct htd_labels *l, uint32_t label)
{
	uint32_t n = l->mapped->texts.n;
	return label < n ? l->mapped->texts.items[label] : l->texts.items[label - n];
}

/* The label of a call, added if new. HTD_NONE if out of memory. */
uint32_t htd_labels_add(
	struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

/* The same for a call that was added before, or HTD_NONE. Thread-safe. */
uint32_t htd_labels_find(
	const struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

/* Marks all HTD_N_LASTING slots as empty; call before first use. */
void htd_lasting_init(struct htd_lasting *slots);

/* As htd_labels_find, for many calls: keeps the labels of numbers in slots of the caller. */
uint32_t htd_labels_find_often(const struct htd_labels *l, struct htd_lasting *slots,
	const struct htd_event *call, struct pm_text *scratch);

/* The label with this text; a copy is added if it is new. */
uint32_t htd_labels_take(struct htd_labels *l, struct pm_bytes text);

#endif
