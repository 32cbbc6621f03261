/* Labels of calls: texts, and numbers with the mapping in force at the call. */
#ifndef PROFMOUNT_HTDUMP_LABELS_H
#define PROFMOUNT_HTDUMP_LABELS_H

#include "formats/htdump/stream.h"

/* The labels that mappings give to numbers: const once they are taken over. */
struct htd_mapped {
	struct pm_strtab texts;
	struct htd_label_span *spans; /* by number, then place */
	size_t n_spans;
	struct pm_map first; /* number → its first span */
};

/* A number that has one label wherever it stands. */
struct htd_lasting {
	uint64_t number;
	uint32_t label; /* HTD_NONE: a free place */
};

enum { HTD_N_LASTING = 2048 };

/* Those, and behind them the labels that calls bring along. */
struct htd_labels {
	const struct htd_mapped *mapped;
	struct pm_strtab texts;
	struct pm_map plain; /* number without a mapping → label */
	struct htd_lasting
		*lasting;      /* HTD_N_LASTING, by number; made by the first htd_labels_add */
	struct pm_arena arena; /* of texts: what a file that grows held may not be trusted later */
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

/* The label of a call; added where new. HTD_NONE without memory. */
uint32_t htd_labels_add(
	struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

/* The same for a call that was added before, or HTD_NONE. For several threads at once. */
uint32_t htd_labels_find(
	const struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

/* The label of that text; a copy of it is added where it is new. */
uint32_t htd_labels_take(struct htd_labels *l, struct pm_bytes text);

#endif
