/* The constant matrix of projective dynamics and related methods, with one row per free particle, the same for all
 * three coordinates:
 *
 *     A = M/h^2 + sum_e w_e V_e L_e,   (L_e)_ab = g_a.g_b, g: gradients of the shape functions of a tetrahedron
 *
 * (Bouaziz et al. 2014; Liu, Bouaziz and Kavan 2017). It is factorised once per step size h. Host code, f64. */
#ifndef PBD_STEP_MATRIX_H
#define PBD_STEP_MATRIX_H

#include "methods/physics/math/sparse.h"

typedef struct step_matrix {
    size_t particles;
    double *mass;         /* particles, kg; 0: held */
    pbd_sparse sparse;    /* A without the inertia or, after step_matrix_factorise, A */
    double *elastic;      /* N/m: the entries of A without the inertia */
    pbd_factors *factors; /* of A */
    double factored;      /* s: step size of the factors; 0: none */
    double *packed;       /* scratch */
} step_matrix;

/* weight: w by material, Pa. Tetrahedra and lumped masses of the scene. *out may be freed also after an error. */
pbd_status step_matrix_create(const pbd_scene *scene, const double *weight, step_matrix *out);
void step_matrix_free(step_matrix *m); /* safe on a zeroed one */

/* Factorises A for the step size h, s. *done: false if that was done already. PBD_NO_EQUILIBRIUM, PBD_FAILED:
 * sparse.h. */
pbd_status step_matrix_factorise(step_matrix *m, double h, bool *done);
/* d = A^-1 d, particles x 3, with the factorised A; entries of held particles do not change. */
pbd_status step_matrix_solve(step_matrix *m, double *d);

/* The diagonal of A without the inertia, N/m, by particle; 0: held. */
void step_matrix_diagonal(const step_matrix *m, double *out);
/* An upper bound of the eigenvalues of D^-1 A, D the diagonal of A for the step h: the largest sum of absolute values
 * in a row (Gershgorin). */
double step_matrix_bound(const step_matrix *m, double h);

#endif
