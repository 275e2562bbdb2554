/* The state of pbd_distance. pbd_distance.c has the method; pbd_distance_linear.c has what comes from a step linearised
 * about rest. */
#ifndef PBD_DISTANCE_H
#define PBD_DISTANCE_H

#include "methods/params.h"
#include "methods/pbd_distance/hex_constraints.h"
#include "methods/physics/device/device_state.h"

PBD_PRECISE(pbd_distance_project, pbd_distance_solve_static, pbd_distance_record_jacobian_error,
            pbd_distance_record_spectrum)

#define PBD_DISTANCE_PARAMS(REAL, INTEGER, CHOICE)                                                                    \
    CHOICE(mode, "dynamic", (dynamic, static), "step until at rest, or solve K_PBD u = f")                            \
    CHOICE(solver, "jacobi", (jacobi, coloured_gs), "jacobi as the paper analyses, coloured_gs as PBD is used")       \
    INTEGER(iterations, "1", 1, 10000, "projections a step")                                                          \
    CHOICE(stiffness, "fitted", (fitted, polynomial, fixed),                                                          \
           "fitted to FEM, the printed polynomials, or fixed by k_*")                                                 \
    REAL(k_edge, "", "0.05", 0, 1, 0, "stiffness=fixed: of edges")                                                    \
    REAL(k_face, "", "0.16", 0, 1, 0, "stiffness=fixed: of face diagonals")                                           \
    REAL(k_diagonal, "", "0.12", 0, 1, 0, "stiffness=fixed: of inner diagonals")                                      \
    REAL(k_volume, "", "0", 0, 1, 0, "stiffness=fixed: of volumes")                                                   \
    CHOICE(fit, "bounded_lsq", (bounded_lsq, nelder_mead, deformation_tests),                                         \
           "stiffness=fitted: Eq. 11 directly, by Nelder-Mead, or to the deformation tests")                          \
    REAL(fit_start, "", "0.1", 0, 1, 0, "stiffness=fitted, fit=nelder_mead: every stiffness at the start")            \
    INTEGER(fit_iterations, "1", 0, 1000, "Jacobi iterations that are fitted (paper: 1); 0: as `iterations`")         \
    CHOICE(constraints, "all", (all, no_volume), "with or without volume constraints")                                \
    CHOICE(face_split, "mean_of_projections", (A, B, averaged_gradient, mean_of_projections),                         \
           "triangles of the volume constraint (R-7)")                                                                \
    CHOICE(mass_norm, "spectral", (spectral, frobenius), "norm of M in Eq. 10 (R-4)")                                 \
    REAL(dt, "s", "0", 0, 1e3, 0, "time step; 0: by Eq. 10")                                                          \
    REAL(dt_scale, "", "1", 0, 1e6, PBD_OPEN_MIN, "multiplies the time step, not the fit")                            \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities")                                                             \
    REAL(velocity_threshold, "size/step", "1e-9", 0, 1, PBD_OPEN_MIN,                                                 \
         "mode=dynamic: at rest when every particle moves less than this fraction of the body's size in each of "     \
         "two steps")                                                                                                 \
    INTEGER(max_steps, "200000", 1, 1e9, "mode=dynamic: largest number of steps, then not_settled")                   \
    CHOICE(spectrum, "no", (no, yes), "record the largest eigenvalue of a Jacobi iteration (R-12)")                   \
    CHOICE(jacobian, "no", (no, yes), "record K_PBD by finite differences of the projection against the closed form") \
    INTEGER(order_samples, "0", 0, 1e6, "record K of Gauss-Seidel, averaged over this number of random orders")       \
    INTEGER(order_seed, "1", 0, 1e9, "order_samples>0: of those orders")
PBD_SETTINGS(pbd_distance_settings, PBD_DISTANCE_PARAMS)

/* Constraints of one kind on the device, sorted by stage (pbd_cut_colours). */
typedef struct coloured {
    size_t count, stages;
    size_t *first;      /* stages + 1; Jacobi: none */
    uint32_t *order;    /* host: position on the device -> constraint in mesh order */
    uint32_t *particle; /* device: count x arity */
    real *rest[2];      /* device; distances: [0], m; volumes: splits A and B, m^3 x 6 */
} coloured;

typedef struct pbd_distance {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles, held_count;
    coloured kind[HEX_KINDS];
    real *x, *v, *a, *p;                  /* device: particles x 4 */
    real *impulse;                        /* device: Jacobi only, rows of 4 */
    uint32_t *gather_first, *gather_slot; /* device: Jacobi only */
    uint32_t *held;                       /* device */
    real *held_rest;                      /* device: held x 4 */
    real *fastest;                        /* device: per block of particles, m/s */
    pbd_arena stages;                     /* of kind[].first */
    pbd_distance_settings set;
    double k[HEX_KINDS], dt, extent; /* dt: time step, s */
    pbd_fixing fixing;
    /* Host, f64: for the linear analysis and for reading results. */
    hex_constraints constraints;
    double *rest, *forces, *masses; /* forces include the weight */
    bool *is_held;
    pbd_residual *watched;                   /* receives the residual of the running step; NULL: not measured */
    pbd_repeat *repeat;                      /* the launches of a step */
    double *static_predicted, *static_after; /* displacements of mode=static, particles x 3; NULL before a solve */
} pbd_distance;

/* One iteration on s->p, kind by kind and stage by stage, without resetting the held particles. Kinds of zero stiffness
 * are skipped. */
pbd_status pbd_distance_project(pbd_distance *s);

/* mode=static: displacements before and after the projection of a step at rest (Eq. 6 with K_PBD of Eq. 9). */
pbd_status pbd_distance_solve_static(pbd_distance *s);
/* Compares K_PBD from central differences of the projection kernels with the closed form, one column per unknown, with
 * no particle held. The error is relative to the norm of the closed form. */
pbd_status pbd_distance_record_jacobian_error(pbd_distance *s);
/* The largest eigenvalue of a Jacobi iteration. */
pbd_status pbd_distance_record_spectrum(pbd_distance *s);

#endif
