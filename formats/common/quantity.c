#include "formats/common/quantity.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "profmount/limits.h"

static const struct {
	const char *unit;
	double ns;
} times[] = {{"sec", 1e9}, {"s", 1e9}, {"seconds", 1e9}, {"msec", 1e6}, {"ms", 1e6}, {"usec", 1e3},
	{"us", 1e3}, {"nsec", 1}, {"ns", 1}};

static const char *const byte_units[] = {"B", "byte", "bytes", "KB", "KiB", "MB", "MiB"};

/* Words of metric names, upper case. A `*` at the end matches any rest. */
static const char *const of_gpus[] = {"GPU*", "GKER*", "GMEM*", "GMSET*", "GXCOPY*", "GICOPY*",
	"GSYNC*", "GINS*", "GSAMP*", "GBR*", "GFLOP*", "GLSIZE*"};
static const char *const of_gpu_work[] = {"GPUOP*"};
static const char *const of_samples[] = {"GSAMP*"};
static const char *const of_clocks[] = {"CLOCK", "CPUCLOCK", "TASKCLOCK", "WALLCLOCK"};
static const char *const of_cycles[] = {"CYC", "CYCLE", "CYCLES", "CLK"};
static const char *const of_instructions[] = {
	"INS", "INST", "INSN", "INSTR", "INSTRUCTION", "INSTRUCTIONS", "GINS"};

#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

double pm_unit_ns(struct pm_bytes unit)
{
	for (size_t i = 0; i < N_OF(times); i++)
		if (pm_bytes_equal(unit, pm_bytes_of(times[i].unit)))
			return times[i].ns;
	return 0;
}

static bool is_unit_of_bytes(struct pm_bytes unit)
{
	for (size_t i = 0; i < N_OF(byte_units); i++)
		if (pm_bytes_equal(unit, pm_bytes_of(byte_units[i])))
			return true;
	return false;
}

static uint8_t upper(uint8_t c)
{
	return c >= 'a' && c <= 'z' ? (uint8_t)(c - 'a' + 'A') : c;
}

static bool is_word_char(uint8_t c)
{
	c = upper(c);
	return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool word_matches(struct pm_bytes word, const char *pattern)
{
	for (size_t i = 0; i < word.len; i++) {
		if (pattern[i] == '*')
			return true;
		if ((uint8_t)pattern[i] != upper(word.p[i])) /* or the pattern ends here */
			return false;
	}
	return pattern[word.len] == '\0' || pattern[word.len] == '*';
}

static bool is_word_of(struct pm_bytes word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word_matches(word, list[i]))
			return true;
	return false;
}

/* Removes the next word from the name: a run of letters and digits. */
static bool next_word(struct pm_bytes *name, struct pm_bytes *ret)
{
	size_t start = 0, end;
	while (start < name->len && !is_word_char(name->p[start]))
		start++;
	for (end = start; end < name->len && is_word_char(name->p[end]);)
		end++;
	if (start == end)
		return false;
	*ret = (struct pm_bytes){name->p + start, end - start};
	*name = (struct pm_bytes){name->p + end, name->len - end};
	return true;
}

static bool has_word_of(struct pm_bytes name, const char *const *list, size_t n)
{
	struct pm_bytes word;
	while (next_word(&name, &word))
		if (is_word_of(word, list, n))
			return true;
	return false;
}

static bool begins_with_one_of(struct pm_bytes name, const char *const *list, size_t n)
{
	struct pm_bytes word;
	return next_word(&name, &word) && is_word_of(word, list, n);
}

enum pm_quantity pm_quantity_of(struct pm_bytes name, struct pm_bytes unit)
{
	bool gpu = begins_with_one_of(name, of_gpus, N_OF(of_gpus));
	bool time = pm_unit_ns(unit) > 0;
	if (time && gpu)
		return begins_with_one_of(name, of_gpu_work, N_OF(of_gpu_work))
			? PM_QUANTITY_GPU_WORK
			: PM_QUANTITY_GPU_TIME;
	/* Clocks of perf and of old measurements have no unit. */
	if (time || (!gpu && has_word_of(name, of_clocks, N_OF(of_clocks))))
		return PM_QUANTITY_TIME;
	if (has_word_of(name, of_cycles, N_OF(of_cycles)) &&
		!begins_with_one_of(name, of_samples, N_OF(of_samples)))
		return PM_QUANTITY_CYCLES;
	if (has_word_of(name, of_instructions, N_OF(of_instructions)))
		return PM_QUANTITY_INSTRUCTIONS;
	return is_unit_of_bytes(unit) ? PM_QUANTITY_BYTES : PM_QUANTITY_OTHER;
}

uint32_t pm_metrics_groups(const struct pm_metrics *m)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->metrics[i].group >= n)
			n = m->metrics[i].group + 1;
	return n;
}

uint32_t pm_quantity_leading(const struct pm_metrics *m, const double *whole)
{
	enum pm_quantity best = PM_N_QUANTITIES;
	uint32_t leading = PM_NONE;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct pm_metric *metric = &m->metrics[i];
		if (!metric->has_values || metric->hidden || metric->role == PM_ROLE_OTHER ||
			!(metric->in_tree || metric->in_flat) || metric->group == leading)
			continue;
		if (whole && (isnan(whole[metric->group]) || whole[metric->group] == 0))
			continue;
		enum pm_quantity class = pm_quantity_of(metric->name, metric->unit);
		if (class < best) {
			best = class;
			leading = metric->group;
		}
	}
	return leading;
}

int pm_quantity_fields(const char *list, struct pm_strtab *ret, struct pm_error *err)
{
	for (size_t n; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		struct pm_bytes name = {(const uint8_t *)list, n};
		if (n > 0 && pm_strtab_add(ret, name) == PM_NONE)
			return pm_error_plain(err, -ENOMEM);
	}
	if (ret->n == 0 || ret->n > PM_LIMIT_COUNTER_FIELDS)
		return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET,
			"-o values takes 1 to %d fields, such as bytes\\,flops",
			PM_LIMIT_COUNTER_FIELDS);
	return 0;
}
