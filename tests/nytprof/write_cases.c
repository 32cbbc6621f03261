/*
 * Writes small profiles of Perl programs whose right answers are known: test_cases.py. Each is what
 * the profiler would write of the program in the comment above its writer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/nytprof/writer.h"

struct line {
	uint32_t fid, line, count;
	int32_t ticks; /* of all of them */
};

static void begin(struct nytpw *w, const char *program, const char *path)
{
	char line[64];
	nytpw_header(w, 5);
	snprintf(line, sizeof(line), ":application=%s", program);
	nytpw_line(w, line);
	nytpw_pid_start(w, 100, 99, 1795248846.5);
	nytpw_fid(w, 1, 0, 0, path);
}

/* The first statement of a line has the time of all. */
static void write_lines(struct nytpw *w, const struct line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < lines[i].count; k++)
			nytpw_time(w, k ? 0 : lines[i].ticks, lines[i].fid, lines[i].line);
}

/* As the profiler has file-level code: line 1 of the program. */
static void end_subs(struct nytpw *w)
{
	nytpw_sub(w, 1, "main::RUNTIME", 1, 1);
}

/* `count` calls from line `line` of the program, with `ticks` in all. */
static void call(struct nytpw *w, const char *sub, uint32_t line, uint32_t count, uint32_t ticks)
{
	struct nytpw_callers c = {
		1, line, count, 0, ticks / 1e7, ticks / 1e7, 0, "main::RUNTIME", sub};
	for (uint32_t i = 0; i < count; i++)
		nytpw_return(w, 1, i ? 0 : ticks, i ? 0 : ticks, sub);
	nytpw_callers(w, &c);
}

static void save(struct nytpw *w, const char *folder, const char *name)
{
	char path[512];
	nytpw_pid_end(w, 100, 1795248848.5);
	struct pm_bytes b = nytpw_take(w);
	snprintf(path, sizeof(path), "%s/%s.nytprof.out", folder, name);
	FILE *f = fopen(path, "w");
	if (!f || fwrite(b.p, b.len, 1, f) != 1 || fclose(f) != 0)
		abort();
	free((void *)(uintptr_t)b.p);
}

/*
 *	sub define { my $code = shift; eval $code; die $@ if $@ }            # line 3
 *	define("sub fast { … return $x }"); define("sub slow { … }"); fast() for 1..10; slow();
 */
static void write_two_codes(const char *folder)
{
	static const char *const texts[2][4] = {
		{"sub fast {\n", "  my $x = 1;\n", "  return $x;\n", "}\n"},
		{"sub slow {\n", "  my $x = 0;\n", "  $x += $_ for 1 .. 50000;\n",
			"  return $x;\n"}};
	static const struct line program[] = {{1, 3, 6, 521}},
				 lines[] = {{1, 6, 2, 65}, {3, 2, 10, 9}, {3, 3, 10, 65},
					 {4, 2, 1, 1}, {4, 3, 1, 49338}, {4, 4, 1, 225}};
	struct nytpw w = {.big = false};
	begin(&w, "gen.pl", "/dir/evals/gen.pl");
	write_lines(&w, program, 1);
	nytpw_fid(&w, 3, 1, 3, "(eval 1)[gen.pl:3]");
	nytpw_fid(&w, 4, 1, 3, "(eval 2)[gen.pl:3]");
	write_lines(&w, lines, 6);
	call(&w, "main::fast", 6, 10, 27);
	call(&w, "main::slow", 6, 1, 49371);
	nytpw_source(&w, 1, 3, "sub define { my $code = shift; eval $code; die $@ if $@ }\n");
	for (uint32_t i = 0; i < 8; i++)
		nytpw_source(&w, 3 + i / 4, 1 + i % 4, texts[i / 4][i % 4]);
	nytpw_sub(&w, 1, "main::define", 3, 3);
	nytpw_sub(&w, 3, "main::fast", 1, 4);
	nytpw_sub(&w, 4, "main::slow", 1, 5);
	end_subs(&w);
	save(&w, folder, "evals-two-codes");
}

/*
 *	sub compile { my $c = eval "sub { $_[0] }" or die $@; $c }           # line 2
 *	my $fast = compile('…'), $slow = compile('…'); $fast->() for 1..10; $slow->();
 */
static void write_two_anonymous(const char *folder)
{
	static const struct line program[] = {{1, 2, 4, 549}},
				 lines[] = {{1, 5, 2, 302}, {3, 1, 21, 107}, {4, 1, 4, 305110}};
	static const char *const fast = "main::__ANON__[(eval 1)[anon.pl:2]:1]",
				 *const slow = "main::__ANON__[(eval 2)[anon.pl:2]:1]";
	struct nytpw w = {.big = false};
	begin(&w, "anon.pl", "/dir/evals/anon.pl");
	write_lines(&w, program, 1);
	nytpw_fid(&w, 3, 1, 2, "(eval 1)[anon.pl:2]");
	nytpw_fid(&w, 4, 1, 2, "(eval 2)[anon.pl:2]");
	write_lines(&w, lines, 3);
	call(&w, fast, 5, 10, 37);
	call(&w, slow, 5, 1, 304874);
	nytpw_source(&w, 3, 1, "sub { my $x = 1; $x }");
	nytpw_source(
		&w, 4, 1, "sub { my $x = 0; for (my $i = 0; $i < 50000; $i++) { $x += $i } $x }");
	nytpw_sub(&w, 1, "main::compile", 2, 2);
	nytpw_sub(&w, 3, fast, 1, 1);
	nytpw_sub(&w, 4, slow, 1, 1);
	end_subs(&w);
	save(&w, folder, "evals-two-anon");
}

/* Statements alone, as with subs=0: main::RUNTIME has no record either. */
static void write_without_subs(const char *folder)
{
	static const struct line lines[] = {
		{1, 2, 6, 196653}, {1, 32, 40006, 530002}, {2, 10, 2, 85923}};
	struct nytpw w = {.big = false};
	begin(&w, "p/kitchen.pl", "/dir/p/kitchen.pl");
	nytpw_fid(&w, 2, 0, 0, "/lib/List/Util.pm");
	write_lines(&w, lines, 3);
	save(&w, folder, "subs0");
}

/* use utf8; package Éä; sub 日本語 { été() for 1..3 }: the package fits into Latin-1, the sub not.
 */
static void write_mixed_name(const char *folder)
{
	static const char *const sub = "\xc9\xe4::\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
				 *const info = "\u00c9\u00e4::\u65e5\u672c\u8a9e";
	static const struct line lines[] = {{1, 2, 40, 726}, {1, 4, 4, 20}};
	struct nytpw w = {.big = false};
	begin(&w, "p/utf.pl", "/dir/p/utf.pl");
	write_lines(&w, lines, 2);
	call(&w, sub, 4, 4, 138);
	nytpw_sub(&w, 1, info, 2, 2);
	end_subs(&w);
	save(&w, folder, "utf8-subname");
}

/* Two handlers of a table of subs, on lines 4 and 5: what each costs changes places. */
static void write_handlers(
	const char *folder, const char *name, uint32_t a, uint32_t b, const struct line *lines)
{
	struct nytpw w = {.big = false};
	begin(&w, "app.pl", "/dir/anon/app.pl");
	write_lines(&w, lines, 4);
	call(&w, "main::__ANON__[app.pl:4]", 7, 3, a);
	call(&w, "main::__ANON__[app.pl:5]", 8, 3, b);
	nytpw_sub(&w, 1, "main::__ANON__[app.pl:4]", 4, 4);
	nytpw_sub(&w, 1, "main::__ANON__[app.pl:5]", 5, 5);
	end_subs(&w);
	save(&w, folder, name);
}

int main(int argc, char **argv)
{
	static const struct line before[] = {{1, 4, 12, 87309}, {1, 5, 12, 2986}, {1, 7, 1, 158},
		{1, 8, 1, 167}},
				 after[] = {{1, 4, 12, 2858}, {1, 5, 12, 533308}, {1, 7, 1, 36},
					 {1, 8, 1, 240}};
	if (argc != 2)
		return 2;
	write_two_codes(argv[1]);
	write_two_anonymous(argv[1]);
	write_without_subs(argv[1]);
	write_mixed_name(argv[1]);
	write_handlers(argv[1], "anon-before", 87072, 2978, before);
	write_handlers(argv[1], "anon-after", 2833, 533061, after);
	return 0;
}
