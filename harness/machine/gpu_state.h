/* The state of a GPU: clocks, power, temperature and reasons for reduced clocks, from NVIDIA's management library. That
 * is part of the driver; it is loaded at run time if present, never linked. */
#ifndef PBD_GPU_STATE_H
#define PBD_GPU_STATE_H

#include "methods/method.h"

/* Numbers that the driver does not report are -1. */
typedef struct pbd_gpu_sample {
    char missing[160]; /* why nothing is known, or "" */
    double clock_mhz, memory_clock_mhz;
    double power_w, temperature_c;
    unsigned long long held_back; /* NVML's reasons for reduced clocks, as bits */
} pbd_gpu_sample;

/* Names of the devices that the driver lists, separated by commas; "" if there is none. */
void pbd_gpu_names(char *out, size_t size);

/* bus: PCI address of the device, as CUDA reports it; "": the first. */
void pbd_sample_gpu(const char *bus, pbd_gpu_sample *out);

/* «software power cap, thermal slowdown»: why the clocks were reduced; "" if they were not, or the device idle. */
void pbd_gpu_held_back(const pbd_gpu_sample *sample, char *out, size_t size);

/* «1980 MHz, memory 3201 MHz, 412 W, 61 C»: what is known, or why nothing is. */
void pbd_gpu_spell(const pbd_gpu_sample *sample, char *out, size_t size);

/* Records for a run: the series gpu_clock, gpu_memory_clock, gpu_power and gpu_temperature, each before and after; the
 * warning gpu_held_back if the clocks were reduced, gpu_not_watched if nothing is known. */
void pbd_record_gpu(pbd_recorder *recorder, const pbd_gpu_sample *before, const pbd_gpu_sample *after);

#endif
