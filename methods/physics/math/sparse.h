/* Sparse symmetric systems of finite elements, solved by SuperLU. Three unknowns a node; held ones are left out. All
 * f64. */
#ifndef PBD_SPARSE_H
#define PBD_SPARSE_H

#include <stdbool.h>

#include "methods/method.h"

/* The matrix without the held unknowns, by compressed columns. It is symmetric in its pattern, so that columns may be
 * read as rows. Freed with pbd_sparse_free, which is safe on a zeroed one. */
typedef struct pbd_sparse {
    size_t nodes;
    int n;        /* unknowns */
    int *unknown; /* nodes x 3: index of the unknown, or -1 where it is held */
    int *column;  /* n + 1: where each column begins */
    int *row;     /* ascending in each column */
    double *value;
} pbd_sparse;

/* The pattern of a mesh: unknowns of one element are all coupled. `element` is elements x corners node numbers, `held`
 * nodes x 3, or NULL. Values are zero. */
pbd_status pbd_sparse_create(size_t nodes, const uint32_t *element, size_t elements, int corners, const bool *held,
                             pbd_sparse *out);
void pbd_sparse_free(pbd_sparse *matrix);

void pbd_sparse_clear(pbd_sparse *matrix);
/* Where the entry of two unknowns (both >= 0, of one element) is kept. */
double *pbd_sparse_at(const pbd_sparse *matrix, int row, int column);

/* Solves A x = right; `right` (n) becomes x. PBD_NO_EQUILIBRIUM when the matrix is singular to rounding (reciprocal
 * condition below 1e-15), PBD_FAILED without memory. `careful`: estimate the condition and refine the answer, so that a
 * body without supports is distinguished from a stiff one; otherwise factor and solve only. */
pbd_status pbd_sparse_solve(const pbd_sparse *matrix, double *right, bool careful);

#endif
