/* The rules for names, and the code that applies them: one pass over the name per rule. */
#include "fs/compare/names.h"

#include <string.h>

const struct pmfs_name_rule pmfs_name_rules[] = {
	/* Parts and copies of functions created by GCC, Clang and link-time optimisation. */
	{"{ [clone ~c]}", NULL, false},
	{"{~c}~e", NULL, false},
	/* Rust: hashes of symbols, and of crates in newer symbols. */
	{"{::h~X}~|", NULL, false},
	{"{[~y]}", NULL, false},
	/* Classes that a JVM creates at run time. */
	{"$$Lambda{$~d/0x~x}", NULL, false},
	{"$$Lambda{$~d/~x}", NULL, false},
	{"$$Lambda{/0x~x}", NULL, false},
	{"$$Lambda{$~d}", NULL, false},
	{"$Proxy{~d}", NULL, false},
	{"CGLIB{$$~x}~b", NULL, false},
	{"MethodAccessor{~d}~b", "Generated", false},
	{"ConstructorAccessor{~d}~b", "Generated", false},
	/* Perl: evals are numbered at run time, anonymous functions are named by line. */
	{"(eval{ ~d})", NULL, false},
	{"{:~d}]~|", "__ANON__[", false},
	/* Ordinals number the functions of a file: often, but not always, equal in two builds. */
	{"._omp_fn{.~d}~e", NULL, true},
	{"lambda$~i{$~d}~b", NULL, true},
	/* Addresses of code without a name. */
	{"{ 0x~x}", "<unknown", true},
	{"{+0x~x}~|", NULL, true},
};
const size_t pmfs_n_name_rules = sizeof(pmfs_name_rules) / sizeof(*pmfs_name_rules);

const struct pmfs_name_twins pmfs_name_twins[] = {
	{"<program root>", "main thread"},
	{"<thread root>", "application thread"},
	{"<partial root>", "unknown entry"},
};
const size_t pmfs_n_name_twins = sizeof(pmfs_name_twins) / sizeof(*pmfs_name_twins);

static const char *const clone_words[] = {
	".isra", ".constprop", ".part", ".cold", ".llvm", ".lto_priv", ".localalias"};

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

static size_t count(struct pm_bytes s, size_t at, bool (*is)(uint8_t c))
{
	size_t n = 0;
	while (at + n < s.len && is(s.p[at + n]))
		n++;
	return n;
}

/* ---- suffixes of clones: .isra.0.cold.3 ---- */

static bool holds_at(struct pm_bytes s, size_t at, const char *text)
{
	size_t n = strlen(text);
	return s.len - at >= n && memcmp(s.p + at, text, n) == 0;
}

/* The length of a suffix with its numbers, or 0. */
static size_t one_clone(struct pm_bytes s, size_t at)
{
	size_t n = 0;
	for (size_t i = 0; n == 0 && i < sizeof(clone_words) / sizeof(*clone_words); i++)
		if (holds_at(s, at, clone_words[i]))
			n = strlen(clone_words[i]);
	for (size_t digits = 1; n > 0 && digits > 0 && at + n < s.len && s.p[at + n] == '.';) {
		digits = count(s, at + n + 1, is_digit);
		n += digits ? 1 + digits : 0;
	}
	return n;
}

static size_t clones(struct pm_bytes s, size_t at)
{
	size_t n = 0, one;
	while ((one = one_clone(s, at + n)) > 0)
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
	case 'd': n = count(s, at, is_digit); break;
	case 'x':
	case 'y':
	case 'X': n = count(s, at, is_hex); break;
	case 'i': n = count(s, at, is_word); break;
	case 'c': n = clones(s, at); break;
	case 'b': fits = at == s.len || !is_word(s.p[at]); break;
	case 'e': fits = at == s.len || s.p[at] == ' ' || s.p[at] == ']'; break;
	default: fits = at == s.len; break;
	}
	if (class == 'X')
		n = n == 16 ? n : 0;
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

/* Appends `s` without the text that the rule removes. */
static void apply(const struct pmfs_name_rule *rule, struct pm_bytes s, struct pm_text *out)
{
	struct match m = {.from = 0};
	size_t kept = 0;
	for (size_t at = 0; at < s.len; at = m.reached) {
		if (!matches(rule->pattern, s, at, &m))
			continue;
		pm_text_add(out, s.p + kept, m.from - kept);
		kept = m.to;
	}
	pm_text_add(out, s.p + kept, s.len - kept);
}

static bool holds(struct pm_bytes s, const char *part)
{
	return s.len > 0 && memmem(s.p, s.len, part, strlen(part)) != NULL;
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

static void rewrite(struct pm_bytes name, bool alone, struct pm_text *out)
{
	name = twin_of(name);
	struct pm_text a = {.p = NULL}, b = {.p = NULL};
	struct pm_bytes s = name;
	for (size_t i = 0; i < pmfs_n_name_rules; i++) {
		const struct pmfs_name_rule *rule = &pmfs_name_rules[i];
		if ((rule->alone && !alone) || !may_apply(rule, s))
			continue;
		struct pm_text *to = s.p == (const uint8_t *)a.p ? &b : &a;
		pm_text_clear(to);
		apply(rule, s, to);
		s = pm_text_view(to);
	}
	pm_text_bytes(out, s.len ? s : name);
	pm_text_end(&a, out);
	pm_text_end(&b, out);
}

void pmfs_tidy_name(struct pm_bytes name, struct pm_text *out)
{
	rewrite(name, false, out);
}

void pmfs_loose_name(struct pm_bytes name, struct pm_text *out)
{
	rewrite(name, true, out);
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
