#include "harness/picture/sample_strain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

/* ---- Particles sorted by grid cell at rest ----------------------------------------------------------------------- */

typedef struct cell_of {
    int64_t at[3];
    uint32_t particle;
} cell_of;

static int compare_cells(const void *a, const void *b) {
    const cell_of *p = a, *q = b;
    for (int d = 0; d < 3; d++)
        if (p->at[d] != q->at[d]) return p->at[d] < q->at[d] ? -1 : 1;
    return (p->particle > q->particle) - (p->particle < q->particle);
}

static const double REACH = 1.75; /* spacings */

static void sort_particles(const pbd_scene *scene, cell_of *cell) {
    for (size_t i = 0; i < scene->particles.count; i++) {
        for (size_t d = 0; d < 3; d++)
            cell[i].at[d] = (int64_t)floor(scene->particles.positions[3 * i + d] / (REACH * scene->particles.spacing));
        cell[i].particle = (uint32_t)i;
    }
    qsort(cell, scene->particles.count, sizeof *cell, compare_cells);
}

/* Index of the first sorted particle that is not before this cell. */
static size_t find_cell(const cell_of *cell, size_t count, const int64_t at[3]) {
    const cell_of wanted = {{at[0], at[1], at[2]}, 0};
    size_t low = 0;
    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if (compare_cells(&cell[middle], &wanted) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

/* ---- The map of the neighbourhood -------------------------------------------------------------------------------- */

typedef struct sums {
    double rest[3][3], now[3][3]; /* sum of X X', of x X' */
    double along;                 /* sum of squares of Green's strain along each edge */
    size_t count, parted;         /* edges; of these, more than twice as long as at rest */
} sums;

static void add_edge(sums *s, const double *rest_i, const double *rest_j, const double *i, const double *j) {
    double X[3], x[3], L2 = 0, l2 = 0;
    for (int d = 0; d < 3; d++) {
        X[d] = rest_j[d] - rest_i[d];
        x[d] = j[d] - i[d];
        L2 += X[d] * X[d];
        l2 += x[d] * x[d];
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            s->rest[a][b] += X[a] * X[b];
            s->now[a][b] += x[a] * X[b];
        }
    const double green = 0.5 * (l2 - L2) / L2;
    s->along += green * green;
    s->count++;
    s->parted += !(l2 <= 4 * L2);
}

static double strain_of(const sums *s) {
    double inverse[3][3], det = 0, trace = 0, sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (k + 1) % 3, d = (k + 2) % 3;
            inverse[k][i] = s->rest[a][c] * s->rest[b][d] - s->rest[a][d] * s->rest[b][c];
        }
    for (int k = 0; k < 3; k++) det += s->rest[0][k] * inverse[k][0], trace += s->rest[k][k];
    if (s->count == 0) return 0;
    if (!(det > 1e-3 * trace * trace * trace / 27)) return sqrt(s->along / (double)s->count);
    double F[3][3] = {{0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < 3; m++) F[i][k] += s->now[i][m] * inverse[m][k] / det;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double C = 0;
            for (int m = 0; m < 3; m++) C += F[m][i] * F[m][k];
            sum += 0.25 * (C - (i == k)) * (C - (i == k));
        }
    return sqrt(sum);
}

static double square_at_rest(const pbd_scene *scene, size_t i, size_t j) {
    double sum = 0;
    for (size_t d = 0; d < 3; d++)
        sum += (scene->particles.positions[3 * i + d] - scene->particles.positions[3 * j + d]) *
               (scene->particles.positions[3 * i + d] - scene->particles.positions[3 * j + d]);
    return sum;
}

static sums look_around(const pbd_scene *scene, const cell_of *cell, size_t own, const double *x) {
    const size_t i = cell[own].particle;
    const double reach = REACH * scene->particles.spacing;
    sums s = {0};
    for (int column = 0; column < 9; column++) { /* three cells along z are consecutive in the order */
        int64_t at[3] = {cell[own].at[0] + column % 3 - 1, cell[own].at[1] + column / 3 - 1, cell[own].at[2] - 1};
        size_t n = find_cell(cell, scene->particles.count, at);
        for (; n < scene->particles.count; n++) {
            const size_t j = cell[n].particle;
            if (cell[n].at[0] != at[0] || cell[n].at[1] != at[1] || cell[n].at[2] > at[2] + 2) break;
            if (j == i || (scene->particles.body && scene->particles.body[i] != scene->particles.body[j])) continue;
            if (square_at_rest(scene, i, j) > reach * reach) continue;
            add_edge(&s, scene->particles.positions + 3 * i, scene->particles.positions + 3 * j, x + 3 * i, x + 3 * j);
        }
    }
    return s;
}

static double damage_of(const sums *s) { return s->count > 0 ? (double)s->parted / (double)s->count : 0; }

static pbd_status visit(const pbd_scene *scene, const double *x, double (*tell)(const sums *), double *out) {
    pbd_arena a PBD_ARENA;
    cell_of *cell = pbd_new(&a, cell_of, scene->particles.count);
    PBD_TRY(pbd_arena_check(&a));
    sort_particles(scene, cell);
#pragma omp parallel for schedule(dynamic, 256)
    for (long n = 0; n < (long)scene->particles.count; n++) {
        const sums s = look_around(scene, cell, (size_t)n, x);
        out[cell[n].particle] = tell(&s);
    }
    return pbd_ok();
}

pbd_status pbd_sample_strain(const pbd_scene *scene, const double *x, double *strain) {
    return visit(scene, x, strain_of, strain);
}

pbd_status pbd_sample_damage(const pbd_scene *scene, const double *x, double *damage) {
    return visit(scene, x, damage_of, damage);
}
