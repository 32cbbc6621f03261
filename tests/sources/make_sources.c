/*
 * Writes a small source of each format and dialect, for tests that run on all formats:
 *
 *     make_sources FOLDER         and prints the paths of the sources
 */
#include "tests/sources/make_sources.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/common/inflate.h"
#include "tests/hpctoolkit/fixtures.h"
#include "tests/htdump/writer.h"
#include "tests/nytprof/writer.h"
#include "tests/pprof/writer.h"
#include "tests/zts/writer.h"

static const char *folder;

_Noreturn void sources_die(const char *path)
{
	fprintf(stderr, "make_sources: %s: %s\n", path, strerror(errno));
	exit(1);
}

const char *sources_path(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	puts(path);
	return path;
}

const char *sources_folder(const char *name)
{
	const char *path = sources_path(name);
	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		sources_die(path);
	return path;
}

void sources_file(const char *name, struct pm_bytes b)
{
	const char *path = sources_path(name);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(b.p, 1, b.len, f) != b.len || fclose(f) != 0)
		sources_die(path);
}

/* Half of the time, and a metric that cannot be added up: of trees, of flat tables. */
static const char taxonomy[] =
	"version: 0\n"
	"inputs:\n"
	"  - &incl\n    metric: CPUTIME (sec)\n    scope: execution\n"
	"    formula: $$\n    combine: sum\n"
	"  - &tree\n    metric: CPUTIME (sec)\n    scope: lex_aware\n"
	"    formula: $$\n    combine: sum\n"
	"  - &flat\n    metric: CPUTIME (sec)\n    scope: function\n"
	"    formula: $$\n    combine: sum\n"
	"roots:\n"
	"  - name: CPUTIME (sec)\n"
	"    description: CPUTIME (sec)\n"
	"    visible by default: false\n"
	"    variants:\n      Sum:\n        render: [number, percent]\n"
	"        formula:\n          inclusive:\n            standard: *incl\n"
	"          exclusive:\n            custom: *tree\n"
	"            standard: *flat\n"
	"  - name: HALF (sec)\n"
	"    description: half of it\n"
	"    variants:\n      Sum:\n        render: [number]\n"
	"        formula:\n          inclusive:\n"
	"            standard: {/: [*incl, 2]}\n"
	"          exclusive:\n            custom: {/: [*tree, 2]}\n"
	"            standard: {/: [*flat, 2]}\n"
	"  - name: SQUARE\n"
	"    variants:\n      \"\":\n        render: [number]\n"
	"        formula:\n          inclusive:\n"
	"            standard: {^: [*incl, 2]}\n";

static void write_hpctoolkit(void)
{
	static const char *const names[] = {
		"hpctoolkit-first", "hpctoolkit-april", "hpctoolkit-june", "hpctoolkit"};
	for (int i = 0; i < 4; i++) {
		struct hpctkw_style style = {.generation = (enum hpctkw_generation)i};
		struct hpctkw_database *w = fixture_rich(&style);
		struct hpctkw_files files;
		hpctkw_write(w, &files);
		const char *path = sources_folder(names[i]);
		if (hpctkw_save(&files, path) != 0)
			sources_die(path);
		hpctkw_files_free(&files);
		hpctkw_free(w);
	}
	sources_folder("hpctoolkit/metrics");
	sources_file("hpctoolkit/metrics/default.yaml", pm_bytes_of(taxonomy));
}

static void save_nytprof(struct nytpw *w, const char *name)
{
	struct pm_bytes b = nytpw_take(w);
	sources_file(name, b);
	free((void *)(uintptr_t)b.p);
}

/* A process with main::parent in a.pl, and main::work in the file, of which line 1 ran. */
static void write_process(uint32_t pid, const char *file, double ticks, double parent, double own)
{
	char name[40];
	struct nytpw w = {.deflated_at = 0};
	nytpw_header(&w, 5);
	nytpw_pid_start(&w, pid, pid == 50 ? 1 : 50, 1.7e9);
	nytpw_fid(&w, 1, 0, 0, "a.pl");
	nytpw_fid(&w, 2, 0, 0, file);
	nytpw_time(&w, (int32_t)ticks, 2, 1);
	nytpw_return(&w, 2, ticks, ticks, "main::work");
	nytpw_return(&w, 1, parent, own, "main::parent");
	nytpw_sub(&w, 1, "main::parent", 5, 9);
	nytpw_sub(&w, 2, "main::work", 1, 3);
	nytpw_pid_end(&w, pid, 1.7e9 + 1);
	snprintf(name, sizeof(name), "nytprof-fork/nytprof.out.%u", pid);
	save_nytprof(&w, name);
}

/*
 * main::parent forks after 400 ticks in main::work; its record in the child begins before that. The
 * child has main::work from another file.
 */
static void write_fork(void)
{
	sources_folder("nytprof-fork");
	write_process(50, "b.pl", 400, 1000, 600);
	write_process(51, "c.pl", 70, 900, 430);
}

static void write_text(const char *name, const char *text)
{
	sources_file(name, pm_bytes_of(text));
}

static void write_folded(void)
{
	struct pm_text packed = {.p = NULL};
	write_text("flat.folded",
		"# mode: wall\n"
		"main;load (lib/a.c);read_[k] 12.5\n"
		"main;load (lib/a.c) 0.25\n"
		"main;;work;main;work_[i] 3\n"
		" 2\n"
		"main;quiet 0\n"
		"a line without a count\n");
	write_text("threads.folded",
		"process 7:\"python app.py\";thread (0x1f): \"MainThread\";run (app.py:3) 7\n"
		"process 7:\"python app.py\";thread (0x1f): \"MainThread\";run (app.py:9) 2\n"
		"process 7:\"python app.py\";thread (0x20): \"worker\";wait (app.py:40) 90\n");
	pm_gzip(&packed,
		pm_bytes_of("main;a (src/a.c:3);b (src/b.c:7) 5 7\n"
			    "main;a (src/a.c:4) 1.5 0\n"));
	sources_file("two.folded.gz", pm_text_view(&packed));
	pm_text_done(&packed);
}

static void write_perf(void)
{
	write_text("perf.script.txt",
		"# hostname : vm\n"
		"V8 Worker 2 7/8 [001]  12.000000001:  100 cycles:u: \n"
		"\t  4010 work+0x10 (/bin/app)\n"
		"  /src/a.c:7\n"
		"\t  4020 helper (inlined)\n"
		"\t  4020 main+0x20 (/bin/app)\n"
		"\n"
		"V8 Worker 2 7/8 [001]  12.5:  1 page-faults: \n"
		"\t  7f00 [unknown] (/lib/libc.so.6 (deleted))\n"
		"\t  4020 main+0x20 (/bin/app)\n"
		"\n"
		"swapper 0/0 [000]  12.6:  50 cycles:u: \n"
		"\tffff intel_idle+0x1 ([kernel.kallsyms])\n"
		"\tfffe do_idle+0x2 ([kernel.kallsyms])\n"
		"what is this\n");
}

/* Measurements of each of two builds: parse() got slower. */
static void write_builds(void)
{
	sources_folder("builds");
	sources_write_builds();
	write_text("builds/callgrind.before",
		"# callgrind format\nevents: Ir\nfl=(1) app.c\nfn=(1) main\n1 100\ncfn=(2) parse\n"
		"calls=10 9\n2 5000\nfn=(2)\n9 5000\n");
	write_text("builds/callgrind.after",
		"# callgrind format\nevents: Ir\nfl=(1) app.c\nfn=(1) main\n1 100\ncfn=(2) parse\n"
		"calls=10 9\n2 4870\nfn=(2)\n9 4870\n");
}

static void write_pprof(void)
{
	struct pm_text raw = {.p = NULL}, packed = {.p = NULL};
	pprofw_rich(&raw, false);
	sources_file("cpu.pprof", pm_text_view(&raw));
	pm_text_clear(&raw);
	pprofw_rich(&raw, true);
	pm_gzip(&packed, pm_text_view(&raw));
	sources_file("odd.pb.gz", pm_text_view(&packed));
	pm_text_done(&raw);
	pm_text_done(&packed);
}

static void write_packed(const char *name, const char *text)
{
	struct pm_text packed = {.p = NULL};
	pm_gzip(&packed, pm_bytes_of(text));
	sources_file(name, pm_text_view(&packed));
	pm_text_done(&packed);
}

#define V8_FRAME(name, line, column)                                                               \
	"\"callFrame\":{\"functionName\":\"" name                                                  \
	"\",\"scriptId\":\"3\",\"url\":\"file:///a.js\","                                          \
	"\"lineNumber\":" #line ",\"columnNumber\":" #column "}"

static void write_v8(void)
{
	/* Two functions at one place, idle time, a child that is not there, times that go back. */
	write_text("nodes.cpuprofile",
		"{\"nodes\":[{\"id\":1," V8_FRAME("(root)", -1,
			-1) ",\"hitCount\":0,\"children\":[2,6,99]},"
			    "{\"id\":3," V8_FRAME("", 4,
				    9) ",\"hitCount\":2,\"positionTicks\":[{\"line\":6,\"ticks\":1}]},"
				       "{\"id\":2," V8_FRAME("main", 0,
					       0) ",\"hitCount\":1,\"children\":[3,4]},"
						  "{\"id\":4," V8_FRAME("", 4,
							  30) ",\"hitCount\":1,\"children\":[5]},"
							      "{\"id\":5," V8_FRAME("main", 0,
								      0) ",\"hitCount\":1,\"deoptReason\":\"wrong map\"},"
									 "{\"id\":6,\"callFrame\":{\"functionName\":\"(idle)\",\"url\":\"\"},\"hitCount\":1}],"
									 "\"startTime\":1000,\"endTime\":2000.5,\"samples\":[2,3,6,5,4,1,77],"
									 "\"timeDeltas\":[100,50.25,200,-20,300,10,5]}");
	write_packed("nested.cpuprofile.gz",
		"{\"head\":{\"functionName\":\"(root)\",\"id\":1,\"hitCount\":0,\"children\":["
		"{\"functionName\":\"a\",\"url\":\"b.js\",\"lineNumber\":1,\"id\":2,\"children\":["
		"{\"functionName\":\"b\",\"url\":\"b.js\",\"lineNumber\":7,\"id\":3,\"hitCount\":2}],"
		"\"hitCount\":1}]},\"startTime\":1,\"endTime\":1,\"samples\":[2,3,3],"
		"\"timestamps\":[1000000,1000100,1000300,1000700]}");
	write_text("small.heapprofile",
		"{\"head\":{" V8_FRAME("(root)", -1,
			-1) ",\"selfSize\":0,\"id\":1,\"children\":["
			    "{" V8_FRAME("keep", 2,
				    1) ",\"selfSize\":524328,\"id\":2,\"children\":["
				       "{" V8_FRAME("more", 8,
					       1) ",\"selfSize\":16,\"id\":3,\"children\":[]}]}]},"
						  "\"samples\":[{\"size\":524328,\"nodeId\":2,\"ordinal\":1}]}");
}

#define SPEEDSCOPE "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""

/* The main thread of a process and a worker. */
static void write_v8_workers(void)
{
	static const char *const names[] = {"cpuprofiles/CPU.20260101.120000.77.0.001.cpuprofile",
		"cpuprofiles/CPU.20260101.120000.77.1.002.cpuprofile"};
	if (mkdir(sources_path("cpuprofiles"), 0777) != 0 && errno != EEXIST)
		sources_die("cpuprofiles");
	write_text(names[0],
		"{\"nodes\":[{\"id\":1," V8_FRAME("main", 0,
			0) ",\"hitCount\":2}],"
			   "\"startTime\":1000,\"endTime\":1300,\"samples\":[1,1],\"timeDeltas\":[10,100]}");
	write_text(names[1],
		"{\"nodes\":[{\"id\":1," V8_FRAME("main", 0,
			0) ",\"hitCount\":1,\"children\":[2]},"
			   "{\"id\":2," V8_FRAME("work", 9,
				   0) ",\"hitCount\":3}],"
				      "\"startTime\":1100,\"endTime\":1500,\"samples\":[2,1],\"timeDeltas\":[10,200]}");
}

static void write_speedscope(void)
{
	/* Frames behind their profiles, units, a weight without a number, a frame that is none. */
	write_text("sampled.speedscope.json",
		"{" SPEEDSCOPE ",\"profiles\":["
		"{\"type\":\"sampled\",\"name\":\"cpu\",\"unit\":\"seconds\",\"startValue\":0,\"endValue\":1,"
		"\"samples\":[[0],[0,1,2],[0,1,0],[],[9],[2]],\"weights\":[0.1,0.25,1e-3,2,1,null]},"
		"{\"type\":\"sampled\",\"name\":\"memory\",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":1,"
		"\"samples\":[[0,2],[1]],\"weights\":[4096,17]}],"
		"\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"a.py\",\"line\":3},"
		"{\"name\":\"main\",\"file\":\"a.py\",\"line\":9},{\"name\":\"w\\u00f6rk\"}]}}");
	/* Calls that nest, cross, go back in time, and one that does not end. */
	write_packed("evented.speedscope.json.gz",
		"{" SPEEDSCOPE ",\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"a\"},"
		"{\"name\":\"b\",\"file\":\"b.cs\",\"line\":7}]},\"profiles\":["
		"{\"type\":\"evented\",\"name\":\"one\",\"unit\":\"microseconds\",\"startValue\":5,\"endValue\":90,"
		"\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":10},{\"type\":\"O\",\"frame\":1,\"at\":10.5},"
		"{\"type\":\"O\",\"frame\":2,\"at\":11},{\"type\":\"C\",\"frame\":1,\"at\":20},"
		"{\"type\":\"C\",\"frame\":2,\"at\":21},{\"type\":\"O\",\"frame\":1,\"at\":19},"
		"{\"type\":\"C\",\"frame\":1,\"at\":30}]},"
		"{\"type\":\"evented\",\"name\":\"two\",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":40,"
		"\"events\":[{\"type\":\"O\",\"frame\":1,\"at\":1},{\"type\":\"C\",\"frame\":1,\"at\":40}]}]}");
	write_text("own.speedscope.json",
		"{" SPEEDSCOPE ",\"exporter\":\"profmount@0.1.0\",\"profiles\":["
		"{\"type\":\"sampled\",\"name\":\"cpu_ns\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":9,"
		"\"samples\":[[0],[0,1]],\"weights\":[4,5]},"
		"{\"type\":\"sampled\",\"name\":\"cpu_ns, thread=1\",\"unit\":\"nanoseconds\",\"startValue\":0,"
		"\"endValue\":9,\"samples\":[[0],[0,1]],\"weights\":[4,5]},"
		"{\"type\":\"sampled\",\"name\":\"faults\",\"unit\":\"none\",\"startValue\":0,\"endValue\":1,"
		"\"samples\":[[0,1]],\"weights\":[1]}],\"shared\":{\"frames\":[{\"name\":\"main\"},"
		"{\"name\":\"f\",\"file\":\"f.c\"}]}}");
}

static void write_callgrind(void)
{
	write_text("callgrind.out",
		"# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\n"
		"cmd: ./heat\npart: 1\nthread: 1\npositions: instr line\nevents: Ir Dr\n"
		"event: Sum = Ir + 2 Dr\n"
		"ob=(1) /bin/heat\nfl=(1) heat.c\nfn=(1) main\n0x40 10 1000 20\n"
		"cfn=(2) step\ncalls=3 0x80 20\n+4 +1 70000 900\n"
		"cfi=(2) io.h\ncfn=(3) read\ncalls=1 0x90 3\n+4 * 500\n"
		"fn=(2)\n0x80 20 60000 700\nfi=(2)\n+8 4 9000 200\nfe=(1)\n"
		"jcnd=7/9 +4 21\n* 21\ncfn=(2)\ncalls=2 0x80 20\n* +1 300\n"
		"cfn=(4) ping\ncalls=1 0xa0 1\n* +1 1000\n"
		"fn=(4)\n0xa0 31 400\ncfn=(5) pong\ncalls=4 0xb0 1\n* +1 600\n"
		"fn=(5)\n0xb0 35 600\ncfn=(4)\ncalls=3 0xa0 1\n* +1 90\n"
		"totals: 71000 920\n"
		"part: 1\nthread: 2\nevents: Ir\nfn=(9)\n0 0 12\ntotals: 12\n");
	/* Two threads of one process, and the empty file that --separate-threads leaves. */
	if (mkdir(sources_path("callgrind.threads"), 0777) != 0 && errno != EEXIST)
		sources_die("callgrind.threads");
	write_text("callgrind.threads/callgrind.out.9", "");
	write_text("callgrind.threads/callgrind.out.9-01",
		"# callgrind format\npid: 9\nthread: 1\nevents: Ir\nfl=(1) a.c\nfn=(1) main\n3 10\n"
		"cfn=(2) work\ncalls=1 7\n4 30\nfn=(2)\n7 30\ntotals: 40\n");
	write_text("callgrind.threads/callgrind.out.9-02",
		"# callgrind format\npid: 9\nthread: 2\nevents: Ir\nfl=(1) a.c\nfn=(1) work\n7 5\n"
		"totals: 5\n");
	write_text("xdebug.out",
		"version: 1\ncreator: xdebug 3.2.0 (PHP 8.2)\ncmd: /srv/x.php\npart: 1\n"
		"positions: line\n\nevents: Time_(10ns) Memory_(bytes)\n\n"
		"fl=(1) /srv/x.php\nfn=(2) php::strlen\n3 4 -16\n\n"
		"fl=(1)\nfn=(3) work\n7 50 100\ncfl=(1)\ncfn=(2)\ncalls=1 0 0\n8 4 -16\n\n"
		"fl=(1)\nfn=(4) {main}\n1 90 3\ncfl=(1)\ncfn=(3)\ncalls=1 0 0\n2 54 84\n\n"
		"summary: 150 200\n\n");
	write_text("cachegrind.out",
		"desc: I1 cache: 32768 B, 64 B, 8-way associative\ncmd: ./heat\n"
		"events: Ir I1mr\nfl=heat.c\nfn=main\n10 5 1\n11 7\nsummary: 12 1\n");
}

#define EVENT(ph, name, cat, ts, rest)                                                             \
	"{\"ph\":\"" ph "\",\"name\":\"" name "\",\"cat\":\"" cat "\",\"ts\":" ts                  \
	",\"pid\":7," rest "}"

static void write_traceevents(void)
{
	/* A thread with a lane, a GPU with two streams, launches, flows, counters, names. */
	write_packed("kineto.pt.trace.json.gz",
		"{\"schemaVersion\":1,\"baseTimeNanoseconds\":1700000000000000000,\"traceEvents\":[" EVENT(
			"X", "step#1", "user_annotation", "10.5",
			"\"tid\":7,\"dur\":90") ",\n" EVENT("X", "aten::mm", "cpu_op", "20",
			"\"tid\":7,\"dur\":30,\"args\":{\"n\":[1,2]}") "," EVENT("X",
			"cudaLaunchKernel", "cuda_runtime", "22.25",
			"\"tid\":7,\"dur\":5,\"args\":{\"correlation\":3}") "," EVENT("s", "ac2g",
			"ac2g", "22.25",
			"\"tid\":7,\"id\":3") "," EVENT("X", "wait", "cuda_sync", "45",
			"\"tid\":7,\"dur\":30") ","
						"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm<float>\",\"pid\":0,\"tid\":9,\"ts\":31,\"dur\":8,"
						"\"args\":{\"correlation\":3,\"stream\":9}},"
						"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD\",\"pid\":0,\"tid\":9,\"ts\":60,\"dur\":4,\"args\":{\"bytes\":1048576}}," EVENT(
							"f", "ac2g", "ac2g", "31",
							"\"tid\":9,\"id\":3,\"bp\":\"e\"") "," EVENT("C",
							"memory", "", "40",
							"\"tid\":7,\"args\":{\"bytes\":512}") ","
											      "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":7,\"tid\":7,\"args\":{\"name\":\"main\"}},"
											      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"args\":{\"name\":\"python\"}},"
											      "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"P\",\"pid\":\"Spans\",\"tid\":\"P\",\"ts\":0,\"dur\":100}," EVENT(
												      "i",
												      "start",
												      "",
												      "11",
												      "\"tid\":7,\"s\":\"t\"") "],\"displayTimeUnit\":\"ms\"}");
	/* Begins and ends, async calls, names as ids, and what is wrong with them; not ended. */
	write_text("array.json",
		"[" EVENT("B", "A", "", "0", "\"tid\":1") "," EVENT("B", "B", "", "2",
			"\"tid\":1") ",," EVENT("E", "A", "", "8", "\"tid\":1") EVENT("E", "B", "",
			"10", "\"tid\":1") "," EVENT("E", "Z", "", "11", "\"tid\":1") "," EVENT("B",
			"open", "", "12", "\"tid\":1") "," EVENT("b", "request", "net", "1",
			"\"tid\":1,\"id\":\"0x1\"") "," EVENT("b", "lookup", "net", "3",
			"\"tid\":1,\"id\":\"0x1\"") "," EVENT("e", "lookup", "net", "5",
			"\"tid\":1,\"id\":\"0x1\"") "," EVENT("b", "request", "net", "4",
			"\"tid\":1,\"id\":\"0x2\"") "," EVENT("e", "request", "net", "9",
			"\"tid\":1,\"id\":\"0x2\"") "," EVENT("X", "on a name", "", "5",
			"\"tid\":\"worker\",\"dur\":2") "," EVENT("X", "bad", "", "\"x\"",
			"\"tid\":1") ",7," EVENT("X", "no end", "", "6",
			"\"tid\":\"worker\"") ",{\"ph\":\"X\",\"name\":\"cut");
	/* Calls of a thread, and a CPU profile of V8 of it, in chunks from another thread. */
#define NODE(id, name, line, more)                                                                 \
	"{\"id\":" id ",\"callFrame\":{\"functionName\":\"" name                                   \
	"\",\"scriptId\":7,\"url\":\"app.js\",\"lineNumber\":" line ",\"columnNumber\":2}" more    \
	"}"
#define CHUNK(nodes, samples, times)                                                               \
	EVENT("P", "ProfileChunk", "v8", "60",                                                     \
		"\"tid\":9,\"id\":\"0x1\",\"args\":{\"data\":{\"cpuProfile\":{" nodes              \
		"\"samples\":[" samples "]},\"timeDeltas\":[" times "]}}")
	write_text("devtools.json",
		"[" EVENT("X", "RunTask", "toplevel", "10", "\"tid\":1,\"dur\":90") ",\n" EVENT("X",
			"FunctionCall", "devtools.timeline", "20",
			"\"tid\":1,\"dur\":60") ",\n" EVENT("P", "Profile", "v8", "10",
			"\"tid\":1,\"id\":\"0x1\",\"args\":{\"data\":{\"startTime\":10}}") ",\n" CHUNK("\"nodes\":[" NODE("1",
													       "(root)",
													       "-1",
													       "") "," NODE("2",
													       "(idle)",
													       "-1",
													       ",\"parent\":1") "," NODE("3",
													       "onclick",
													       "4",
													       ",\"parent\":1") "," NODE("4",
													       "render",
													       "9",
													       ",\"parent\":3") "],",
			"2,3,4,4", "5,10,10,10") ",\n" CHUNK("\"nodes\":[" NODE("5", "render", "9",
								     ",\"parent\":4") "],",
			"5,4,99,3,2", "10,10,10,10,10") "\n]");
	write_text("lines.jsonl",
		EVENT("X", "ExecuteCompiler", "", "0", "\"tid\":1,\"dur\":100") "\n" EVENT("X",
			"Source", "", "10",
			"\"tid\":1,\"dur\":20,\"args\":{\"detail\":\"a\\u002eh\"}") "\n" EVENT("X",
			"Total Source", "", "0",
			"\"tid\":2,\"dur\":20") "\n" EVENT("X", "f", "", "40",
			"\"tid\":1,\"dur\":3,\"args\":{\"url\":\"b.js\",\"line\":1,\"column\":2}") "\n");
}

static void write_nytprof(void)
{
	struct nytpw w = {.deflated_at = 0};
	nytpw_rich(&w, 5, false);
	save_nytprof(&w, "nytprof.out");
	w = (struct nytpw){.deflated_at = 0};
	nytpw_rich(&w, 5, true);
	save_nytprof(&w, "nytprof-deflated.out");
	w = (struct nytpw){.deflated_at = 0};
	nytpw_chunks(&w, false);
	save_nytprof(&w, "pynytprof.out");
	sources_folder("nytprof");
	w = (struct nytpw){.deflated_at = 0};
	nytpw_rich(&w, 4, false);
	save_nytprof(&w, "nytprof/nytprof.out.1");
	w = (struct nytpw){.deflated_at = 0};
	nytpw_rich(&w, 4, true);
	save_nytprof(&w, "nytprof/nytprof.out.2");
	write_fork();
}

static void put_call(struct pm_text *out, uint64_t start, uint64_t ticks, uint64_t method)
{
	zts_put_begin(out, start, method);
	zts_put_end(out, start + ticks, 1);
}

/* A trace that never ends, beyond the end of one in which a call never ends. */
static void write_unended(void)
{
	struct pm_text traces = {.p = NULL}, payload = {.p = NULL};
	const char *path = sources_path("zts-unended");
	zts_put_begin(&payload, 1000, 1);
	zts_put_info(&payload, 0x05, 1558000000000);
	put_call(&payload, 1010, 100, 2);
	zts_put_begin(&payload, 1200, 3);
	put_call(&payload, 3300, 40, 2);
	zts_put_file_header(&traces, 0);
	zts_put_chunk(&traces, 0, pm_text_view(&payload));
	pm_text_clear(&payload);
	zts_put_begin(&payload, 2000, 1);
	zts_put_info(&payload, 0x05, 1558000000010);
	zts_put_begin(&payload, 2100, 3);
	put_call(&payload, 2110, 50, 2);
	zts_put_end(&payload, 2190, 2);
	zts_put_begin(&payload, 2200, 3);
	put_call(&payload, 2210, 30, 2);
	zts_put_break(&payload);
	zts_put_end(&payload, 3000, 5);
	zts_put_chunk(&traces, 0, pm_text_view(&payload));
	zts_remove_folder(path);
	mkdir(path, 0777);
	if (!zts_write_file(path, "traces.dat", pm_text_view(&traces)))
		sources_die(path);
	pm_text_done(&traces);
	pm_text_done(&payload);
}

static void write_zts(void)
{
	static const char *const names[] = {"zts", "zts-old", "zts-plain"};
	static const uint32_t flags[] = {0x11, 0x02, 0x00};
	for (int i = 0; i < 3; i++) {
		struct zts_sample s;
		bool old = i == 1;
		const char *path = sources_path(names[i]);
		zts_sample_make(&s, flags[i], !old, old ? ZTS_INDEX_OLD : ZTS_INDEX_NEW);
		zts_remove_folder(path);
		if (!zts_sample_write(&s, path))
			sources_die(path);
		zts_sample_done(&s);
	}
}

static void write_htdump(void)
{
	for (int old = 0; old < 2; old++) {
		struct htdw w = {.p = NULL};
		htdw_everything(&w, old, old);
		sources_file(old ? "old.htdump" : "new.htdump", (struct pm_bytes){w.p, w.len});
		htdw_done(&w);
	}
}

/* A copy of a file that ends after three quarters, but meta.db and cct.db, which the tree needs. */
static void cut_file(const char *from, const char *name)
{
	struct pm_text bytes = {.p = NULL};
	char path[4096], block[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, from);
	FILE *f = fopen(path, "rb");
	size_t n;
	while (f && (n = fread(block, 1, sizeof(block), f)) > 0)
		pm_text_bytes(&bytes, (struct pm_bytes){(const uint8_t *)block, n});
	if (!f || ferror(f) || fclose(f) != 0 || bytes.failed)
		sources_die(path);
	bool is_whole = strstr(name, "meta.db") || strstr(name, "cct.db");
	sources_file(name,
		(struct pm_bytes){
			(const uint8_t *)bytes.p, is_whole ? bytes.len : bytes.len * 3 / 4});
	pm_text_done(&bytes);
}

/*
 * ../cut/NAME: a source with damage in each of its files, for what must keep its rows. Not among
 * the others, of which each document can be read.
 */
static void write_cut(const char *name)
{
	char from[2048], to[2048];
	snprintf(from, sizeof(from), "%s/%s", folder, name);
	snprintf(to, sizeof(to), "../cut/%s", name);
	DIR *dir = opendir(from);
	if (!dir && errno == ENOTDIR) {
		cut_file(name, to);
		return;
	}
	if (!dir)
		sources_die(from);
	sources_folder(to);
	for (struct dirent *e; (e = readdir(dir));) {
		char file[2600], copy[2600];
		if (e->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", name, e->d_name);
		snprintf(copy, sizeof(copy), "%s/%s", to, e->d_name);
		cut_file(file, copy);
	}
	closedir(dir);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: make_sources FOLDER\n");
		return 2;
	}
	folder = argv[1];
	if (mkdir(folder, 0777) != 0 && errno != EEXIST)
		sources_die(folder);
	write_hpctoolkit();
	sources_write_hpcrun();
	write_folded();
	write_perf();
	write_builds();
	write_pprof();
	write_v8();
	write_v8_workers();
	write_speedscope();
	write_callgrind();
	write_traceevents();
	sources_write_perf();
	write_nytprof();
	write_zts();
	write_unended();
	write_htdump();
	sources_folder("../cut");
	write_cut("hpctoolkit-june");
	write_cut("hpcrun");
	write_cut("zts");
	write_cut("zts-old");
	write_cut("nytprof-fork");
	write_cut("new.htdump");
	return 0;
}
