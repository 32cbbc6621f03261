/*
 * Chunks: a tag, a length of 4 bytes and a payload each. They are not compressed, so the file's
 * size limits the number of rows.
 */
#include "formats/nytprof/chunks.h"

#include <errno.h>
#include <stdio.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/nytprof/payloads.h"

enum { CHUNK_HEAD = 5 };

#define CUT "cut"

/*
 * The chunk at `at`, and the position of the next one; a truncated chunk is used as far as it goes.
 */
static int read_chunk(struct nytp_adding *a, struct pm_bytes file, size_t at, size_t *ret_next)
{
	struct nytp_py *py = &a->f->py;
	struct pm_bytes length, payload = {NULL, 0};
	const char *status = NYTP_PAYLOAD_OK;
	uint8_t tag = file.p[at];
	uint32_t len = 0;
	bool bare_end = tag == 'E' && at + 1 == file.len;
	bool headed = pm_bytes_sub(file, at + 1, 4, &length);
	if (headed)
		len = pm_le32(length.p);
	size_t begin = headed ? at + CHUNK_HEAD : file.len, left = file.len - begin;
	bool cut = !bare_end && (!headed || len > left);
	if (headed)
		pm_bytes_sub(file, begin, len < left ? len : left, &payload);
	if (pm_list_room(&py->chunks, py->n_chunks, &py->chunks_room, sizeof(*py->chunks)) < 0 ||
		nytp_payload_read(a, tag, payload, len, &status) < 0)
		return -ENOMEM;
	py->chunks[py->n_chunks++] = (struct nytp_py_chunk){.offset = at,
		.bytes = cut ? payload.len : len,
		.tag = {(char)tag},
		.status = cut ? CUT : status};
	if (cut || strcmp(status, NYTP_PAYLOAD_OK) != 0)
		pm_damage_add(&a->n->damage, a->f->name, at,
			file.len - at < CHUNK_HEAD ? file.len - at : CHUNK_HEAD + payload.len,
			"chunk %c: %s", tag, cut ? "the file ends within it" : status);
	*ret_next = begin + payload.len;
	return 0;
}

/* ---- after the last chunk ---- */

static int name_sid(struct nytp_adding *a, uint32_t sid, uint32_t name)
{
	bool fresh;
	char text[24];
	uint32_t *known = pm_map_put(&a->f->py.by_sid, sid, name, &fresh);
	if (known && fresh && name == NYTP_NONE) {
		snprintf(text, sizeof(text), "sub %u", sid);
		*known = nytp_name_add(a->n, pm_bytes_of(text));
	}
	return known && *known != NYTP_NONE ? 0 : -ENOMEM;
}

/* Call records of the C extension contain a place instead of the caller. */
static int name_subs(struct nytp_adding *a)
{
	const struct nytp_py *py = &a->f->py;
	int r = 0;
	for (size_t i = 0; r == 0 && i < py->n_subs; i++)
		r = name_sid(a, py->subs[i].sid, py->subs[i].name);
	for (size_t i = 0; r == 0 && i < py->n_edges; i++) {
		const struct nytp_py_edge *e = &py->edges[i];
		r = name_sid(a, py->placed ? e->calls : e->callee, NYTP_NONE);
		if (r == 0 && !py->placed)
			r = name_sid(a, e->caller, NYTP_NONE);
	}
	return r;
}

static void count_statements(struct nytp_file *f)
{
	for (size_t i = 0; f->n_threads && i < f->py.n_samples; i++)
		f->threads[0].statements += f->py.samples[i].calls;
}

int nytp_chunks_read(struct nytp_adding *a, struct pm_bytes file, size_t at)
{
	bool ended = false;
	while (at < file.len && !ended && memchr("SDCFEA", file.p[at], 6)) {
		ended = file.p[at] == 'E';
		if (read_chunk(a, file, at, &at) < 0)
			return -ENOMEM;
		if (nytp_progress(a->n, at) < 0)
			return -ENOMEM;
	}
	if (at < file.len)
		pm_damage_add(&a->n->damage, a->f->name, at, file.len - at,
			ended ? "bytes after the chunk that ends a profile"
			      : "no chunk begins with these bytes");
	else if (!ended)
		pm_damage_add(&a->n->damage, a->f->name, at, 0, "there is no chunk that ends it");
	count_statements(a->f);
	return name_subs(a);
}
