/* A model of the time of a method's kernels, which can be wrong: what bandwidth, arithmetic, latency and launches would
 * each take. From the bytes and operations that kernels declare and from figures of a machine; nothing here is measured
 * but a machine's own limits, and no factor is fitted to a kernel.
 *
 *     bandwidth    bytes over the bandwidth of memory
 *     arithmetic   operations over half the peak, which counts a fused multiply-add as two; CPU: over a quarter
 *     latency      GPU: the dependent chain of a thread, times the waves of threads that the device takes one after
 *                  another. CPU: rows of partners in lists, at the rate of passes over neighbours that were measured
 *     launches     their number times the cost of one
 *
 * GPU: the largest of the first three, and the launches. Each byte is moved once. The chain of a thread: for each of
 * its items three memory accesses that wait for one another (index, row, store), four entries of a lane at once in two
 * more, and its operations at the latency of one, two of them side by side.
 *
 * CPU: bandwidth, launches, the operations of items, and of entries the larger of rows and operations, since rows were
 * measured together with the operations of their passes.
 *     - Entries of a list name their partner by an index of 4 bytes. Rows are of four numbers: whole fours of an
 *       entry's numbers are rows of its partner, the rest is stored with the entry.
 *     - A particle's row is an item's own once in a launch, and is then used again for each of its neighbours, from a
 *       cache: of entries, only the index and what is stored with them count as bytes. The two passes over neighbours
 *       that were measured, with their particles in a cache, use five rows an entry and tell what a row costs. Of their
 *       two forms the faster counts.
 *     - Entries without a row, as the candidates of a search or the walls of a particle, are contiguous: they cost
 *       bandwidth and arithmetic.
 *     - Bandwidth is that of the triad over as many bytes as the method has allocated: a body that fits in the last
 *       cache is read from there in each sweep.
 *     - Each operation comes with one more instruction that loads, stores, shuffles or selects: a quarter of the peak.
 *     - Kernels of the shape `item` are not vectorised: an operation takes as long there as one of a batch on all
 *       lanes, over two, since a core starts twice as many instructions a cycle as it has vector units.
 */
#ifndef PBD_PREDICT_H
#define PBD_PREDICT_H

#include "harness/bench/kernel_trial.h"

typedef struct pbd_figures {
    const char *name;                 /* h100, h200, rtx4090; cpu: this machine's processor */
    double multiprocessors, resident; /* resident: threads of one at half of its largest number; 0: no GPU */
    double clock;                     /* Hz */
    double bandwidth;                 /* B/s */
    double flops[2];                  /* flop/s in f32 and f64, a fused multiply-add as two */
    double memory_cycles, operation_cycles;
    double launch;  /* s */
    double rows[2]; /* a second, of partners, from a cache, in f32 and f64; 0: not known */
    int lanes[2];   /* CPU: numbers of a SIMD batch, in f32 and f64 */
    const char *source;
} pbd_figures;

/* Published figures of named devices, in the order of a list that ends with a name of NULL. */
extern const pbd_figures pbd_published[];

/* Of this machine's processor, from its measured limits; all but bandwidth, which depends on the method's memory
 * (pbd_limits_triad). PBD_NOT_SUPPORTED where limits are not measured. */
pbd_status pbd_figures_of_cpu(const pbd_limits *limits, int threads, pbd_figures *out);

typedef struct pbd_prediction {
    double bandwidth, arithmetic, latency, launches, total; /* s of a step */
    double chain;                                           /* cycles of one thread; 0 on a CPU */
} pbd_prediction;

pbd_prediction pbd_predict(const pbd_kernel_use *use, bool is_f64, const pbd_figures *on);

#endif
