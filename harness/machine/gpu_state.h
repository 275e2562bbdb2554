/* What a GPU is doing: clocks, power, temperature and what holds it back, by NVIDIA's management library. That is part
 * of the driver and loaded when it is there; it is never linked. */
#ifndef PBD_GPU_STATE_H
#define PBD_GPU_STATE_H

#include "methods/method.h"

/* Numbers that the driver does not tell are -1. */
typedef struct pbd_gpu_sample {
    char missing[160]; /* why nothing is known, or "" */
    double clock_mhz, memory_clock_mhz;
    double power_w, temperature_c;
    unsigned long long held_back; /* bits of NVML's reasons why clocks are not higher */
} pbd_gpu_sample;

/* Names of the devices that the driver shows, with commas between; "" where there is none. */
void pbd_gpu_names(char *out, size_t size);

/* bus: PCI address of the device, as CUDA tells it; "": the first. */
void pbd_sample_gpu(const char *bus, pbd_gpu_sample *out);

/* «software power cap, thermal slowdown»: why the clocks were lower than they could be; "" for nothing or for a device
 * that had nothing to do. */
void pbd_gpu_held_back(const pbd_gpu_sample *sample, char *out, size_t size);

/* «1980 MHz, memory 3201 MHz, 412 W, 61 C»: what is known, or why nothing is. */
void pbd_gpu_spell(const pbd_gpu_sample *sample, char *out, size_t size);

/* Of a run: the series gpu_clock, gpu_memory_clock, gpu_power and gpu_temperature, each before and after; the warning
 * gpu_held_back where something held it back, gpu_not_watched where nothing is known. */
void pbd_record_gpu(pbd_recorder *recorder, const pbd_gpu_sample *before, const pbd_gpu_sample *after);

#endif
