/* Shared by the files of the writer. */
#ifndef PROFMOUNT_TESTS_HPCTOOLKIT_WRITER_PRIVATE_H
#define PROFMOUNT_TESTS_HPCTOOLKIT_WRITER_PRIVATE_H

#include "tests/hpctoolkit/out.h"
#include "tests/hpctoolkit/writer.h"

enum { N_SCOPES = 4, N_KINDS = 8 };

struct path {
	const char *path;
	uint32_t flags;
};

struct function {
	const char *name; /* NULL: none is stored */
	uint32_t module, file, line;
	uint64_t offset;
};

struct identity {
	uint8_t kind;
	bool real; /* the physical id means something */
	uint32_t logical;
	uint64_t physical;
};

struct value {
	uint32_t context;
	uint16_t metric;
	uint32_t profile;
	double value;
};

struct sample {
	uint64_t time_ns;
	uint32_t context;
};

#define LIST(type)                                                                                 \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t n;                                                                          \
	}

struct profile {
	LIST(struct identity) ids;
	LIST(struct value) values;
	LIST(struct sample) samples;
	bool has_trace;
};

struct hpctkw_database {
	const char *title;
	struct hpctkw_style style;
	LIST(const char *) metrics;
	LIST(struct path) modules;
	LIST(struct path) files;
	LIST(struct function) functions;
	LIST(struct hpctkw_context) contexts;
	LIST(struct profile) profiles;
};

/* Room for one more item in a list that is as long as a power of two or 0. */
void *hpctkw_grow(void *items, size_t n, size_t size);

void hpctkw_write_meta(const struct hpctkw_database *w, struct out *o);
void hpctkw_write_profile(const struct hpctkw_database *w, struct out *o);
void hpctkw_write_cct(const struct hpctkw_database *w, struct out *o);
void hpctkw_write_trace(const struct hpctkw_database *w, struct out *o);

/* Magic, version, and room for `n_sections` descriptions. */
void hpctkw_write_header(struct out *o, const char *kind, unsigned n_sections);

/* Describes section i of the header: from `at` to the end of the file so far. */
void hpctkw_end_section(struct out *o, unsigned i, size_t at);

#endif
