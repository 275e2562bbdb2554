/* Extrapolation of whole sweeps: the rows after a sweep are replaced by a combination with those of earlier sweeps.
 *
 *     chebyshev  x_k = w_k (s_k - x_(k-2)) + x_(k-2),  s_k: the result of a sweep from x_(k-1), rho: its spectral
 *                radius. w is 1 in the plain sweeps (Wang 2015: ten), then 2/(2 - rho^2), then 4/(4 - rho^2 w).
 *                Converges if the eigenvalues of a sweep are real, as for symmetric Gauss-Seidel; a forward sweep has
 *                complex ones too
 *     anderson   x_k = s_k - sum_j t_j (s_j - s_(j-1)), with the t that minimise |f_k - sum_j t_j (f_j - f_(j-1))|,
 *                f_k = s_k - x_(k-1) (Walker and Ni 2011)
 *
 * A solver whose sweep also changes other numbers, such as the multipliers of XPBD, joins them to the rows: both get
 * the same weights.
 *
 * Each time step starts anew. If the solver has a function to minimise, a combination that increases it is rejected:
 * Chebyshev then stops for the rest of the step, and Anderson discards the earlier sweeps. */
#ifndef PBD_ACCELERATION_H
#define PBD_ACCELERATION_H

#include "methods/params.h"
#include "methods/physics/device/device_state.h"

PBD_PRECISE(acceleration_check, acceleration_create, acceleration_join, acceleration_arrays, acceleration_begin,
            acceleration_sweep)

#define ACCELERATION_PARAMS(REAL, INTEGER, CHOICE)                                                                \
    CHOICE(acceleration, "none", (none, chebyshev, anderson), "extrapolation of whole sweeps")                    \
    REAL(spectral_radius, "", "0", 0, 1, PBD_OPEN_MAX,                                                            \
         "acceleration=chebyshev: of a sweep; 0: the ratio of changes in the last two plain sweeps of each step") \
    INTEGER(plain_sweeps, "3", 2, 1000, "acceleration=chebyshev: first sweeps of a step without it")              \
    INTEGER(window, "5", 1, 8, "acceleration=anderson: earlier sweeps that are combined")
PBD_SETTINGS(acceleration_settings, ACCELERATION_PARAMS)

enum { ACCELERATION_MOST_WINDOW = 8 };

/* Writes the value, at the present rows, of the function that the solver minimises. */
typedef pbd_status (*acceleration_energy)(void *self, double *out);

typedef struct acceleration {
    acceleration_settings set;
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t rows, count; /* reals of the rows, 4 each; including the joined reals */
    real *joined;       /* device, owned by the solver; NULL: none */
    double scale;       /* factor of the joined reals in norms, m per their unit */
    long sweeps;        /* in the running step */
    bool off;           /* for the rest of the step */
    double rho, omega, changed, energy;
    int held; /* differences in the window */
    /* Device: rows before the last sweep, before the one preceding it, plain result of the last one; Anderson's f and
     * differences. */
    real *old, *older, *plain, *force, *force_step, *sweep_step, *sums;
} acceleration;

/* PBD_NOT_SUPPORTED with contact or colliders (`touches`): an extrapolation moves particles back into what they touch.
 */
pbd_status acceleration_check(acceleration_settings set, bool touches);
/* There are `particles` rows of 4 reals. */
void acceleration_create(acceleration *a, acceleration_settings set, size_t particles, pbd_exec *exec,
                         pbd_recorder *recorder);
/* Joins `count` further reals; call before the arrays are allocated. scale: as above. */
void acceleration_join(acceleration *a, size_t count, double scale);
size_t acceleration_arrays(const acceleration *a, device_array *row);
/* Call before the first sweep of a step. joined: replaced after each sweep, like the rows; NULL: none. */
pbd_status acceleration_begin(acceleration *a, const real *rows, real *joined);
/* Call after each sweep: replaces its result in `rows` by the combination. energy NULL: nothing to minimise. */
pbd_status acceleration_sweep(acceleration *a, real *rows, acceleration_energy energy, void *self);

#endif
