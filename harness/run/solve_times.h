/* Repeated solves from one state, timed: `run --time`. */
#ifndef PBD_SOLVE_TIMES_H
#define PBD_SOLVE_TIMES_H

#include "harness/exec/exec.h"
#include "methods/method.h"

/* The state that every solve starts from. Owned: free(blob). */
typedef struct pbd_saved_state {
    void *blob;
    size_t bytes;
} pbd_saved_state;

/* PBD_NOT_SUPPORTED, with the method's name, when it cannot save its state. */
pbd_status pbd_save_state(const pbd_method *method, const void *state, pbd_saved_state *out);

/* Samples, s of one solve. Owned: pbd_solve_times_free. */
typedef struct pbd_solve_times {
    double *wall, *cpu;
    size_t samples, capacity;
    double wall_median, cpu_median;
    double instructions; /* of one solve; NaN on several threads, and without a counter of the processor */
} pbd_solve_times;
void pbd_solve_times_free(pbd_solve_times *times);

/* How to take samples. With `turns` another process decides when: the line «ready» is written to standard input,
 * which is a socket, and each byte 'g' from it is answered by a sample and the line «WALL CPU» (s of one solve),
 * until another byte comes or the other end closes. Two programs sampled in turns see the same bursts of noise. */
typedef struct pbd_sampling_plan {
    double seconds; /* minimum total time of the samples; 0: no samples */
    bool turns;
} pbd_sampling_plan;

/* Takes at least 3 samples. A sample lasts at least 10 ms: the number of solves for that is determined first and then
 * kept, so that all samples do the same work. Restoring the state is not timed. `solve` does one whole solve; an error
 * from it ends the sampling. */
pbd_status pbd_time_solves(const pbd_method *method, void *state, const pbd_saved_state *start, pbd_exec *exec,
                           pbd_status (*solve)(void *context), void *context, pbd_sampling_plan plan,
                           pbd_solve_times *out);

#endif
