/* Runs a fuzz target over files: what a fuzzer found once is an ordinary test from then on. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run(const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) != 0) {
		fprintf(stderr, "%s: cannot be read\n", path);
		return 1;
	}
	long size = ftell(f);
	rewind(f);
	uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
	size_t n = data && size > 0 ? fread(data, 1, (size_t)size, f) : 0;
	fclose(f);
	LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;
	for (int i = 1; i < argc; i++)
		failed |= run(argv[i]);
	return failed;
}
