/* M.pb.gz, decoded as pprof does. */
#include "exports.h"

#include <string.h>

#include "formats/common/inflate.h"

/* A field of a message: a number, or bytes. */
struct field {
	unsigned number;
	uint64_t u;
	struct pm_bytes bytes;
};

static uint64_t take_varint(struct pm_bytes *b)
{
	uint64_t u = 0;
	for (unsigned shift = 0;; shift += 7) {
		assert_true(b->len > 0 && shift < 64);
		uint8_t byte = *b->p++;
		b->len--;
		u |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return u;
	}
}

static bool take_field(struct pm_bytes *b, struct field *ret)
{
	if (b->len == 0)
		return false;
	uint64_t key = take_varint(b);
	*ret = (struct field){.number = (unsigned)(key >> 3)};
	ret->u = take_varint(b);
	if ((key & 7) == 0)
		return true;
	assert_int_equal(key & 7, 2);
	assert_true(ret->u <= b->len);
	ret->bytes = (struct pm_bytes){b->p, (size_t)ret->u};
	b->p += ret->u;
	b->len -= (size_t)ret->u;
	return true;
}

/* The n-th field of that number, zeroed where there is none. */
static struct field field_of(struct pm_bytes message, unsigned number, uint64_t n)
{
	struct field f;
	while (take_field(&message, &f))
		if (f.number == number && n-- == 0)
			return f;
	return (struct field){.number = 0};
}

static struct pm_bytes string_of(struct pm_bytes profile, uint64_t index)
{
	return field_of(profile, 6, index).bytes;
}

/* The location or function (field `number` of the profile) with that id. */
static struct pm_bytes item_of(struct pm_bytes profile, unsigned number, uint64_t id)
{
	struct field f;
	while (take_field(&profile, &f))
		if (f.number == number && field_of(f.bytes, 1, 0).u == id)
			return f.bytes;
	fail_msg("no item %u with id %u", number, (unsigned)id);
	return profile;
}

/* `solve /src/b.c:7 < main …`, the function's place where it has one; `@9`: the line that ran. */
static void add_location(struct pm_text *out, struct pm_bytes profile, uint64_t id)
{
	struct pm_bytes location = item_of(profile, 4, id);
	struct pm_bytes line = field_of(location, 4, 0).bytes;
	struct pm_bytes function = item_of(profile, 5, field_of(line, 1, 0).u);
	struct pm_bytes mapping = item_of(profile, 3, field_of(location, 2, 0).u);
	struct pm_bytes file = string_of(profile, field_of(function, 4, 0).u);
	pm_text_bytes(out, string_of(profile, field_of(function, 2, 0).u));
	assert_int_equal(field_of(function, 3, 0).u, 0); /* system_name */
	assert_int_equal(field_of(mapping, 7, 0).u, 1);
	if (file.len) {
		pm_text_char(out, ' ');
		pm_text_bytes(out, file);
		pm_text_printf(out, ":%u", (unsigned)field_of(function, 5, 0).u);
	}
	if (field_of(line, 2, 0).u)
		pm_text_printf(out, "@%u", (unsigned)field_of(line, 2, 0).u);
}

/* Samples, one a line, and what is said of the whole. */
static void describe(struct pm_text *out, struct pm_bytes profile)
{
	struct pm_bytes all = profile;
	struct pm_bytes type = field_of(profile, 1, 0).bytes;
	struct field f;
	assert_int_equal(string_of(profile, 0).len, 0);
	assert_int_equal(field_of(profile, 14, 0).u, field_of(type, 1, 0).u);
	pm_text_bytes(out, string_of(profile, field_of(type, 1, 0).u));
	pm_text_char(out, ' ');
	pm_text_bytes(out, string_of(profile, field_of(type, 2, 0).u));
	pm_text_char(out, ' ');
	pm_text_bytes(out, string_of(profile, field_of(profile, 13, 0).u));
	pm_text_char(out, '\n');
	while (take_field(&all, &f)) {
		if (f.number != 2)
			continue;
		struct pm_bytes locations = field_of(f.bytes, 1, 0).bytes;
		struct pm_bytes values = field_of(f.bytes, 2, 0).bytes;
		pm_text_u64(out, take_varint(&values));
		assert_int_equal(values.len, 0);
		while (locations.len > 0) {
			pm_text_str(out, " < ");
			add_location(out, profile, take_varint(&locations));
		}
		pm_text_char(out, '\n');
	}
}

static void assert_pprof(
	struct pmfs_model *m, enum pmfs_place place, uint32_t item, const char *want)
{
	struct pm_text file, text = {.p = NULL};
	assert_int_equal(render_export(m, place, "*.pb.gz", item, 0, &file), 0);
	struct pm_inflate *s = pm_inflate_new(PM_INFLATE_GZIP, pm_text_view(&file));
	describe(&text, pm_inflate_peek(s, 4096));
	pm_text_char(&text, '\0');
	assert_string_equal(text.p, want);
	pm_inflate_free(s);
	pm_text_done(&text);
	pm_text_done(&file);
}

static void test_samples_are_frames_with_own_costs(void **state)
{
	struct fake *f = fake_program();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_pprof(m, PMFS_PLACE_EXPORT, 0,
		"time_ns nanoseconds app\n"
		"6 < main /src/a.c:3\n"
		"5 < main /src/a.c:3\n" /* in a loop */
		"5 < main /src/a.c:3@12\n"
		"10 < solve /src/b.c:7 < main /src/a.c:3@12\n"
		"20 < solve /src/b.c:7@20 < main /src/a.c:3@12\n"
		"30 < solve /src/b.c:7 < solve /src/b.c:7@20 < main /src/a.c:3@12\n"
		"20 < io < main /src/a.c:3@12\n"
		"4 < init /src/a.c:40 < main /src/a.c:3\n");
	assert_pprof(m, PMFS_PLACE_THREAD_EXPORT, 1,
		"time_ns nanoseconds app, rank=3/thread=1\n"
		"10 < solve /src/b.c:7 < solve /src/b.c:7@20 < main /src/a.c:3@12\n");
	views_done(m, f);
}

static void test_names_are_whole_and_valid(void **state)
{
	struct fake *f = fake_with_thread();
	fake_timed(f, 1, 0, "std::map<int, char>::find\n\xff", 300);
	fake_timed(f, 2, 0, "", 5);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_pprof(m, PMFS_PLACE_EXPORT, 0,
		"time_ns nanoseconds app\n"
		"300 < std::map<int, char>::find \xef\xbf\xbd\n"
		"5 < (unknown)\n");
	views_done(m, f);
}

static void test_nothing_has_no_samples(void **state)
{
	struct fake *f = fake_with_thread();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_pprof(m, PMFS_PLACE_EXPORT, 0, "time_ns nanoseconds app\n");
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_frames_with_own_costs),
		cmocka_unit_test(test_names_are_whole_and_valid),
		cmocka_unit_test(test_nothing_has_no_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
