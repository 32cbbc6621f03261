/*
 * Only inflates the chunks of a ZTS0 store with libdeflate, on all processors: the baseline for
 * tables of such stores in run.py. Prints the number of bytes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "formats/common/crew.h"
#include "formats/common/inflate.h"

enum { FILE_HEADER = 16, CHUNK_HEADER = 16, PIECE = 16 };

struct chunk {
	size_t at, stored, bytes;
};

struct store {
	struct pm_bytes file;
	struct chunk *chunks;
	size_t n, room, bytes;
};

static size_t big_endian(const uint8_t *p)
{
	return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

static int find_chunks(struct store *s)
{
	struct chunk c;
	for (size_t at = FILE_HEADER; at + CHUNK_HEADER <= s->file.len; at = c.at + c.stored) {
		const uint8_t *head = s->file.p + at;
		c = (struct chunk){at + CHUNK_HEADER, big_endian(head + 4), big_endian(head + 8)};
		if (s->n == s->room) {
			s->room = 2 * s->room + 1024;
			s->chunks = realloc(s->chunks, s->room * sizeof(c));
		}
		if (!s->chunks || c.stored > s->file.len - c.at)
			return -1;
		s->chunks[s->n++] = c;
		s->bytes += c.bytes;
	}
	return 0;
}

static int inflate_piece(void *context, size_t i)
{
	const struct store *s = context;
	int r = 0;
	for (size_t k = i * PIECE; k < (i + 1) * PIECE && k < s->n && r == 0; k++) {
		const struct chunk *c = &s->chunks[k];
		uint8_t *out = malloc(c->bytes + 1);
		struct pm_bytes in = {s->file.p + c->at, c->stored};
		r = out ? pm_inflate_block(in, out, c->bytes, NULL) : -1;
		free(out);
	}
	return r;
}

int main(int argc, char **argv)
{
	struct stat st;
	int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &st) < 0) {
		fprintf(stderr, "usage: inflate_chunks FILE\n");
		return 2;
	}
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	struct store s = {.file = {p, (size_t)st.st_size}};
	if (p == MAP_FAILED || find_chunks(&s) < 0 ||
		pm_crew_each((s.n + PIECE - 1) / PIECE, inflate_piece, &s) < 0) {
		fprintf(stderr, "inflate_chunks: %s: cannot be inflated\n", argv[1]);
		return 1;
	}
	printf("%zu\n", s.bytes);
	free(s.chunks);
	return 0;
}
