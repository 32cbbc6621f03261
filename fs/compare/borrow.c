/*
 * Runs in use. Most of the time of a comparison is spent reading the runs. Their models keep what
 * has been read, so two runs at a time are read on two processors.
 */
#include "formats/common/crew.h"
#include "fs/compare/flat.h"

int pmfs_compare_acquire(struct pmfs_compare *c, const struct pmfs_compared_run *run,
	struct pmfs_model **ret, struct pm_error *err)
{
	return c->of.lender.acquire(c->of.lender.self, run->number, ret, err);
}

void pmfs_compare_release(struct pmfs_compare *c, const struct pmfs_compared_run *run)
{
	c->of.lender.release(c->of.lender.self, run->number);
}

static int prepare(void *context, size_t i)
{
	struct pmfs_borrowed *two = context;
	struct pm_error error = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m;
	if (!two->runs[i] || pmfs_compare_acquire(two->compare, two->runs[i], &m, &error) < 0)
		return 0;
	two->held[i] = true;
	(void)two->prepare(two->self, m, &error);
	return 0;
}

void pmfs_borrow(struct pmfs_borrowed *two, const struct pmfs_compared_run *first,
	const struct pmfs_compared_run *second)
{
	two->runs[0] = first;
	two->runs[1] = second;
	(void)pm_crew_each(2, prepare, two);
}

void pmfs_return(struct pmfs_borrowed *two)
{
	for (unsigned i = 0; i < 2; i++) {
		if (two->held[i])
			pmfs_compare_release(two->compare, two->runs[i]);
		two->held[i] = false;
	}
}

static const struct pmfs_compared_run *next_run(const struct pmfs_costs *costs, uint32_t *i)
{
	while (*i < costs->n_runs && costs->runs[*i].broken)
		++*i;
	return *i < costs->n_runs ? &costs->runs[*i] : NULL;
}

int pmfs_compare_read(struct pmfs_compare *c, const struct pmfs_costs *costs,
	struct pmfs_reader reader, void *self, struct pm_error *err)
{
	struct pmfs_borrowed two = {.compare = c, .prepare = reader.prepare, .self = self};
	const struct pmfs_compared_run *run;
	int r = 0;
	for (uint32_t i = 0, n = 0; r == 0 && (run = next_run(costs, &i)); i++, n++) {
		uint32_t second = i + 1;
		struct pmfs_model *m;
		if (reader.prepare && n % 2 == 0) {
			pmfs_return(&two);
			pmfs_borrow(&two, run, next_run(costs, &second));
		}
		r = pmfs_compare_acquire(c, run, &m, err);
		if (r < 0)
			break;
		r = reader.read(self, i, m, err);
		pmfs_compare_release(c, run);
	}
	pmfs_return(&two);
	return r;
}
