#include "harness/bench/predict.h"

#include <math.h>
#include <string.h>

#include "harness/bench/limits/probes.h"

/* Latencies: Hopper's global memory 400 cycles and an operation 4 (doi 10.1016/j.ultsonch.2023.106546, Table 3). For
 * the others they are assumed to be the same. The cost of a launch is assumed, not published. */
const pbd_figures pbd_published[] = {
    {.name = "h100",
     .multiprocessors = 132,
     .resident = 1024,
     .clock = 1.98e9,
     .bandwidth = 3.35e12,
     .flops = {66.9e12, 33.5e12},
     .memory_cycles = 400,
     .operation_cycles = 4,
     .launch = 2.5e-6,
     .source = "NVIDIA H100 data sheet (SXM): 3.35 TB/s, 67 and 34 TFLOPS, 132 multiprocessors"},
    {.name = "h200",
     .multiprocessors = 132,
     .resident = 1024,
     .clock = 1.98e9,
     .bandwidth = 4.8e12,
     .flops = {66.9e12, 33.5e12},
     .memory_cycles = 400,
     .operation_cycles = 4,
     .launch = 2.5e-6,
     .source = "NVIDIA H200 data sheet (SXM): 4.8 TB/s, 67 and 34 TFLOPS, 132 multiprocessors"},
    {.name = "rtx4090",
     .multiprocessors = 128,
     .resident = 768,
     .clock = 2.52e9,
     .bandwidth = 1.008e12,
     .flops = {82.6e12, 1.29e12},
     .memory_cycles = 400,
     .operation_cycles = 4,
     .launch = 2.5e-6,
     .source = "NVIDIA Ada architecture white paper: 1008 GB/s, 82.6 TFLOPS, f64 a 64th of it, 128 multiprocessors"},
    {0}};

enum {
    INDEX_BYTES = 4,
    ROW_NUMBERS = 4,
    PASS_ROWS = 5,    /* that both passes over neighbours read and write of one (limits_kernels.h) */
    INSTRUCTIONS = 2, /* of an operation, on a CPU */
    SCALAR = 2        /* instructions that a core starts for each that its vector units take */
};

static double best_of(const pbd_limit *limit) { return limit ? limit->best : 0; }

pbd_status pbd_figures_of_cpu(const pbd_limits *limits, int threads, pbd_figures *out) {
    *out = (pbd_figures){.name = "cpu", .source = "limits of this machine, measured by pbdbench env --measure"};
    out->flops[0] = best_of(pbd_limits_flops(limits, "cpu", "f32", threads));
    out->flops[1] = best_of(pbd_limits_flops(limits, "cpu", "f64", threads));
    out->rows[0] = PASS_ROWS * pbd_limits_passes(limits, "cpu", "f32", threads);
    out->rows[1] = PASS_ROWS * pbd_limits_passes(limits, "cpu", "f64", threads);
    out->lanes[0] = pbd_probes_float.lanes;
    out->lanes[1] = pbd_probes_double.lanes;
    if (!(out->flops[0] > 0 && out->flops[1] > 0 && out->rows[0] > 0 && out->rows[1] > 0))
        return pbd_error(PBD_NOT_SUPPORTED,
                         "the limits of this machine are not measured for %d thread%s: run pbdbench "
                         "env --measure",
                         threads, threads == 1 ? "" : "s");
    return pbd_ok();
}

/* Cycles of one thread. */
static double chain_of(const pbd_kernel_use *use, const pbd_figures *on) {
    const double threads = (double)use->threads;
    const double items = fmax(1, (double)use->lanes * (double)use->items / threads);
    const double entries = (double)use->entries / threads; /* of a lane, of all its items */
    const double operations = items * use->flops_per_item + entries * use->flops_per_entry + use->more_flops / threads;
    return on->memory_cycles * (3 * items + 2 * entries / 4) + on->operation_cycles * operations / 2;
}

/* Of an entry of a list: predict.h. */
static double rows_of_entry(const pbd_kernel_use *use, size_t real_bytes) {
    const double numbers = (use->bytes_per_entry - INDEX_BYTES) / (double)real_bytes;
    return numbers >= ROW_NUMBERS ? floor(numbers / ROW_NUMBERS) : 0;
}

/* Seconds of one operation on a CPU. */
static double operation_of(const pbd_kernel_use *use, bool is_f64, const pbd_figures *on) {
    const double vector = 2 * INSTRUCTIONS / on->flops[is_f64];
    const bool is_scalar = on->lanes[is_f64] > 1 && strcmp(use->shape, "item") == 0;
    return is_scalar ? vector * on->lanes[is_f64] / SCALAR : vector;
}

static pbd_prediction predict_cpu(const pbd_kernel_use *use, bool is_f64, const pbd_figures *on) {
    const size_t real_bytes = is_f64 ? sizeof(double) : sizeof(float);
    const double rows = (double)use->entries * rows_of_entry(use, real_bytes);
    const double operation = operation_of(use, is_f64, on);
    const double of_entries = operation * (double)use->entries * use->flops_per_entry;
    pbd_prediction p = {.bandwidth = (use->bytes - rows * (double)(ROW_NUMBERS * real_bytes)) / on->bandwidth,
                        .arithmetic = operation * use->flops,
                        .latency = rows / on->rows[is_f64],
                        .launches = (double)use->launches * on->launch};
    p.total = p.bandwidth + fmax(p.latency, of_entries) + (p.arithmetic - of_entries) + p.launches;
    return p;
}

pbd_prediction pbd_predict(const pbd_kernel_use *use, bool is_f64, const pbd_figures *on) {
    if (on->resident <= 0) return predict_cpu(use, is_f64, on);
    const double of_launch = (double)use->threads / (double)use->launches;
    const double waves = fmax(1, of_launch / (on->multiprocessors * on->resident));
    pbd_prediction p = {.bandwidth = use->bytes / on->bandwidth,
                        .arithmetic = 2 * use->flops / on->flops[is_f64],
                        .launches = (double)use->launches * on->launch,
                        .chain = chain_of(use, on)};
    p.latency = (double)use->launches * waves * p.chain / on->clock;
    p.total = fmax(p.bandwidth, fmax(p.arithmetic, p.latency)) + p.launches;
    return p;
}
