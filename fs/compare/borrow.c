/*
 * Runs in use. Most of the time of a comparison is spent reading the runs. Their models keep what
 * has been read, so two runs at a time are read on two processors.
 */
#include "formats/common/crew.h"
#include "fs/compare/internal.h"

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
