/* The source of the binaries in this directory; see README.md. */
static inline __attribute__((always_inline)) int twice_the_sum_of_elements(const int *p, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += p[i];
	return 2 * sum;
}

__attribute__((noinline)) int work(const int *p, int n)
{
	return twice_the_sum_of_elements(p, n) + 1;
}

void _start(void)
{
	static int numbers[3];
	numbers[0] = work(numbers, 3);
}
