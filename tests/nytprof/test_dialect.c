/* Pynytprof's layouts, directories of several files, and refused files. */
#include "tests/unittest.h"

#include "tests/nytprof/expect.h"

/* ---- Pynytprof ---- */

static void test_chunks_are_told_from_records(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_chunks(&w, false);
	struct pm_profile *p = nytpx_open_written(&w);
	assert_string_equal(p->layout, "pynytprof-chunks");
	nytpx_expect_table(p, "raw/processes.csv", "4242|4241|1752048000.25|\n");
	nytpx_expect_table(p, "raw/subs.csv", "0|0|<module>\n1|0|fib\n2|0|outer\n");
	nytpx_expect_table(p, "raw/edges.csv", "0|1|1|500|50\n1|2|2|1000|100\n");
	nytpx_expect_table(
		p, "raw/samples.csv", "1|3|30|3000|300\n1|4|40|4000|400\n1|5|50|5000|500\n");
	nytpx_expect_tree(p,
		"0 outer 100000\n"
		"0 fib 50000\n"
		"1 outer 100000 10000 2\n"
		"0 <module>\n"
		"1 fib 50000 5000 1\n");
	assert_int_equal(nytpx_count_damage(p, ""), 0);
	pm_profile_close(p);
}

static void test_chunks_of_the_c_extension_have_places_and_no_callers(void **state)
{
	struct nytpw w = {.big = false};
	const struct pm_flat *flat;
	nytpw_chunks(&w, true);
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(p, "raw/subs.csv", "0|1|<module>\n1|1|fib\n2|1|outer\n");
	assert_int_equal(pm_profile_flat(p, &flat, NULL), 0);
	assert_int_equal(flat->edges->n, 2);
	assert_int_equal(flat->edges->edges[0].caller, PM_NONE);
	pm_profile_close(p);
}

static void test_chunks_of_packed_numbers_are_read(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_packed_chunks(&w);
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(p, "raw/samples.csv",
		"1|100|70000|1000|100\n2|200|140000|2000|200\n3|300|210000|3000|300\n");
	nytpx_expect_table(p, "raw/events.csv", "0|1|658188\n1|101|658189\n2|201|658190\n");
	nytpx_expect_table(
		p, "raw/edges.csv", "1|100|7|1000|100\n2|200|14|2000|200\n3|300|21|3000|300\n");
	assert_int_equal(nytpx_count_damage(p, ""), 0);
	pm_profile_close(p);
}

/* As packed events this is one, with the name in its ticks. */
static void test_a_name_that_could_be_an_event_is_a_name(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_raw_p(&w, 4242, 4241, 1752048000.25);
	size_t chunk = nytpw_chunk_begin(&w, 'D');
	nytpw_u32(&w, 1);
	nytpw_u32(&w, 0);
	pm_text_add(&w.out, "abc", 4);
	nytpw_chunk_end(&w, chunk);
	nytpw_chunk_end(&w, nytpw_chunk_begin(&w, 'E'));
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(p, "raw/subs.csv", "1|0|abc\n");
	pm_profile_close(p);
}

/* Both numbers of four bytes and a raw P: the same 16 bytes; what follows decides. */
static void test_ambiguous_process_record_is_decided_by_what_follows(void **state)
{
	for (int chunks = 0; chunks < 2; chunks++) {
		struct nytpw w = {.big = false};
		nytpw_header(&w, 5);
		nytpw_raw_p(&w, 0x000002e1, 0x000001e2, 1.7e9);
		if (chunks)
			nytpw_chunk_end(&w, nytpw_chunk_begin(&w, 'E'));
		else
			nytpw_return(&w, 1, 3, 3, "a");
		struct pm_profile *p = nytpx_open_written(&w);
		assert_string_equal(p->layout, chunks ? "pynytprof-chunks" : "nytprof-5");
		nytpx_expect_table(p, "raw/processes.csv",
			chunks ? "737|482|1700000000|\n" : "16908288|33619968|1700000000|\n");
		pm_profile_close(p);
	}
}

static void test_records_after_a_raw_process_record_are_read(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_raw_p(&w, 29978, 29977, 1.7e9);
	nytpw_fid(&w, 1, 0, 16, "x.py");
	nytpw_pid_end(&w, 29978, 1.7e9 + 1);
	struct pm_profile *p = nytpx_open_written(&w);
	assert_string_equal(p->layout, "pynytprof-tokens");
	nytpx_expect_table(p, "raw/processes.csv", "29978|29977|1700000000|1700000001\n");
	assert_int_equal(nytpx_count_damage(p, ""), 0);
	pm_profile_close(p);
}

static void test_cut_chunk_is_read_as_far_as_it_goes(void **state)
{
	struct nytpw w = {.big = false};
	nytpw_chunks(&w, false);
	w.out.len -= 5 + 20; /* E, and most of the last edge */
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(p, "raw/edges.csv", "0|1|1|500|50\n");
	assert_int_equal(nytpx_count_damage(p, "chunk C: the file ends within it"), 1);
	pm_profile_close(p);
}

/* ---- several files ---- */

/* A process that 5 began. */
static void save_process(const char *name, uint32_t pid)
{
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, pid, pid == 5 ? 1 : 5, 1.7e9);
	nytpw_return(&w, 1, pid, pid, "main::work");
	nytpw_pid_end(&w, pid, 1.7e9 + 1);
	nytpx_save(&w, name);
}

static void test_files_of_a_directory_are_processes_of_one_run(void **state)
{
	struct pm_profile *p = NULL;
	struct pm_named_doc doc;
	save_process("x.out", 5);
	save_process("x.out.12", 12);
	save_process("x.out.7", 7);
	assert_int_equal(pm_profile_open(nytpx_folder, NULL, NULL, &p, NULL), 0);
	const struct pm_threads *threads;
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->n, 3);
	assert_int_equal(threads->threads[1].id, 7);
	assert_int_equal(threads->n_keys, 1);
	assert_int_equal(nytpx_count_damage(p, ""), 0);
	assert_true(threads->has_files);
	nytpx_expect_tree(p, "0 main::work 2400 2400 3\n");
	assert_null(nytpx_find_table(p, "raw/attributes.csv")); /* each process has its own */
	nytpx_expect_table(p, "raw/processes.csv",
		"5|1|1700000000|1700000001\n7|5|1700000000|1700000001\n12|5|1700000000|1700000001\n");
	assert_int_equal(p->ops->thread_document(p, 2, 0, &doc, NULL), 1);
	assert_string_equal(doc.path, "raw/attributes.csv");
	pm_profile_close(p);
	nytpx_drop("x.out.7");
	nytpx_drop("x.out.12");
	nytpx_drop("x.out");
}

static void test_file_that_cannot_be_read_spoils_itself_alone(void **state)
{
	struct pm_profile *p = NULL;
	struct nytpw w = {.big = false};
	save_process("x.out", 5);
	nytpw_header(&w, 2);
	nytpx_save(&w, "x.out.6");
	assert_int_equal(pm_profile_open(nytpx_folder, NULL, NULL, &p, NULL), 0);
	nytpx_expect_tree(p, "0 main::work 500 500 1\n");
	assert_int_equal(nytpx_count_damage(p, "version 2"), 1);
	pm_profile_close(p);
	nytpx_drop("x.out.6");
	nytpx_drop("x.out");
}

static void test_directory_of_several_runs_is_refused(void **state)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {0};
	save_process("x.out", 5);
	save_process("y.out.5", 5);
	assert_int_equal(pm_profile_open(nytpx_folder, "nytprof", NULL, &p, &err), -EINVAL);
	assert_non_null(strstr(err.text, " are not parts of the same; "));
	assert_int_equal(pm_profile_probe(nytpx_folder, NULL), 0); /* a folder of runs */
	nytpx_drop("y.out.5");
	nytpx_drop("x.out");
}

/* ---- refused ---- */

/* A line feed in a value: what follows it is a line of its own, and may look like a record. */
static void test_a_header_line_that_is_none_is_damage(void **state)
{
	static const char *const lines[] = {"of two lines", "Perl, it says\n@ and so on", "-",
		"\303\251t\303\251", "!no value"};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		for (int last = 0; last < 2; last++) {
			struct nytpw w = {.big = false};
			nytpw_header(&w, 5);
			nytpw_line(&w, ":application=a name");
			nytpw_line(&w, lines[i]);
			if (!last)
				nytpw_line(&w, ":more=1");
			nytpw_pid_start(&w, 7, 1, 1.7e9);
			nytpw_fid(&w, 1, 0, 0, "/dir/main.pl");
			nytpw_time(&w, 30, 1, 5);
			nytpw_pid_end(&w, 7, 1.7e9 + 1);
			struct pm_profile *p = nytpx_open_written(&w);
			nytpx_expect_table(p, "raw/lines.csv", "1|5|1|30|/dir/main.pl\n");
			nytpx_expect_table(p, "raw/processes.csv", "7|1|1700000000|1700000001\n");
			assert_in_range(nytpx_count_damage(p, "of the header"), 1, 2);
			assert_int_equal(
				nytpx_count_damage(p, ""), nytpx_count_damage(p, "of the header"));
			pm_profile_close(p);
		}
}

static void test_times_that_ns_cannot_hold_are_none(void **state)
{
	uint64_t origin, duration;
	struct nytpw w = {.big = false};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, 7, 1, 5e10);
	nytpw_fid(&w, 1, 0, 0, "/dir/main.pl");
	nytpw_time(&w, 30, 1, 5);
	nytpw_pid_end(&w, 7, 5e10 + 1);
	struct pm_profile *p = nytpx_open_written(&w);
	nytpx_expect_table(p, "raw/processes.csv", "7|1|50000000000|50000000001\n");
	assert_int_equal(pm_profile_span(p, &origin, &duration, NULL), 0);
	assert_true(origin == PM_NO_TIME && duration == PM_NO_TIME);
	assert_int_equal(nytpx_count_damage(p, "process 7: 5e+10 s is not a valid time"), 1);
	pm_profile_close(p);
}

static void test_versions_and_sizes_that_cannot_be_read_are_refused_by_name(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *why;
	} refused[] = {
		{"NYTProf 3 0\n:x=1\n", -ENOTSUP, "version 3"},
		{"NYTProf 6 0\n:x=1\n", -ENOTSUP, "version 6"},
		{"NYTPROF6........", -ENOTSUP, "version 6"},
		{"NYTProf 5 0\n:nv_size=16\n", -ENOTSUP, "nv_size 16"},
		{"NYTProf 5", -EINVAL, "first line"},
		{"NYTProf 5 0\n\x01\x02\x03\x04", -EINVAL, "neither"},
		{"something else", -EINVAL, "first line"},
		{"", -EINVAL, "is empty"},
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct nytpw w = {.big = false};
		pm_text_str(&w.out, refused[i].text);
		nytpx_expect_refused(&w, refused[i].code, refused[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks_are_told_from_records),
		cmocka_unit_test(test_chunks_of_the_c_extension_have_places_and_no_callers),
		cmocka_unit_test(test_chunks_of_packed_numbers_are_read),
		cmocka_unit_test(test_a_name_that_could_be_an_event_is_a_name),
		cmocka_unit_test(test_ambiguous_process_record_is_decided_by_what_follows),
		cmocka_unit_test(test_records_after_a_raw_process_record_are_read),
		cmocka_unit_test(test_cut_chunk_is_read_as_far_as_it_goes),
		cmocka_unit_test(test_files_of_a_directory_are_processes_of_one_run),
		cmocka_unit_test(test_file_that_cannot_be_read_spoils_itself_alone),
		cmocka_unit_test(test_directory_of_several_runs_is_refused),
		cmocka_unit_test(test_a_header_line_that_is_none_is_damage),
		cmocka_unit_test(test_times_that_ns_cannot_hold_are_none),
		cmocka_unit_test(test_versions_and_sizes_that_cannot_be_read_are_refused_by_name),
	};
	return cmocka_run_group_tests(tests, nytpx_folder_make, nytpx_folder_remove);
}
