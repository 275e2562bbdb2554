#include "harness/process/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/exec/clock.h"
#include "harness/process/exit_codes.h"

enum { GRACE = 1 }; /* s: most work without questions is over sooner */

static volatile sig_atomic_t interrupts;
static const char *volatile unpolled; /* the work during which pbd_interrupted is not asked; NULL: it is */

static void on_alarm(int signal_number) {
    const char *const parts[] = {"pbdbench: interrupted while ", unpolled, "\n"};
    (void)signal_number;
    if (!parts[1]) return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0) break;
    _exit(PBD_EXIT_INTERRUPTED);
}

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupts = 1;
    signal(SIGINT, SIG_DFL); /* a second one kills */
    signal(SIGTERM, SIG_DFL);
    if (unpolled) alarm(GRACE);
}

static void handle(int signal_number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void pbd_catch_interrupts(void) {
    handle(SIGALRM, on_alarm);
    handle(SIGINT, on_interrupt);
    handle(SIGTERM, on_interrupt);
}

static double deadline; /* s, of pbd_wall_seconds; 0: none */

void pbd_interrupt_after(double seconds) { deadline = seconds > 0 ? pbd_wall_seconds() + seconds : 0; }

bool pbd_time_is_over(void) { return interrupts == 0 && deadline > 0 && pbd_wall_seconds() >= deadline; }

bool pbd_interrupted(void) { return interrupts != 0 || pbd_time_is_over(); }

void pbd_interrupt_ends(const char *work) {
    if (work) fflush(stdout); /* what was said so far */
    unpolled = work;
    if (interrupts) alarm(work ? GRACE : 0);
}
