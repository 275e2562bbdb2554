/* What the suite leaves out or makes shorter where sanitizers make it take minutes. */
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

/* Ends a test that judges numbers of long runs, at its beginning: other tests execute the same code. */
static inline void skip_if_sanitized(void) {
    if (SANITIZED) skip();
}

#endif
