/* Google Benchmark for C: benchmarks are registered as functions with a context, and run under its flags and reporters.
 *
 * bench.cc is the only C++ of the program; nothing that it throws leaves it. */
#ifndef PBD_BENCH_H
#define PBD_BENCH_H

#include "methods/method.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A number beside the time: of the whole repetition (then Google Benchmark divides it by the time: `rate`), or as it
 * is. */
typedef struct pbd_bench_counter {
    char name[48];
    double value;
    bool rate;
    const char *unit; /* as it is stored; of a rate: per second */
    pbd_kind kind;
} pbd_bench_counter;

enum { PBD_BENCH_COUNTERS = 24 };

/* One benchmark. All functions get `context`, which outlives the call of pbd_bench_run. */
typedef struct pbd_bench_entry {
    const char *name;
    int64_t iterations; /* of a repetition; 0: Google Benchmark's choice, by --benchmark_min_time */
    /* Before the iterations of a repetition, and before each iteration: sets up, untimed. */
    pbd_status (*begin)(void *context);
    pbd_status (*restore)(void *context);
    /* One iteration; *seconds is what it took, by its own clock. */
    pbd_status (*iterate)(void *context, double *seconds);
    /* After the last iteration (also after a failed one): fills in up to PBD_BENCH_COUNTERS and returns how many. */
    size_t (*end)(void *context, pbd_bench_counter *counters);
    /* After Google Benchmark has reported it: the last `repetitions` calls of begin ... end were what it reported. */
    void (*report)(void *context, int64_t repetitions);
    void *context;
} pbd_bench_entry;

/* Checks and takes Google Benchmark's flags (--benchmark_*); argv[0] is the program's name in its output. PBD_BAD_INPUT
 * for a flag or value that it does not know. Once per process, before pbd_bench_run. */
pbd_status pbd_bench_flags(int argc, char **argv);
/* A line «key: value» of the context that goes before the results. */
void pbd_bench_note(const char *key, const char *value);
/* Runs, or lists, those whose names match `filter` (a regular expression; NULL: the flag's, or all); *matched counts
 * them. An entry that fails is reported as such and the next one runs. PBD_BAD_INPUT for a filter that is none. */
pbd_status pbd_bench_run(const pbd_bench_entry *entries, size_t count, const char *filter, size_t *matched);

#ifdef __cplusplus
}
#endif
#endif
