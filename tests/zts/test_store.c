/*
 * formats/zts through the format interface: stores made by the fixture writer, sound and damaged.
 */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/cache.h"
#include "formats/zts/scan.h"
#include "formats/zts/sums.h"
#include "tests/zts/drain.h"
#include "tests/zts/writer.h"

static const char traces_new[] =
	"0,6553600,1558000000000000000,2,2,1,1,0000000000000001"
	"00000000000000aa,0000000000000011"
	",,000000,0,stores/000000/traces/20190516T094640.000-000000000000000100000000000000aa-"
	"0000000000000011,http,Item com.shop.Cart.add(String[], int)\n"
	"5000000,6553600,1558000000005000000,2,2,0,0,0000000000000001"
	"00000000000000bb,"
	"0000000000000022,,000000,1,stores/000000/traces/20190516T094640.005-0000000000000001"
	"00000000000000bb-0000000000000022,,Item com.shop.Cart.add(String[], int)\n"
	"10000000,6553600,1558000000010000000,2,2,0,0,8000000000000000"
	"00000000000000cc,"
	"0000000000000033,,000000,4,stores/000000/traces/20190516T094640.010-8000000000000000"
	"00000000000000cc-0000000000000033,,Item com.shop.Cart.add(String[], int)\n"
	"11000000,655360,1558000000011000000,1,1,0,0,8000000000000000"
	"00000000000000cc,"
	"0000000000000034,0000000000000033,000000,4,stores/000000/traces/20190516T094640.011-"
	"800000000000000000000000000000cc-0000000000000034,,void com.shop.Cart.add()\n";

static const char simple_dir[] = "stores/000000/traces/20190516T094640.000-00000000000000010000000"
				 "0000000aa-0000000000000011/";
static const char parts_dir[] = "stores/000000/traces/20190516T094640.005-000000000000000100000000"
				"000000bb-0000000000000022/";

static char folder[] = "/tmp/profmount-zts-XXXXXX";
static char store[64];

static struct pm_profile *open_source(const char *path)
{
	struct pm_error err = {0};
	struct pm_profile *p = NULL;
	if (pm_profile_open(path, NULL, NULL, &p, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	assert_string_equal(p->format, "zts");
	return p;
}

static struct pm_profile *open_sample(const struct zts_sample *s)
{
	zts_remove_folder(store);
	assert_true(zts_sample_write(s, store));
	return open_source(folder);
}

static void assert_text(
	const struct pm_profile *p, const char *dir, const char *name, const char *expected)
{
	char path[512];
	struct pm_text out = {0};
	snprintf(path, sizeof(path), "%s%s", dir, name);
	assert_int_equal(zts_drain_path(p, path, &out), 0);
	pm_text_char(&out, '\0');
	assert_string_equal(out.p, expected);
	pm_text_done(&out);
}

static int result_of(const struct pm_profile *p, const char *path)
{
	struct pm_text out = {0};
	int r = zts_drain_path(p, path, &out);
	pm_text_done(&out);
	return r;
}

static size_t damage_of(const struct pm_profile *p)
{
	const struct pm_damages *damages;
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	return damages->n;
}

static void test_every_codec_and_index_file_gives_the_same_traces(void **state)
{
	static const uint32_t flags[] = {0x00, 0x10, 0x01, 0x11, 0x02, 0x12};
	for (size_t i = 0; i < 12; i++) {
		struct zts_sample s;
		zts_sample_make(&s, flags[i / 2], i % 2, ZTS_INDEX_NEW);
		struct pm_profile *p = open_sample(&s);
		assert_text(p, "", "traces.csv", traces_new);
		assert_int_equal(damage_of(p), 0);
		pm_profile_close(p);
		zts_sample_done(&s);
	}
}

static void test_codecs_numbered_as_described_are_found_out(void **state)
{
	for (uint32_t codec = 1; codec <= 2; codec++) {
		struct zts_sample s;
		zts_sample_make(&s, 0x10 | codec, false, ZTS_INDEX_NEW);
		s.traces.p[7] = (char)(0x10 | (3 - codec));
		struct pm_profile *p = open_sample(&s);
		assert_text(p, "", "traces.csv", traces_new);
		assert_int_equal(damage_of(p), 0);
		pm_profile_close(p);
		zts_sample_done(&s);
	}
}

static void test_traces_are_found_without_an_index(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NONE);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, "", "raw/spans.csv",
		"000000,1558000000000000000,6553600,16,0,2,1,2,100,200,,0000000000000011,\n"
		"000000,1558000000005000000,,113,0,0,0,2,1000,,,0000000000000022,\n"
		"000000,1558000000010000000,6553600,249,0,2,0,2,2000,2100,,0000000000000033,\n"
		"000000,1558000000011000000,655360,249,29,1,0,1,2010,2020,,0000000000000034,\n");
	assert_int_equal(damage_of(p), 1);
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_first_generation_takes_times_from_the_payload(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, true, ZTS_INDEX_OLD);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, "", "traces.csv",
		"0,6553600,1558000000000000000,2,2,1,1,0000000000000001"
		"00000000000000aa,,,"
		"000000,0,stores/000000/traces/20190516T094640.000-0000000000000001"
		"00000000000000aa,3,4,449,2,http,Item com.shop.Cart.add(String[], int)\n"
		"5000000,6553600,1558000000005000000,2,2,0,0,0000000000000001"
		"00000000000000bb"
		",,,000000,1,stores/000000/traces/20190516T094640.005-0000000000000001"
		"00000000000000bb,3,4,449,2,,Item com.shop.Cart.add(String[], int)\n"
		"10000000,6553600,1558000000010000000,2,2,0,0,8000000000000000"
		"00000000000000cc"
		",,,000000,4,stores/000000/traces/20190516T094640.010-8000000000000000"
		"00000000000000cc,3,4,449,2,,Item com.shop.Cart.add(String[], int)\n");
	assert_int_equal(damage_of(p), 0);
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_texts_are_resolved_by_their_whole_shape(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, "", "stores/000000/strings.csv",
		"1,class,com.shop.Cart\n2,method,add\n"
		"3,signature,([Ljava/lang/String;I)Lcom/shop/Item;\n"
		"4,methoddesc,Item com.shop.Cart.add(String[], int)\n5,string,component\n"
		"6,string,http\n7,class,java.lang.IllegalStateException\n8,string,cart is full\n"
		"9,string,Cart.java\n10,stackitem,com.shop.Cart.add(Cart.java:74)\n"
		"11,callstack,com.shop.Cart.add(Cart.java:74); com.shop.Cart.add(Cart.java:74)\n"
		"12,exception,java.lang.IllegalStateException: cart is full\n"
		"13,exception,java.lang.IllegalStateException: \n14,string,call.method\n"
		"15,string,\v1\x0e"
		"0\v0\v\n16,methoddesc,void com.shop.Cart.add()\n"
		"17,kvpair,component=x=1\n18,krpair,component=http\n");
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_a_trace_shows_calls_attributes_and_causes(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x12, false, ZTS_INDEX_NEW);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, simple_dir, "calls.csv",
		"0,6553600,3932160,0,2,0,Item com.shop.Cart.add(String[], int)\n"
		"655360,2621440,2621440,1,1,1,void com.shop.Cart.add()\n");
	assert_text(p, simple_dir, "attributes.csv", "component,http\n");
	assert_text(p, simple_dir, "exception.txt",
		"in void com.shop.Cart.add()\n"
		"java.lang.IllegalStateException: cart is full\n"
		"\tat com.shop.Cart.add(Cart.java:74)\n\tat com.shop.Cart.add(Cart.java:74)\n"
		"Caused by: java.lang.IllegalStateException: \n"
		"\tat com.shop.Cart.add(Cart.java:74)\n\tat com.shop.Cart.add(Cart.java:74)\n");
	assert_text(p, simple_dir, "tree.txt",
		"100.0%         6.554 ms  Item com.shop.Cart.add(String[], int)\n"
		"                           | component = http\n"
		" 40.0%         2.621 ms    void com.shop.Cart.add()  ERROR\n"
		"                             ! java.lang.IllegalStateException: cart is full\n");
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_a_chunked_trace_is_assembled(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, parts_dir, "calls.csv",
		"5000000,6553600,5898240,0,2,0,Item com.shop.Cart.add(String[], int)\n"
		"5655360,655360,655360,1,1,0,void com.shop.Cart.add()\n");
	assert_text(p, "stores/000000/chunks/", "1/data.json",
		"[{\"@tag\":8,\"@value\":{\"@indef\":[{\"@tag\":14,\"@value\":{\"@map\":[[12,1000]]}},"
		"{\"@tag\":14,\"@value\":{\"@map\":[[14,4]]}},{\"@tag\":14,\"@value\":{\"@map\":[[5,"
		"1558000000005]]}},{\"@tag\":14,\"@value\":{\"@map\":[[18,34]]}},{\"@tag\":8,"
		"\"@value\":{\"@indef\":[{\"@tag\":14,\"@value\":{\"@map\":[[12,1010]]}},{\"@tag\":14,"
		"\"@value\":{\"@map\":[[14,16]]}}],\"@open\":true}}],\"@open\":true}}]\n");
	assert_text(p, "stores/000000/chunks/", "2/data.json",
		"[{\"@tag\":14,\"@value\":{\"@map\":[[13,1020]]}},{\"@tag\":14,\"@value\":{\"@map\":[["
		"9,1]]}},{\"@break\":true},{\"@tag\":14,\"@value\":{\"@map\":[[13,1100]]}},{\"@tag\":14"
		",\"@value\":{\"@map\":[[9,2]]}},{\"@break\":true}]\n");
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_each_recorded_call_counts_once(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, "", "methods.csv",
		"3,0,19660800,15728640,6553600,6553600,6553600,6553600,6553600,6553600,Item com.shop.Cart.add(String[], int)\n"
		"3,1,3932160,3932160,655360,2621440,655360,2621440,2621440,2621440,void com.shop.Cart.add()\n");
	assert_text(p, "", "attributes.csv",
		"1,1,1,0,6553600,6553600,6553600,6553600,stores/000000/traces/20190516T094640.000-0000000000000001"
		"00000000000000aa-0000000000000011,component,http\n");
	assert_text(p, "", "exceptions.csv",
		"1,655360,655360,stores/000000/traces/20190516T094640.000-0000000000000001"
		"00000000000000aa-0000000000000011,java.lang.IllegalStateException,cart is full\n");
	assert_text(p, "", "spans.csv",
		"0,6553600,3932160,1558000000000000000,0,0,1,stores/000000/traces/20190516T094640.000-"
		"000000000000000100000000000000aa-0000000000000011,attribute,"
		"Item com.shop.Cart.add(String[], int),component,http\n"
		"655360,2621440,2621440,1558000000000655360,1,1,2,stores/000000/traces/"
		"20190516T094640.000-000000000000000100000000000000aa-0000000000000011,exception,"
		"void com.shop.Cart.add(),java.lang.IllegalStateException,cart is full\n");
	pm_profile_close(p);
	zts_sample_done(&s);
}

/* ---- attributes as columns ---- */

/* A store without an index: one chunk for each payload that is put. */
struct bare {
	struct pm_text traces, texts;
};

static void bare_begin(struct bare *b, const struct zts_entry *texts, size_t n)
{
	*b = (struct bare){.traces = {0}};
	zts_put_file_header(&b->traces, 0x10);
	if (n)
		zts_put_wal(&b->texts, texts, n);
}

static void bare_write(struct bare *b, const char *path)
{
	zts_remove_folder(path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(zts_write_file(path, "traces.dat", pm_text_view(&b->traces)));
	if (b->texts.len)
		assert_true(zts_write_file(path, "text-00000001.wal", pm_text_view(&b->texts)));
	pm_text_done(&b->traces);
	pm_text_done(&b->texts);
}

static void begin_trace(struct pm_text *p, uint64_t ms, uint64_t method)
{
	zts_put_begin(p, 100, method);
	zts_put_info(p, 0x05, 1558000000000ull + ms);
}

/* Text, a number, a truth value and a list, under a key that is text, too. */
static void put_odd_attrs(struct pm_text *p)
{
	zts_put_head(p, 6, 0x09);
	zts_put_head(p, 5, 4);
	zts_put_head(p, 0, 17);
	zts_put_head(p, 0, 4000000000u);
	zts_put_head(p, 6, 0x06);
	zts_put_head(p, 0, 1);
	pm_text_char(p, (char)0xf5);
	zts_put_head(p, 3, 6);
	pm_text_str(p, "Method");
	zts_put_head(p, 3, 11);
	pm_text_str(p, "a long text");
	zts_put_head(p, 3, 4);
	pm_text_str(p, "list");
	zts_put_head(p, 4, 2);
	zts_put_head(p, 0, 1);
	zts_put_head(p, 0, 2);
}

static void test_traces_have_a_column_for_each_frequent_attribute(void **state)
{
	static const struct zts_entry texts[] = {
		{1, "http.status code"}, {2, "500"}, {3, "error"}, {4, "200"}, {5, "ERROR"}};
	struct pm_text p = {0};
	struct bare b;
	bare_begin(&b, texts, 5);
	begin_trace(&p, 0, 0);
	zts_put_attr(&p, 1, 2);
	zts_put_attr(&p, 3, 4);
	zts_put_attr(&p, 1, 4); /* a later value replaces an earlier one */
	zts_put_begin(&p, 110, 0);
	zts_put_attr(&p, 5, 4); /* of a call, not of the trace */
	zts_put_end(&p, 120, 1);
	zts_put_end(&p, 200, 2);
	zts_put_chunk(&b.traces, 0x10, pm_text_view(&p));
	pm_text_clear(&p);
	begin_trace(&p, 5, 0);
	put_odd_attrs(&p);
	zts_put_end(&p, 300, 1);
	zts_put_chunk(&b.traces, 0x10, pm_text_view(&p));
	pm_text_done(&p);
	bare_write(&b, store);
	struct pm_profile *profile = open_source(folder);
	const struct pm_named_doc *docs;
	size_t n;
	assert_int_equal(pm_profile_documents(profile, &docs, &n, NULL), 0);
	assert_string_equal(docs[0].path, "traces.csv");
	struct pm_table table = docs[0].doc.table;
	assert_int_equal(table.type->columns(&table, NULL), 0);
	static const char *const names[] = {
		"http_status_code", "17", "method_2", "error_2", "list", "method"};
	assert_int_equal(table.n_columns, 13 + 6);
	for (uint32_t i = 0; i < 6; i++) /* two traces have the first, the others are by name */
		assert_string_equal(table.columns[13 + i], names[i]);
	assert_text(profile, "", "traces.csv",
		"0,6553600,1558000000000000000,2,2,0,0,,,,000000,0,"
		"stores/000000/traces/20190516T094640.000,200,,,200,,\n"
		"5000000,13107200,1558000000005000000,1,1,0,0,,,,000000,1,"
		"stores/000000/traces/20190516T094640.005,true,4000000000,a long text,,[1,2],\n");
	pm_profile_close(profile);
}

static void put_request(
	struct bare *b, uint64_t ms, uint64_t method, uint64_t ticks, uint64_t key, uint64_t value)
{
	struct pm_text p = {0};
	begin_trace(&p, ms, method);
	if (key)
		zts_put_attr(&p, key, value);
	zts_put_end(&p, 100 + ticks, 1);
	zts_put_chunk(&b->traces, 0x10, pm_text_view(&p));
	pm_text_done(&p);
}

/* What identifies one object is `{n}`, and nothing that only begins like it. */
static void test_requests_of_one_route_are_one_row(void **state)
{
	enum { ROUTE = 1, TARGET, URL, FIRST };
	static const struct zts_entry texts[] = {{ROUTE, "http.route"}, {TARGET, "http.target"},
		{URL, "URL"}, {FIRST, "/o/12/x?page=2"}, {5, "/o/345/x"},
		{6, "/o/01234567-89ab-cdef-0123-456789ABCDEF/x#top"}, {7, "/o/deadbeef/x"},
		{8, "/o/deadbee/12b"}, {9, "http://h:80/12345678/"}, {10, "/o/{id}"}};
	struct bare b;
	bare_begin(&b, texts, sizeof(texts) / sizeof(*texts));
	for (uint64_t i = 0; i < 4; i++)
		put_request(&b, i, 0, i == 2 ? 50 : 10, TARGET, FIRST + i);
	put_request(&b, 4, 0, 30, TARGET, 8);
	put_request(&b, 5, 0, 20, URL, 9);
	put_request(&b, 6, 70, 3, ROUTE, 10);
	put_request(&b, 7, 70, 2, 0, 0);
	put_request(&b, 8, 0, 1, 0, 0);
	bare_write(&b, store);
	struct pm_profile *profile = open_source(folder);
	assert_text(profile, "", "requests.csv",
		"4,0,5242880,655360,3276800,3276800,stores/000000/traces/20190516T094640.002,/o/{n}/x\n"
		"1,0,1966080,1966080,1966080,1966080,stores/000000/traces/20190516T094640.004,/o/deadbee/12b\n"
		"1,0,1310720,1310720,1310720,1310720,stores/000000/traces/20190516T094640.005,http://h:80/{n}/\n"
		"1,0,196608,196608,196608,196608,stores/000000/traces/20190516T094640.006,000000#70 /o/{id}\n"
		"1,0,131072,131072,131072,131072,stores/000000/traces/20190516T094640.007,000000#70\n"
		"1,0,65536,65536,65536,65536,stores/000000/traces/20190516T094640.008,\n");
	pm_profile_close(profile);
}

/*
 * A value on nested calls: time counts once. Under two keys, a call runs its statement once; two
 * statements that differ in literals are one.
 */
static void test_values_and_statements_are_of_all_calls(void **state)
{
	static const struct zts_entry texts[] = {{1, "sql"}, {2, "db.statement"},
		{3, "select *  from t where a = 'it''s' and b in (-1, -2.5e-3, 'x')"},
		{4, "select * from t where a = 0x1F and b in (?)"}, {5, "selection"}};
	static const char one[] = "stores/000000/traces/20190516T094640.000";
	struct pm_text p = {0};
	struct bare b;
	char expected[1200];
	bare_begin(&b, texts, sizeof(texts) / sizeof(*texts));
	begin_trace(&p, 0, 0);
	zts_put_attr(&p, 1, 5);
	zts_put_begin(&p, 110, 0);
	zts_put_attr(&p, 1, 3);
	zts_put_attr(&p, 2, 3);
	zts_put_begin(&p, 120, 0);
	zts_put_attr(&p, 1, 3);
	zts_put_end(&p, 130, 1);
	zts_put_end(&p, 150, 1);
	zts_put_begin(&p, 160, 0);
	zts_put_attr(&p, 1, 4);
	zts_put_end(&p, 161, 1);
	zts_put_end(&p, 200, 4);
	zts_put_chunk(&b.traces, 0x10, pm_text_view(&p));
	pm_text_done(&p);
	bare_write(&b, store);
	struct pm_profile *profile = open_source(folder);
	snprintf(expected, sizeof(expected),
		"0,0,1,0,2621440,2621440,2621440,2621440,%s,db.statement,%s\n"
		"1,0,1,0,6553600,6553600,6553600,6553600,%s,sql,selection\n"
		"0,0,2,0,2621440,655360,2621440,2621440,%s,sql,%s\n"
		"0,0,1,0,65536,65536,65536,65536,%s,sql,%s\n",
		one, texts[2].text, one, one, texts[2].text, one, texts[3].text);
	assert_text(profile, "", "attributes.csv", expected);
	snprintf(expected, sizeof(expected),
		"1,0,3,0,2686976,655360,2621440,2621440,%s,select * from t where a = ? and b in (?)\n",
		one);
	assert_text(profile, "", "statements.csv", expected);
	snprintf(expected, sizeof(expected),
		"0,6553600,3866624,1558000000000000000,0,0,1,%s,attribute,000000#0,sql,selection\n"
		"655360,2621440,1966080,1558000000000655360,0,1,2,%s,attribute,000000#0,db.statement,%s\n"
		"655360,2621440,1966080,1558000000000655360,0,1,2,%s,attribute,000000#0,sql,%s\n"
		"1310720,655360,655360,1558000000001310720,0,2,3,%s,attribute,000000#0,sql,%s\n"
		"3932160,65536,65536,1558000000003932160,0,1,4,%s,attribute,000000#0,sql,%s\n",
		one, one, texts[2].text, one, texts[2].text, one, texts[2].text, one,
		texts[3].text);
	assert_text(profile, "", "spans.csv", expected);
	pm_profile_close(profile);
}

static void test_an_id_means_something_in_its_store_alone(void **state)
{
	char other[sizeof(store)];
	struct pm_text p = {0};
	struct bare b;
	snprintf(other, sizeof(other), "%s/000001", folder);
	for (int i = 0; i < 2; i++) {
		bare_begin(&b, NULL, 0);
		pm_text_clear(&p);
		begin_trace(&p, 0, 70);
		zts_put_exception(&p, 9);
		zts_put_end(&p, 200, 1);
		zts_put_chunk(&b.traces, 0x10, pm_text_view(&p));
		bare_write(&b, i ? other : store);
	}
	pm_text_done(&p);
	struct pm_profile *profile = open_source(folder);
	assert_text(profile, "", "methods.csv",
		"1,0,6553600,6553600,6553600,6553600,6553600,6553600,6553600,6553600,000000#70\n"
		"1,0,6553600,6553600,6553600,6553600,6553600,6553600,6553600,6553600,000001#70\n");
	assert_text(profile, "", "exceptions.csv",
		"1,0,0,stores/000000/traces/20190516T094640.000,000000#9,\n"
		"1,0,0,stores/000001/traces/20190516T094640.000,000001#9,\n");
	pm_profile_close(profile);
	zts_remove_folder(other);
}

/* The call began before its trace, because the clock was set back between them. */
static void test_an_exception_has_the_time_of_its_call(void **state)
{
	struct pm_text p = {0};
	struct bare b;
	bare_begin(&b, NULL, 0);
	begin_trace(&p, 0, 70);
	zts_put_begin(&p, 60, 71);
	zts_put_exception(&p, 9);
	zts_put_end(&p, 80, 0);
	zts_put_end(&p, 200, 2);
	zts_put_chunk(&b.traces, 0x10, pm_text_view(&p));
	bare_write(&b, store);
	pm_text_done(&p);
	struct pm_profile *profile = open_source(folder);
	assert_text(profile, "", "exceptions.csv",
		"1,-2621440,-2621440,stores/000000/traces/20190516T094640.000,000000#9,\n");
	pm_profile_close(profile);
}

static void test_a_broken_chunk_spoils_its_own_files_alone(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	s.traces.p[s.offsets[0] + 30] ^= 1;
	struct pm_profile *p = open_sample(&s);
	assert_int_equal(result_of(p, "stores/000000/chunks/0/data.json"), -EIO);
	assert_int_equal(result_of(p, "stores/000000/chunks/0/data.cbor"), -EIO);
	assert_int_equal(result_of(p, "stores/000000/chunks/0/info.txt"), 0);
	assert_int_equal(result_of(p, "stores/000000/chunks/1/data.json"), 0);
	char path[512];
	snprintf(path, sizeof(path), "%strace.json", simple_dir);
	assert_int_equal(result_of(p, path), -EIO);
	snprintf(path, sizeof(path), "%strace.json", parts_dir);
	assert_int_equal(result_of(p, path), 0);
	assert_int_equal(damage_of(p), 1);
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_a_length_beyond_the_codec_is_refused(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	memcpy(s.traces.p + s.offsets[0] + 8, "\x7f\xff\xff\xff", 4);
	struct pm_profile *p = open_sample(&s);
	struct pm_text out = {0};
	assert_int_equal(zts_drain_path(p, "stores/000000/chunks.csv", &out), 0);
	pm_text_char(&out, '\0');
	assert_non_null(strstr(out.p, "2147483647"));
	assert_non_null(strstr(out.p, "claims more bytes than its compression can produce"));
	pm_text_done(&out);
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_chunks_are_found_again_behind_damage(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	s.traces.p[s.offsets[1]] = 'X';
	struct pm_profile *p = open_sample(&s);
	const struct pm_damages *damages;
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	assert_int_equal(damages->rows[0].offset, s.offsets[1]);
	assert_int_equal(damages->rows[0].bytes, s.offsets[2] - s.offsets[1]);
	assert_int_equal(result_of(p, "stores/000000/chunks/3/data.json"), 0);
	assert_int_equal(result_of(p, "stores/000000/chunks/4/data.json"), -ENOENT);
	pm_profile_close(p);
	zts_sample_done(&s);
}

/* Puts bytes that are no chunk there: what is behind them is not where the index says. */
static void put_astray(struct zts_sample *s, size_t at)
{
	struct pm_text moved = {.p = NULL};
	pm_text_bytes(&moved, (struct pm_bytes){(uint8_t *)s->traces.p, at});
	pm_text_str(&moved, "astray");
	pm_text_bytes(&moved, (struct pm_bytes){(uint8_t *)s->traces.p + at, s->traces.len - at});
	pm_text_done(&s->traces);
	s->traces = moved;
}

/* Two gaps: the parts of a trace are not where the first part says. */
static void test_parts_behind_different_gaps_are_not_joined(void **state)
{
	struct zts_sample s;
	struct pm_text out = {.p = NULL};
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	put_astray(&s, s.offsets[2]);
	put_astray(&s, s.offsets[1]);
	struct pm_profile *p = open_sample(&s);
	assert_int_equal(zts_drain_path(p, "traces.csv", &out), 0);
	pm_text_char(&out, '\0');
	/* The trace of the index has no chunk, the part that was found no trace id and no end. */
	assert_non_null(strstr(out.p,
		"000000,,stores/000000/traces/20190516T094640.005-000000000000000100000000000000bb-"
		"0000000000000022,"));
	assert_non_null(strstr(out.p,
		"\n5000000,,1558000000005000000,0,2,0,0,,0000000000000022,,000000,1,"
		"stores/000000/traces/20190516T094640.005-0000000000000022,"));
	pm_text_done(&out);
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_a_trace_in_parts_that_has_moved_is_one(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	put_astray(&s, s.offsets[1]);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, "", "traces.csv", traces_new);
	assert_int_equal(damage_of(p), 5); /* those bytes, two parts, a trace, the span in it */
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_a_trace_that_has_moved_keeps_its_ids(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	put_astray(&s, s.offsets[4]);
	struct pm_profile *p = open_sample(&s);
	assert_text(p, "", "traces.csv", traces_new);
	assert_int_equal(damage_of(p), 3); /* those bytes, a trace, and the span in it */
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_a_growing_store_shows_what_was_there(void **state)
{
	struct zts_sample s;
	char path[128];
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	struct pm_profile *p = open_sample(&s);
	snprintf(path, sizeof(path), "%s/traces.dat", store);
	FILE *f = fopen(path, "ab");
	assert_non_null(f);
	fwrite(s.traces.p + s.offsets[0], s.offsets[1] - s.offsets[0], 1, f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/text-00000001.wal", store);
	f = fopen(path, "r+b");
	assert_non_null(f);
	fseek(f, -64, SEEK_END);
	fwrite("C\1later\2C\3", 10, 1, f);
	fclose(f);
	assert_text(p, "", "traces.csv", traces_new);
	struct pm_text strings = {0};
	assert_int_equal(zts_drain_path(p, "stores/000000/strings.csv", &strings), 0);
	assert_null(memmem(strings.p, strings.len, "later", 5));
	assert_false(p->ops->changed(p));
	pm_text_done(&strings);
	pm_profile_close(p);
	zts_sample_done(&s);
}

/* Before anything of it was read, and between the ends that any source remembers. */
static void test_a_store_that_is_rewritten_while_it_grows_has_changed(void **state)
{
	static const uint8_t zeros[60000];
	struct zts_sample s;
	char path[128];
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	pm_text_add(&s.traces, (const char *)zeros, sizeof(zeros));
	struct pm_profile *p = open_sample(&s);
	snprintf(path, sizeof(path), "%s/traces.dat", store);
	FILE *f = fopen(path, "r+b");
	assert_non_null(f);
	fseek(f, 30000, SEEK_SET);
	fputc('x', f);
	fseek(f, 0, SEEK_END);
	fwrite(zeros, sizeof(zeros), 1, f);
	fclose(f);
	assert_true(p->ops->changed(p));
	pm_profile_close(p);
	zts_sample_done(&s);
}

static void test_a_store_alone_keeps_its_number(void **state)
{
	struct zts_sample s;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	pm_profile_close(open_sample(&s));
	char path[128];
	snprintf(path, sizeof(path), "%s/traces.dat", store);
	const char *sources[] = {store, path};
	for (size_t i = 0; i < 2; i++) {
		struct pm_profile *p = open_source(sources[i]);
		assert_text(p, "", "traces.csv", traces_new);
		pm_profile_close(p);
	}
	zts_sample_done(&s);
}

/* What is kept of it is in the program's cache, and goes where that has no room. */
static void test_chunks_and_traces_count_against_the_cache(void **state)
{
	struct zts_sample s;
	char calls[sizeof(simple_dir) + sizeof("calls.csv")];
	snprintf(calls, sizeof(calls), "%scalls.csv", simple_dir);
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	pm_profile_close(open_sample(&s));
	for (uint64_t limit = 0; limit <= 1 << 20; limit += 1 << 20) {
		struct pm_open_options options = {.cache = pm_cache_new(limit)};
		struct pm_profile *p;
		assert_int_equal(pm_profile_open(folder, NULL, &options, &p, NULL), 0);
		assert_int_equal(result_of(p, "stores/000000/chunks/1/data.cbor"), 0);
		uint64_t chunk = pm_cache_bytes(options.cache);
		assert_text(p, "", "traces.csv", traces_new);
		assert_int_equal(result_of(p, calls), 0);
		uint64_t both = pm_cache_bytes(options.cache);
		if (limit) {
			assert_true(chunk > 0);
			assert_true(both > chunk);
		} else {
			assert_int_equal(both, 0);
		}
		pm_cache_free(options.cache);
		pm_profile_close(p);
	}
	zts_sample_done(&s);
}

static void test_a_chunk_that_is_refused_evicts_nothing(void **state)
{
	struct zts_sample s;
	struct pm_open_options options = {.cache = pm_cache_new(1 << 20)};
	struct pm_profile *p;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	memcpy(s.traces.p + s.offsets[0] + 8, "\x7f\xff\xff\xff", 4);
	pm_profile_close(open_sample(&s));
	assert_int_equal(pm_profile_open(folder, NULL, &options, &p, NULL), 0);
	assert_int_equal(result_of(p, "stores/000000/chunks/1/data.cbor"), 0);
	uint64_t chunk = pm_cache_bytes(options.cache);
	assert_true(chunk > 0);
	assert_int_equal(result_of(p, "stores/000000/chunks/0/data.cbor"), -EIO);
	assert_int_equal(pm_cache_bytes(options.cache), chunk);
	pm_cache_free(options.cache);
	pm_profile_close(p);
	zts_sample_done(&s);
}

/* Of what is read once nothing is kept: only the chunks that a trace in parts is of. */
static void test_adding_up_keeps_no_chunks(void **state)
{
	struct zts_sample s;
	struct pm_open_options options = {.cache = pm_cache_new(1 << 20)};
	struct pm_profile *p;
	zts_sample_make(&s, 0x11, false, ZTS_INDEX_NEW);
	pm_profile_close(open_sample(&s));
	assert_int_equal(pm_profile_open(folder, NULL, &options, &p, NULL), 0);
	assert_text(p, "", "traces.csv", traces_new);
	uint64_t survey = pm_cache_bytes(options.cache);
	assert_int_equal(result_of(p, "methods.csv"), 0);
	assert_int_equal(pm_cache_bytes(options.cache), survey);
	assert_int_equal(result_of(p, "stores/000000/chunks/1/data.cbor"), 0);
	assert_int_equal(pm_cache_bytes(options.cache), survey);
	assert_int_equal(result_of(p, "stores/000000/chunks/0/data.cbor"), 0);
	assert_true(pm_cache_bytes(options.cache) > survey);
	pm_cache_free(options.cache);
	pm_profile_close(p);
	zts_sample_done(&s);
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(store, sizeof(store), "%s/000000", folder);
	return 0;
}

static int remove_folder(void **state)
{
	zts_remove_folder(store);
	return rmdir(folder);
}

struct classes {
	struct zts_exceptions from, all;
};

static void join_classes(void *context)
{
	struct classes *c = context;
	zts_exceptions_join(&c->all, &c->from);
	zts_exceptions_sort(&c->all);
}

/* Of two classes, the one with more exceptions first, whichever its most frequent message is. */
static void test_exceptions_are_counted_by_class(void **state)
{
	static const struct {
		const char *class, *message;
		uint64_t count;
	} thrown[] = {{"Timeout", "", 4}, {"Sql", "a", 2}, {"Sql", "b", 3}, {"Sql", "c", 1}};
	struct pm_arena arena = {.total = 0};
	struct classes c = {{.arena = &arena, .texts = pm_strtab_in(&arena)},
		{.arena = &arena, .texts = pm_strtab_in(&arena)}};
	struct zts_thrown items[4];
	for (uint32_t i = 0; i < 4; i++) {
		char joined[32];
		snprintf(joined, sizeof(joined), "%08zx%s%s", strlen(thrown[i].class),
			thrown[i].class, thrown[i].message);
		assert_int_equal(pm_strtab_add(&c.from.texts, pm_bytes_of(joined)), i);
		items[i] = (struct zts_thrown){.count = thrown[i].count};
	}
	c.from.items = items;
	assert_int_equal(pm_build(&arena, join_classes, &c), 0);
	const struct zts_exceptions all = c.all;
	assert_int_equal(all.n_classes, 2);
	assert_int_equal(all.classes[0].count, 6);
	assert_int_equal(all.classes[0].n_messages, 3);
	assert_true(pm_bytes_equal(all.items[all.classes[0].most].message, pm_bytes_of("b")));
	assert_int_equal(all.classes[1].count, 4);
	pm_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_codec_and_index_file_gives_the_same_traces),
		cmocka_unit_test(test_codecs_numbered_as_described_are_found_out),
		cmocka_unit_test(test_traces_are_found_without_an_index),
		cmocka_unit_test(test_first_generation_takes_times_from_the_payload),
		cmocka_unit_test(test_texts_are_resolved_by_their_whole_shape),
		cmocka_unit_test(test_a_trace_shows_calls_attributes_and_causes),
		cmocka_unit_test(test_a_chunked_trace_is_assembled),
		cmocka_unit_test(test_each_recorded_call_counts_once),
		cmocka_unit_test(test_traces_have_a_column_for_each_frequent_attribute),
		cmocka_unit_test(test_an_exception_has_the_time_of_its_call),
		cmocka_unit_test(test_requests_of_one_route_are_one_row),
		cmocka_unit_test(test_values_and_statements_are_of_all_calls),
		cmocka_unit_test(test_an_id_means_something_in_its_store_alone),
		cmocka_unit_test(test_a_broken_chunk_spoils_its_own_files_alone),
		cmocka_unit_test(test_a_length_beyond_the_codec_is_refused),
		cmocka_unit_test(test_chunks_are_found_again_behind_damage),
		cmocka_unit_test(test_a_trace_that_has_moved_keeps_its_ids),
		cmocka_unit_test(test_a_trace_in_parts_that_has_moved_is_one),
		cmocka_unit_test(test_parts_behind_different_gaps_are_not_joined),
		cmocka_unit_test(test_a_growing_store_shows_what_was_there),
		cmocka_unit_test(test_a_store_that_is_rewritten_while_it_grows_has_changed),
		cmocka_unit_test(test_a_store_alone_keeps_its_number),
		cmocka_unit_test(test_chunks_and_traces_count_against_the_cache),
		cmocka_unit_test(test_a_chunk_that_is_refused_evicts_nothing),
		cmocka_unit_test(test_adding_up_keeps_no_chunks),
		cmocka_unit_test(test_exceptions_are_counted_by_class),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
