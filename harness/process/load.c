#include "harness/process/load.h"

#include <stdio.h>
#include <unistd.h>

long pbd_running_others(void) {
    long running = 1;
    FILE *file = fopen("/proc/loadavg", "re");
    if (!file) return 0;
    if (fscanf(file, "%*f %*f %*f %ld", &running) != 1) running = 1;
    fclose(file);
    return running - 1;
}

/* The first line: user nice system idle iowait irq softirq steal, in ticks of all processors. */
static void read_ticks(unsigned long long *total, unsigned long long *stolen) {
    unsigned long long tick[8] = {0};
    *total = *stolen = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (!file) return;
    if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &tick[0], &tick[1], &tick[2], &tick[3], &tick[4],
               &tick[5], &tick[6], &tick[7]) == 8) {
        for (int i = 0; i < 8; i++) *total += tick[i];
        *stolen = tick[7];
    }
    fclose(file);
}

void pbd_load_begin(pbd_load_meter *meter) {
    *meter = (pbd_load_meter){.samples = 0};
    read_ticks(&meter->total, &meter->stolen);
}

void pbd_load_sample(pbd_load_meter *meter) {
    meter->running += (double)pbd_running_others();
    meter->samples++;
}

pbd_load pbd_load_end(const pbd_load_meter *meter) {
    unsigned long long total, stolen;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pbd_load load = {0, 0};
    read_ticks(&total, &stolen);
    if (meter->samples > 0 && processors > 0)
        load.others = meter->running / (double)meter->samples / (double)processors;
    if (total > meter->total) load.steal = (double)(stolen - meter->stolen) / (double)(total - meter->total);
    return load;
}

bool pbd_is_busy(const pbd_load *load) { return load->others > 0.25 || load->steal > 0.01; }
