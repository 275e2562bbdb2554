/* The load by other processes while something is timed. */
#ifndef PBD_LOAD_H
#define PBD_LOAD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pbd_load {
    double others; /* other threads that run or could, per processor, mean over the samples */
    double steal;  /* share of all processor time that the host of a virtual machine gave to others */
} pbd_load;

typedef struct pbd_load_meter {
    double running;
    size_t samples;
    unsigned long long total, stolen; /* of /proc/stat, at the start */
} pbd_load_meter;

void pbd_load_begin(pbd_load_meter *meter);
/* Counts who runs now; to be called while none of our own children does. */
void pbd_load_sample(pbd_load_meter *meter);
/* Zeros where the system does not say. */
pbd_load pbd_load_end(const pbd_load_meter *meter);

/* Others take more than a quarter of a processor each, or the host more than a hundredth. */
bool pbd_is_busy(const pbd_load *load);

/* Other threads of the machine that run or could; 0 where that cannot be read. */
long pbd_running_others(void);

#endif
