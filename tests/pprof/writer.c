#include "tests/pprof/writer.h"

#include <string.h>

void pprofw_varint(struct pm_text *out, uint64_t u)
{
	for (; u >= 0x80; u >>= 7)
		pm_text_char(out, (char)(u | 0x80));
	pm_text_char(out, (char)u);
}

void pprofw_number(struct pm_text *out, unsigned field, uint64_t value)
{
	pprofw_varint(out, field << 3);
	pprofw_varint(out, value);
}

void pprofw_bytes(struct pm_text *out, unsigned field, const void *p, size_t n)
{
	pprofw_varint(out, field << 3 | 2);
	pprofw_varint(out, n);
	pm_text_add(out, p, n);
}

void pprofw_message(struct pm_text *out, unsigned field, struct pm_text *message)
{
	pprofw_bytes(out, field, message->p, message->len);
	pm_text_done(message);
}

void pprofw_packed(struct pm_text *out, unsigned field, const uint64_t *numbers, size_t n)
{
	struct pm_text packed = {.p = NULL};
	for (size_t i = 0; i < n; i++)
		pprofw_varint(&packed, numbers[i]);
	pprofw_message(out, field, &packed);
}

/* Strings of the rich profile, by number. */
enum {
	EMPTY,
	CPU,
	MS,
	ALLOC,
	KB,
	MAIN,
	WORK,
	INNER,
	FILE_C,
	BIN,
	BUILD,
	TID,
	NAME,
	WORKER,
	SQL,
	QUERY,
	BYTES,
	UNIT,
	COMMENT
};

static const char *const strings[] = {"", "cpu", "milliseconds", "alloc", "kilobytes", "main",
	"work", "inner", "/src/a.c", "/bin/app", "00ff", "thread_id", "thread_name", "worker",
	"sql", "select * from t where a = 1, b = 2", "bytes", "kb", "built from 2f7c"};

static void number_message(struct pm_text *out, unsigned field, const uint64_t *values, size_t n)
{
	struct pm_text m = {.p = NULL};
	for (size_t i = 0; i < n; i++)
		if (values[i])
			pprofw_number(&m, (unsigned)i + 1, values[i]);
	pprofw_message(out, field, &m);
}

#define NUMBERS(out, field, ...)                                                                   \
	number_message(out, field, (const uint64_t[]){__VA_ARGS__},                                \
		sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A sample with a thread, and perhaps a query. */
static void sample(struct pm_text *out, const uint64_t *locations, size_t n, uint64_t ms,
	uint64_t kb, uint64_t tid, bool query)
{
	struct pm_text m = {.p = NULL};
	uint64_t values[] = {ms, kb};
	pprofw_packed(&m, 1, locations, n);
	pprofw_packed(&m, 2, values, 2);
	NUMBERS(&m, 3, TID, 0, tid);
	NUMBERS(&m, 3, NAME, tid == 7 ? WORKER : EMPTY);
	if (query)
		NUMBERS(&m, 3, SQL, QUERY);
	if (query)
		NUMBERS(&m, 3, BYTES, 0, 48, UNIT);
	pprofw_message(out, 2, &m);
}

static void location(struct pm_text *out, uint64_t id, uint64_t mapping, uint64_t address,
	const uint64_t (*lines)[2], size_t n)
{
	struct pm_text m = {.p = NULL};
	pprofw_number(&m, 1, id);
	pprofw_number(&m, 2, mapping);
	pprofw_number(&m, 3, address);
	for (size_t i = 0; i < n; i++)
		NUMBERS(&m, 4, lines[i][0], lines[i][1]);
	pprofw_message(out, 4, &m);
}

static void add_odd(struct pm_text *out)
{
	struct pm_text m = {.p = NULL};
	uint64_t missing[] = {99, 1}, of_missing[] = {5, 1}, one = 1;
	sample(out, missing, 2, 1000, 1000, 8, false);
	sample(out, of_missing, 2, 3, (uint64_t)-2, 8, false);
	pprofw_packed(&m, 1, &one, 1);
	pprofw_packed(&m, 2, &one, 1);
	NUMBERS(&m, 3, TID, 0, 8);
	NUMBERS(&m, 3, NAME, WORKER);
	pprofw_message(out, 2, &m);
	location(out, 5, 9, 0x77, (const uint64_t[][2]){{88, 4}}, 1);
}

void pprofw_rich(struct pm_text *out, bool odd)
{
	const uint64_t stack[] = {2, 1}, far[] = {3, 1}, deep[] = {2, 2, 1};
	NUMBERS(out, 1, CPU, MS);
	NUMBERS(out, 1, ALLOC, KB);
	sample(out, stack, 2, 10, 1, 7, true);
	sample(out, far, 2, 20, 0, 7, false);
	sample(out, deep, 3, 5, 4, 8, true);
	sample(out, NULL, 0, 2, 0, 8, false);
	if (odd)
		add_odd(out);
	NUMBERS(out, 3, 1, 0x400000, 0x500000, 0x1000, BIN, BUILD, 1);
	location(out, 1, 1, 0x400010, (const uint64_t[][2]){{1, 9}}, 1);
	location(out, 2, 1, 0x400020, (const uint64_t[][2]){{3, 31}, {2, 22}}, 2);
	location(out, 3, 1, 0x400123, NULL, 0);
	NUMBERS(out, 5, 1, MAIN, 0, FILE_C, 5);
	NUMBERS(out, 5, 2, WORK, 0, FILE_C, 20);
	NUMBERS(out, 5, 3, 0, INNER, FILE_C);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		pprofw_bytes(out, 6, strings[i], strlen(strings[i]));
	pprofw_number(out, 9, UINT64_C(1700000000000000000));
	pprofw_number(out, 10, 2000000000);
	NUMBERS(out, 11, CPU, MS);
	pprofw_number(out, 12, 10);
	pprofw_number(out, 13, COMMENT);
	pprofw_number(out, 14, CPU);
}
