/* Stands for NVIDIA's management library in tests: one device, with the numbers that the environment names. */
#include <stdio.h>
#include <stdlib.h>

static unsigned number(const char *name, unsigned preset) {
    const char *text = getenv(name);
    return text ? (unsigned)strtoul(text, NULL, 0) : preset;
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetName(void *device, char *name, unsigned size);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatt);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits);

static int the_device;

int nvmlInit_v2(void) { return (int)number("STUB_NVML_INIT", 0); }
int nvmlShutdown(void) { return 0; }

int nvmlDeviceGetCount_v2(unsigned *count) {
    *count = number("STUB_NVML_COUNT", 1);
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) {
    *device = &the_device;
    return index < number("STUB_NVML_COUNT", 1) ? 0 : 6;
}

int nvmlDeviceGetName(void *device, char *name, unsigned size) {
    (void)device;
    snprintf(name, size, "Stub GPU");
    return 0;
}

int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz) {
    (void)device;
    *mhz = kind == 1 ? 1755 : 3201; /* multiprocessors, memory */
    return 0;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatt) {
    (void)device;
    *milliwatt = 412345;
    return number("STUB_NVML_NO_POWER", 0) ? 3 : 0; /* NVML_ERROR_NOT_SUPPORTED */
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees) {
    (void)device;
    (void)sensor;
    *degrees = 61;
    return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *bits) {
    (void)device;
    *bits = number("STUB_NVML_REASONS", 0);
    return 0;
}
