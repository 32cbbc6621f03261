/* Names of the report's documents, and the frame around their data. */
#include "fs/views/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/affix.h"
#include "fs/views/model/parts.h"
#include "fs/views/report/data.h"

/*
 * The parts of a document's name. Its numbers are bounded by the bits that they have in a node id:
 * the first has 32, the others share 20, the third number in the lower bits.
 */
static const struct kind {
	const char *name;
	unsigned n_numbers;
	unsigned bits[2]; /* of the second and third number */
	pmfs_report_fn *write;
} kinds[] = {
	{"functions", 2, {12, 0}, pmfs_report_functions},
	{"children", 2, {20, 0}, pmfs_report_children},
	{"flame", 2, {12, 0}, pmfs_report_flame},
	{"threadflame", 2, {12, 0}, pmfs_report_thread_flame},
	{"threadfunctions", 2, {20, 0}, pmfs_report_thread_functions},
	{"costs", 2, {12, 0}, pmfs_report_costs},
	{"functioncosts", 2, {12, 0}, pmfs_report_function_costs},
	{"time", 3, {14, 6}, pmfs_report_time},
	{"stack", 2, {20, 0}, pmfs_report_stack},
	{"table", 2, {20, 0}, pmfs_report_table},
	{"sandwich", 2, {12, 0}, pmfs_report_sandwich},
	{"up", 2, {12, 0}, pmfs_report_up},
	/* The others share a number in node ids: their own is where others have their second one.
	 */
	{"start", 0, {0, 0}, pmfs_report_start},
	{"function", 1, {0, 0}, pmfs_report_function},
	{"threads", 1, {0, 0}, pmfs_report_threads},
	{"sources", 0, {0, 0}, pmfs_report_sources},
	{"source", 1, {0, 0}, pmfs_report_source},
	{"sites", 1, {0, 0}, pmfs_report_sites},
	{"plot", 1, {0, 0}, pmfs_report_plot},
	{"hot", 1, {0, 0}, pmfs_report_hot},
	{"path", 1, {0, 0}, pmfs_report_path},
	{"categories", 0, {0, 0}, pmfs_report_categories},
};

enum {
	N_KINDS = sizeof(kinds) / sizeof(kinds[0]),
	N_LONG = 12, /* with two numbers or three */
	SHARED_BITS = 20,
	NAME_SIZE = 64
};

_Static_assert(N_LONG < 16, "a kind has four bits");

/* NULL if no document has the key. */
static const struct kind *kind_of(struct pmfs_report_key key)
{
	uint32_t code = key.b >> SHARED_BITS, shared = key.b & ((1U << SHARED_BITS) - 1);
	if (code < N_LONG)
		return &kinds[code];
	return code == N_LONG && shared < N_KINDS - N_LONG ? &kinds[N_LONG + shared] : NULL;
}

static void numbers_of(const struct kind *kind, struct pmfs_report_key key, uint32_t n[3])
{
	uint32_t shared = kind->n_numbers < 2 ? 0 : key.b & ((1U << SHARED_BITS) - 1);
	n[0] = key.a;
	n[1] = shared >> kind->bits[1];
	n[2] = shared & ((1U << kind->bits[1]) - 1);
}

/* The name without its ending. */
static size_t print_name(const struct kind *kind, const uint32_t n[3], char out[NAME_SIZE])
{
	size_t len = (size_t)snprintf(out, NAME_SIZE, "%s", kind->name);
	for (unsigned i = 0; i < kind->n_numbers; i++)
		len += (size_t)snprintf(out + len, NAME_SIZE - len, "-%" PRIu32, n[i]);
	return len;
}

bool pmfs_report_has(struct pmfs_report_key key)
{
	uint32_t n[3];
	const struct kind *kind = kind_of(key);
	if (!kind)
		return false;
	numbers_of(kind, key, n);
	return (kind->n_numbers > 0 || n[0] == 0) && n[1] >> kind->bits[0] == 0;
}

/* A hyphen and a number, in the one way to write it. */
static bool take_number(struct pm_bytes *name, uint32_t *ret)
{
	uint64_t n = 0;
	size_t len = 1;
	if (name->len < 2 || name->p[0] != '-')
		return false;
	for (; len < name->len && name->p[len] >= '0' && name->p[len] <= '9' && n <= UINT32_MAX;
		len++)
		n = 10 * n + (name->p[len] - '0');
	if (len == 1 || n > UINT32_MAX || (len > 2 && name->p[1] == '0'))
		return false;
	*ret = (uint32_t)n;
	*name = (struct pm_bytes){name->p + len, name->len - len};
	return true;
}

static bool find_in(unsigned k, struct pm_bytes name, struct pmfs_report_key *ret)
{
	const struct kind *kind = &kinds[k];
	uint32_t n[3] = {0, 0, 0};
	size_t len = strlen(kind->name);
	if (!pm_begins_with(name, kind->name))
		return false;
	name = (struct pm_bytes){name.p + len, name.len - len};
	for (unsigned i = 0; i < kind->n_numbers; i++)
		if (!take_number(&name, &n[i]) || (i > 0 && n[i] >> kind->bits[i - 1] != 0))
			return false;
	*ret = (struct pmfs_report_key){n[0],
		k < N_LONG ? k << SHARED_BITS | n[1] << kind->bits[1] | n[2]
			   : (uint32_t)N_LONG << SHARED_BITS | (k - N_LONG)};
	return pm_bytes_equal(name, pm_bytes_of(".js"));
}

bool pmfs_report_find(struct pm_bytes name, struct pmfs_report_key *ret)
{
	for (unsigned k = 0; k < N_KINDS; k++)
		if (find_in(k, name, ret))
			return true;
	return false;
}

/* ---- documents ---- */

struct writing {
	struct pmfs_report r;
	pmfs_report_fn *write;
};

static void write_data(void *context)
{
	struct writing *w = context;
	struct pmfs_report *r = &w->r;
	r->derived = pm_arena_array(r->a, (size_t)r->columns->n_derived + 1, sizeof(*r->derived));
	w->write(r);
}

int pmfs_report_write(struct pmfs_model *m, struct pmfs_report_key key, const char *function,
	struct pm_text *out, struct pm_error *err)
{
	const struct kind *kind = kind_of(key);
	struct pm_arena arena = {.block = NULL};
	char name[NAME_SIZE];
	if (!kind)
		return pm_error_set(err, -ENOENT, NULL, PM_NO_OFFSET, "is no data of the report");
	struct writing w = {{.a = &arena,
				    .err = err,
				    .model = m,
				    .profile = pmfs_model_profile(m),
				    .json = {.out = out, .script = true},
				    .scratch.arena = &arena},
		kind->write};
	numbers_of(kind, key, w.r.n);
	print_name(kind, w.r.n, name);
	int e = pmfs_model_tree(m, &w.r.tree, err);
	if (e == 0)
		e = pmfs_model_columns(m, &w.r.columns, err);
	if (e < 0)
		return e;
	pm_text_printf(out, "%s(\"%s\",", function, name);
	e = pm_build(&arena, write_data, &w);
	pm_text_str(out, ");\n");
	pm_arena_done(&arena);
	return e < 0 ? pm_error_plain(err, e) : pm_text_status(out);
}

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_report_key key = {(uint32_t)doc->text.a, (uint32_t)doc->text.b};
	return pmfs_report_write(
		(struct pmfs_model *)(uintptr_t)doc->text.self, key, "pm.take", out, err);
}

struct pm_doc pmfs_report_document(struct pmfs_model *m, struct pmfs_report_key key)
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = m, .a = key.a, .b = key.b}};
}
