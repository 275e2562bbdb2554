/* The build and the machine, as stored with every run. The only file that includes the generated build_info.h. */
#include "harness/machine/environment.h"

#include <hwloc.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <xxhash.h>

#include "build_info.h"
#include "harness/machine/gpu_state.h"

/* `pbdbench env` lists the licences of the libraries; this is their result for the whole program. */
static const char licence[] =
    "pbdbench is MIT. The program loads libcsv and a part of NLopt under LGPL-2.1-or-later, unchanged and replaceable, "
    "and Google Benchmark under Apache-2.0; the other libraries are MIT, ISC, BSD, public domain, or GPL with GCC's "
    "runtime exception. Passed on as a whole it is MIT AND Apache-2.0 AND LGPL-2.1-or-later; nothing in it makes it "
    "GPL. The test programs load GSL and are GPL-3.0-or-later.";

const pbd_build *pbd_this_build(void) {
    static const pbd_build build = {
        .git_sha = PBD_BUILD_SHA,
        .dirty = PBD_BUILD_DIRTY,
        .source = PBD_BUILD_SOURCE,
        .compiler = PBD_BUILD_COMPILER,
        .flags = PBD_BUILD_FLAGS,
        .preset = PBD_BUILD_PRESET,
        .licence = licence,
        .version = PBD_BUILD_VERSION,
    };
    return &build;
}

/* ---- Reading small files of the kernel --------------------------------------------------------------------------- */

/* Reads the value of the first line KEY<separator>VALUE of a file such as /proc/meminfo; false if there is none. */
static bool read_key(const char *path, const char *key, char separator, char *value, size_t size) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[512];
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        char *split = strchr(line, separator);
        if (!split) continue;
        char *end = split;
        while (end > line && strchr(" \t", end[-1])) end--;
        *end = '\0';
        if (strcmp(line, key) != 0) continue;
        char *start = split + 1 + strspn(split + 1, " \t\"");
        start[strcspn(start, "\"\n")] = '\0';
        snprintf(value, size, "%s", start);
        found = true;
    }
    fclose(file);
    return found;
}

/* The number that a file consists of; -1 when it cannot be read. */
static long read_number(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    long value = -1;
    if (fscanf(file, "%ld", &value) != 1) value = -1;
    fclose(file);
    return value;
}

/* ---- The machine: what stays ------------------------------------------------------------------------------------- */

static const char *widest_isa(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "avx512f";
    if (__builtin_cpu_supports("avx2")) return "avx2";
    if (__builtin_cpu_supports("avx")) return "avx";
    if (__builtin_cpu_supports("sse4.2")) return "sse4.2";
    return "sse2";
#elif defined(__aarch64__)
    return "neon";
#else
    return "unknown";
#endif
}

/* "Debian GNU/Linux 12 (bookworm), Linux 6.1, x86_64": without the kernel's patch level, which every update changes. */
static void read_os(char *out, size_t size) {
    char distribution[64] = "unknown";
    read_key("/etc/os-release", "PRETTY_NAME", '=', distribution, sizeof distribution);
    struct utsname kernel;
    if (uname(&kernel) != 0) {
        snprintf(out, size, "%s", distribution);
        return;
    }
    char *dot = strchr(kernel.release, '.');
    if (dot) dot[1 + strspn(dot + 1, "0123456789")] = '\0';
    snprintf(out, size, "%s, %.16s %.16s, %.16s", distribution, kernel.sysname, kernel.release, kernel.machine);
}

/* Size of the cache of this type above the first core; 0 when hwloc does not know. */
static long cache_kib(hwloc_topology_t topology, hwloc_obj_type_t type) {
    hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
    return cache ? (long)(cache->attr->cache.size / 1024) : 0;
}

static int count_of(hwloc_topology_t topology, hwloc_obj_type_t type) {
    int count = hwloc_get_nbobjs_by_type(topology, type);
    return count > 0 ? count : 0;
}

/* hwloc reads the whole machine, not only what this process may use, so that `taskset` does not change the fingerprint;
 * but nothing that takes time and is not used below. */
static unsigned long topology_flags(void) {
    unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
#if HWLOC_API_VERSION >= 0x00020800
    flags |= HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS;
#endif
    return flags;
}

static void take_topology(hwloc_topology_t topology, pbd_machine *out) {
    out->packages = count_of(topology, HWLOC_OBJ_PACKAGE);
    out->cores = count_of(topology, HWLOC_OBJ_CORE);
    out->threads = count_of(topology, HWLOC_OBJ_PU);
    out->l1d_kib = cache_kib(topology, HWLOC_OBJ_L1CACHE);
    out->l2_kib = cache_kib(topology, HWLOC_OBJ_L2CACHE);
    out->l3_kib = cache_kib(topology, HWLOC_OBJ_L3CACHE);
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (model) snprintf(out->cpu, sizeof out->cpu, "%s", model);
}

/* `without` is a component of hwloc, or NULL. */
static void load_topology(const char *without, pbd_machine *out) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) return;
    hwloc_topology_set_flags(topology, topology_flags());
    if (without) hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, without);
    if (hwloc_topology_load(topology) == 0) take_topology(topology, out);
    hwloc_topology_destroy(topology);
}

/* On most machines the kernel's files are sufficient. Only if they are not, hwloc moves this process from core to core
 * to query each. */
static void read_topology(pbd_machine *out) {
    setenv("HWLOC_HIDE_ERRORS", "2", 0); /* a root file system without /sys is not our error */
    /* hwloc's plug-ins, which find displays and PCI devices, take longer to load than everything else together. */
    setenv("HWLOC_PLUGINS_PATH", "/dev/null", 0);
    load_topology("x86", out);
    if (out->cores == 0 || out->l1d_kib == 0) load_topology(NULL, out);
}

/* The memory that the kernel can use, rounded up to GiB, since the kernel's own share differs from boot to boot. */
static long read_memory_mib(void) {
    const long kib_of_gib = 1024 * 1024;
    char kib[64];
    if (!read_key("/proc/meminfo", "MemTotal", ':', kib, sizeof kib)) return 0;
    return (strtol(kib, NULL, 10) + kib_of_gib - 1) / kib_of_gib * 1024;
}

/* Hash of all fields as they are stored, so that equal fingerprints mean equal rows. */
static void fingerprint(pbd_machine *machine) {
    char all[768];
    int length = snprintf(all, sizeof all, "%s|%s|%s|%s|%d|%d|%d|%ld|%ld|%ld|%ld", machine->cpu, machine->os,
                          machine->isa, machine->gpu, machine->packages, machine->cores, machine->threads,
                          machine->l1d_kib, machine->l2_kib, machine->l3_kib, machine->memory_mib);
    XXH128_hash_t hash = XXH3_128bits(all, (size_t)length);
    snprintf(machine->fingerprint, sizeof machine->fingerprint, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

/* Determined once: the topology takes some milliseconds, and a store needs the machine for every run it looks up. */
static pthread_once_t looked = PTHREAD_ONCE_INIT;
static pbd_machine this_machine;

static void look_at_machine(void) {
    pbd_machine *m = &this_machine;
    *m = (pbd_machine){.cpu = "unknown"};
    read_topology(m);
    if (strcmp(m->cpu, "unknown") == 0) read_key("/proc/cpuinfo", "model name", ':', m->cpu, sizeof m->cpu);
    m->memory_mib = read_memory_mib();
    read_os(m->os, sizeof m->os);
    snprintf(m->isa, sizeof m->isa, "%s", widest_isa());
    pbd_gpu_names(m->gpu, sizeof m->gpu);
    fingerprint(m);
}

pbd_status pbd_this_machine(pbd_machine *out) {
    pthread_once(&looked, look_at_machine);
    *out = this_machine;
    return pbd_ok();
}

/* ---- The machine: what changes ----------------------------------------------------------------------------------- */

/* From cpufreq if available, else from the core's paragraph of /proc/cpuinfo. */
static double current_clock_mhz(void) {
    int cpu = sched_getcpu();
    if (cpu < 0) return -1;
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", cpu);
    long khz = read_number(path);
    if (khz > 0) return (double)khz / 1000;

    FILE *file = fopen("/proc/cpuinfo", "r");
    if (!file) return -1;
    char line[2048];
    int paragraph = -1;
    double mhz = -1;
    while (mhz < 0 && fgets(line, sizeof line, file)) {
        sscanf(line, "processor : %d", &paragraph);
        if (paragraph == cpu && sscanf(line, "cpu MHz : %lf", &mhz) != 1) mhz = -1;
    }
    fclose(file);
    return mhz;
}

/* Thermal events of all cores so far; only the change over a run is meaningful. */
static long throttle_events(void) {
    static const char *const counters[] = {"core_throttle_count", "package_throttle_count"};
    long cpus = sysconf(_SC_NPROCESSORS_CONF), total = -1;
    for (long cpu = 0; cpu < cpus; cpu++) {
        for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
            char path[96];
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%ld/thermal_throttle/%s", cpu, counters[i]);
            long events = read_number(path);
            if (events < 0) break; /* a machine without counters: do not ask for each of them */
            total = (total < 0 ? 0 : total) + events;
        }
        if (total < 0) break;
    }
    return total;
}

void pbd_sample_machine(pbd_machine_sample *out) {
    double load;
    char kib[64];
    out->load_1min = getloadavg(&load, 1) == 1 ? load : -1;
    out->clock_mhz = current_clock_mhz();
    out->throttle_count = throttle_events();
    out->memory_free_mib =
        read_key("/proc/meminfo", "MemAvailable", ':', kib, sizeof kib) ? strtol(kib, NULL, 10) / 1024 : -1;
}
