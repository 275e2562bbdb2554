/* The clock on the wall, for methods that tell how long their iterations took. Host. */
#ifndef PBD_CLOCK_H
#define PBD_CLOCK_H

#include <time.h>

/* s, from any start. */
static inline double clock_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
