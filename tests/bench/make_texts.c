/*
 * Writes big profiles that are JSON or text, the same bytes every time:
 *
 *     make_texts FILE kineto|cpuprofile|speedscope|folded|script MEGABYTES
 *
 * kineto: what PyTorch's profiler writes of a training loop: operators that nest, runtime calls
 * that launch kernels, kernels on two GPU streams, flows between them, args of all. Not sorted, as
 * Kineto's. cpuprofile: V8's nodes and samples. speedscope: sampled stacks of four threads. folded:
 * stacks as they come, most of them more than once. script: what perf script prints of them.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t below(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

#define TS(ns) (ns) / 1000, (ns) % 1000
#define PID    597913

static const char *const operators[] = {"aten::linear", "aten::addmm", "aten::relu", "aten::copy_",
	"aten::empty", "aten::mul_", "aten::convolution", "aten::batch_norm", "aten::add",
	"autograd::engine::evaluate_function: AddmmBackward0"};
enum { OPERATORS = sizeof(operators) / sizeof(*operators), KERNELS = 200, BASE = 1000000000 };

static void operator_event(
	FILE *f, uint64_t at, uint64_t ns, uint64_t seq, unsigned tid, unsigned op)
{
	fprintf(f,
		"  {\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"%s\", \"pid\": %d, \"tid\": "
		"%u,\n    \"ts\": %" PRIu64 ".%03" PRIu64 ", \"dur\": %" PRIu64 ".%03" PRIu64
		",\n    \"args\": {\n      \"External id\": %" PRIu64
		",\"Record function id\": 0, \"Input type\": [\"float\", \"float\", \"Scalar\"], "
		"\"Input Dims\": [[64, 1024], [1024, %" PRIu64 "], []], \"Ev Idx\": %" PRIu64
		"\n    }\n  },\n",
		operators[op % OPERATORS], PID, tid, TS(at), TS(ns), seq, below(4096), seq);
}

static void launch(FILE *f, uint64_t at, uint64_t seq, unsigned tid, uint64_t *stream_free)
{
	unsigned stream = 7 + 13 * (unsigned)below(2), kernel = (unsigned)(seq % KERNELS);
	uint64_t start = at + 4000 + below(20000), ns = 2000 + below(90000);
	uint64_t *is_free = &stream_free[stream > 7];
	start = start < *is_free ? *is_free + 500 : start;
	*is_free = start + ns;
	fprintf(f,
		"  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"void "
		"at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<%u>>(int, "
		"lambda)\", \"pid\": 0, \"tid\": %u,\n    \"ts\": %" PRIu64 ".%03" PRIu64
		", \"dur\": %" PRIu64 ".%03" PRIu64
		",\n    \"args\": {\n      \"External id\": %" PRIu64
		", \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": %u, \"correlation\": %" PRIu64
		", \"registers per thread\": 32, \"shared memory\": 0, \"blocks per SM\": 0.59, \"grid\": "
		"[%" PRIu64
		", 1, 1], \"block\": [128, 1, 1], \"est. achieved occupancy %%\": 62\n    }\n  "
		"},\n",
		kernel, stream, TS(start), TS(ns), seq, stream, seq, below(1000) + 1);
	fprintf(f,
		"  {\n    \"ph\": \"f\", \"id\": %" PRIu64
		", \"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 ".%03" PRIu64
		",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  },\n",
		seq, stream, TS(start));
	fprintf(f,
		"  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", "
		"\"pid\": %d, \"tid\": %u,\n    \"ts\": %" PRIu64 ".%03" PRIu64
		", \"dur\": %" PRIu64 ".%03" PRIu64
		",\n    \"args\": {\n      \"External id\": %" PRIu64
		",      \"cbid\": 211, \"correlation\": %" PRIu64 "\n    }\n  },\n",
		PID, tid, TS(at), TS((uint64_t)3000), seq, seq);
	fprintf(f,
		"  {\n    \"ph\": \"s\", \"id\": %" PRIu64
		", \"pid\": %d, \"tid\": %u, \"ts\": %" PRIu64 ".%03" PRIu64
		",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  },\n",
		seq, PID, tid, TS(at));
}

static void make_kineto(FILE *f, uint64_t bytes)
{
	uint64_t at = 4203669603187439u, seq = 1, stream_free[2] = {0};
	fputs("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [],\n  \"record_shapes\": 1,\n  "
	      "\"traceEvents\": [\n",
		f);
	for (uint64_t step = 0; (uint64_t)ftello(f) < bytes; step++) {
		uint64_t begin = at;
		for (unsigned i = 0; i < 20000; i++, seq++) {
			/* A parent behind its children now and then: the order is that of ends. */
			unsigned tid = PID + (unsigned)(seq % 8 == 0) * 96, layer = i % 400;
			uint64_t start = at, depth = 1 + layer * 7 % 5;
			for (uint64_t d = 0; d < depth; d++)
				operator_event(f, start + 300 * d, 30000 - 2000 * d, seq, tid,
					layer * 3 + (unsigned)d);
			launch(f, start + 2000, seq, tid, stream_free);
			at += 31000 + below(3000);
		}
		fprintf(f,
			"  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
			"\"ProfilerStep#%" PRIu64
			"\", \"pid\": %d, \"tid\": %d,\n    \"ts\": %" PRIu64 ".%03" PRIu64
			", \"dur\": %" PRIu64 ".%03" PRIu64
			",\n    \"args\": {\n      \"External id\": %" PRIu64 "\n    }\n  },\n",
			step, PID, PID, TS(begin), TS(at - begin), seq);
	}
	fprintf(f,
		"  {\n    \"name\": \"process_name\", \"ph\": \"M\", \"ts\": 4203669603069.091, \"pid\": "
		"%d, \"tid\": 0,\n    \"args\": {\n      \"name\": \"python3\"\n    }\n  }\n"
		"  ],\n  \"traceName\": \"./made.json\",\n  \"displayTimeUnit\": \"ms\",\n  "
		"\"baseTimeNanoseconds\": 1735632360000000000\n}\n",
		PID);
}

static void make_cpuprofile(FILE *f, uint64_t bytes)
{
	uint64_t nodes = bytes / 4 / 220 + 2, samples = bytes * 3 / 4 / 13;
	fputs("{\"nodes\":[", f);
	for (uint64_t i = 1; i <= nodes; i++) {
		fprintf(f,
			"%s{\"id\":%" PRIu64 ",\"callFrame\":{\"functionName\":\"%s%" PRIu64
			"\",\"scriptId\":\"%" PRIu64
			"\",\"url\":\"file:///srv/app/lib/module%" PRIu64
			".js\",\"lineNumber\":%" PRIu64
			",\"columnNumber\":12},\"hitCount\":%" PRIu64,
			i > 1 ? "," : "", i, i == 1 ? "(root)" : "handle", i % 5000, i % 300,
			i % 300, i % 900, below(40));
		if (2 * i <= nodes)
			fprintf(f, ",\"children\":[%" PRIu64, 2 * i);
		if (2 * i + 1 <= nodes)
			fprintf(f, ",%" PRIu64, 2 * i + 1);
		fprintf(f, "%s,\"positionTicks\":[{\"line\":%" PRIu64 ",\"ticks\":3}]}",
			2 * i <= nodes ? "]" : "", i % 900 + 2);
	}
	fputs("],\"startTime\":33200000,\"endTime\":", f);
	fprintf(f, "%" PRIu64 ",\"samples\":[", 33200000 + samples * 260);
	for (uint64_t i = 0; i < samples; i++)
		fprintf(f, "%s%" PRIu64, i ? "," : "", 2 + below(nodes - 1));
	fputs("],\"timeDeltas\":[", f);
	for (uint64_t i = 0; i < samples; i++)
		fprintf(f, "%s%" PRIu64, i ? "," : "", 130 + below(240));
	fputs("]}", f);
}

static void make_speedscope(FILE *f, uint64_t bytes)
{
	/* About 200,000 call paths: as digits of a number say, then always the same way. */
	enum { FRAMES = 3000, THREADS = 4, STACKS = 6561 };
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"profiles\":[",
		f);
	for (unsigned t = 0; t < THREADS; t++) {
		fprintf(f,
			"%s{\"type\":\"sampled\",\"name\":\"Thread %u\",\"unit\":\"seconds\",\"startValue\":0,"
			"\"endValue\":100,\"samples\":[",
			t ? "," : "", t);
		uint64_t n = 0;
		for (; (uint64_t)ftello(f) < bytes / THREADS * (t + 1) * 9 / 10; n++) {
			uint64_t depth = 5 + below(25), frame = 1, stack = below(STACKS);
			for (uint64_t d = 0; d < depth;
				d++, frame = (frame * 3 + stack % 3) % FRAMES, stack /= 3)
				fprintf(f, "%s%" PRIu64, d ? "," : n ? ",[" : "[", frame);
			fputs("]", f);
		}
		fputs("],\"weights\":[", f);
		for (uint64_t i = 0; i < n; i++)
			fprintf(f, "%s0.0%" PRIu64, i ? "," : "", 1 + below(9));
		fputs("]}", f);
	}
	fputs("],\"shared\":{\"frames\":[", f);
	for (unsigned i = 0; i < FRAMES; i++)
		fprintf(f, "%s{\"name\":\"function_%u\",\"file\":\"module_%u.py\",\"line\":%u}",
			i ? "," : "", i, i % 90, i % 700 + 1);
	fputs("]}}", f);
}

/* The next stack: about 200,000 call paths, most of which many stacks share. */
struct stack {
	unsigned depth, frames[30];
};

static struct stack next_stack(void)
{
	enum { FUNCTIONS = 3000, STACKS = 6561 };
	struct stack s = {.depth = 5 + (unsigned)below(25)};
	uint64_t frame = 1, rest = below(STACKS);
	for (unsigned d = 0; d < s.depth; d++, rest /= 3) {
		s.frames[d] = (unsigned)frame;
		frame = (frame * 3 + rest % 3) % FUNCTIONS;
	}
	return s;
}

static void make_folded(FILE *f, uint64_t bytes)
{
	while ((uint64_t)ftello(f) < bytes) {
		struct stack s = next_stack();
		for (unsigned d = 0; d < s.depth; d++)
			fprintf(f, "%sstd::module_%u::function_%u(int, char const*)",
				d ? ";" : "app;", s.frames[d] % 90, s.frames[d]);
		fprintf(f, " %" PRIu64 "\n", 1 + below(99));
	}
}

static void make_script(FILE *f, uint64_t bytes)
{
	for (uint64_t us = 0; (uint64_t)ftello(f) < bytes; us += 100 + below(900)) {
		struct stack s = next_stack();
		fprintf(f,
			"app %u/%" PRIu64 " [%03" PRIu64 "] %5" PRIu64 ".%06" PRIu64
			":   1000100 cycles:u: \n",
			4000, 4000 + below(8), below(4), 1000 + us / 1000000, us % 1000000);
		for (unsigned d = s.depth; d-- > 0;)
			fprintf(f, "\t    %12x function_%u+0x%x (/srv/lib/module_%u.so)\n",
				0x400000 + s.frames[d] * 64, s.frames[d], s.frames[d] % 64,
				s.frames[d] % 90);
		fputc('\n', f);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(FILE *f, uint64_t bytes);
	} kinds[] = {{"kineto", make_kineto}, {"cpuprofile", make_cpuprofile},
		{"speedscope", make_speedscope}, {"folded", make_folded}, {"script", make_script}};
	for (size_t i = 0; argc == 4 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(argv[2], kinds[i].name) != 0)
			continue;
		FILE *f = fopen(argv[1], "w");
		if (!f) {
			perror(argv[1]);
			return 1;
		}
		setvbuf(f, NULL, _IOFBF, 1 << 20);
		kinds[i].make(f, strtoull(argv[3], NULL, 10) * 1000000);
		if (fclose(f) == 0)
			return 0;
		perror(argv[1]);
		return 1;
	}
	fprintf(stderr,
		"usage: make_texts FILE kineto|cpuprofile|speedscope|folded|script MEGABYTES\n");
	return 2;
}
