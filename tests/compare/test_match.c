/* fs/compare/match.c and families.c: which functions, modules and files are the same. */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>

#include "fs/compare/match.h"
#include "profmount/tree.h"

/* Done with its arena. */
static struct pmfs_match new_match(bool exact)
{
	static struct pm_arena arena;
	struct pmfs_match m;
	pmfs_match_init(&m, &arena, exact, false);
	return m;
}

static uint32_t add(struct pmfs_match *m, enum pmfs_side side, const char *name, const char *module,
	const char *file)
{
	const struct pm_bytes text[3] = {pm_bytes_of(name), pm_bytes_of(module), pm_bytes_of(file)};
	return pmfs_match_add(m, side, side, text);
}

/* The row of a spelling that is on one side. */
static uint32_t group(const struct pmfs_match *m, uint32_t spelling)
{
	const struct pmfs_spelling *s = &m->spellings[spelling];
	return s->group[s->sides == 1u << PMFS_OTHER ? PMFS_OTHER : PMFS_BASE];
}

/* ---- families: names of both sides, and which of them make a row ---- */

enum { MOST = 8 };

struct name {
	const char *name;
	uint32_t line;
	const char *calls; /* a function, or NULL */
};

/* One run on each side; lists end with an empty name. */
static void match(struct pmfs_match *m, const struct name *base, const struct name *other)
{
	uint32_t of[PMFS_N_SIDES][MOST], callee[PMFS_N_SIDES][MOST];
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		const struct name *names = side == PMFS_BASE ? base : other;
		for (unsigned i = 0; names[i].name; i++) {
			of[side][i] = add(m, (enum pmfs_side)side, names[i].name, "", "");
			pmfs_match_line(m, of[side][i], (enum pmfs_side)side, names[i].line);
			if (names[i].calls)
				callee[side][i] =
					add(m, (enum pmfs_side)side, names[i].calls, "", "");
		}
		pmfs_match_run_ends(m);
	}
	pmfs_match_families(m);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		const struct name *names = side == PMFS_BASE ? base : other;
		for (unsigned i = 0; names[i].name; i++)
			if (names[i].calls)
				pmfs_match_call(
					m, (enum pmfs_side)side, of[side][i], callee[side][i]);
	}
	pmfs_match_finish(m);
}

/* Rows in the order of the names, `base = other (matched)`; of one side without the other. */
static char *rows_of(const struct pmfs_match *m)
{
	struct pm_text t = {.p = NULL};
	for (uint32_t g = 0; g < m->n_groups; g++) {
		const char *between = g ? "; " : "";
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			for (uint32_t i = 0; i < m->n; i++) {
				if (m->spellings[i].group[side] != g)
					continue;
				pm_text_str(&t, between);
				pm_text_bytes(&t, pmfs_match_text(m, m->spellings[i].name));
				between = "+";
			}
			between = side == PMFS_BASE ? (m->groups[g].sides & 1 ? " = "
								      : g     ? "; = "
									      : "= ")
						    : "";
		}
		pm_text_str(&t, " ");
		pm_text_bytes(&t, pmfs_matched_text((enum pmfs_matched)m->groups[g].matched));
	}
	pm_text_char(&t, '\0');
	assert_int_equal(pm_text_status(&t), 0);
	return t.p;
}

static void check(const struct name *base, const struct name *other, const char *want)
{
	struct pmfs_match m = new_match(false);
	match(&m, base, other);
	char *got = rows_of(&m);
	assert_string_equal(got, want);
	free(got);
	pm_arena_done(m.arena);
}

#define NAMES(...) ((const struct name[]){__VA_ARGS__, {NULL}})

static void test_the_same_names_are_themselves(void **state)
{
	check(NAMES({"L$$Lambda$12.run"}, {"L$$Lambda$13.run"}),
		NAMES({"L$$Lambda$12.run"}, {"L$$Lambda$13.run"}),
		"L$$Lambda$12.run = L$$Lambda$12.run exact; "
		"L$$Lambda$13.run = L$$Lambda$13.run exact");
	check(NAMES({"f.cold"}, {"f"}), NAMES({"f.cold"}, {"f"}),
		"f.cold = f.cold exact; f = f exact");
}

static void test_one_of_a_family_on_each_side(void **state)
{
	check(NAMES({"f.isra.0"}), NAMES({"f.part.1"}), "f.isra.0 = f.part.1 group");
	check(NAMES({"L$$Lambda$12.run"}), NAMES({"L$$Lambda$7.run"}),
		"L$$Lambda$12.run = L$$Lambda$7.run group");
	check(NAMES({"lib.so+0x10"}), NAMES({"lib.so+0x20"}), "lib.so+0x10 = lib.so+0x20 group");
	check(NAMES({"f"}), NAMES({"f.cold"}), "f ; = f.cold ");
	check(NAMES({"f.cold"}), NAMES({"f.part.0.cold"}), "f.cold = f.part.0.cold group");
}

static void test_clones(void **state)
{
	check(NAMES({"f.isra.0"}, {"f"}), NAMES({"f"}, {"f.part.1"}),
		"f = f exact; f.isra.0 = f.part.1 group");
	check(NAMES({"f.isra.0"}, {"f.isra.1"}), NAMES({"f.part.2"}, {"f"}),
		"f.isra.0 = f order; f.isra.1 = f.part.2 order");
	check(NAMES({"f.isra.0"}, {"f.constprop.1"}), NAMES({"f"}),
		"f.isra.0+f.constprop.1 = f joined");
}

/* A region that was inserted moves no cost to another one. */
static void test_ordinals_by_line(void **state)
{
	check(NAMES({"f._omp_fn.0", 10}, {"f._omp_fn.1", 20}, {"f._omp_fn.2", 30}),
		NAMES({"f._omp_fn.0", 10}, {"f._omp_fn.1", 20}, {"f._omp_fn.2", 25},
			{"f._omp_fn.3", 35}),
		"f._omp_fn.0 = f._omp_fn.0 exact; f._omp_fn.1 = f._omp_fn.1 exact; "
		"f._omp_fn.2 = f._omp_fn.3 order; = f._omp_fn.2 ");
	check(NAMES({"__ANON__[/w1/a.pl:4]", 4}), NAMES({"__ANON__[/w2/a.pl:4]", 4}),
		"__ANON__[/w1/a.pl:4] = __ANON__[/w2/a.pl:4] group");
	check(NAMES({"__ANON__[a.pl:4]", 4}, {"__ANON__[a.pl:5]", 5}),
		NAMES({"__ANON__[a.pl:14]", 14}, {"__ANON__[a.pl:15]", 15}),
		"__ANON__[a.pl:4] = __ANON__[a.pl:14] order; "
		"__ANON__[a.pl:5] = __ANON__[a.pl:15] order");
}

static void test_ordinals_by_callees(void **state)
{
	check(NAMES({"X.lambda$f$0", 0, "a"}, {"X.lambda$f$1", 0, "b"}),
		NAMES({"X.lambda$f$0", 0, "new"}, {"X.lambda$f$1", 0, "a"},
			{"X.lambda$f$2", 0, "b"}),
		"X.lambda$f$0 = X.lambda$f$1 order; X.lambda$f$1 = X.lambda$f$2 order; "
		"= X.lambda$f$0 ; a = a exact; b = b exact; = new ");
	/* Nothing tells them apart but their order. */
	check(NAMES({"X.lambda$f$0"}, {"X.lambda$f$1"}), NAMES({"X.lambda$f$0"}, {"X.lambda$f$2"}),
		"X.lambda$f$0 = X.lambda$f$0 exact; X.lambda$f$1 = X.lambda$f$2 order");
}

static void test_numbers_of_a_run(void **state)
{
	check(NAMES({"L$$Lambda$12.run"}, {"L$$Lambda$13.run"}), NAMES({"L$$Lambda$13.run"}),
		"L$$Lambda$12.run+L$$Lambda$13.run = L$$Lambda$13.run joined");
	check(NAMES({"L$$Lambda$1.run", 0, "a"}, {"L$$Lambda$2.run", 0, "b"}),
		NAMES({"L$$Lambda$2.run", 0, "a"}, {"L$$Lambda$3.run", 0, "b"},
			{"L$$Lambda$4.run", 0, "c"}),
		"L$$Lambda$1.run = L$$Lambda$2.run group; L$$Lambda$2.run = L$$Lambda$3.run group; "
		"= L$$Lambda$4.run ; a = a exact; b = b exact; = c ");
	check(NAMES({"f::h0123456789abcdef"}, {"f::h1111111111111111"}),
		NAMES({"f::h2222222222222222"}, {"f::h1111111111111111"}),
		"f::h1111111111111111 = f::h1111111111111111 exact; "
		"f::h0123456789abcdef = f::h2222222222222222 group");
}

static void test_joined_names_count(void **state)
{
	struct pmfs_match m = new_match(false);
	match(&m, NAMES({"L$$Lambda$1.run"}, {"L$$Lambda$2.run"}), NAMES({"L$$Lambda$3.run"}));
	assert_int_equal(m.n_groups, 1);
	assert_int_equal(m.groups[0].n_names, 3);
	assert_true(pm_bytes_equal(m.groups[0].name, pm_bytes_of("L$$Lambda.run (3 names)")));
	pm_arena_done(m.arena);
}

/* The number of a run is in each repetition another one. */
static void test_numbers_of_repetitions(void **state)
{
	struct pmfs_match m = new_match(false);
	for (uint32_t run = 0; run < 4; run++) {
		const char *names[] = {"L$$Lambda$1.run", "L$$Lambda$2.run"};
		const struct pm_bytes text[3] = {pm_bytes_of(names[run % 2])};
		pmfs_match_add(&m, run / 2, run, text);
		pmfs_match_run_ends(&m);
	}
	pmfs_match_finish(&m);
	assert_int_equal(m.n_groups, 1);
	assert_int_equal(m.groups[0].matched, PMFS_JOINED);
	pm_arena_done(m.arena);
}

static void add_address(struct pmfs_match *m, enum pmfs_side side, const char *module, unsigned at)
{
	char name[64];
	snprintf(name, sizeof(name), "lib.so+0x%x", at);
	add(m, side, name, module, "");
}

/* Addresses that are in both runs, among others that are not. */
static void test_addresses(void **state)
{
	static const unsigned base[] = {0x10, 0x20, 0x30, 0x90}, other[] = {0x10, 0x24, 0x30, 0x94};
	for (int moved = 0; moved < 2; moved++) {
		struct pmfs_match m = new_match(false);
		for (unsigned i = 0; i < 4; i++)
			add_address(&m, PMFS_BASE, "/opt/lib.so", base[i]);
		for (unsigned i = 0; i < 4; i++)
			add_address(
				&m, PMFS_OTHER, moved ? "/usr/lib.so" : "/opt/lib.so", other[i]);
		pmfs_match_finish(&m);
		assert_int_equal(m.n_groups, moved ? 1 : 3);
		const struct pmfs_match_group *g = &m.groups[m.n_groups - 1];
		assert_int_equal(g->matched, PMFS_JOINED);
		const char *want = moved ? "lib.so (6 addresses)" : "lib.so (4 addresses)";
		assert_true(pm_bytes_equal(g->name, pm_bytes_of(want)));
		pm_arena_done(m.arena);
	}
}

/* One address in both runs is no evidence: the code may have moved. */
static void test_an_address_alone(void **state)
{
	struct pmfs_match m = new_match(false);
	add_address(&m, PMFS_BASE, "/opt/lib.so", 0x10);
	add_address(&m, PMFS_BASE, "/opt/lib.so", 0x20);
	add_address(&m, PMFS_OTHER, "/opt/lib.so", 0x20);
	add_address(&m, PMFS_OTHER, "/opt/lib.so", 0x30);
	pmfs_match_finish(&m);
	assert_int_equal(m.n_groups, 1);
	pm_arena_done(m.arena);
}

/* Tables with names alone: all that any row joins. */
static void test_names_alone(void **state)
{
	struct pmfs_match m = new_match(false);
	uint32_t a = add(&m, PMFS_BASE, "init", "app", "one.c");
	uint32_t b = add(&m, PMFS_BASE, "init", "app", "two.c");
	uint32_t c = add(&m, PMFS_BASE, "work.isra.0", "app", "one.c");
	uint32_t d = add(&m, PMFS_OTHER, "init", "app", "one.c");
	uint32_t e = add(&m, PMFS_OTHER, "work", "app", "one.c");
	pmfs_match_finish(&m);
	uint32_t init = pmfs_match_named(&m, a, PMFS_BASE);
	assert_int_equal(pmfs_match_named(&m, b, PMFS_BASE), init);
	assert_int_equal(pmfs_match_named(&m, d, PMFS_OTHER), init);
	assert_int_equal(pmfs_match_named(&m, c, PMFS_BASE), pmfs_match_named(&m, e, PMFS_OTHER));
	assert_int_not_equal(pmfs_match_named(&m, c, PMFS_BASE), init);
	pm_arena_done(m.arena);
	/* The same name in files that have nothing in common. */
	m = new_match(false);
	a = add(&m, PMFS_BASE, "stub", "app", "tmp1.c");
	b = add(&m, PMFS_OTHER, "stub", "app", "tmp2.c");
	pmfs_match_finish(&m);
	assert_int_equal(m.n_groups, 2);
	assert_int_equal(pmfs_match_named(&m, a, PMFS_BASE), pmfs_match_named(&m, b, PMFS_OTHER));
	pm_arena_done(m.arena);
}

/* ---- places ---- */

static void test_functions_by_name_module_and_file(void **state)
{
	struct pmfs_match m = new_match(false);
	uint32_t a = add(&m, PMFS_BASE, "init", "/opt/1/bin/app", "/s1/one.c");
	uint32_t b = add(&m, PMFS_BASE, "init", "/opt/1/bin/app", "/s1/two.c");
	uint32_t c = add(&m, PMFS_OTHER, "init", "/opt/2/bin/app", "/s2/one.c");
	uint32_t d = add(&m, PMFS_OTHER, "init", "/opt/2/lib/lib.so", "/s2/one.c");
	pmfs_match_finish(&m);
	assert_int_equal(m.n_groups, 3);
	assert_int_equal(group(&m, a), group(&m, c));
	assert_int_not_equal(group(&m, a), group(&m, b));
	assert_int_not_equal(group(&m, c), group(&m, d));
	assert_int_equal(m.groups[group(&m, a)].sides, 3);
	assert_int_equal(m.groups[group(&m, a)].shown, c);
	pm_arena_done(m.arena);
}

static void test_places_count_where_both_sides_know_them(void **state)
{
	struct pmfs_match m = new_match(false);
	uint32_t a = add(&m, PMFS_BASE, "work", "", "");
	uint32_t b = add(&m, PMFS_OTHER, "work", "/bin/app", "/s/work.c");
	pmfs_match_finish(&m);
	assert_int_equal(group(&m, a), group(&m, b));
	pm_arena_done(m.arena);
}

static void test_folders_that_tell_files_apart(void **state)
{
	struct pmfs_match m = new_match(false);
	uint32_t a = add(&m, PMFS_BASE, "init", "app", "/1/src/a/util.c");
	uint32_t b = add(&m, PMFS_BASE, "init", "app", "/1/src/b/util.c");
	uint32_t c = add(&m, PMFS_OTHER, "init", "app", "/2/src/b/util.c");
	uint32_t d = add(&m, PMFS_OTHER, "main", "app", "/2/src/c/main.c");
	uint32_t e = add(&m, PMFS_BASE, "main", "app", "/1/src/main.c");
	pmfs_match_finish(&m);
	assert_int_not_equal(group(&m, a), group(&m, b));
	assert_int_equal(group(&m, b), group(&m, c));
	assert_int_equal(group(&m, d), group(&m, e));
	pm_arena_done(m.arena);
}

/* The same program was built in two folders each time: nothing but base names is the same. */
static void test_folders_that_say_nothing(void **state)
{
	struct pmfs_match m = new_match(true);
	uint32_t a = add(&m, PMFS_BASE, "main", "/opt/app-1.0/bin/app", "");
	uint32_t b = add(&m, PMFS_BASE, "init", "/opt0/bin/app", "");
	uint32_t c = add(&m, PMFS_OTHER, "main", "/home/me/app", "");
	uint32_t d = add(&m, PMFS_OTHER, "init", "/opt1/bin/app", "");
	pmfs_match_finish(&m);
	assert_int_equal(group(&m, a), group(&m, c));
	assert_int_equal(group(&m, b), group(&m, d));
	assert_int_equal(m.n_groups, 2);
	pm_arena_done(m.arena);
}

/* The evals of x.pl line 3 that a run compiled, by name and checksum. */
static void compile(struct pmfs_match *m, const char *name, uint32_t digits)
{
	const struct pm_bytes texts[] = {{NULL, 0}, pm_bytes_of("x.pl"), pm_bytes_of(name)};
	const struct pm_eval eval = {1, 3, 2, 1, digits, 1};
	pmfs_match_evals(m, &(struct pm_evals){.n = 1, .evals = &eval}, texts);
}

/*
 * A run with one text at a line does not say which it is; if another one has several there, it is
 * the one of these with its checksum, in names of subs and of files.
 */
static void test_evals_pair_by_checksum(void **state)
{
	struct pmfs_match m = new_match(false);
	compile(&m, "(eval)[x.pl:3]", 0x5f3a9c01);
	uint32_t sub = add(&m, PMFS_BASE, "M::__ANON__[(eval)[x.pl:3]:1]", "", "(eval)[x.pl:3]");
	uint32_t named = add(&m, PMFS_BASE, "M::run", "", "(eval)[x.pl:3]");
	uint32_t other = add(&m, PMFS_BASE, "M::__ANON__[(eval)[y.pl:3]:1]", "", "(eval)[y.pl:3]");
	pmfs_match_run_ends(&m);
	uint32_t equal = add(&m, PMFS_OTHER, "M::__ANON__[(eval 5f3a9c01)[x.pl:3]:1]", "",
		"(eval 5f3a9c01)[x.pl:3]");
	uint32_t differs = add(&m, PMFS_OTHER, "M::__ANON__[(eval 00000007)[x.pl:3]:1]", "",
		"(eval 00000007)[x.pl:3]");
	uint32_t equal_named = add(&m, PMFS_OTHER, "M::run", "", "(eval 5f3a9c01)[x.pl:3]");
	uint32_t elsewhere = add(&m, PMFS_OTHER, "M::__ANON__[(eval 5f3a9c01)[y.pl:3]:1]", "", "");
	pmfs_match_run_ends(&m);
	pmfs_match_finish(&m);
	assert_int_equal(m.spellings[sub].group[PMFS_BASE], m.spellings[equal].group[PMFS_OTHER]);
	assert_int_equal(
		m.spellings[named].group[PMFS_BASE], m.spellings[equal_named].group[PMFS_OTHER]);
	assert_int_equal(m.groups[m.spellings[sub].group[PMFS_BASE]].matched, PMFS_EXACT);
	assert_int_equal(m.groups[group(&m, differs)].sides, 1 << PMFS_OTHER);
	assert_int_equal(m.groups[group(&m, other)].sides, 1 << PMFS_BASE);
	assert_int_equal(m.groups[group(&m, elsewhere)].sides, 1 << PMFS_OTHER);
	pm_arena_done(m.arena);
}

/* A line that was inserted above moves evals, and changes nothing in them. */
static void test_evals_pair_wherever_they_are_compiled(void **state)
{
	struct pmfs_match m = new_match(false);
	uint32_t sub = add(&m, PMFS_BASE, "f", "", "(eval 5f3a9c01)[x.pl:3]");
	uint32_t anonymous = add(&m, PMFS_BASE, "__ANON__[(eval 5f3a9c01)[x.pl:3]:1]", "",
		"(eval 5f3a9c01)[x.pl:3]");
	pmfs_match_run_ends(&m);
	uint32_t moved = add(&m, PMFS_OTHER, "f", "", "(eval 5f3a9c01)[x.pl:9]");
	uint32_t moved_anonymous = add(&m, PMFS_OTHER, "__ANON__[(eval 5f3a9c01)[x.pl:9]:1]", "",
		"(eval 5f3a9c01)[x.pl:9]");
	uint32_t differs = add(&m, PMFS_OTHER, "__ANON__[(eval 00000007)[x.pl:9]:1]", "",
		"(eval 00000007)[x.pl:9]");
	pmfs_match_run_ends(&m);
	pmfs_match_finish(&m);
	assert_int_equal(m.spellings[sub].group[PMFS_BASE], m.spellings[moved].group[PMFS_OTHER]);
	assert_int_equal(m.spellings[anonymous].group[PMFS_BASE],
		m.spellings[moved_anonymous].group[PMFS_OTHER]);
	assert_int_equal(m.groups[group(&m, differs)].sides, 1 << PMFS_OTHER);
	pm_arena_done(m.arena);
}

/* Where both have one text, a line is the same eval, whatever was changed in it. */
static void test_evals_alone_pair_by_line(void **state)
{
	struct pmfs_match m = new_match(false);
	uint32_t of[PMFS_N_SIDES];
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		compile(&m, "(eval)[(eval)[x.pl:3]:1]", 0x5f3a9c01 + side);
		of[side] =
			add(&m, (enum pmfs_side)side, "M::f[(eval)[(eval)[x.pl:3]:1]:2]", "", "");
		pmfs_match_run_ends(&m);
	}
	pmfs_match_finish(&m);
	uint32_t row = m.spellings[of[PMFS_BASE]].group[PMFS_BASE];
	assert_int_equal(m.spellings[of[PMFS_OTHER]].group[PMFS_OTHER], row);
	assert_int_equal(m.groups[row].matched, PMFS_EXACT);
	assert_true(pm_bytes_equal(
		m.groups[row].name, pm_bytes_of("M::f[(eval)[(eval)[x.pl:3]:1]:2]")));
	pm_arena_done(m.arena);
}

static void test_exact_joins_nothing(void **state)
{
	struct pmfs_match m = new_match(true);
	uint32_t a = add(&m, PMFS_BASE, "two.isra.0", "", "");
	uint32_t b = add(&m, PMFS_OTHER, "two", "", "");
	pmfs_match_finish(&m);
	assert_int_not_equal(group(&m, a), group(&m, b));
	pm_arena_done(m.arena);
}

static void test_nothing(void **state)
{
	struct pmfs_match m = new_match(false);
	pmfs_match_finish(&m);
	assert_int_equal(m.n_groups, 0);
	pm_arena_done(m.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_by_name_module_and_file),
		cmocka_unit_test(test_places_count_where_both_sides_know_them),
		cmocka_unit_test(test_folders_that_tell_files_apart),
		cmocka_unit_test(test_folders_that_say_nothing),
		cmocka_unit_test(test_the_same_names_are_themselves),
		cmocka_unit_test(test_one_of_a_family_on_each_side),
		cmocka_unit_test(test_clones),
		cmocka_unit_test(test_ordinals_by_line),
		cmocka_unit_test(test_ordinals_by_callees),
		cmocka_unit_test(test_numbers_of_a_run),
		cmocka_unit_test(test_joined_names_count),
		cmocka_unit_test(test_numbers_of_repetitions),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_an_address_alone),
		cmocka_unit_test(test_names_alone),
		cmocka_unit_test(test_evals_pair_by_checksum),
		cmocka_unit_test(test_evals_pair_wherever_they_are_compiled),
		cmocka_unit_test(test_evals_alone_pair_by_line),
		cmocka_unit_test(test_exact_joins_nothing),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
