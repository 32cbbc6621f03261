/*
 * The tree that files are merged in: nodes are places below places, in the order in which files
 * name them, parents first. With it come the names of the files' load modules and metrics, and what
 * was measured at each node. Tries of stretches of files are made apart and joined in order: the
 * result is the trie of all files, whoever made its parts.
 *
 * 16 bytes a node, 8 for finding it, 8 while files come in, and the sums (sums.h).
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_TRIE_H
#define PROFMOUNT_FORMATS_HPCRUN_TRIE_H

#include "formats/hpcrun/harvest.h"
#include "formats/hpcrun/metrics.h"
#include "formats/hpcrun/sums.h"

struct hpcrun_trie_node {
	uint64_t ip;
	uint32_t parent; /* UINT32_MAX at the top */
	uint32_t module : 30, kind : 2;
};

/* How much there is at a node, over all files; counts stop at their greatest number. */
struct hpcrun_tally {
	uint32_t visits; /* nodes of files that are this one */
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
	uint32_t *slots; /* open addressing: node + 1, 0 = free */
	size_t n_slots;
	struct hpcrun_sums sums; /* own costs by node and metric name */
	struct pm_arena arena;
};

/* The place of a node; `module` as in the node. */
struct hpcrun_place hpcrun_trie_place(const struct hpcrun_trie *t, uint32_t node);

/* Enters a file's nodes: ret[i] becomes the trie's node of node i. 0 or -ENOMEM. O(nodes). */
int hpcrun_trie_enter(struct hpcrun_trie *t, const struct hpcrun_harvest *h, uint32_t *ret);

/*
 * The same for a file that was entered, without changing anything; UINT32_MAX for nodes that were
 * not. Threads may call it at once.
 */
int hpcrun_trie_follow(const struct hpcrun_trie *t, const struct hpcrun_harvest *h, uint32_t *ret);

/* Adds up a file's values at its nodes, which were entered as `nodes`. 0 or -ENOMEM. */
int hpcrun_trie_add(struct hpcrun_trie *t, const struct hpcrun_harvest *h, const uint32_t *nodes);

/* Enters all of `from`, whose files come after those of `t`. 0 or -ENOMEM. */
int hpcrun_trie_join(struct hpcrun_trie *t, const struct hpcrun_trie *from);

/* Frees the sums and tallies: what stays is for hpcrun_trie_follow. */
void hpcrun_trie_settle(struct hpcrun_trie *t);

/* Also for a zeroed one. */
void hpcrun_trie_done(struct hpcrun_trie *t);

#endif
