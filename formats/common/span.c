#include "formats/common/span.h"

#include <time.h>

#include "profmount/tree.h"

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};

enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

/* ---- reading ---- */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static const struct unit *unit_named(struct pm_bytes name)
{
	for (unsigned i = 0; i < N_UNITS; i++)
		if (pm_bytes_equal(name, pm_bytes_of(units[i].name)))
			return &units[i];
	return NULL;
}

/*
 * Digits from *at on, times `scale`; in a fraction, each digit counts a tenth of the previous one.
 */
static bool read_digits(
	struct pm_bytes text, size_t *at, uint64_t scale, bool fraction, uint64_t *sum)
{
	size_t first = *at;
	uint64_t whole = 0;
	for (; *at < text.len && is_digit(text.p[*at]); ++*at) {
		uint64_t digit = (uint64_t)(text.p[*at] - '0');
		if (!fraction) {
			if (__builtin_mul_overflow(whole, 10, &whole) ||
				__builtin_add_overflow(whole, digit, &whole))
				return false;
			continue;
		}
		if (digit > 0 && scale < 10)
			return false; /* less than a nanosecond */
		scale /= 10;
		if (__builtin_add_overflow(*sum, digit * scale, sum))
			return false;
	}
	if (!fraction &&
		(__builtin_mul_overflow(whole, scale, &whole) ||
			__builtin_add_overflow(*sum, whole, sum)))
		return false;
	return *at > first;
}

static size_t count_digits(struct pm_bytes text)
{
	size_t n = 0;
	while (n < text.len && (is_digit(text.p[n]) || text.p[n] == '.'))
		n++;
	return n;
}

static bool read_time(struct pm_bytes text, uint64_t *ret)
{
	size_t at = 0, digits = count_digits(text);
	const struct unit *unit = unit_named((struct pm_bytes){text.p + digits, text.len - digits});
	*ret = 0;
	if (text.len == 1 && text.p[0] == '0')
		return true;
	if (!unit || !read_digits(text, &at, unit->ns, false, ret))
		return false;
	if (at == digits)
		return true;
	at++; /* a fraction: digits up to the unit */
	return text.p[at - 1] == '.' && read_digits(text, &at, unit->ns, true, ret) && at == digits;
}

/* `YYYYMMDDTHHMMSSZ`, optionally with a fraction of the second: ns since 1970. */
static bool read_clock(struct pm_bytes text, uint64_t *ret)
{
	enum { FRACTION = sizeof("YYYYMMDDTHHMMSS") - 1 };
	static const uint8_t widths[] = {4, 2, 2, 2, 2, 2};
	unsigned fields[sizeof(widths)];
	size_t at = 0;
	if (text.len <= FRACTION || text.p[8] != 'T' || text.p[text.len - 1] != 'Z')
		return false;
	for (size_t i = 0; i < sizeof(widths); i++) {
		fields[i] = 0;
		at += i == 3; /* the T */
		for (size_t end = at + widths[i]; at < end; at++) {
			if (!is_digit(text.p[at]))
				return false;
			fields[i] = fields[i] * 10 + (unsigned)(text.p[at] - '0');
		}
	}
	struct tm tm = {.tm_year = (int)fields[0] - 1900,
		.tm_mon = (int)fields[1] - 1,
		.tm_mday = (int)fields[2],
		.tm_hour = (int)fields[3],
		.tm_min = (int)fields[4],
		.tm_sec = (int)fields[5]};
	const struct tm asked = tm;
	time_t seconds = timegm(&tm); /* makes the 31st of June the 1st of July */
	bool exists = tm.tm_mon == asked.tm_mon && tm.tm_mday == asked.tm_mday &&
		tm.tm_hour == asked.tm_hour && tm.tm_min == asked.tm_min &&
		tm.tm_sec == asked.tm_sec;
	if (!exists || seconds < 0 || __builtin_mul_overflow((uint64_t)seconds, units[0].ns, ret))
		return false;
	if (at + 1 == text.len)
		return true;
	return text.p[at++] == '.' && read_digits(text, &at, units[0].ns, true, ret) &&
		at + 1 == text.len;
}

/* A time of day outside of the run is that end of it. */
static bool read_side(struct pm_bytes text, uint64_t origin_ns, uint64_t run_ns, uint64_t *ret)
{
	uint64_t clock_ns;
	if (origin_ns == PM_NO_TIME || !read_clock(text, &clock_ns))
		return read_time(text, ret);
	uint64_t since = clock_ns > origin_ns ? clock_ns - origin_ns : 0;
	*ret = since < run_ns ? since : run_ns;
	return true;
}

bool pm_span_read(struct pm_bytes name, uint64_t origin_ns, uint64_t run_ns, uint64_t *ret_start,
	uint64_t *ret_end)
{
	const uint8_t *dash = name.len ? memchr(name.p, '-', name.len) : NULL;
	if (!dash)
		return false;
	struct pm_bytes left = {name.p, (size_t)(dash - name.p)};
	struct pm_bytes right = {dash + 1, name.len - left.len - 1};
	*ret_start = 0;
	*ret_end = run_ns;
	if ((left.len && !read_side(left, origin_ns, run_ns, ret_start)) ||
		(right.len && !read_side(right, origin_ns, run_ns, ret_end)))
		return false;
	return *ret_start < *ret_end && *ret_end <= run_ns;
}

/* ---- printing ---- */

static void print_time(struct pm_text *out, uint64_t ns)
{
	unsigned i = 0;
	while (i + 1 < N_UNITS && ns < units[i].ns)
		i++;
	uint64_t rest = ns % units[i].ns, scale = units[i].ns;
	if (ns == 0) {
		pm_text_char(out, '0');
		return;
	}
	pm_text_u64(out, ns / units[i].ns);
	if (rest)
		pm_text_char(out, '.');
	for (; rest; rest %= scale) {
		scale /= 10;
		pm_text_char(out, (char)('0' + rest / scale));
	}
	pm_text_str(out, units[i].name);
}

void pm_span_print(struct pm_text *out, uint64_t start, uint64_t end)
{
	print_time(out, start);
	pm_text_char(out, '-');
	print_time(out, end);
}
