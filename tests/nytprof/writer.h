/*
 * Writes profiles: Devel::NYTProf's records, plain or deflated, and Pynytprof's chunks. The
 * contents need not be consistent. Running out of memory aborts.
 */
#ifndef PROFMOUNT_TESTS_NYTPROF_WRITER_H
#define PROFMOUNT_TESTS_NYTPROF_WRITER_H

#include "formats/common/text.h"

struct nytpw {
	struct pm_text out;
	size_t deflated_at; /* where the records to deflate begin; 0 = none */
	bool big;           /* doubles in the other byte order */
};

/* What has been written, in a block of exactly its size; the caller frees it, `w` is empty. */
struct pm_bytes nytpw_take(struct nytpw *w);

/* `NYTProf MAJOR 0`, and the attributes that all profiles have, ticks of 100 ns. */
void nytpw_header(struct nytpw *w, unsigned major);
void nytpw_line(struct nytpw *w, const char *line); /* with its tag, without its line feed */
void nytpw_deflate(struct nytpw *w);                /* what follows is deflated */

/* ---- records, fields in file order ---- */

void nytpw_varint(struct nytpw *w, uint32_t value);
void nytpw_double(struct nytpw *w, double value);
void nytpw_string(struct nytpw *w, const char *s);

void nytpw_pid_start(struct nytpw *w, uint32_t pid, uint32_t ppid, double start);
void nytpw_pid_end(struct nytpw *w, uint32_t pid, double end);
void nytpw_fid(
	struct nytpw *w, uint32_t fid, uint32_t eval_fid, uint32_t eval_line, const char *name);
void nytpw_time(struct nytpw *w, int32_t ticks, uint32_t fid, uint32_t line);
void nytpw_block(
	struct nytpw *w, int32_t ticks, uint32_t fid, uint32_t line, uint32_t block, uint32_t sub);
void nytpw_discount(struct nytpw *w);
void nytpw_source(struct nytpw *w, uint32_t fid, uint32_t line, const char *text);
void nytpw_sub(struct nytpw *w, uint32_t fid, const char *name, uint32_t first, uint32_t last);

struct nytpw_callers {
	uint32_t fid, line, count, depth;
	double incl, excl, reci;
	const char *caller, *called;
};

void nytpw_callers(struct nytpw *w, const struct nytpw_callers *c);
void nytpw_return(struct nytpw *w, uint32_t depth, double incl, double excl, const char *name);

/* ---- Pynytprof ---- */

void nytpw_u32(struct nytpw *w, uint32_t value);
void nytpw_u64(struct nytpw *w, uint64_t value);
void nytpw_raw_p(struct nytpw *w, uint32_t pid, uint32_t ppid, double start);

/* A chunk: begin, payload, end. */
size_t nytpw_chunk_begin(struct nytpw *w, char tag);
void nytpw_chunk_end(struct nytpw *w, size_t begin);

/* ---- whole profiles ---- */

/*
 * A finished program, process 100: file 1 `/dir/main.pl` with its text, an eval in it, file 3
 * `lib/M.pm`; main::top calls main::deep twice, which calls M::leaf; blocks, discounts, an xsub.
 */
void nytpw_rich(struct nytpw *w, unsigned major, bool deflated);

/* The seed's layout: samples, names, edges, end. `placed`: as the C extension wrote it. */
void nytpw_chunks(struct nytpw *w, bool placed);

/* The writer's last days: numbers as in records, statement events, no names. */
void nytpw_packed_chunks(struct nytpw *w);

#endif
