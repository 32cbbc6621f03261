/*
 * Shared by the generators of large sources: one output file at a time, little-endian numbers, and
 * a hash for reproducible choices. A failure ends the program with one line.
 */
#ifndef PROFMOUNT_TESTS_BENCH_MAKE_H
#define PROFMOUNT_TESTS_BENCH_MAKE_H

#include <stddef.h>
#include <stdint.h>

_Noreturn void make_die(const char *what);
uint64_t make_number(const char *text);
void make_folder(const char *path);
uint32_t make_mix(uint32_t x);

/* Opens folder/name, or the path `name` where `folder` is NULL. */
void out_open(const char *folder, const char *name);
void out_close(void);

void out_bytes(const void *p, size_t n);
void out_int(uint64_t v, unsigned bytes);
void out_f64(double f);
void out_zeros(uint64_t n);
void out_pad_to(uint64_t at);

#endif
