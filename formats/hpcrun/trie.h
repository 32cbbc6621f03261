/*
 * The tree into which files are merged: nodes are places, in the order in which they occur in
 * files, parents first. It includes the names of load modules and metrics, and the sums at each
 * node. Tries of groups of files are built separately and joined in order; the result is the same
 * as for a single trie of all files.
 *
 * 16 bytes a node, 11 to 22 for finding it, 8 while files come in, and the sums (sums.h).
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_TRIE_H
#define PROFMOUNT_FORMATS_HPCRUN_TRIE_H

#include "formats/common/prints.h"
#include "formats/hpcrun/harvest.h"
#include "formats/hpcrun/metrics.h"
#include "formats/hpcrun/sums.h"

struct hpcrun_trie_node {
	uint64_t ip;
	uint32_t parent; /* UINT32_MAX at the top */
	uint32_t module : 30, kind : 2;
};

/* Counts for a node over all files; counters saturate. */
struct hpcrun_tally {
	uint32_t visits; /* number of nodes of files that are merged into it */
	uint32_t values;
};

/* Zeroed = empty. */
struct hpcrun_trie {
	struct pm_strtab
		modules; /* names, which `module` of nodes in load modules is an index of */
	struct hpcrun_metric_names metrics;
	struct hpcrun_trie_node *nodes;
	struct hpcrun_tally *tallies;
	uint32_t n;
	size_t nodes_room, tallies_room;
	struct pm_prints prints; /* of nodes */
	struct hpcrun_sums sums; /* own costs by node and metric name */
	struct pm_arena arena;
};

/* The place of a node; `module` as in the node. */
struct hpcrun_place hpcrun_trie_place(const struct hpcrun_trie *t, uint32_t node);

/* Adds a file's nodes: ret[i] becomes the trie node of node i. 0 or -ENOMEM. O(nodes). */
int hpcrun_trie_enter(struct hpcrun_trie *t, const struct hpcrun_harvest *h, uint32_t *ret);

/*
 * The same lookup for a file that was added before, without changing anything; UINT32_MAX for
 * unknown nodes. Thread-safe.
 */
int hpcrun_trie_follow(const struct hpcrun_trie *t, const struct hpcrun_harvest *h, uint32_t *ret);

/* Adds a file's values to its nodes, which were added as `nodes`. 0 or -ENOMEM. */
int hpcrun_trie_add(struct hpcrun_trie *t, const struct hpcrun_harvest *h, const uint32_t *nodes);

/* Adds all of `from`, whose files come after those of `t`. 0 or -ENOMEM. */
int hpcrun_trie_join(struct hpcrun_trie *t, const struct hpcrun_trie *from);

/* Frees the sums and tallies; the rest is for hpcrun_trie_follow. */
void hpcrun_trie_settle(struct hpcrun_trie *t);

/* Also for a zeroed one. */
void hpcrun_trie_done(struct hpcrun_trie *t);

#endif
