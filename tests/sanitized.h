/* Skips or shortens tests that would take minutes with sanitizers. */
#ifndef PBD_SANITIZED_H
#define PBD_SANITIZED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Called first by tests that judge numbers of long runs; other tests execute the same code. */
static inline void skip_if_sanitized(void) {
    if (SANITIZED) skip();
}

#endif
