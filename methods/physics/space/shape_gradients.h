/* Gradients at rest of particle interpolations, which give a particle's deformation gradient from its neighbours.
 *
 *     F_i = sum_j (x_j - x_i) b_ij^T + D_i,   b_ij = V_j g_ij
 *
 * with g_ij the gradient of the smoothing kernel, with or without corrections (cao2023 section 4.1, with C-2, C-3,
 * C-5), or of moving-least-squares reproducing kernels (basis). Computed once, in f64, on the host: claims A3.
 *
 *     S_i = sum_j V_j W_ij, with i     gamma_i = sum_j V_j grad W_ij / S_i
 *     kernel correction                grad W~_ij = (grad W_ij - W_ij gamma_i)/S_i
 *     gradient correction              g_ij = L_i grad W~_ij, L_i = (sum_j V_j grad W~_ij (X_j - X_i)^T)^-1
 *     linear basis                     phi_j = V_j W_ij p_j^T M_i^-1 p_i with p = (1, X - X_i); b_ij is its gradient
 */
#ifndef PBD_SHAPE_GRADIENTS_H
#define PBD_SHAPE_GRADIENTS_H

#include "harness/exec/arena.h"
#include "methods/physics/space/rest_neighbours.h"

typedef struct shape_choice {
    int kernel;    /* sph_kernel */
    double radius; /* support radius, m */
    bool kernel_correction, gradient_correction;
    bool linear;       /* reproducing kernels of linear basis; the corrections are then not used */
    bool displacement; /* F = I + sum (u_j - u_i) b_ij^T instead of sum (x_j - x_i) b_ij^T (C-2) */
} shape_choice;

typedef struct shape_gradients {
    double *gradient; /* rows of 3 by neighbour: b_ij, 1/m */
    double *offset;   /* particles x 9, D_i row by row; nonzero with `displacement` or deficient neighbours */
    bool has_offset;
    uint32_t *lost;   /* by particle: number of directions that its neighbours do not span */
    size_t few;       /* particles with fewer than four neighbours */
    size_t deficient; /* particles whose neighbours lie in a plane, on a line or at a point: L is a pseudo-inverse */
} shape_gradients;

/* Earlier gradients of the same particles with other neighbours. A particle's gradients depend only on its own list. */
typedef struct shape_known {
    const rest_neighbours *near;
    const shape_gradients *shape;
} shape_known;

/* Whether particle i has the same neighbours as in `known`. */
bool shape_is_known(const shape_known *known, const rest_neighbours *near, size_t i);

/* Where L is a pseudo-inverse, D_i is the projector onto the directions that the neighbours do not span, so that F is
 * the identity at rest, and a particle without neighbours has no stress. known: gradients that are copied if still
 * valid; may be NULL. */
pbd_status shape_gradients_make(const rest_neighbours *near, const double *positions, const double *volumes,
                                const shape_choice *choice, const shape_known *known, shape_gradients *out);
/* Scratch memory and results of one particle, for lists of up to `most` neighbours. */
typedef struct shape_one {
    double *rest;     /* rows of 4: X, m, and V, m^3, of the particle, then of its neighbours */
    double *gradient; /* rows of 3: b_ij, 1/m */
    double offset[9]; /* D_i */
    bool has_offset;
    uint32_t *number, lost;
} shape_one;

pbd_status shape_one_create(pbd_arena *arena, size_t most, shape_one *out);
/* Computes the gradients of particle i alone, bitwise the same as shape_gradients_make. */
void shape_one_make(const rest_neighbours *near, const double *positions, const double *volumes,
                    const shape_choice *choice, size_t i, shape_one *out);
/* The choice as `flags` of shape_kernels.h. */
int shape_flags(const shape_choice *choice);
void shape_gradients_free(shape_gradients *s); /* safe on a zeroed one */

#endif
