#include "methods/physics/math/sparse.h"

#include <limits.h>
#include <math.h>
#include <slu_ddefs.h>
#include <stdlib.h>
#include <string.h>

void pbd_sparse_free(pbd_sparse *s) {
    free(s->unknown);
    free(s->column);
    free(s->row);
    free(s->value);
    *s = (pbd_sparse){0};
}

_Static_assert(sizeof(int_t) == sizeof(int),
               "SuperLU was built with 64-bit indices: change pbd_sparse's int_t as well");

/* ---- Pattern ----------------------------------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The elements of node p are element[first[p] .. first[p + 1]). */
typedef struct incidence {
    size_t *first;
    uint32_t *element;
} incidence;

static pbd_status find_incidence(size_t nodes, const uint32_t *node, size_t elements, int corners, incidence *out) {
    const size_t total = elements * (size_t)corners;
    out->first = calloc(nodes + 2, sizeof *out->first);
    out->element = malloc((total + 1) * sizeof *out->element);
    if (!out->first || !out->element) return pbd_error(PBD_FAILED, "out of memory for the matrix of %zu nodes", nodes);
    for (size_t i = 0; i < total; i++) out->first[node[i] + 2]++;
    for (size_t p = 0; p < nodes; p++) out->first[p + 2] += out->first[p + 1];
    for (size_t i = 0; i < total; i++) out->element[out->first[node[i] + 1]++] = (uint32_t)(i / (size_t)corners);
    return pbd_ok();
}

/* Writes node p and those that share an element with it to `mine`, ascending; returns their number. */
static size_t neighbours_of(size_t p, const incidence *at, const uint32_t *node, int corners, uint32_t *mine) {
    size_t count = 1, unique = 0;
    mine[0] = (uint32_t)p; /* also without an element */
    for (size_t k = at->first[p]; k < at->first[p + 1]; k++)
        for (int c = 0; c < corners; c++) mine[count++] = node[(size_t)corners * at->element[k] + (size_t)c];
    qsort(mine, count, sizeof *mine, compare_nodes);
    for (size_t k = 0; k < count; k++)
        if (unique == 0 || mine[k] != mine[unique - 1]) mine[unique++] = mine[k];
    return unique;
}

/* Writes the columns; with s->row == NULL only counts their entries. */
static size_t walk_columns(pbd_sparse *s, const incidence *at, const uint32_t *node, int corners, uint32_t *mine) {
    size_t entries = 0;
    for (size_t p = 0; p < s->nodes; p++) {
        const size_t count = neighbours_of(p, at, node, corners, mine);
        for (int d = 0; d < 3; d++) {
            if (s->unknown[3 * p + d] < 0) continue;
            s->column[s->unknown[3 * p + d]] = (int)entries;
            for (size_t k = 0; k < 3 * count; k++) {
                const int row = s->unknown[3 * mine[k / 3] + k % 3];
                if (row < 0) continue;
                if (s->row) s->row[entries] = row;
                entries++;
            }
        }
    }
    s->column[s->n] = (int)entries;
    return entries;
}

static pbd_status number_unknowns(pbd_sparse *s, const bool *held) {
    s->unknown = malloc((3 * s->nodes + 1) * sizeof *s->unknown);
    if (!s->unknown) return pbd_error(PBD_FAILED, "out of memory for %zu unknowns", 3 * s->nodes);
    for (size_t i = 0; i < 3 * s->nodes; i++) s->unknown[i] = held && held[i] ? -1 : s->n++;
    s->column = malloc(((size_t)s->n + 1) * sizeof *s->column);
    return s->column ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for %d unknowns", s->n);
}

static pbd_status find_pattern(pbd_sparse *s, const incidence *at, const uint32_t *node, int corners) {
    size_t widest = 0;
    for (size_t p = 0; p < s->nodes; p++)
        if (at->first[p + 1] - at->first[p] > widest) widest = at->first[p + 1] - at->first[p];
    uint32_t *mine = malloc((widest * (size_t)corners + 1) * sizeof *mine);
    if (!mine) return pbd_error(PBD_FAILED, "out of memory for the matrix of %zu nodes", s->nodes);
    const size_t entries = walk_columns(s, at, node, corners, mine);
    if (entries > INT_MAX) {
        free(mine);
        return pbd_error(PBD_NOT_SUPPORTED, "a matrix of %zu entries is too large for SuperLU: use a coarser mesh",
                         entries);
    }
    s->row = malloc((entries + 1) * sizeof *s->row);
    s->value = calloc(entries + 1, sizeof *s->value);
    if (s->row) walk_columns(s, at, node, corners, mine);
    free(mine);
    if (s->row && s->value) return pbd_ok();
    return pbd_error(PBD_FAILED, "out of memory for a matrix of %zu entries", entries);
}

pbd_status pbd_sparse_create(size_t nodes, const uint32_t *element, size_t elements, int corners, const bool *held,
                             pbd_sparse *out) {
    incidence at = {0};
    *out = (pbd_sparse){.nodes = nodes};
    pbd_status status = number_unknowns(out, held);
    if (status.code == PBD_OK) status = find_incidence(nodes, element, elements, corners, &at);
    if (status.code == PBD_OK) status = find_pattern(out, &at, element, corners);
    free(at.first);
    free(at.element);
    if (status.code != PBD_OK) pbd_sparse_free(out);
    return status;
}

void pbd_sparse_clear(pbd_sparse *s) { memset(s->value, 0, (size_t)s->column[s->n] * sizeof *s->value); }

double *pbd_sparse_at(const pbd_sparse *s, int row, int column) {
    int lo = s->column[column], hi = s->column[column + 1] - 1;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (s->row[middle] < row)
            lo = middle + 1;
        else
            hi = middle;
    }
    return &s->value[lo];
}

static int first_free(const pbd_sparse *s, uint32_t node) {
    for (size_t d = 0; d < 3; d++)
        if (s->unknown[3 * node + d] >= 0) return s->unknown[3 * node + d];
    return -1;
}

pbd_status pbd_sparse_find_places(const pbd_sparse *s, const uint32_t *element, size_t elements, int corners,
                                  int **place) {
    const size_t n = (size_t)corners;
    *place = calloc(elements * n * n + 1, sizeof **place);
    if (!*place) return pbd_error(PBD_FAILED, "out of memory for the matrix of %zu elements", elements);
    for (size_t k = 0; k < elements * n * n; k++) {
        const uint32_t *node = element + k / (n * n) * n;
        const int column = first_free(s, node[k / n % n]), row = first_free(s, node[k % n]);
        if (column < 0 || row < 0) continue;
        (*place)[k] = (int)(pbd_sparse_at(s, row, column) - s->value) - s->column[column];
    }
    return pbd_ok();
}

void pbd_sparse_add(pbd_sparse *s, const uint32_t *node, const int *place, int corners, const double *K) {
    const int dofs = 3 * corners;
    for (int b = 0; b < corners; b++)
        for (int j = 0; j < 3; j++) {
            const int column = s->unknown[3 * node[b] + (uint32_t)j];
            if (column < 0) continue;
            double *to = s->value + s->column[column];
            for (int a = 0; a < corners; a++) {
                int at = place[b * corners + a];
                for (int i = 0; i < 3; i++)
                    if (s->unknown[3 * node[a] + (uint32_t)i] >= 0) to[at++] += K[(3 * a + i) * dofs + 3 * b + j];
            }
        }
}

/* ---- Solving ----------------------------------------------------------------------------------------------------- */

static superlu_options_t options_of_symmetric(void) {
    superlu_options_t options;
    set_default_options(&options);
    options.SymmetricMode = YES; /* order for a symmetric matrix, and keep the diagonal as pivots */
    options.ColPerm = MMD_AT_PLUS_A;
    options.DiagPivotThresh = 0;
    options.Equil = NO;
    return options;
}

pbd_status pbd_sparse_solve(const pbd_sparse *s, double *right) {
    const size_t n = (size_t)s->n;
    if (n == 0) return pbd_ok();
    superlu_options_t options = options_of_symmetric();
    options.IterRefine = SLU_DOUBLE;
    options.ConditionNumber = YES;
    int *index = malloc(3 * (n + 1) * sizeof *index);      /* perm_c, perm_r, etree */
    double *answer = malloc(3 * (n + 1) * sizeof *answer); /* x, R, C */
    if (!index || !answer) {
        free(index);
        free(answer);
        return pbd_error(PBD_FAILED, "out of memory for %d unknowns", s->n);
    }
    SuperMatrix A, B, X, L, U;
    SuperLUStat_t statistics;
    GlobalLU_t global;
    mem_usage_t memory;
    char equed[1] = {'N'};
    double growth, rcond = 1, forward, backward;
    int info = 0;
    StatInit(&statistics);
    dCreate_CompCol_Matrix(&A, s->n, s->n, s->column[s->n], s->value, s->row, s->column, SLU_NC, SLU_D, SLU_GE);
    dCreate_Dense_Matrix(&B, s->n, 1, right, s->n, SLU_DN, SLU_D, SLU_GE);
    dCreate_Dense_Matrix(&X, s->n, 1, answer, s->n, SLU_DN, SLU_D, SLU_GE);
    memset(&L, 0, sizeof L);
    memset(&U, 0, sizeof U);
    dgssvx(&options, &A, index, index + n, index + 2 * n, equed, answer + n, answer + 2 * n, &L, &U, NULL, 0, &B, &X,
           &growth, &rcond, &forward, &backward, &global, &memory, &statistics, &info);
    StatFree(&statistics);
    Destroy_SuperMatrix_Store(&A);
    Destroy_SuperMatrix_Store(&B);
    Destroy_SuperMatrix_Store(&X);
    if (L.Store) Destroy_SuperNode_Matrix(&L);
    if (U.Store) Destroy_CompCol_Matrix(&U);
    bool finite = info == 0 && rcond > 1e-15;
    for (size_t i = 0; i < n && finite; i++) finite = isfinite(answer[i]);
    if (finite) memcpy(right, answer, n * sizeof *answer);
    free(index);
    free(answer);
    if (info > s->n + 1) return pbd_error(PBD_FAILED, "out of memory in SuperLU for %d unknowns", s->n);
    if (!finite)
        return pbd_error(PBD_NO_EQUILIBRIUM,
                         "the stiffness matrix is singular (reciprocal condition %.1e): is the body fixed?", rcond);
    return pbd_ok();
}

/* ---- Factors that are kept --------------------------------------------------------------------------------------- */

struct pbd_factors {
    int n;
    bool ordered, factored; /* permutations are known; L and U belong to the last matrix */
    superlu_options_t options;
    int *by_column, *by_row, *tree; /* n each: permutations, elimination tree */
    SuperMatrix L, U;
    GlobalLU_t global;
    SuperLUStat_t statistics;
};

static void drop_factors(pbd_factors *f) {
    if (f->L.Store) Destroy_SuperNode_Matrix(&f->L);
    if (f->U.Store) Destroy_CompCol_Matrix(&f->U);
    memset(&f->L, 0, sizeof f->L);
    memset(&f->U, 0, sizeof f->U);
    f->ordered = f->factored = false;
}

void pbd_factors_free(pbd_factors *f) {
    if (!f) return;
    drop_factors(f);
    StatFree(&f->statistics);
    free(f->by_column);
    free(f->by_row);
    free(f->tree);
    free(f);
}

static pbd_factors *new_factors(int n) {
    pbd_factors *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->n = n;
    f->options = options_of_symmetric();
    StatInit(&f->statistics);
    f->by_column = malloc(((size_t)n + 1) * sizeof *f->by_column);
    f->by_row = malloc(((size_t)n + 1) * sizeof *f->by_row);
    f->tree = malloc(((size_t)n + 1) * sizeof *f->tree);
    if (f->by_column && f->by_row && f->tree) return f;
    pbd_factors_free(f);
    return NULL;
}

pbd_status pbd_factors_update(pbd_factors **factors, const pbd_sparse *s) {
    pbd_factors *f = *factors ? *factors : (*factors = new_factors(s->n));
    if (!f) return pbd_error(PBD_FAILED, "out of memory for %d unknowns", s->n);
    if (s->n == 0) return pbd_ok();
    SuperMatrix A, ordered;
    int info = 0;
    dCreate_CompCol_Matrix(&A, s->n, s->n, s->column[s->n], s->value, s->row, s->column, SLU_NC, SLU_D, SLU_GE);
    if (!f->ordered) get_perm_c(f->options.ColPerm, &A, f->by_column);
    /* With the same permutations the memory of the factors suffices and is reused. */
    f->options.Fact = f->ordered ? SamePattern_SameRowPerm : DOFACT;
    sp_preorder(&f->options, &A, f->by_column, f->tree, &ordered);
    dgstrf(&f->options, &ordered, sp_ienv(2), sp_ienv(1), f->tree, NULL, 0, f->by_column, f->by_row, &f->L, &f->U,
           &f->global, &f->statistics, &info);
    Destroy_CompCol_Permuted(&ordered);
    Destroy_SuperMatrix_Store(&A);
    f->ordered = f->factored = info == 0;
    if (info == 0) return pbd_ok();
    if (info <= s->n) drop_factors(f); /* a pivot was zero: the next matrix gets new permutations */
    memset(&f->L, 0, sizeof f->L);
    memset(&f->U, 0, sizeof f->U);
    if (info > s->n) return pbd_error(PBD_FAILED, "out of memory in SuperLU for %d unknowns", s->n);
    return pbd_error(PBD_NO_EQUILIBRIUM, "the stiffness matrix is singular: is the body fixed?");
}

pbd_status pbd_factors_solve(pbd_factors *f, double *right, int columns) {
    if (f->n == 0) return pbd_ok();
    if (!f->factored) return pbd_error(PBD_FAILED, "a solve was asked for without a factorisation");
    SuperMatrix B;
    int info = 0;
    dCreate_Dense_Matrix(&B, f->n, columns, right, f->n, SLU_DN, SLU_D, SLU_GE);
    dgstrs(NOTRANS, &f->L, &f->U, f->by_column, f->by_row, &B, &f->statistics, &info);
    Destroy_SuperMatrix_Store(&B);
    bool finite = info == 0;
    for (size_t i = 0; i < (size_t)f->n * (size_t)columns && finite; i++) finite = isfinite(right[i]);
    return finite ? pbd_ok()
                  : pbd_error(PBD_NO_EQUILIBRIUM, "the stiffness matrix is singular to rounding: is the body fixed?");
}

size_t pbd_factors_entries(const pbd_factors *f) {
    if (!f || !f->factored) return 0;
    return (size_t)((const SCformat *)f->L.Store)->nnz + (size_t)((const NCformat *)f->U.Store)->nnz;
}
