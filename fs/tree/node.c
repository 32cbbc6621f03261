/* Packs an index and a document, which take up to 56 bits, into the 41 bits of a nested node. */
#include "fs/tree/tree.h"

#include <stdbool.h>

/*
 * Each kind of document that may be a table as CSV has a second kind for the same table as Parquet,
 * with the same index and document, also in nested nodes.
 */
enum {
	PMFS_TWIN_VIEW = 27,
	PMFS_TWIN_THREAD_DOC,
	PMFS_TWIN_PATH_DOC,
	PMFS_TWIN_ITEM_DOC,
};

/*
 *     63      60   56 55     41 40                    0
 *     1 0 0   kind    space     a, then b without what is always 0
 */
enum { SPACE_SHIFT = 41, KIND_SHIFT = 56 };

#define NESTED  ((pm_node)1 << 63)
#define PAYLOAD (((pm_node)1 << SPACE_SHIFT) - 1)

enum {
	VIEW_BITS = 10,   /* place and view */
	COLUMN_BITS = 12, /* metrics/ and files about a metric */
	ITEM_BITS = 20,   /* collection and document */
	OTHER_BITS = 9,   /* most have none, a thread's own documents a number */
};

/*
 * Packs `b` of a view; its last bit says whether there is a column. Returns the number of bits, or
 * 0 if it does not fit.
 */
static unsigned pack_view(uint32_t b, uint64_t *ret)
{
	uint32_t place = b >> 20, view = b >> 12 & (PMFS_VIEW_MOST - 1);
	uint32_t column = b & (PMFS_COLUMN_MOST - 1);
	uint64_t both = place << 6 | view;
	if (view >= 1 << 6 || place >= 1 << 4)
		return 0;
	*ret = column ? (both << COLUMN_BITS | column) << 1 | 1 : both << 1;
	return 1 + VIEW_BITS + (column ? COLUMN_BITS : 0);
}

static uint32_t unpack_view(uint64_t *payload)
{
	bool has_column = *payload & 1;
	uint32_t column = 0;
	*payload >>= 1;
	if (has_column) {
		column = *payload & (PMFS_COLUMN_MOST - 1);
		*payload >>= COLUMN_BITS;
	}
	uint32_t both = *payload & ((1 << VIEW_BITS) - 1);
	*payload >>= VIEW_BITS;
	return pmfs_view_b(both >> 6, both & 63, column);
}

/*
 * Data of the report: the split, the kind of document, then both numbers. If a profile is too large
 * for some of them, the page shows the others.
 */
enum { REPORT_KIND_SHIFT = 20, REPORT_KIND_BITS = 5, SPLIT_BITS = 2 };

static const struct split {
	uint8_t a, b; /* bits */
} splits[1 << SPLIT_BITS] = {{32, 0}, {27, 7}, {22, 12}, {14, 20}};

static bool pack_report(uint64_t a, uint32_t b, uint64_t *ret)
{
	uint64_t kind = b >> REPORT_KIND_SHIFT, shared = b & ((1U << REPORT_KIND_SHIFT) - 1);
	for (unsigned i = 0; i < 1 << SPLIT_BITS; i++)
		if (a >> splits[i].a == 0 && shared >> splits[i].b == 0) {
			uint64_t both = a << splits[i].b | shared;
			*ret = (both << REPORT_KIND_BITS | kind) << SPLIT_BITS | i;
			return kind >> REPORT_KIND_BITS == 0;
		}
	return false;
}

static uint32_t unpack_report(uint64_t *payload)
{
	const struct split *split = &splits[*payload & ((1 << SPLIT_BITS) - 1)];
	uint32_t kind = *payload >> SPLIT_BITS & ((1 << REPORT_KIND_BITS) - 1);
	uint64_t both = *payload >> (SPLIT_BITS + REPORT_KIND_BITS);
	*payload = both >> split->b;
	return kind << REPORT_KIND_SHIFT | (uint32_t)(both & ((1U << split->b) - 1));
}

static unsigned bits_of_b(unsigned kind)
{
	switch (kind) {
	case PMFS_CONTEXT_VALUE: return COLUMN_BITS;
	case PMFS_ITEM:
	case PMFS_ITEM_DOC: return ITEM_BITS;
	default: return OTHER_BITS;
	}
}

static bool pack(pm_node node, uint64_t *ret)
{
	unsigned kind = pmfs_node_kind_of(node), bits = bits_of_b(kind);
	uint64_t a = pmfs_node_a(node), b = pmfs_node_b(node);
	if (kind == PMFS_REPORT_DATA)
		return pack_report(a, (uint32_t)b, ret);
	if (kind == PMFS_VIEW)
		bits = pack_view((uint32_t)b, &b);
	*ret = a << bits | b;
	return bits > 0 && b >> bits == 0 && a >> (SPACE_SHIFT - bits) == 0;
}

bool pmfs_node_nest(uint32_t space, pm_node node, pm_node *ret)
{
	unsigned kind = pmfs_node_kind_of(node);
	uint64_t payload;
	if (space == 0 || space > PMFS_SPACE_MOST || kind >= PMFS_N_KINDS || !pack(node, &payload))
		return false;
	*ret = NESTED | (pm_node)kind << KIND_SHIFT | (pm_node)space << SPACE_SHIFT | payload;
	return true;
}

uint32_t pmfs_node_space(pm_node node)
{
	return node & NESTED ? node >> SPACE_SHIFT & PMFS_SPACE_MOST : 0;
}

pm_node pmfs_node_unnest(pm_node node)
{
	unsigned kind = node >> KIND_SHIFT & 0x7f;
	uint64_t payload = node & PAYLOAD;
	if (!(node & NESTED))
		return node;
	uint32_t b;
	if (kind == PMFS_VIEW) {
		b = unpack_view(&payload);
	} else if (kind == PMFS_REPORT_DATA) {
		b = unpack_report(&payload);
	} else {
		b = payload & ((1u << bits_of_b(kind)) - 1);
		payload >>= bits_of_b(kind);
	}
	if (payload > UINT32_MAX)
		return pmfs_node((enum pmfs_node_kind)PMFS_N_KINDS, 0, 0);
	return pmfs_node((enum pmfs_node_kind)kind, (uint32_t)payload, b);
}

static const uint8_t twins[][2] = {
	{PMFS_VIEW, PMFS_TWIN_VIEW},
	{PMFS_THREAD_DOC, PMFS_TWIN_THREAD_DOC},
	{PMFS_PATH_DOC, PMFS_TWIN_PATH_DOC},
	{PMFS_ITEM_DOC, PMFS_TWIN_ITEM_DOC},
};

/* Nested or not, the kind is in the same bits. */
static pm_node with_kind(pm_node node, unsigned from, unsigned to, pm_node otherwise)
{
	for (unsigned i = 0; i < sizeof(twins) / sizeof(twins[0]); i++)
		if ((node >> KIND_SHIFT & 0x7f) == twins[i][from])
			return (node & ~((pm_node)0x7f << KIND_SHIFT)) |
				(pm_node)twins[i][to] << KIND_SHIFT;
	return otherwise;
}

pm_node pmfs_node_twin(pm_node node)
{
	return with_kind(node, 0, 1, 0);
}

pm_node pmfs_node_untwin(pm_node node)
{
	return with_kind(node, 1, 0, node);
}
