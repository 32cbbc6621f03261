/*
 * Prints what perf would record of it with --call-graph dwarf, a line each: the architecture, its
 * own file and where its code is, its registers by perf's numbers, and its stack from the stack
 * pointer on.
 */
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Its own stack is what it reads. */
#define PLAIN __attribute__((noinline, no_sanitize("address")))

enum { STACK = 4096 };

static int print_map(struct dl_phdr_info *info, size_t size, void *top)
{
	char path[4096] = "";
	(void)size;
	(void)top;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return -1;
	for (int i = 0; i < info->dlpi_phnum; i++) { /* the first one is the program itself */
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && p->p_flags & PF_X)
			printf("map %" PRIx64 " %" PRIx64 " %" PRIx64 " %s\n",
				(uint64_t)(info->dlpi_addr + p->p_vaddr), (uint64_t)p->p_memsz,
				(uint64_t)p->p_offset, path);
	}
	return 1;
}

PLAIN static void print_stack(const uint64_t *registers, unsigned pointer)
{
	const unsigned char *sp = (const unsigned char *)(uintptr_t)registers[pointer];
	printf("registers");
	for (unsigned i = 0; i < 33; i++)
		printf(" %" PRIx64, registers[i]);
	printf("\nstack ");
	for (unsigned i = 0; i < STACK; i++)
		printf("%02x", sp[i]);
	printf("\n");
}

/* What is still needed after the copy, so that no call is a jump. */
volatile int kept;

PLAIN static void inner(const volatile char *filler)
{
	uint64_t r[33] = {0};
#if defined(__x86_64__)
	__asm__ volatile("mov %%rbx, 8(%0)\n mov %%rbp, 48(%0)\n mov %%rsp, 56(%0)\n"
			 "mov %%r12, 160(%0)\n mov %%r13, 168(%0)\n mov %%r14, 176(%0)\n"
			 "mov %%r15, 184(%0)\n lea 0f(%%rip), %%rax\n 0: mov %%rax, 64(%0)\n"
			 :
			 : "r"(r)
			 : "rax", "memory");
	printf("x86_64\n");
	print_stack(r, 7);
#elif defined(__aarch64__)
	__asm__ volatile("stp x19, x20, [%0, 152]\n stp x21, x22, [%0, 168]\n"
			 "stp x23, x24, [%0, 184]\n stp x25, x26, [%0, 200]\n"
			 "stp x27, x28, [%0, 216]\n stp x29, x30, [%0, 232]\n"
			 "mov x9, sp\n adr x10, 0f\n 0: stp x9, x10, [%0, 248]\n"
			 :
			 : "r"(r)
			 : "x9", "x10", "memory");
	printf("aarch64\n");
	print_stack(r, 31);
#endif
	kept += filler[0] + (int)r[0];
}

PLAIN static void middle(int n)
{
	volatile char filler[200]; /* a frame of a size of its own */
	filler[0] = (char)n;
	inner(filler);
	kept++;
}

PLAIN static void outer(int n)
{
	if (n > 0)
		outer(n - 1);
	else
		middle(n);
	kept++;
}

PLAIN int main(void)
{
	char *top = calloc(1, 1); /* more on the stack of main than a copy needs */
	volatile char below[STACK];
	below[0] = 0;
	dl_iterate_phdr(print_map, top);
	outer(2);
	free(top);
	return below[0] + (kept == INT32_MAX);
}
