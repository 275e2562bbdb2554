#include "harness/exec/instructions.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int pbd_instructions_open(void) {
    struct perf_event_attr what = {.size = sizeof what,
                                   .type = PERF_TYPE_HARDWARE,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    return (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

double pbd_instructions_read(int counter) {
    struct {
        uint64_t value, enabled, running; /* ns; less running than enabled: the counter was shared */
    } now;
    if (counter < 0 || read(counter, &now, sizeof now) != sizeof now || now.running < now.enabled) return (double)NAN;
    return (double)now.value;
}
