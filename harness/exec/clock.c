#include "harness/exec/clock.h"

#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double pbd_wall_seconds(void) { return seconds_of(CLOCK_MONOTONIC); }
double pbd_cpu_seconds(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID) + pbd_cpu_followed(); }

/* The children that this process follows. A child that has ended keeps the time that was last read. */
enum { MOST_FOLLOWED = 8 };
static struct {
    int child;
    double seconds; /* last read */
} followed[MOST_FOLLOWED];
static double ended;

static void look_at(int i) {
    clockid_t clock;
    struct timespec now;
    if (clock_getcpuclockid(followed[i].child, &clock) != 0 || clock_gettime(clock, &now) != 0) return;
    followed[i].seconds = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double pbd_cpu_followed(void) {
    double sum = ended;
    for (int i = 0; i < MOST_FOLLOWED; i++) {
        if (followed[i].child > 0) look_at(i);
        sum += followed[i].seconds;
    }
    return sum;
}

void pbd_cpu_follow(int child) {
    for (int i = 0; i < MOST_FOLLOWED; i++)
        if (followed[i].child <= 0) {
            followed[i].child = child;
            return;
        }
}

void pbd_cpu_unfollow(int child) {
    for (int i = 0; i < MOST_FOLLOWED; i++) {
        if (followed[i].child != child) continue;
        look_at(i);
        ended += followed[i].seconds;
        followed[i].child = 0;
        followed[i].seconds = 0;
    }
}
