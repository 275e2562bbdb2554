/* Linear analysis of one PBD step about rest: the linear map of displacements by a projection, the equivalent stiffness
 * matrix, static equilibrium, stability. Source: rodero2016 Eqs. 6 to 9; claims, A6. f64. */
#ifndef PBD_LINEAR_H
#define PBD_LINEAR_H

#include "methods/pbd_distance/hex_constraints.h"

typedef enum pbd_solver { PBD_SOLVER_JACOBI, PBD_SOLVER_COLOURED_GS } pbd_solver;

/* Parameters of the linearised projection. All arrays are borrowed. */
typedef struct linear_system {
    const linear_constraint *constraint;
    size_t constraints;
    const uint32_t *order; /* Gauss-Seidel: order in which constraints are projected; NULL: as listed */
    const double *k;       /* HEX_KINDS stiffnesses */
    const double *w;       /* particles: inverse masses for the projection, 1/kg */
    const bool *held;      /* particles: reset to rest after each iteration */
    size_t particles;
    pbd_solver solver;
    int iterations;
} linear_system;

/* Largest number of unknowns of the dense analysis. */
enum { LINEAR_LARGEST = 6000 };

/* Writes A with u_after = A u_before for the free unknowns, row-major n x n with n = linear_unknowns(s); the caller
 * allocates it. */
size_t linear_unknowns(const linear_system *s);
pbd_status linear_map(const linear_system *s, double *A);

/* Solves for static rest under forces f (particles x 3, N; a step adds dt^2 f/m). Writes the displacements before the
 * projection to `predicted`, (K_PBD)^-1 f, and those after it to `after`: particles x 3, m; 0 for held ones.
 * mass: particles, kg. PBD_NO_EQUILIBRIUM: the constraints do not resist the load. */
pbd_status linear_rest(const linear_system *s, const double *f, const double *mass, double dt, double *predicted,
                       double *after);

/* Writes the largest eigenvalue of -d(delta p)/du = I - A of one Jacobi iteration: 4/3 is the limit of stability
 * (R-12). */
pbd_status linear_largest_eigenvalue(const linear_system *s, double *out);

#endif
