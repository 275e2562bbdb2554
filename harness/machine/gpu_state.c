#include "harness/machine/gpu_state.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* ---- The library ------------------------------------------------------------------------------------------------- */

/* Its functions, with the types in nvml.h; 0 is success. */
typedef struct nvml {
    void *library;
    int (*init)(void), (*shut_down)(void);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, void **);
    int (*by_bus)(const char *, void **);
    int (*name)(void *, char *, unsigned);
    int (*clock)(void *, int, unsigned *);       /* 1: of the multiprocessors, 2: of the memory; MHz */
    int (*power)(void *, unsigned *);            /* mW */
    int (*temperature)(void *, int, unsigned *); /* 0: of the chip; C */
    int (*reasons)(void *, unsigned long long *);
} nvml;

static const char library_name[] = "libnvidia-ml.so.1";
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2, SENSOR_CHIP = 0 };

static void take(const nvml *n, const char *name, void *function) { *(void **)function = dlsym(n->library, name); }

static void close_nvml(nvml *n) {
    if (n->shut_down) n->shut_down();
    if (n->library) dlclose(n->library);
    *n = (nvml){0};
}

/* Loads the library. `missing`: why it cannot be used, or "". Close it in either case. */
static void open_nvml(nvml *n, char *missing, size_t size) {
    *n = (nvml){.library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL)};
    missing[0] = '\0';
    if (!n->library) {
        snprintf(missing, size, "%s, a part of NVIDIA's driver, is not on this machine", library_name);
        return;
    }
    take(n, "nvmlInit_v2", &n->init);
    take(n, "nvmlDeviceGetCount_v2", &n->count);
    take(n, "nvmlDeviceGetHandleByIndex_v2", &n->by_index);
    take(n, "nvmlDeviceGetHandleByPciBusId_v2", &n->by_bus);
    take(n, "nvmlDeviceGetName", &n->name);
    take(n, "nvmlDeviceGetClockInfo", &n->clock);
    take(n, "nvmlDeviceGetPowerUsage", &n->power);
    take(n, "nvmlDeviceGetTemperature", &n->temperature);
    take(n, "nvmlDeviceGetCurrentClocksEventReasons", &n->reasons);
    if (!n->reasons) take(n, "nvmlDeviceGetCurrentClocksThrottleReasons", &n->reasons); /* its older name */
    if (!n->init || !n->count || !n->by_index) {
        snprintf(missing, size, "%s lacks functions that nvml.h declares", library_name);
        return;
    }
    const int error = n->init();
    if (error != 0)
        snprintf(missing, size, "%s cannot be initialised (error %d): is the driver loaded?", library_name, error);
    else
        take(n, "nvmlShutdown", &n->shut_down);
}

void pbd_gpu_names(char *out, size_t size) {
    nvml n;
    char missing[160];
    unsigned count = 0;
    out[0] = '\0';
    open_nvml(&n, missing, sizeof missing);
    if (!*missing && n.name && n.count(&count) == 0)
        for (unsigned i = 0; i < count; i++) {
            void *device = NULL;
            char name[96] = "";
            const size_t used = strlen(out);
            if (n.by_index(i, &device) == 0 && n.name(device, name, sizeof name) == 0)
                snprintf(out + used, size - used, "%s%s", used ? ", " : "", name);
        }
    close_nvml(&n);
}

/* ---- A sample ---------------------------------------------------------------------------------------------------- */

static void *find_device(const nvml *n, const char *bus) {
    void *device = NULL;
    if (*bus && n->by_bus && n->by_bus(bus, &device) == 0) return device;
    return n->by_index(0, &device) == 0 ? device : NULL;
}

static void look_at_device(const nvml *n, void *device, pbd_gpu_sample *out) {
    unsigned number = 0;
    unsigned long long bits = 0;
    if (n->clock && n->clock(device, CLOCK_SM, &number) == 0) out->clock_mhz = number;
    if (n->clock && n->clock(device, CLOCK_MEMORY, &number) == 0) out->memory_clock_mhz = number;
    if (n->power && n->power(device, &number) == 0) out->power_w = 1e-3 * number;
    if (n->temperature && n->temperature(device, SENSOR_CHIP, &number) == 0) out->temperature_c = number;
    if (n->reasons && n->reasons(device, &bits) == 0) out->held_back = bits;
}

void pbd_sample_gpu(const char *bus, pbd_gpu_sample *out) {
    nvml n;
    *out = (pbd_gpu_sample){.clock_mhz = -1, .memory_clock_mhz = -1, .power_w = -1, .temperature_c = -1};
    open_nvml(&n, out->missing, sizeof out->missing);
    void *device = *out->missing ? NULL : find_device(&n, bus);
    if (device)
        look_at_device(&n, device, out);
    else if (!*out->missing)
        snprintf(out->missing, sizeof out->missing, "%s shows no device", library_name);
    close_nvml(&n);
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

void pbd_gpu_held_back(const pbd_gpu_sample *sample, char *out, size_t size) {
    static const struct {
        unsigned long long bit;
        const char *name;
    } reasons[] = {{0x002, "application clock setting"},
                   {0x004, "software power cap"},
                   {0x008, "hardware slowdown"},
                   {0x010, "synchronised with other GPUs"},
                   {0x020, "thermal slowdown"},
                   {0x040, "hardware thermal slowdown"},
                   {0x080, "power brake"},
                   {0x100, "display clock setting"}};
    out[0] = '\0';
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const size_t used = strlen(out);
        if (sample->held_back & reasons[i].bit)
            snprintf(out + used, size - used, "%s%s", used ? ", " : "", reasons[i].name);
    }
}

void pbd_gpu_spell(const pbd_gpu_sample *sample, char *out, size_t size) {
    const struct {
        const char *before, *after;
        double value;
    } parts[] = {{"", " MHz", sample->clock_mhz},
                 {"memory ", " MHz", sample->memory_clock_mhz},
                 {"", " W", sample->power_w},
                 {"", " C", sample->temperature_c}};
    char why[200];
    snprintf(out, size, "%s", sample->missing);
    if (*sample->missing) return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t used = strlen(out);
        if (parts[i].value >= 0)
            snprintf(out + used, size - used, "%s%s%.0f%s", used ? ", " : "", parts[i].before, parts[i].value,
                     parts[i].after);
    }
    pbd_gpu_held_back(sample, why, sizeof why);
    const size_t used = strlen(out);
    if (*why) snprintf(out + used, size - used, "; throttled by: %s", why);
}

/* ---- In a run ---------------------------------------------------------------------------------------------------- */

static void record_pair(pbd_recorder *recorder, const char *name, const char *unit, double before, double after) {
    const double values[] = {before, after};
    if (before >= 0 && after >= 0) pbd_series(recorder, name, "value", unit, values, 2, 1);
}

static void record_reasons(pbd_recorder *recorder, const char *moment, const pbd_gpu_sample *sample) {
    char why[200];
    pbd_gpu_held_back(sample, why, sizeof why);
    if (*why) pbd_warning(recorder, "gpu_held_back", "%s the run the GPU's clocks were throttled by: %s", moment, why);
}

void pbd_record_gpu(pbd_recorder *recorder, const pbd_gpu_sample *before, const pbd_gpu_sample *after) {
    if (*before->missing) {
        pbd_warning(recorder, "gpu_not_watched", "clocks and power of the GPU are not known: %s", before->missing);
        return;
    }
    record_pair(recorder, "gpu_clock", "MHz", before->clock_mhz, after->clock_mhz);
    record_pair(recorder, "gpu_memory_clock", "MHz", before->memory_clock_mhz, after->memory_clock_mhz);
    record_pair(recorder, "gpu_power", "W", before->power_w, after->power_w);
    record_pair(recorder, "gpu_temperature", "C", before->temperature_c, after->temperature_c);
    record_reasons(recorder, "before", before);
    record_reasons(recorder, "after", after);
}
