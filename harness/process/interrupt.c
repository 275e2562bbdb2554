#include "harness/process/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupts;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupts = 1;
    signal(SIGINT, SIG_DFL); /* a second one kills */
}

void pbd_catch_interrupts(void) {
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool pbd_interrupted(void) { return interrupts != 0; }
