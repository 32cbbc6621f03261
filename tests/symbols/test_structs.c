/* Structure files: what they say about addresses, and what becomes of bad ones. */
#include "tests/unittest.h"

#include <stdio.h>
#include <string.h>

#include "formats/symbols/internal.h"

#define HEAD  "<?xml version=\"1.0\"?>\n<!DOCTYPE HPCToolkitStructure [\n<!ELEMENT S EMPTY>\n]>\n"
#define BEGIN HEAD "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">\n"
#define LM    "<LM i=\"2\" n=\"/opt/a.out\" has-calls=\"0\" v=\"{}\">\n"
#define END   "</LM></HPCToolkitStructure>\n"

static const char sound[] = BEGIN LM
	"<F i=\"3\" n=\"/src/a.c\">\n"
	"<P i=\"4\" n=\"main(int, char**)\" ln=\"_Z4mainiPPc\" l=\"7\" v=\"{[0x1000-0x1001)}\">\n"
	"<S i=\"5\" l=\"7\" v=\"{[0x1000-0x1010) [0x1040-0x1050)}\"/>\n"
	"<L i=\"6\" l=\"9\" f=\"/src/a.c\" v=\"{[0x1010-0x1011)}\">\n"
	"<S i=\"7\" l=\"10\" v=\"{[0x1010-0x1020)}\"/>\n"
	"<A i=\"8\" l=\"11\" f=\"/src/a.c\" n=\"\" v=\"{}\">\n"
	"<A i=\"9\" l=\"3\" f=\"/src/a.h\" n=\"get&lt;int&gt;\" v=\"{}\">\n"
	"<S i=\"10\" l=\"4\" v=\"{[0x1020-0x1030)}\"/>\n"
	"</A></A></L>\n"
	"<C i=\"11\" l=\"12\" v=\"{[0x1030-0x1040)}\" t=\"0x2000\" d=\"x\"/>\n"
	"</P></F>\n" END;

/* The scopes of an address, outermost first: "main(int, char**) loop:9 a.h:get:3 :4". */
static const char *path_at(const struct sym_scopes *s, uint64_t address)
{
	static char out[512];
	char piece[512], rest[512];
	out[0] = '\0';
	for (uint32_t i = sym_scopes_find(s, address); i != UINT32_MAX; i = s->items[i].parent) {
		const struct sym_scope *scope = &s->items[i];
		struct pm_bytes name = sym_scopes_text_of(s, scope->name);
		struct pm_bytes file = sym_scopes_text_of(s, scope->file);
		static const char letters[] = "PALS";
		snprintf(piece, sizeof(piece), "%c %.*s %.*s:%u", letters[scope->kind],
			(int)name.len, (const char *)name.p, (int)file.len, (const char *)file.p,
			(unsigned)scope->line);
		snprintf(rest, sizeof(rest), "%s", out);
		snprintf(out, sizeof(out), "%.200s%s%.300s", piece, rest[0] ? " > " : "", rest);
	}
	return out;
}

static struct sym_struct_fault read_text(struct sym_scopes *s, const char *xml, size_t len)
{
	struct sym_struct_fault fault;
	*s = (struct sym_scopes){.n = 0};
	assert_int_equal(
		sym_struct_read((struct pm_bytes){(const uint8_t *)xml, len}, s, &fault), 0);
	for (size_t i = 0; i < s->n_ranges; i++) {
		assert_true(s->ranges[i].start < s->ranges[i].end);
		assert_true(i == 0 || s->ranges[i - 1].end <= s->ranges[i].start);
		assert_true(s->ranges[i].scope < s->n);
	}
	for (uint32_t i = 0; i < s->n; i++)
		assert_true(s->items[i].parent == UINT32_MAX || s->items[i].parent < i);
	return fault;
}

static void names_are_found(void **state)
{
	struct sym_scopes s;
	struct pm_text module = {.p = NULL};
	assert_null(read_text(&s, sound, strlen(sound)).what);
	assert_string_equal(path_at(&s, 0x1000), "P main(int, char**) /src/a.c:7 > S  /src/a.c:7");
	assert_string_equal(path_at(&s, 0x104f), "P main(int, char**) /src/a.c:7 > S  /src/a.c:7");
	assert_string_equal(path_at(&s, 0x1010),
		"P main(int, char**) /src/a.c:7 > L  /src/a.c:9 > S  /src/a.c:10");
	assert_string_equal(path_at(&s, 0x102f),
		"P main(int, char**) /src/a.c:7 > L  /src/a.c:9 > S  /src/a.c:11 > "
		"A get<int> /src/a.h:3 > S  /src/a.h:4");
	assert_string_equal(path_at(&s, 0x1030), "P main(int, char**) /src/a.c:7 > S  /src/a.c:12");
	assert_string_equal(path_at(&s, 0xfff), "");
	assert_string_equal(path_at(&s, 0x1050), "");
	assert_int_equal(s.items[0].offset, 0x1000);
	sym_scopes_done(&s);
	struct pm_bytes xml = {(const uint8_t *)sound, strlen(sound)};
	assert_int_equal(sym_struct_module(xml, &module), 0);
	assert_int_equal(module.len, strlen("/opt/a.out"));
	assert_memory_equal(module.p, "/opt/a.out", module.len);
	pm_text_done(&module);
}

/* hpcstruct leaves the functions of GPU binaries as they are in their symbol tables. */
static void names_of_gpu_code_are_demangled(void **state)
{
	static const char text[] =
		BEGIN LM "<F n=\"loops.cu\"><P n=\"_Z8kernmainv\" v=\"{[0x0-0x1)}\">"
			 "<S l=\"1\" v=\"{[0x10-0x20)}\"/></P></F>" END;
	struct sym_scopes s;
	struct pm_text name = {.p = NULL};
	assert_null(read_text(&s, text, strlen(text)).what);
	sym_demangle(pm_bytes_of("_Z8kernmainv"), &name);
	assert_true(pm_bytes_equal(sym_scopes_text_of(&s, s.items[0].name), pm_text_view(&name)));
	pm_text_done(&name);
	sym_scopes_done(&s);
}

/* Wherever it is cut, what was read before stays, and nothing else comes. */
static void cut_files_lose_names_alone(void **state)
{
	struct sym_scopes whole, s;
	read_text(&whole, sound, strlen(sound));
	for (size_t len = 0; len < strlen(sound) - 1; len++) {
		assert_non_null(read_text(&s, sound, len).what);
		for (uint64_t at = 0xff0; at < 0x1060; at += 0x10) {
			char expected[512];
			snprintf(expected, sizeof(expected), "%s", path_at(&whole, at));
			const char *got = path_at(&s, at);
			assert_true(!*got || strcmp(got, expected) == 0);
		}
		sym_scopes_done(&s);
	}
	sym_scopes_done(&whole);
}

static void first_of_overlapping_ranges_counts(void **state)
{
	static const char text[] = BEGIN LM
		"<F n=\"a.c\"><P n=\"f\" v=\"{[0x0-0x1)}\">"
		"<S l=\"1\" v=\"{[0x10-0x20)}\"/><S l=\"2\" v=\"{[0x0-0x40)}\"/>"
		"<S l=\"3\" v=\"{[0x18-0x50) [0x18-0x19) [0x9-0x8) [0x7-0x7)}\"/>"
		"<S l=\"4\" v=\"{[0xfffffffffffffff0-0xffffffffffffffff) [0x1ffffffffffffffff-0x2)}\"/>"
		"</P></F>" END;
	struct sym_scopes s;
	assert_null(read_text(&s, text, strlen(text)).what);
	assert_string_equal(path_at(&s, 0xf), "P f a.c:0 > S  a.c:2");
	assert_string_equal(path_at(&s, 0x10), "P f a.c:0 > S  a.c:1");
	assert_string_equal(path_at(&s, 0x18), "P f a.c:0 > S  a.c:1");
	assert_string_equal(path_at(&s, 0x20), "P f a.c:0 > S  a.c:2");
	assert_string_equal(path_at(&s, 0x40), "P f a.c:0 > S  a.c:3");
	assert_string_equal(path_at(&s, 0x50), "");
	assert_string_equal(path_at(&s, UINT64_MAX - 1), "P f a.c:0 > S  a.c:4");
	assert_string_equal(path_at(&s, UINT64_MAX), "");
	assert_int_equal(s.n_ranges, 5);
	sym_scopes_done(&s);
}

static void entities_and_defaults_are_refused(void **state)
{
	static const char laughs[] =
		"<!DOCTYPE x [<!ENTITY a \"haha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]>"
		"<x><LM n=\"&b;\"><F n=\"a.c\"><P n=\"f\"><S l=\"1\" v=\"{[0x1-0x2)}\"/></P></F>" END;
	static const char defaults[] =
		"<!DOCTYPE x [<!ATTLIST S l CDATA \"77\" v CDATA \"{[0x1-0x2)}\">]><x>" LM
		"<F n=\"a.c\"><P n=\"f\"><S l=\"1\"/><S/></P></F></LM></x>";
	struct sym_scopes s;
	assert_non_null(read_text(&s, laughs, strlen(laughs)).what);
	assert_int_equal(s.n, 0);
	sym_scopes_done(&s);
	assert_null(read_text(&s, defaults, strlen(defaults)).what);
	assert_int_equal(s.n_ranges, 0);
	sym_scopes_done(&s);
}

/* expat gives each element all defaults: 12,000 of them and 60,000 elements take seconds. */
static void many_defaults_are_refused(void **state)
{
	for (int n = 16; n <= 17; n++) {
		struct pm_text t = {.p = NULL};
		struct sym_scopes s;
		pm_text_str(&t, "<!DOCTYPE x [<!ATTLIST S");
		for (int i = 0; i < n; i++)
			pm_text_printf(&t, " a%d CDATA \"x\"", i);
		pm_text_str(&t, ">]><x>" LM "<F n=\"a.c\"><P n=\"f\"><S/></P></F></LM></x>");
		const char *what = read_text(&s, (const char *)t.p, t.len).what;
		if (n == 16)
			assert_null(what);
		else
			assert_string_equal(what, "attributes have too many defaults");
		sym_scopes_done(&s);
		pm_text_done(&t);
	}
}

static void nonsense_is_no_scope(void **state)
{
	static const char *const odd[] = {
		BEGIN LM "<S l=\"1\" v=\"{[0x1-0x2)}\"/>" END,
		BEGIN LM
		"<F><L l=\"1\" v=\"{[0x1-0x2)}\"><S l=\"1\" v=\"{[0x1-0x2)}\"/></L></F>" END,
		BEGIN LM "<F><A n=\"x\"><S l=\"1\" v=\"{[0x1-0x2)}\"/></A></F>" END,
		BEGIN "<F><P n=\"x\"><S l=\"1\" v=\"{[0x1-0x2)}\"/></P></F></HPCToolkitStructure>",
		BEGIN LM "</LM>" LM "<F><P n=\"x\"><S v=\"{[0x1-0x2)}\"/></P></F>" END,
		BEGIN LM
		"<F><P n=\"x\"><S v=\"{[0x1-0xg)}\"/><S v=\"{[-)}\"/><S v=\"[\"/></P></F>" END,
	};
	struct sym_scopes s;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		assert_null(read_text(&s, odd[i], strlen(odd[i])).what);
		assert_int_equal(s.n_ranges, 0);
		sym_scopes_done(&s);
	}
}

static void deep_files_end_early(void **state)
{
	struct pm_text text = {.p = NULL};
	struct sym_scopes s;
	pm_text_str(&text, BEGIN LM "<F n=\"a.c\"><P n=\"f\"><S l=\"1\" v=\"{[0x1-0x2)}\"/>");
	for (int i = 0; i < 100000; i++)
		pm_text_str(&text, "<L l=\"1\"><A n=\"\"><A n=\"g\"><S v=\"{[0x3-0x4)}\"/>");
	assert_non_null(read_text(&s, text.p, text.len).what);
	assert_string_equal(path_at(&s, 1), "P f a.c:0 > S  a.c:1");
	assert_true(s.n < 2 * SYM_SCOPE_DEPTH_MAX);
	sym_scopes_done(&s);
	pm_text_done(&text);
}

static void long_elements_end_reading(void **state)
{
	struct pm_text text = {.p = NULL};
	struct sym_scopes s;
	pm_text_str(
		&text, BEGIN LM "<F n=\"a.c\"><P n=\"f\"><S l=\"1\" v=\"{[0x1-0x2)}\"/><S v=\"{");
	for (unsigned i = 0; i < 300000; i++)
		pm_text_printf(&text, "[0x%x-0x%x) ", 2 * i + 4, 2 * i + 5);
	pm_text_str(&text, "}\"/><S l=\"2\" v=\"{[0x2-0x3)}\"/></P></F>" END);
	assert_string_equal(
		read_text(&s, text.p, text.len).what, "an element is longer than 1 MiB");
	assert_string_equal(path_at(&s, 1), "P f a.c:0 > S  a.c:1");
	assert_string_equal(path_at(&s, 2), "");
	sym_scopes_done(&s);
	pm_text_done(&text);
}

/* 200,000 ranges around one place: each begins and ends once. */
static void many_ranges_may_overlap(void **state)
{
	struct pm_text text = {.p = NULL};
	struct sym_scopes s;
	pm_text_str(&text, BEGIN LM "<F n=\"a.c\"><P n=\"f\">");
	for (unsigned i = 0; i < 200000; i++)
		pm_text_printf(&text, "<S l=\"%u\" v=\"{[0x%x-0x%x)}\"/>", i + 1, 1000000 - i,
			1000001 + i);
	pm_text_str(&text, "</P></F>" END);
	assert_null(read_text(&s, text.p, text.len).what);
	assert_int_equal(s.n_ranges, 2 * 200000 - 1);
	assert_string_equal(path_at(&s, 1000000), "P f a.c:0 > S  a.c:1");
	assert_string_equal(path_at(&s, 1000000 - 199999), "P f a.c:0 > S  a.c:200000");
	sym_scopes_done(&s);
	pm_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(names_of_gpu_code_are_demangled),
		cmocka_unit_test(cut_files_lose_names_alone),
		cmocka_unit_test(first_of_overlapping_ranges_counts),
		cmocka_unit_test(entities_and_defaults_are_refused),
		cmocka_unit_test(many_defaults_are_refused),
		cmocka_unit_test(nonsense_is_no_scope),
		cmocka_unit_test(deep_files_end_early),
		cmocka_unit_test(long_elements_end_reading),
		cmocka_unit_test(many_ranges_may_overlap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
