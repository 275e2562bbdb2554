/* Gradients at rest of particle interpolations: how a particle's deformation gradient comes from its neighbours.
 *
 *     F_i = sum_j (x_j - x_i) b_ij^T + D_i,   b_ij = V_j g_ij
 *
 * with g_ij the gradient of the smoothing kernel, corrected or not (cao2023 section 4.1, with C-2, C-3, C-5), or that
 * of moving-least-squares reproducing kernels (basis). Made once, in f64, on the host: claims A3.
 *
 *     S_i = sum_j V_j W_ij, with i     gamma_i = sum_j V_j grad W_ij / S_i
 *     kernel correction                grad W~_ij = (grad W_ij - W_ij gamma_i)/S_i
 *     gradient correction              g_ij = L_i grad W~_ij, L_i = (sum_j V_j grad W~_ij (X_j - X_i)^T)^-1
 *     linear basis                     phi_j = V_j W_ij p_j^T M_i^-1 p_i with p = (1, X - X_i); b_ij is its gradient
 */
#ifndef PBD_SHAPE_GRADIENTS_H
#define PBD_SHAPE_GRADIENTS_H

#include "methods/physics/space/rest_neighbours.h"

typedef struct shape_choice {
    int kernel;    /* sph_kernel */
    double radius; /* m: where the kernel ends */
    bool kernel_correction, gradient_correction;
    bool linear;       /* reproducing kernels of linear basis; the corrections are then not used */
    bool displacement; /* F = I + sum (u_j - u_i) b_ij^T instead of sum (x_j - x_i) b_ij^T (C-2) */
} shape_choice;

typedef struct shape_gradients {
    double *gradient; /* one row of 3 by neighbour, b_ij, m^2 (V times 1/m) */
    double *offset;   /* particles x 9, D_i row by row: 0 unless form and neighbours make it otherwise; see below */
    bool has_offset;
    uint32_t *lost;   /* particles: directions that their neighbours do not span */
    size_t few;       /* particles with fewer than four neighbours */
    size_t deficient; /* particles whose neighbours lie in a plane, on a line or at a point: L is a pseudo-inverse */
} shape_gradients;

/* Gradients made before, of the same particles with other neighbours: those of a particle hang on its own list alone.
 */
typedef struct shape_known {
    const rest_neighbours *near;
    const shape_gradients *shape;
} shape_known;

/* Whether particle i has the same neighbours as then. */
bool shape_is_known(const shape_known *known, const rest_neighbours *near, size_t i);

/* What lies in no direction of the neighbours cannot be seen: where L is a pseudo-inverse, D_i is the projector on what
 * it leaves out, so that F is the identity there at rest, and a lone particle bears no stress. known: what need not be
 * made again and is copied; NULL: nothing. */
pbd_status shape_gradients_make(const rest_neighbours *near, const double *positions, const double *volumes,
                                const shape_choice *choice, const shape_known *known, shape_gradients *out);
/* The choice as shape_kernels.h takes it. */
int shape_flags(const shape_choice *choice);
void shape_gradients_free(shape_gradients *s); /* safe on a zeroed one */

#endif
