/* cmocka, and the headers that it requires before itself. */
#ifndef PROFMOUNT_TESTS_UNITTEST_H
#define PROFMOUNT_TESTS_UNITTEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
