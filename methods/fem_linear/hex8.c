#include "methods/fem_linear/hex8.h"

#include <math.h>
#include <slu_ddefs.h>
#include <stdlib.h>
#include <string.h>

const double hex8_corner[HEX8_NODES][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                           {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};

void hex8_elasticity(double E, double nu, pbd_convention convention, double D[36]) {
    double A = E / ((1 + nu) * (1 - 2 * nu));
    double shear = A * (1 - 2 * nu) * (convention == PBD_D_PRINTED ? 1 : 0.5);
    memset(D, 0, 36 * sizeof *D);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) D[6 * i + j] = A * (i == j ? 1 - nu : nu);
        D[6 * (i + 3) + i + 3] = shear;
    }
}

/* Gradients of the shape functions N_a = (1 + xi xi_a)(1 + eta eta_a)(1 + zeta zeta_a)/8 by x at one reference point,
 * and the determinant of the Jacobian dx/dxi (m^3). */
static double shape_gradients(const double x[HEX8_NODES][3], const double at[3], double grad[HEX8_NODES][3]) {
    double local[HEX8_NODES][3], J[3][3] = {{0}};
    for (int a = 0; a < HEX8_NODES; a++) {
        double f[3];
        for (int d = 0; d < 3; d++) f[d] = 1 + at[d] * hex8_corner[a][d];
        for (int d = 0; d < 3; d++) local[a][d] = hex8_corner[a][d] * f[(d + 1) % 3] * f[(d + 2) % 3] / 8;
        for (int i = 0; i < 3; i++)
            for (int d = 0; d < 3; d++) J[i][d] += x[a][i] * local[a][d];
    }
    double cofactor[3][3], det = 0;
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 3; d++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
            cofactor[i][d] = J[i1][d1] * J[i2][d2] - J[i1][d2] * J[i2][d1];
        }
    for (int d = 0; d < 3; d++) det += J[0][d] * cofactor[0][d];
    for (int a = 0; a < HEX8_NODES; a++)
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int d = 0; d < 3; d++) sum += cofactor[i][d] * local[a][d];
            grad[a][i] = sum / det;
        }
    return det;
}

/* The g-th of the 2x2x2 Gauss points; all weights are 1. */
static void gauss_point(int g, double at[3]) {
    for (int d = 0; d < 3; d++) at[d] = (g >> d & 1 ? 1 : -1) / sqrt(3);
}

/* Column c of B for node a: the strain of a unit displacement along c. */
static void strain_column(const double grad[3], int c, double strain[6]) {
    static const int shear[3][2] = {{0, 1}, {1, 2}, {2, 0}};
    memset(strain, 0, 6 * sizeof *strain);
    strain[c] = grad[c];
    for (int s = 0; s < 3; s++) {
        if (shear[s][0] == c) strain[3 + s] = grad[shear[s][1]];
        if (shear[s][1] == c) strain[3 + s] = grad[shear[s][0]];
    }
}

pbd_status hex8_stiffness(const double x[HEX8_NODES][3], const double D[36], size_t element, double K[576]) {
    memset(K, 0, 576 * sizeof *K);
    for (int g = 0; g < 8; g++) {
        double at[3], grad[HEX8_NODES][3], B[HEX8_DOFS][6], DB[HEX8_DOFS][6];
        gauss_point(g, at);
        double det = shape_gradients(x, at, grad);
        if (!(det > 0))
            return pbd_error(
                PBD_BAD_INPUT,
                "hexahedron %zu is flat or inside out (Jacobian %g at Gauss point %d): check the order of its nodes",
                element, det, g);
        for (int i = 0; i < HEX8_DOFS; i++) strain_column(grad[i / 3], i % 3, B[i]);
        for (int i = 0; i < HEX8_DOFS; i++)
            for (int r = 0; r < 6; r++) {
                DB[i][r] = 0;
                for (int c = 0; c < 6; c++) DB[i][r] += D[6 * r + c] * B[i][c];
            }
        for (int i = 0; i < HEX8_DOFS; i++)
            for (int j = 0; j < HEX8_DOFS; j++)
                for (int r = 0; r < 6; r++) K[HEX8_DOFS * i + j] += B[i][r] * DB[j][r] * det;
    }
    return pbd_ok();
}

double hex8_volume(const double x[HEX8_NODES][3]) {
    double volume = 0;
    for (int g = 0; g < 8; g++) {
        double at[3], grad[HEX8_NODES][3];
        gauss_point(g, at);
        volume += shape_gradients(x, at, grad);
    }
    return volume;
}

static void corners_of(const pbd_scene *scene, size_t element, double x[HEX8_NODES][3]) {
    for (int a = 0; a < HEX8_NODES; a++) memcpy(x[a], scene->positions + 3 * scene->hex[8 * element + a], sizeof x[a]);
}

pbd_status hex8_forces(const pbd_scene *scene, const double *u, double *r) {
    double D[36], K[576], x[HEX8_NODES][3];
    hex8_elasticity(scene->material.E, scene->material.nu, scene->material.convention, D);
    memset(r, 0, 3 * scene->particles * sizeof *r);
    for (size_t e = 0; e < scene->hexes; e++) {
        corners_of(scene, e, x);
        PBD_TRY(hex8_stiffness(x, D, e, K));
        const uint32_t *node = scene->hex + 8 * e;
        for (int i = 0; i < HEX8_DOFS; i++)
            for (int j = 0; j < HEX8_DOFS; j++)
                r[3 * node[i / 3] + i % 3] += K[HEX8_DOFS * i + j] * u[3 * node[j / 3] + j % 3];
    }
    return pbd_ok();
}

/* ---- Assembly: compressed columns over the free unknowns -----------------------------------------------------------
 */

/* The mesh's matrix without the held unknowns. Columns are symmetric to rows, so either reading is right. */
typedef struct sparse_system {
    int n;         /* unknowns */
    int *unknown;  /* particles x 3: index of the unknown, or -1 where held */
    int_t *column; /* n + 1 */
    int_t *row;    /* ascending in each column */
    double *value, *right;
} sparse_system;

static void free_system(sparse_system *s) {
    free(s->unknown);
    free(s->column);
    free(s->row);
    free(s->value);
    free(s->right);
}

static pbd_status number_unknowns(const pbd_scene *scene, sparse_system *s) {
    s->unknown = calloc(3 * scene->particles, sizeof *s->unknown);
    if (!s->unknown) return pbd_error(PBD_FAILED, "out of memory for %zu unknowns", 3 * scene->particles);
    for (size_t i = 0; i < scene->fixed; i++)
        for (int c = 0; c < 3; c++) s->unknown[3 * scene->fixed_particle[i] + c] = -1;
    for (size_t i = 0; i < 3 * scene->particles; i++)
        if (s->unknown[i] == 0) s->unknown[i] = s->n++;
    return pbd_ok();
}

static int compare_ints(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Which particles share an element with each particle, ascending: counted by way of particle -> elements. */
static pbd_status find_pattern(const pbd_scene *scene, sparse_system *s) {
    size_t n = scene->particles, entries = 0, capacity = 27 * n + 64;
    size_t *first = calloc(n + 2, sizeof *first);
    uint32_t *element = malloc((8 * scene->hexes + 1) * sizeof *element);
    s->column = malloc(((size_t)s->n + 1) * sizeof *s->column);
    uint32_t *neighbour = malloc(capacity * sizeof *neighbour); /* of one particle at a time, then kept per particle */
    size_t *start = calloc(n + 1, sizeof *start);
    pbd_status status = pbd_ok();
    if (!first || !element || !s->column || !neighbour || !start)
        status = pbd_error(PBD_FAILED, "out of memory for the matrix of %zu nodes", n);
    if (status.code == PBD_OK) {
        for (size_t i = 0; i < 8 * scene->hexes; i++) first[scene->hex[i] + 2]++;
        for (size_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
        for (size_t i = 0; i < 8 * scene->hexes; i++) element[first[scene->hex[i] + 1]++] = (uint32_t)(i / 8);
        size_t used = 0;
        for (size_t p = 0; p < n && status.code == PBD_OK; p++) {
            size_t wanted = 8 * (first[p + 1] - first[p]);
            if (used + wanted > capacity) {
                capacity = 2 * (used + wanted);
                uint32_t *grown = realloc(neighbour, capacity * sizeof *neighbour);
                if (!grown) {
                    status = pbd_error(PBD_FAILED, "out of memory for the matrix of %zu nodes", n);
                    break;
                }
                neighbour = grown;
            }
            start[p] = used;
            uint32_t *mine = neighbour + used;
            size_t count = 0;
            for (size_t k = first[p]; k < first[p + 1]; k++)
                for (int a = 0; a < 8; a++) mine[count++] = scene->hex[8 * element[k] + a];
            qsort(mine, count, sizeof *mine, compare_ints);
            size_t unique = 0;
            for (size_t k = 0; k < count; k++)
                if (unique == 0 || mine[k] != mine[unique - 1]) mine[unique++] = mine[k];
            used += unique;
            start[p + 1] = used;
        }
    }
    if (status.code == PBD_OK) {
        for (int pass = 0; pass < 2; pass++) { /* count, then fill */
            entries = 0;
            for (size_t i = 0; i < 3 * n; i++) {
                if (s->unknown[i] < 0) continue;
                s->column[s->unknown[i]] = (int_t)entries;
                for (size_t k = start[i / 3]; k < start[i / 3 + 1]; k++)
                    for (int c = 0; c < 3; c++) {
                        int row = s->unknown[3 * neighbour[k] + c];
                        if (row < 0) continue;
                        if (pass == 1) s->row[entries] = row;
                        entries++;
                    }
            }
            s->column[s->n] = (int_t)entries;
            if (pass == 0 && !(s->row = malloc((entries + 1) * sizeof *s->row))) break;
        }
        s->value = calloc(entries + 1, sizeof *s->value);
        s->right = calloc((size_t)s->n + 1, sizeof *s->right);
        if (!s->row || !s->value || !s->right)
            status = pbd_error(PBD_FAILED, "out of memory for a matrix of %zu entries", entries);
    }
    free(first);
    free(element);
    free(neighbour);
    free(start);
    return status;
}

static double *entry_at(const sparse_system *s, int row, int column) {
    int_t lo = s->column[column], hi = s->column[column + 1] - 1;
    while (lo < hi) {
        int_t middle = (lo + hi) / 2;
        if (s->row[middle] < row)
            lo = middle + 1;
        else
            hi = middle;
    }
    return &s->value[lo];
}

static pbd_status assemble(const pbd_scene *scene, const double *prescribed, sparse_system *s) {
    double D[36], K[576], x[HEX8_NODES][3];
    hex8_elasticity(scene->material.E, scene->material.nu, scene->material.convention, D);
    for (size_t i = 0; i < 3 * scene->particles; i++)
        if (s->unknown[i] >= 0) s->right[s->unknown[i]] = scene->forces[i];
    for (size_t e = 0; e < scene->hexes; e++) {
        corners_of(scene, e, x);
        PBD_TRY(hex8_stiffness(x, D, e, K));
        const uint32_t *node = scene->hex + 8 * e;
        for (int i = 0; i < HEX8_DOFS; i++) {
            int row = s->unknown[3 * node[i / 3] + i % 3];
            if (row < 0) continue;
            for (int j = 0; j < HEX8_DOFS; j++) {
                size_t dof = 3 * node[j / 3] + (size_t)(j % 3);
                if (s->unknown[dof] >= 0)
                    *entry_at(s, row, s->unknown[dof]) += K[HEX8_DOFS * i + j];
                else if (prescribed)
                    s->right[row] -= K[HEX8_DOFS * i + j] * prescribed[dof];
            }
        }
    }
    return pbd_ok();
}

/* s->right becomes the answer: SuperLU's expert driver, which also refines the answer once and estimates the condition
 * number, so that a body that is not held is told from a stiff one. */
static pbd_status solve_sparse(sparse_system *s) {
    superlu_options_t options;
    set_default_options(&options);
    options.SymmetricMode = YES; /* K is symmetric positive definite: order for it, and keep the diagonal as pivots */
    options.ColPerm = MMD_AT_PLUS_A;
    options.DiagPivotThresh = 0;
    options.Equil = NO;
    options.IterRefine = SLU_DOUBLE;
    options.ConditionNumber = YES;
    size_t n = (size_t)s->n;
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
    double growth, rcond = 0, forward, backward;
    int info = 0;
    StatInit(&statistics);
    dCreate_CompCol_Matrix(&A, s->n, s->n, (int)s->column[s->n], s->value, s->row, s->column, SLU_NC, SLU_D, SLU_GE);
    dCreate_Dense_Matrix(&B, s->n, 1, s->right, s->n, SLU_DN, SLU_D, SLU_GE);
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
    if (finite) memcpy(s->right, answer, n * sizeof *answer);
    free(index);
    free(answer);
    if (info > s->n + 1) return pbd_error(PBD_FAILED, "out of memory in SuperLU for %d unknowns", s->n);
    if (!finite)
        return pbd_error(PBD_NO_EQUILIBRIUM,
                         "the stiffness matrix is singular (reciprocal condition %.1e): is the body held?", rcond);
    return pbd_ok();
}

pbd_status hex8_solve(const pbd_scene *scene, const double *prescribed, double *u) {
    sparse_system s = {0};
    pbd_status status = number_unknowns(scene, &s);
    if (status.code == PBD_OK && s.n > 0) {
        status = find_pattern(scene, &s);
        if (status.code == PBD_OK) status = assemble(scene, prescribed, &s);
        if (status.code == PBD_OK) status = solve_sparse(&s);
    }
    for (size_t i = 0; i < 3 * scene->particles && status.code == PBD_OK; i++)
        u[i] = s.unknown[i] >= 0 ? s.right[s.unknown[i]] : prescribed ? prescribed[i] : 0;
    free_system(&s);
    return status;
}
