/* The build and the machine, as stored with every run. */
#ifndef PBD_ENVIRONMENT_H
#define PBD_ENVIRONMENT_H

#include "methods/method.h"

typedef struct pbd_build {
    const char *git_sha; /* 40 hex digits, or "unknown" outside a checkout */
    bool dirty;          /* tracked files differed from that commit */
    const char *source;  /* 32 hex digits: hash of the sources as compiled; equal sources, equal results */
    const char *compiler, *flags, *preset, *licence;
    const char *version;
} pbd_build;

const pbd_build *pbd_this_build(void);

/* What does not change from run to run on one machine: the fingerprint is a hash of these. */
typedef struct pbd_machine {
    char fingerprint[33];
    char cpu[128];
    char os[128]; /* kernel and distribution */
    char isa[64]; /* widest SIMD: avx512f, avx2, ... */
    int packages, cores, threads;
    long l1d_kib, l2_kib, l3_kib; /* own cache of a core, or shared one; 0: unknown */
    long memory_mib;
    char gpu[128]; /* "": none */
} pbd_machine;

/* Fills in *out (hwloc, uname, /proc). A field that cannot be read stays 0 or "unknown"; never fails on that. */
pbd_status pbd_this_machine(pbd_machine *out);

/* What changes: sampled before and after a run. Fields that cannot be read are -1. */
typedef struct pbd_machine_sample {
    double load_1min;
    double clock_mhz;    /* of the current core */
    long throttle_count; /* thermal throttle events so far */
    long memory_free_mib;
} pbd_machine_sample;

void pbd_sample_machine(pbd_machine_sample *out);

#endif
