/* Stands for the time of day in tests (LD_PRELOAD): each question finds it ten years ago, 400 days ahead or right, in
 * turn, and processes do not begin alike. All other clocks are the system's. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t jump(void) {
    static const time_t seconds[] = {-315360000, 34560000, 0};
    static unsigned asked;
    return seconds[((unsigned)getpid() + __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED)) % 3];
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    const int failed = (int)syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
    return failed;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec at;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &at);
    *now = (struct timeval){.tv_sec = at.tv_sec, .tv_usec = at.tv_nsec / 1000};
    return 0;
}
