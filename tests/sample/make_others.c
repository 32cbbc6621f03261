/*
 * Writes small samples of features that heat lacks: DIR/gpu, a database with two GPU streams;
 * DIR/nytprof.out, a Perl program; DIR/shop, traces of a Java server.
 *
 *     make_others DIR         and prints what it wrote
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/hpctoolkit/writer.h"
#include "tests/nytprof/writer.h"
#include "tests/zts/writer.h"

/* ---- DIR/gpu: a kernel on two streams, one busy three times as long as the other ---- */

enum { MAIN_THREAD = 1, MAIN, KERNEL };

static void add_stream(struct hpctkw_database *w, uint32_t stream, uint64_t busy_ns)
{
	enum { KERNELS = 10, EACH_NS = 4000000 };
	static const uint64_t start_ns = 1760000000000000000;
	hpctkw_profile(w);
	hpctkw_identity(w, 1, 0, 0x7f0100, true);
	hpctkw_identity(w, 5, 0, 0, false);
	hpctkw_identity(w, 6, stream, stream, false);
	hpctkw_trace(w);
	for (uint64_t at = start_ns; at < start_ns + KERNELS * EACH_NS; at += EACH_NS) {
		hpctkw_sample(w, at, KERNEL);
		hpctkw_sample(w, at + busy_ns, 0);
	}
	hpctkw_sample(w, start_ns + KERNELS * EACH_NS, 0);
}

static void add_values(struct hpctkw_database *w,
	uint16_t (*id_of)(uint32_t metric, enum hpctkw_scope scope), uint32_t metric)
{
	static const double seconds = 0.04;
	hpctkw_profile(w);
	for (uint32_t id = MAIN_THREAD; id <= KERNEL; id++) {
		for (enum hpctkw_scope own = HPCTKW_FUNCTION;
			id == KERNEL && own < HPCTKW_EXECUTION; own++)
			hpctkw_value(w, id, id_of(metric, own), seconds);
		hpctkw_value(w, id, id_of(metric, HPCTKW_EXECUTION), seconds);
	}
}

static bool write_gpu(const char *folder)
{
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	struct hpctkw_database *w = hpctkw_new(&style);
	struct hpctkw_files files;
	uint32_t metric = hpctkw_metric(w, "GPUOP (sec)");
	uint32_t module = hpctkw_module(w, "/home/ada/heat/heat");
	uint32_t file = hpctkw_file(w, "/home/ada/heat/heat.cu", 0);
	const struct hpctkw_context contexts[] = {
		{.parent = HPCTKW_NONE, .id = MAIN_THREAD, .entry = "main thread"},
		{.parent = 0,
			.id = MAIN,
			.relation = 1,
			.has_function = true,
			.function = hpctkw_function(w, "main", module, 0x1100, file, 20)},
		{.parent = 1,
			.id = KERNEL,
			.relation = 1,
			.has_function = true,
			.function = hpctkw_function(w, "relax(float*)", module, 0x1240, file, 3)},
	};
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++)
		hpctkw_context(w, &contexts[i]);
	for (int profile = 0; profile < 2; profile++) /* the summary, and the only thread */
		add_values(w, profile == 0 ? hpctkw_stat_id : hpctkw_prop_id, metric);
	hpctkw_identity(w, 1, 0, 0x7f0100, true);
	hpctkw_identity(w, 3, 0, 0, false);
	add_stream(w, 7, 3000000);
	add_stream(w, 8, 1000000);
	hpctkw_write(w, &files);
	bool good =
		(mkdir(folder, 0777) == 0 || errno == EEXIST) && hpctkw_save(&files, folder) == 0;
	hpctkw_files_free(&files);
	hpctkw_free(w);
	return good;
}

/* ---- DIR/nytprof.out ---- */

static bool write_perl(const char *folder)
{
	struct nytpw w = {.deflated_at = 0};
	nytpw_rich(&w, 5, false);
	bool good = zts_write_file(folder, "nytprof.out", pm_text_view(&w.out));
	pm_text_done(&w.out);
	return good;
}

/* ---- DIR/shop: Cart.checkout calls Db.query, which throws or not ---- */

enum { CHECKOUT = 6, QUERY, THROWN = 11, METHOD, URI, PLACE, SQL, FIRST_SQL };

static const struct zts_entry texts[] = {
	{1, "\5com.shop.Cart\5"},
	{2, "\5com.shop.Db\5"},
	{3, "\6checkout\6"},
	{4, "\6query\6"},
	{5, "\10(Ljava/lang/String;I)V\10"},
	{CHECKOUT, "\0131\0133\0135\013"},
	{QUERY, "\0132\0134\0135\013"},
	{8, "\5java.sql.SQLException\5"},
	{9, "table \"items\" is locked"},
	{10, "\r0\r"},
	{THROWN, "\f8\f9\f:\f0\f"},
	{METHOD, "call.method"},
	{URI, "URI"},
	{PLACE, "/cart/checkout"},
	{SQL, "db.statement"},
	{FIRST_SQL, "select price from items where id = 17"},
	{FIRST_SQL + 1, "select price from items where id = 18"},
	{FIRST_SQL + 2, "select price from items where id = 19"},
};

static void put_trace(
	struct pm_text *traces, struct pm_text *meta, uint64_t number, uint64_t ms, bool fails)
{
	static const uint64_t start_ms = 1760000000000;
	uint64_t at_ms = start_ms + 10000 * number, at = number << 20, ticks = (ms * 1000000) >> 16;
	struct pm_text p = {0};
	zts_put_begin(&p, at, CHECKOUT);
	zts_put_info(&p, 0x05, at_ms);
	zts_put_info(&p, 0x12, number);
	zts_put_attr(&p, URI, PLACE);
	zts_put_begin(&p, at + 1, QUERY);
	zts_put_attr(&p, SQL, FIRST_SQL + number - 1);
	if (fails) {
		zts_put_exception(&p, THROWN);
		zts_put_info(&p, 0x0b, 8);
	}
	zts_put_end(&p, at + ticks - 1, 1);
	zts_put_end(&p, at + ticks, 2);
	const struct zts_record record = {.trace_id = {0, number},
		.span_id = number,
		.flags = 0x60,
		.timestamp_ns = at_ms * 1000000,
		.duration_ns = ticks << 16,
		.data_offset = zts_put_chunk(traces, 1, pm_text_view(&p)),
		.calls = 2,
		.errors = fails,
		.records = 2,
		.tstart = at,
		.tstop = at + ticks,
		.method_key = METHOD,
		.method = CHECKOUT};
	zts_put_meta(meta, &record);
	pm_text_done(&p);
}

static bool write_shop(const char *folder)
{
	struct zts_sample s = {.index = ZTS_INDEX_NEW};
	zts_put_file_header(&s.traces, 1);
	put_trace(&s.traces, &s.meta, 1, 1500, true);
	put_trace(&s.traces, &s.meta, 2, 200, true);
	put_trace(&s.traces, &s.meta, 3, 2000, false);
	zts_put_wal(&s.texts, texts, sizeof(texts) / sizeof(texts[0]));
	zts_remove_folder(folder);
	bool good = zts_sample_write(&s, folder);
	zts_sample_done(&s);
	return good;
}

int main(int argc, char **argv)
{
	char gpu[4096], shop[4096];
	if (argc != 2) {
		fprintf(stderr, "usage: make_others DIR\n");
		return 2;
	}
	snprintf(gpu, sizeof(gpu), "%s/gpu", argv[1]);
	snprintf(shop, sizeof(shop), "%s/shop", argv[1]);
	if (!write_gpu(gpu) || !write_perl(argv[1]) || !write_shop(shop)) {
		fprintf(stderr, "make_others: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	printf("%s\n%s/nytprof.out\n%s\n", gpu, argv[1], shop);
	return 0;
}
