/* Sparse symmetric finite element systems, solved by SuperLU. Three unknowns per node; held ones are eliminated. All
 * f64. */
#ifndef PBD_SPARSE_H
#define PBD_SPARSE_H

#include <stdbool.h>

#include "methods/method.h"

/* The matrix without the held unknowns, in compressed columns. Its pattern is symmetric, so columns may be read as
 * rows. pbd_sparse_free is safe on a zeroed struct. */
typedef struct pbd_sparse {
    size_t nodes;
    int n;        /* unknowns */
    int *unknown; /* nodes x 3: index of the unknown, or -1 where it is held */
    int *column;  /* n + 1: where each column begins */
    int *row;     /* ascending in each column */
    double *value;
} pbd_sparse;

/* Creates the pattern of a mesh, in which all unknowns of an element are coupled, with zero values. A node without an
 * element has its own unknowns alone. element: node
 * numbers, elements x corners. held: nodes x 3, or NULL. */
pbd_status pbd_sparse_create(size_t nodes, const uint32_t *element, size_t elements, int corners, const bool *held,
                             pbd_sparse *out);
void pbd_sparse_free(pbd_sparse *matrix);

void pbd_sparse_clear(pbd_sparse *matrix);
/* Returns the entry of two unknowns (both >= 0, of one element), by a search in the column. */
double *pbd_sparse_at(const pbd_sparse *matrix, int row, int column);

/* Finds where the entries of elements are stored, for pbd_sparse_add. place: elements x corners x corners; entry (b, a)
 * is the position of the first row of corner a, relative to the start of a column of corner b. All columns of a node
 * have the same rows. The caller frees *place. */
pbd_status pbd_sparse_find_places(const pbd_sparse *matrix, const uint32_t *element, size_t elements, int corners,
                                  int **place);
/* Adds an element's matrix K, (3 corners)^2, without the rows and columns of held unknowns. node: its corners; place:
 * its corners x corners places. */
void pbd_sparse_add(pbd_sparse *matrix, const uint32_t *node, const int *place, int corners, const double *K);

/* Solves A x = right; x overwrites `right` (n). PBD_NO_EQUILIBRIUM: the matrix is singular to rounding (reciprocal
 * condition number below 1e-15). PBD_FAILED: out of memory. Estimates the condition number, so that a body
 * without supports is detected, and refines x iteratively. */
pbd_status pbd_sparse_solve(const pbd_sparse *matrix, double *right);

/* Factors of matrices with one pattern. The column order, the elimination tree and the memory of the factors are
 * determined for the first matrix and reused for the others. */
typedef struct pbd_factors pbd_factors;

/* Factorises the matrix. *factors begins as NULL; later calls must pass a matrix of the same pattern.
 * PBD_NO_EQUILIBRIUM: a pivot is zero; the factors are then invalid. PBD_FAILED: out of memory. */
pbd_status pbd_factors_update(pbd_factors **factors, const pbd_sparse *matrix);
/* Solves A x = right for `columns` right-hand sides, columns x n; x overwrites them. PBD_NO_EQUILIBRIUM: x is not
 * finite; `right` is then undefined. */
pbd_status pbd_factors_solve(pbd_factors *factors, double *right, int columns);
/* Entries of both factors, with the diagonal counted twice. */
size_t pbd_factors_entries(const pbd_factors *factors);
void pbd_factors_free(pbd_factors *factors); /* NULL-safe */

#endif
