/*
 * pprof's profile.proto, as Go, gperftools' pprof, pprof-rs, Parca, Pyroscope, DataDog and many
 * others write it, compressed or not. docs/formats/pprof.md describes the bytes.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/pprof/pprof.h"

/*
 * A profile begins with any of its fields, mostly with a sample type. Its head is told by fields of
 * the right kinds, one after the other, and a message of types that consists of two numbers.
 */
static int probe(const struct pm_candidate *c)
{
	static const uint8_t wires[16] = {9, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 2, 0, 9, 0, 0};
	struct pm_bytes rest = c->inflated;
	struct pprof_field f;
	unsigned seen = 0, types = 0;
	if (c->folder || rest.len < 4)
		return PM_PROBE_NO;
	for (; rest.len > 0; seen++) {
		struct pm_bytes before = rest, inner;
		uint64_t tag;
		if (!pprof_varint(&before, &tag) || tag >> 3 == 0 || tag >> 3 > 15)
			break;
		if (wires[tag >> 3] != 9 && wires[tag >> 3] != (tag & 7))
			return PM_PROBE_NO;
		if (pprof_next(&rest, &f) <= 0) { /* the head, or what is whole, ends here */
			if (types == 0 && (tag & 7) != PPROF_LENGTH)
				return PM_PROBE_NO;
			break;
		}
		inner = f.bytes;
		struct pprof_field part;
		bool small = f.number == 1;
		while (small && pprof_next(&inner, &part) > 0)
			small = part.wire == PPROF_VARINT && part.number <= 2 &&
				part.value < 1 << 20;
		if (f.number == 1 && (!small || inner.len > 0))
			return PM_PROBE_NO;
		types += f.number == 1 && f.bytes.len > 0;
	}
	if (seen == 0)
		return PM_PROBE_NO;
	return types > 0 || seen > 8 ? PM_PROBE_BY_CONTENT + 20 : PM_PROBE_NO;
}

static const struct pm_reader reader = {
	.contexts_are = "samples", .layout = "profile.proto", .read = pprof_read};

static void own_free(void *own)
{
	struct pprof_own *o = own;
	sym_root_done(&o->root);
	free(o);
}

static int pprof_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct pprof_own *own = calloc(1, sizeof(*own));
	if (!own)
		return pm_error_plain(err, -ENOMEM);
	int r = options->no_symbols ? 0 : sym_root_open(&own->root, options->sysroot, err);
	if (r < 0) {
		free(own);
		return r;
	}
	return pm_rec_open_with(
		&reader, c, options, &(struct pm_rec_with){.own = own, .done = own_free}, ret, err);
}

const struct pm_format pprof_format = {
	.name = "pprof",
	.summary = "pprof's profile.proto of any writer, compressed or not",
	.probe = probe,
	.open = pprof_open,
	.close = pm_rec_close,
};
