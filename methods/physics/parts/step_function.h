/* The function that a step of implicit Euler minimises, for tetrahedra with lumped masses:
 *
 *     G(x) = sum_i m_i |x_i - y_i|^2 / (2 dt^2) + sum_e V_e psi(F_e),   y = x_n + dt v_n + dt^2 a
 *
 * Here are its value, gradient and exact minimiser, the reference for every solver of such steps. Host code, f64, any
 * law of laws.def without a join, any number of materials. */
#ifndef PBD_STEP_FUNCTION_H
#define PBD_STEP_FUNCTION_H

#include "methods/physics/math/sparse.h"

typedef struct step_function {
    size_t particles, tets, materials;
    uint32_t *corner;  /* tets x 4 */
    int *place;        /* of pbd_sparse_find_places */
    uint8_t *material; /* tets; NULL: the first */
    double *shape;     /* tets x 12: gradients of the shape functions of the corners, 1/m */
    double *rows;      /* 9 x tets: the same of the first three corners, for batches */
    double *volume;    /* tets, m^3 */
    double *mass;      /* particles, kg */
    bool *held;        /* particles x 3 */
    pbd_material of[PBD_MOST_MATERIALS];
    double extent;                     /* m */
    double dt;                         /* s */
    double *y;                         /* particles x 3, m */
    pbd_factors *factors;              /* of the matrix; their permutations are reused */
    pbd_sparse matrix;                 /* free unknowns */
    double *gradient, *packed, *trial; /* scratch */
} step_function;

/* Copies what it needs from the scene. *out may be freed also after an error. */
pbd_status step_function_create(const pbd_scene *scene, step_function *out);
void step_function_free(step_function *s); /* safe on a zeroed one */

/* Sets dt and y from positions and velocities at the start of the step (particles x 3) and accelerations by the scene's
 * loads: gravity, and forces over masses (NULL: none). Held particles: y = x. */
void step_function_begin(step_function *s, double dt, const double *x, const double *v, const double gravity[3],
                         const double *forces);

/* G at x, particles x 3; J. NaN where a law is undefined. */
double step_function_value(const step_function *s, const double *x);
/* dG/dx, N, particles x 3; 0 for held particles. Returns G. */
double step_function_gradient(const step_function *s, const double *x, double *out);
/* sqrt(sum_i m_i |a_i - b_i|^2), sqrt(kg) m. */
double step_function_distance(const step_function *s, const double *a, const double *b);

/* Newton's method with a line search from x, to rounding: x becomes the minimiser. PBD_NO_EQUILIBRIUM: it did not
 * converge in 200 iterations. *iterations: how many it took; may be NULL. */
pbd_status step_function_minimise(step_function *s, double *x, long *iterations);

#endif
