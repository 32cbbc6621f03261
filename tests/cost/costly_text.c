/* Costly profiles of formats over the builder: JSON, text, profile.proto. */
#include <stdarg.h>
#include <stdio.h>

#include "formats/common/text.h"
#include "tests/cost/costly.h"
#include "tests/pprof/writer.h"

static FILE *file;

static void begin(void)
{
	file = fopen(costly_path, "wb");
	if (!file)
		costly_die(costly_path);
}

static void end(void)
{
	if (ferror(file) || fclose(file) != 0)
		costly_die(costly_path);
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
}

static bool goes_on(void)
{
	return (size_t)ftell(file) < costly_bytes;
}

/* ---- trace events ---- */

/* Names with counters in them. */
void costly_events_names(void)
{
	begin();
	put("[\n");
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"X\",\"name\":\"iteration %u\",\"cat\":\"c%u\",\"pid\":1,\"tid\":1,\"ts\":%u,"
		    "\"dur\":5},\n",
			i, i, 10 * i);
	end();
}

/* A process and a thread for each call. */
void costly_events_threads(void)
{
	begin();
	put("[\n");
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"X\",\"name\":\"f\",\"pid\":%u,\"tid\":\"t%u\",\"ts\":%u,\"dur\":5},\n",
			i / 2, i, i);
	end();
}

/* Begins without an end. */
void costly_events_deep(void)
{
	begin();
	put("[\n");
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"B\",\"name\":\"f%u\",\"pid\":1,\"tid\":1,\"ts\":%u},\n", i % 7, i);
	end();
}

/* Each call overlaps with all others, without nesting. */
void costly_events_overlap(void)
{
	begin();
	put("[\n");
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":100000000},\n",
			10 * i);
	end();
}

/* Ends that come in the order of their begins, so that each is looked for below all others. */
void costly_events_crossed(void)
{
	begin();
	put("[\n");
	for (unsigned i = 0; (size_t)ftell(file) < costly_bytes / 2; i++)
		put("{\"ph\":\"B\",\"name\":\"f%u\",\"pid\":1,\"tid\":1,\"ts\":%u},\n", i, i);
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"E\",\"name\":\"f%u\",\"pid\":1,\"tid\":1,\"ts\":%u},\n", i,
			100000000 + i);
	end();
}

/* Async calls with an id each, all at once. */
void costly_events_async(void)
{
	begin();
	put("[\n");
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"b\",\"name\":\"f\",\"cat\":\"c\",\"id\":%u,\"pid\":1,\"tid\":1,\"ts\":%u},\n",
			i, i);
	end();
}

/* A counter for each number. */
void costly_events_counters(void)
{
	begin();
	put("[\n{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":100000},\n");
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"C\",\"name\":\"c%u\",\"pid\":1,\"tid\":1,\"ts\":%u,\"args\":{\"a%u\":%u}},\n",
			i, i, i, i);
	end();
}

/* Samples of V8 whose stacks are deep, and have nothing in common. */
void costly_events_sampled(void)
{
	begin();
	put("[\n{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":100000},\n"
	    "{\"ph\":\"I\",\"name\":\"CpuProfile\",\"pid\":1,\"tid\":1,\"ts\":0,\"args\":{\"data\":{"
	    "\"cpuProfile\":{\"startTime\":0,\"nodes\":[");
	unsigned n = 0;
	for (; (size_t)ftell(file) < costly_bytes / 6; n += 2)
		for (unsigned k = 0; k < 2; k++) {
			put("%s{\"id\":%u,\"callFrame\":{\"functionName\":\"f%u\",\"url\":\"\"}",
				n + k ? "," : "", n + k, k);
			if (n)
				put(",\"parent\":%u", n + k - 2);
			put("}");
		}
	put("],\"samples\":[");
	unsigned n_samples = 0;
	for (; (size_t)ftell(file) < costly_bytes / 5; n_samples++)
		put("%s%u", n_samples ? "," : "", n - 1 - n_samples % 2);
	put("],\"timeDeltas\":[1");
	while (--n_samples)
		put(",1");
	put("]}}}},\n");
	for (unsigned i = 0; goes_on(); i++)
		put("{\"ph\":\"X\",\"name\":\"f\",\"pid\":1,\"tid\":1,\"ts\":%u,\"dur\":5},\n",
			10 * i);
	end();
}

/* ---- the others in JSON ---- */

/* Nodes that nest in each other, as old versions wrote them. */
void costly_v8_nested(void)
{
	unsigned n = 0;
	begin();
	put("{\"head\":");
	for (; goes_on(); n++)
		put("{\"functionName\":\"f%u\",\"url\":\"u\",\"lineNumber\":%u,\"id\":%u,\"hitCount\":1,"
		    "\"children\":[",
			n % 9, n % 50, n + 1);
	while (n-- > 0)
		put("]}");
	put(",\"samples\":[1,2],\"timestamps\":[1,2,3]}");
	end();
}

/* Each node the parent of the one before it, and a function of its own. */
void costly_v8_chain(void)
{
	unsigned n = 1;
	begin();
	put("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\"}}");
	for (; goes_on(); n++)
		put(",{\"id\":%u,\"callFrame\":{\"functionName\":\"f%u\",\"url\":\"u%u\"},\"hitCount\":1,"
		    "\"children\":[%u]}",
			n + 1, n, n, n);
	put("],\"startTime\":0,\"endTime\":9,\"samples\":[1,%u],\"timeDeltas\":[1,1]}", n);
	end();
}

static void speedscope_begin(void)
{
	begin();
	put("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{\"frames\":["
	    "{\"name\":\"a\",\"line\":1},{\"name\":\"a\",\"line\":2},{\"name\":\"b\"}]},\"profiles\":[");
}

/* Stacks of all depths. */
void costly_speedscope_deep(void)
{
	size_t n = 0;
	speedscope_begin();
	put("{\"type\":\"sampled\",\"name\":\"x\",\"unit\":\"none\",\"startValue\":0,\"endValue\":1,"
	    "\"samples\":[");
	for (; goes_on(); n++) {
		put("%s[0", n ? "," : "");
		for (size_t i = 0; i < 40 * n; i++)
			put(",%zu", i * (n + 1) % 3);
		put("]");
	}
	put("],\"weights\":[1");
	while (--n)
		put(",1");
	put("]}]}");
	end();
}

/* A profile for each sample. */
void costly_speedscope_profiles(void)
{
	speedscope_begin();
	for (unsigned i = 0; goes_on(); i++)
		put("%s{\"type\":\"sampled\",\"name\":\"x%u\",\"unit\":\"none\",\"startValue\":0,"
		    "\"endValue\":1,\"samples\":[[%u]],\"weights\":[1]}",
			i ? "," : "", i, i % 3);
	put("]}");
	end();
}

/* Frames that are opened, and never closed. */
void costly_speedscope_open(void)
{
	speedscope_begin();
	put("{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"seconds\",\"startValue\":0,\"endValue\":9,"
	    "\"events\":[");
	for (unsigned i = 0; goes_on(); i++)
		put("%s{\"type\":\"O\",\"frame\":%u,\"at\":%u}", i ? "," : "", i % 3, i);
	put("]}]}");
	end();
}

/* ---- text ---- */

/* Stacks of all depths, and names that occur once. */
void costly_folded_deep(void)
{
	begin();
	for (unsigned n = 1; goes_on(); n++) {
		put("f%u", n);
		for (unsigned i = 0; i < 20 * n; i++)
			put(";%u", i % (n + 1));
		put(" %u\n", n);
	}
	end();
}

void costly_folded_names(void)
{
	begin();
	for (unsigned n = 1; goes_on(); n++)
		put("main;function_%u;leaf_%u 1\n", n, n / 2);
	end();
}

/* Samples of perf script: a thread each, with stacks of symbols that are not known. */
void costly_script_threads(void)
{
	begin();
	for (unsigned n = 1; goes_on(); n++)
		put("app%u %u/%u %u.%06u: 1000 cycles:\n\t%16x f%u+0x1 (/lib/m%u.so)\n\t%16x main "
		    "(/bin/app)\n\n",
			n, n / 2, n, n / 1000, n % 1000, n, n, n % 100, 0x1000);
	end();
}

/* One sample: what was inlined at an address is in the module of what is not. */
void costly_script_inlined(void)
{
	begin();
	put("app 1/1 1.000000: 1000 cycles:\n");
	for (unsigned n = 1; goes_on(); n++)
		put("\t1000 f%u (inlined)\n", n % 10);
	put("\t1000 main (/bin/app)\n\n");
	end();
}

/* ---- profile.proto ---- */

/* A stack of all locations in each sample, with a label of its own. */
void costly_pprof_labels(void)
{
	enum { DEPTH = 100 };
	struct pm_text out = {NULL}, m = {NULL}, inner = {NULL};
	static const char *const texts[] = {"", "cpu", "ns", "key"};
	uint64_t stack[DEPTH], one = 1;
	char name[32];
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		pprofw_bytes(&out, 6, texts[i], strlen(texts[i]));
	pprofw_number(&m, 1, 1);
	pprofw_number(&m, 2, 2);
	pprofw_message(&out, 1, &m);
	for (uint64_t i = 0; i < DEPTH; i++) {
		stack[i] = DEPTH - i;
		pprofw_number(&m, 1, i + 1);
		pprofw_number(&inner, 1, 1);
		pprofw_message(&m, 4, &inner);
		pprofw_message(&out, 4, &m);
	}
	pprofw_number(&m, 1, 1);
	pprofw_number(&m, 2, 1);
	pprofw_message(&out, 5, &m);
	for (uint64_t n = 0; out.len < costly_bytes; n++) {
		int len = snprintf(name, sizeof(name), "v%llu", (unsigned long long)n);
		pprofw_bytes(&out, 6, name, (size_t)len);
		pprofw_packed(&m, 1, stack, DEPTH - n % 50);
		pprofw_packed(&m, 2, &one, 1);
		pprofw_number(&inner, 1, 3);
		pprofw_number(&inner, 2, n + 4);
		pprofw_message(&m, 3, &inner);
		pprofw_message(&out, 2, &m);
	}
	begin();
	if (out.failed || fwrite(out.p, 1, out.len, file) != out.len)
		costly_die(costly_path);
	end();
	pm_text_done(&out);
	pm_text_done(&m);
	pm_text_done(&inner);
}
