#include "harness/process/spinning.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/process/load.h"

/* Some 20 us: longer than between two kernels of a step, and nothing beside a time slice. */
#define SPIN_COUNT "1000"

void pbd_limit_spinning(char **argv) {
    char program[PATH_MAX + 1];
    if (getenv("GOMP_SPINCOUNT") || getenv("OMP_WAIT_POLICY")) return;
    if (pbd_running_others() < sysconf(_SC_NPROCESSORS_ONLN)) return;
    const ssize_t length = readlink("/proc/self/exe", program, PATH_MAX);
    if (length <= 0) return;
    program[length] = '\0';
    if (setenv("GOMP_SPINCOUNT", SPIN_COUNT, 1) == 0) execv(program, argv);
}
