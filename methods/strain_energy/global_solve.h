/* One exact solve of the linearised system of all multipliers of XPBD:
 *
 *     (J W J^T + a) dl = -(C + a l),   x += W J^T dl
 *
 * J: gradients of the constraints C of all elements, W: inverse masses, a: compliances over dt^2, l: multipliers. The
 * cycles of a multigrid solver of XPBD (Li et al. 2025) approach this solution. By the Sherman-Morrison-Woodbury
 * formula, dl also follows from a smaller system:
 *
 *     (M + J^T a^-1 J) dx = -J^T a^-1 (C + a l),   dl = -a^-1 (C + a l + J dx)
 *
 * with three unknowns per free particle, however many constraints an element has. Positions then move by W J^T dl, so
 * that the impulses of each element sum to zero to rounding. Host code, f64. */
#ifndef PBD_GLOBAL_SOLVE_H
#define PBD_GLOBAL_SOLVE_H

#include "methods/physics/math/sparse.h"

typedef struct global_solve {
    size_t particles, elements, components; /* components: constraints per element */
    uint32_t *corner;                       /* elements x 4 */
    pbd_sparse matrix;
    int *place; /* from pbd_sparse_find_places */
    pbd_factors *factors;
    double *packed; /* scratch, unknowns */
    /* Set by the caller before each solve. Entry k of element e is at [k * elements + e]. */
    double *gradient; /* components x 12: of component c by coordinate d of corner i, at k = 12 c + 3 i + d */
    double *left;     /* components: C + a l */
    double *stiff;    /* components x components: a^-1, symmetric */
    /* Set by the caller and updated by each solve. */
    double *position;   /* particles x 4: m, and the inverse mass, 1/kg; 0: held */
    double *multiplier; /* components */
} global_solve;

/* corner: elements x 4, copied. position: particles x 4; determines which particles are held in all solves. *g may be
 * freed also after an error. */
pbd_status global_solve_create(size_t particles, size_t elements, size_t components, const uint32_t *corner,
                               const double *position, global_solve *g);
/* Solves once. PBD_DIVERGED: the system has no finite solution. */
pbd_status global_solve_once(global_solve *g);
void global_solve_free(global_solve *g); /* safe on a zeroed one */

#endif
