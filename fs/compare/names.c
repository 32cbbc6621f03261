/* The rules for names, and the code that applies them: one pass over the name per rule. */
#include "fs/compare/names.h"

#include <string.h>

#include "formats/common/affix.h"
#include "fs/views/model/model.h"

const struct pmfs_name_rule pmfs_name_rules[] = {
	/* Parts and copies of functions created by GCC, Clang and link-time optimisation. */
	{"{ [clone ~c]}", NULL, PMFS_NAME_CLONE},
	{"{~c}~e", NULL, PMFS_NAME_CLONE},
	/* Rust: hashes of symbols, and of crates in newer symbols. */
	{"{::h~X}~|", NULL, PMFS_NAME_HASH},
	{"{[~y]}", NULL, PMFS_NAME_HASH},
	/* Classes that a JVM creates at run time. */
	{"$$Lambda{$~d/0x~x}", NULL, PMFS_NAME_RUN},
	{"$$Lambda{$~d/~x}", NULL, PMFS_NAME_RUN},
	{"$$Lambda{/0x~x}", NULL, PMFS_NAME_RUN},
	{"$$Lambda{$~d}", NULL, PMFS_NAME_RUN},
	{"$Proxy{~d}", NULL, PMFS_NAME_RUN},
	{"CGLIB{$$~x}~b", NULL, PMFS_NAME_RUN},
	{"MethodAccessor{~d}~b", "Generated", PMFS_NAME_RUN},
	{"ConstructorAccessor{~d}~b", "Generated", PMFS_NAME_RUN},
	/*
	 * Perl: evals are numbered at run time, unless the number is a checksum of eight digits;
	 * anonymous functions are named by line, of a file that may be in another folder.
	 */
	{"(eval{ ~n})", NULL, PMFS_NAME_RUN},
	{"__ANON__[{~p}", NULL, PMFS_NAME_CLONE},
	{"(eval ~x)[~f{:~d}]", NULL, PMFS_NAME_CLONE},
	{"{:~d}]~|", "__ANON__[", PMFS_NAME_SOURCE},
	/* Ordinals number the functions of a file: often, but not always, equal in two builds. */
	{"._omp_fn{.~d}~e", NULL, PMFS_NAME_SOURCE},
	{"lambda$~i{$~d}~b", NULL, PMFS_NAME_SOURCE},
	/* Addresses of code without a name. */
	{"{ 0x~x}", "<unknown", PMFS_NAME_ADDRESS},
	{"{+0x~x}~|", NULL, PMFS_NAME_ADDRESS},
};
const size_t pmfs_n_name_rules = sizeof(pmfs_name_rules) / sizeof(*pmfs_name_rules);

const struct pmfs_name_twins pmfs_name_twins[] = {
	{"<program root>", "main thread"},
	{"<thread root>", "application thread"},
	{"<partial root>", "unknown entry"},
};
const size_t pmfs_n_name_twins = sizeof(pmfs_name_twins) / sizeof(*pmfs_name_twins);

/* ---- classes of characters ---- */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_word(uint8_t c)
{
	return is_digit(c) || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		c >= 0x80;
}

/* The folders before a file's name in brackets. */
static size_t folders(struct pm_bytes s, size_t at)
{
	size_t n = 0;
	if (at < s.len && s.p[at] == '(') /* an eval */
		return 0;
	for (size_t i = at; i < s.len && s.p[i] != ']' && s.p[i] != '['; i++)
		if (s.p[i] == '/')
			n = i + 1 - at;
	return n;
}

/* A file's name before `:LINE]`. */
static size_t file_before_line(struct pm_bytes s, size_t at)
{
	size_t n = 0;
	for (size_t i = at; i < s.len && s.p[i] != ']' && s.p[i] != '['; i++)
		if (s.p[i] == ':')
			n = i - at;
	return n;
}

static size_t count(struct pm_bytes s, size_t at, bool (*is)(uint8_t c))
{
	size_t n = 0;
	while (at + n < s.len && is(s.p[at + n]))
		n++;
	return n;
}

/* ---- suffixes of clones: .isra.0.cold.3 ---- */

static size_t clones(struct pm_bytes s, size_t at)
{
	size_t n = 0, one;
	while ((one = pmfs_name_suffix(s, at + n)) > 0)
		n += one;
	return n;
}

/* ---- patterns ---- */

/* The number of bytes that match a class at `at`; SIZE_MAX if it does not match. */
static size_t take(char class, struct pm_bytes s, size_t at)
{
	size_t n = 0;
	bool fits = false;
	switch (class) {
	case 'd':
	case 'n': n = count(s, at, is_digit); break;
	case 'x':
	case 'y':
	case 'X': n = count(s, at, is_hex); break;
	case 'i': n = count(s, at, is_word); break;
	case 'c': n = clones(s, at); break;
	case 'p': n = folders(s, at); break;
	case 'f': n = file_before_line(s, at); break;
	case 'b': fits = at == s.len || !is_word(s.p[at]); break;
	case 'e': fits = at == s.len || s.p[at] == ' ' || s.p[at] == ']'; break;
	default: fits = at == s.len; break;
	}
	if (class == 'X')
		n = n == 16 ? n : 0;
	else if (class == 'n')
		n = n <= 7 ? n : 0;
	else if (class == 'y')
		n = n >= 10 && n <= 16 ? n : 0;
	return fits || n > 0 ? n : SIZE_MAX;
}

struct match {
	size_t from, to; /* the part that is removed */
	size_t reached;  /* no match begins before this; or the byte after the match */
};

static bool matches(const char *pattern, struct pm_bytes s, size_t begin, struct match *ret)
{
	size_t at = begin;
	ret->reached = begin + 1;
	for (; *pattern; pattern++) {
		if (*pattern == '{') {
			ret->from = at;
		} else if (*pattern == '}') {
			ret->to = at;
		} else if (*pattern == '~') {
			size_t n = take(*++pattern, s, at);
			if (n == SIZE_MAX)
				return false;
			at += n;
			if (*pattern == 'c') /* a suffix that begins later ends at the same place */
				ret->reached = at;
		} else if (at < s.len && s.p[at] == (uint8_t)*pattern) {
			at++;
		} else {
			return false;
		}
	}
	ret->reached = at > begin ? at : begin + 1;
	return true;
}

static bool holds(struct pm_bytes s, const char *part)
{
	return s.len > 0 && memmem(s.p, s.len, part, strlen(part)) != NULL;
}

/* The number at the end of a removed part: an address, an ordinal, a line. */
static uint64_t number_in(const struct pmfs_name_rule *rule, struct pm_bytes part)
{
	bool hex = rule->part == PMFS_NAME_ADDRESS;
	size_t at = part.len;
	uint64_t number = 0;
	while (at > 0 && (hex ? is_hex(part.p[at - 1]) : is_digit(part.p[at - 1])))
		at--;
	for (; at < part.len; at++) {
		uint8_t c = part.p[at];
		uint64_t digit = is_digit(c) ? (uint64_t)(c - '0') : (uint64_t)(c - 'a' + 10);
		number = number * (hex ? 16 : 10) + digit; /* modulo 2^64 */
	}
	return number;
}

/* Appends `s` without the text that the rule removes. */
static void apply(const struct pmfs_name_rule *rule, struct pm_bytes s, struct pm_text *out,
	struct pmfs_name_facts *facts)
{
	struct match m = {.from = 0};
	size_t kept = 0;
	for (size_t at = 0; at < s.len; at = m.reached) {
		if (!matches(rule->pattern, s, at, &m))
			continue;
		struct pm_bytes part = {s.p + m.from, m.to - m.from};
		pm_text_add(out, s.p + kept, m.from - kept);
		kept = m.to;
		facts->cold |= rule->part == PMFS_NAME_CLONE && holds(part, ".cold");
		if (rule->part == PMFS_NAME_SOURCE || rule->part == PMFS_NAME_ADDRESS)
			facts->number = number_in(rule, part);
		if (rule->part > facts->part)
			facts->part = rule->part;
	}
	pm_text_add(out, s.p + kept, s.len - kept);
}

/* Whether the name contains what the rule requires. Most rules are skipped for most names. */
static bool may_apply(const struct pmfs_name_rule *rule, struct pm_bytes s)
{
	const char *p = rule->pattern;
	while (*p == '{')
		p++;
	char first = *p == '~' ? '.' : *p; /* suffixes of clones begin with a dot */
	return s.len > 0 && memchr(s.p, first, s.len) && (!rule->within || holds(s, rule->within));
}

static struct pm_bytes twin_of(struct pm_bytes name)
{
	for (size_t i = 0; i < pmfs_n_name_twins; i++)
		if (pm_bytes_equal(name, pm_bytes_of(pmfs_name_twins[i].name)))
			return pm_bytes_of(pmfs_name_twins[i].same_as);
	return name;
}

bool pmfs_is_entry_name(struct pm_bytes name)
{
	for (size_t i = 0; i < pmfs_n_name_twins; i++)
		if (pm_bytes_equal(name, pm_bytes_of(pmfs_name_twins[i].name)) ||
			pm_bytes_equal(name, pm_bytes_of(pmfs_name_twins[i].same_as)))
			return true;
	return false;
}

void pmfs_family_name(struct pm_bytes name, struct pm_text *out, struct pmfs_name_facts *ret)
{
	name = twin_of(name);
	struct pm_text a = {.arena = out->arena}, b = {.arena = out->arena};
	struct pm_bytes s = name;
	*ret = (struct pmfs_name_facts){.part = PMFS_NAME_PLAIN};
	for (size_t i = 0; i < pmfs_n_name_rules; i++) {
		const struct pmfs_name_rule *rule = &pmfs_name_rules[i];
		if (!may_apply(rule, s))
			continue;
		struct pm_text *to = s.p == (const uint8_t *)a.p ? &b : &a;
		pm_text_clear(to);
		apply(rule, s, to, ret);
		s = pm_text_view(to);
	}
	pm_text_bytes(out, s.len ? s : name);
	pm_text_end(&a, out);
	pm_text_end(&b, out);
}

size_t pmfs_eval_mark(struct pm_bytes file)
{
	enum { DIGITS = 8 };
	size_t from = sizeof("(eval ") - 1;
	if (!pm_begins_with(file, "(eval ") || count(file, from, is_hex) != DIGITS)
		return 0;
	from += DIGITS;
	return file.len > from && file.p[from] == ')' ? from + 1 : 0;
}

void pmfs_tidy_module(struct pm_bytes path, struct pm_text *out)
{
	for (size_t at = 0; at < path.len;) {
		size_t n = count(path, at, is_hex);
		if (n < 8 && n > 0)
			pm_text_add(out, path.p + at, n);
		else if (n == 0 && path.p[at] != '<' && path.p[at] != '>')
			pm_text_char(out, (char)path.p[at]);
		at += n ? n : 1;
	}
}
