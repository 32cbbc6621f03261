/*
 * Matches the items of two sides: functions by name, module and file; modules and files by their
 * path. Items are added as spelled in the runs; what matches is a row. Functions whose names are
 * equal but for what builds and runs generate (names.h) are a family, whose members are paired by
 * its rule. docs/namespace.md has the rules.
 */
#ifndef PROFMOUNT_FS_COMPARE_MATCH_H
#define PROFMOUNT_FS_COMPARE_MATCH_H

#include "formats/common/map.h"
#include "formats/common/text.h"
#include "fs/compare/names.h"
#include "profmount/flat.h"

enum pmfs_side { PMFS_BASE, PMFS_OTHER, PMFS_N_SIDES };

enum { PMFS_BOTH_SIDES = 1 << PMFS_BASE | 1 << PMFS_OTHER };

/* How the sides of a row were found to be the same; column `matched`. */
enum pmfs_matched {
	PMFS_UNMATCHED, /* only one side has it */
	PMFS_EXACT,     /* the same name */
	PMFS_GROUP,     /* one of a family on each side, or told apart by what they call */
	PMFS_ORDER,     /* aligned in the order of the source */
	PMFS_JOINED,    /* several are one row */
};

/* A spelling in a run: indexes into pmfs_match.texts. */
struct pmfs_spelling {
	uint32_t name, module, file;
	uint8_t sides; /* bits 1 << enum pmfs_side */
	uint32_t last_run, n_runs;
	uint32_t line[PMFS_N_SIDES]; /* of the definition; 0: unknown */
	uint32_t member;
	uint32_t group[PMFS_N_SIDES]; /* the row; an ordinal may mean another function there */
};

/* A name in a family. */
struct pmfs_match_member {
	uint32_t family, name;
	uint8_t sides;
	uint32_t n_runs;
	uint32_t line[PMFS_N_SIDES], module[PMFS_N_SIDES];
	struct pmfs_name_facts facts;
	bool calls; /* what it calls is needed */
	uint32_t group[PMFS_N_SIDES];
};

/* A row. */
struct pmfs_match_group {
	uint8_t sides, matched;
	uint32_t shown; /* spelling: of the other run if it has one, else of the baseline */
	uint32_t n_names;
	uint32_t line[PMFS_N_SIDES]; /* the first of the definitions; 0: unknown */
	struct pm_bytes name;        /* as shown: with the number of what is joined */
};

/* A call by a member: for those of a family that have no other difference. */
struct pmfs_match_call {
	uint32_t caller; /* member */
	uint8_t side;
	uint32_t callee; /* family */
};

/* Built in an arena (formats/common/arena.h): what follows fails as its build. */
struct pmfs_match {
	bool exact;     /* names are not normalised */
	bool of_places; /* matches modules and files themselves, so they are always compared */
	struct pm_arena *arena;
	struct pm_arena *work; /* until pmfs_match_finish */
	struct pm_arena *run;  /* until pmfs_match_run_ends */
	struct pm_strtab texts;
	struct pmfs_spelling *spellings;
	uint32_t n;
	size_t room;
	struct pmfs_match_group *groups; /* set by pmfs_match_finish */
	uint32_t n_groups;
	uint32_t *of_name; /* by text and side: see pmfs_match_named */
	/* The following is used while items are added. */
	struct pm_map pairs, triples;
	struct pm_map seen; /* run and path: the paths of each run */
	struct pmfs_match_path *paths;
	size_t n_paths, room_paths;
	/* And these afterwards: members by family. */
	struct pmfs_match_member *members;
	uint32_t n_members, n_families, n_runs, n_side_runs[PMFS_N_SIDES];
	size_t room_members;
	uint8_t *blurred; /* by family: a side has several of a name, in different folders */
	uint32_t *order;  /* members, by family */
	struct pmfs_match_call *calls;
	size_t n_calls, room_calls, room_groups;
	bool needs_calls;    /* of members with `calls`: see pmfs_match_call */
	enum pmfs_side side; /* of the run that is added */
	/* Of evals, see pmfs_match_evals: */
	struct pm_strtab evals; /* of the run that is added, as it names them */
	uint32_t *digits;       /* by eval */
	size_t room_digits;
	struct pm_map plain;    /* a text that says its evals' checksums → as it is in the run */
	struct pm_map verbatim; /* texts of which a run says that much by itself */
};

void pmfs_match_init(struct pmfs_match *m, struct pm_arena *a, bool exact, bool of_places);

/*
 * The spelling. `run` is unique over both sides; runs are added one after the other. Texts must
 * stay unchanged until pmfs_match_run_ends, as for pm_strtab_add_lasting.
 */
uint32_t pmfs_match_add(
	struct pmfs_match *m, enum pmfs_side side, uint32_t run, const struct pm_bytes text[3]);

/* The line of a definition. */
void pmfs_match_line(struct pmfs_match *m, uint32_t spelling, enum pmfs_side side, uint32_t line);

/*
 * Before a run is added: what it compiled. Where it names an eval `(eval)[f.pl:3]`, since it has
 * one text at that line, and the other side says which of several, `(eval 5f3a9c01)[f.pl:3]`, the
 * former is the one with that checksum.
 */
void pmfs_match_evals(
	struct pmfs_match *m, const struct pm_evals *evals, const struct pm_bytes *texts);

/* Texts of the run become invalid: call this when it is closed. */
void pmfs_match_run_ends(struct pmfs_match *m);

/*
 * Finds the families, once all items have been added. If `needs_calls` is set then, pmfs_match_call
 * improves the result: for all calls in all runs, in any order. O(n log n).
 */
void pmfs_match_families(struct pmfs_match *m);
void pmfs_match_call(struct pmfs_match *m, enum pmfs_side side, uint32_t caller, uint32_t callee);

/*
 * Assigns every spelling to a row. O(n log n), and for families of which many members differ O(n²)
 * up to PM_LIMIT_NAME_PAIRS.
 */
void pmfs_match_finish(struct pmfs_match *m);

/*
 * For tables that only have names: a row that stands for all functions of the name on that side,
 * and for those that share a row with one of them.
 */
static inline uint32_t pmfs_match_named(
	const struct pmfs_match *m, uint32_t spelling, enum pmfs_side side)
{
	return m->of_name[2 * (size_t)m->spellings[spelling].name + side];
}

/* `exact`, `group`, `order`, `joined`, or empty. */
struct pm_bytes pmfs_matched_text(enum pmfs_matched matched);

static inline struct pm_bytes pmfs_match_text(const struct pmfs_match *m, uint32_t text)
{
	return m->texts.items[text];
}

/* ---- families.c ---- */

/* Assigns each member of a family to a row. `members` are its members. */
void pmfs_family_decide(struct pmfs_match *m, const uint32_t *members, uint32_t n);

/* Whether what the members call would help to tell them apart. */
bool pmfs_family_needs_calls(struct pmfs_match *m, const uint32_t *members, uint32_t n);

#endif
