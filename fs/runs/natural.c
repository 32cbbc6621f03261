#include "fs/runs/natural.h"

#include <string.h>

static size_t count_digits(const char *s)
{
	return strspn(s, "0123456789");
}

int pmfs_natural_compare(const char *a, const char *b)
{
	const char *x = a, *y = b;
	while (*x && *y) {
		size_t n = count_digits(x), m = count_digits(y);
		if (n == 0 || m == 0) {
			if (*x != *y)
				return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
			x++;
			y++;
			continue;
		}
		size_t zeros_x = strspn(x, "0"), zeros_y = strspn(y, "0");
		size_t len_x = n - zeros_x, len_y = m - zeros_y;
		int order = len_x != len_y ? (len_x < len_y ? -1 : 1)
					   : strncmp(x + zeros_x, y + zeros_y, len_x);
		if (order != 0)
			return order;
		x += n;
		y += m;
	}
	if (*x || *y)
		return *x ? 1 : -1;
	return strcmp(a, b);
}
