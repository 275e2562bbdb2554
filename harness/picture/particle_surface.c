#include "harness/picture/particle_surface.h"

#include <math.h>

#include "harness/exec/arena.h"

enum { SLAB = 8 /* layers of nodes that one thread fills at a time */, MOST_NODES = 1 << 26 };
static const double SUPPORT = 2; /* sizes */

/* ---- The grid ---------------------------------------------------------------------------------------------------- */

static bool is_in(const sampled_matter *m, const double *x) {
    bool in = true;
    for (int d = 0; d < 3; d++) in = in && x[d] >= m->low[d] && x[d] <= m->high[d];
    return in;
}

/* Lays the grid around the particles in the box, with a margin of the support radius; false: there are none. */
static bool lay_grid(const sampled_matter *m, double cell, scalar_grid *g) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, nodes = 0;
    for (size_t i = 0; i < m->count; i++) {
        const double *x = m->x + 3 * (size_t)m->particle[i];
        for (int d = 0; d < 3 && is_in(m, x); d++) low[d] = fmin(low[d], x[d]), high[d] = fmax(high[d], x[d]);
    }
    if (!(low[0] <= high[0])) return false;
    for (g->cell = cell * m->size;; g->cell *= 1.1) {
        nodes = 1;
        for (int d = 0; d < 3; d++) {
            /* A multiple of the cell, so that matter at rest has the same surface in every state. */
            g->origin[d] = g->cell * (floor((low[d] - SUPPORT * m->size) / g->cell) - 1);
            g->nodes[d] = (size_t)ceil((high[d] + SUPPORT * m->size - g->origin[d]) / g->cell) + 3;
            nodes *= (double)g->nodes[d];
        }
        if (nodes <= MOST_NODES) return true;
    }
}

/* ---- Filling it -------------------------------------------------------------------------------------------------- */

/* Particles sorted by slab of layers, in their order within a slab. */
typedef struct slabs {
    size_t count, *begin;
    uint32_t *particle;
} slabs;

static size_t slab_of(const sampled_matter *m, const scalar_grid *g, const double *x) {
    (void)m;
    return (size_t)((x[2] - g->origin[2]) / g->cell) / SLAB;
}

static pbd_status sort_slabs(const sampled_matter *m, const scalar_grid *g, pbd_arena *a, slabs *s) {
    s->count = (g->nodes[2] + SLAB - 1) / SLAB;
    s->begin = pbd_new(a, size_t, s->count + 2);
    s->particle = pbd_new(a, uint32_t, m->count);
    PBD_TRY(pbd_arena_check(a));
    for (size_t i = 0; i < m->count; i++) {
        const double *x = m->x + 3 * (size_t)m->particle[i];
        if (is_in(m, x)) s->begin[slab_of(m, g, x) + 2]++;
    }
    for (size_t k = 0; k < s->count; k++) s->begin[k + 2] += s->begin[k + 1];
    for (size_t i = 0; i < m->count; i++) {
        const double *x = m->x + 3 * (size_t)m->particle[i];
        if (is_in(m, x)) s->particle[s->begin[slab_of(m, g, x) + 1]++] = m->particle[i];
    }
    return pbd_ok();
}

/* Adds one particle's share to a row of nodes; across: the square of the row's distance, in supports. */
static void add_row(float *restrict share, float *restrict valued, long from, long to, float at, float step,
                    float across, float sigma, float value) {
    for (long i = from; i <= to; i++) {
        const float off = (float)i * step - at, q = sqrtf(off * off + across);
        const float rest = q < 1 ? 1 - q : 0, square = rest * rest;
        const float w = sigma * square * square * (1 + 4 * q);
        share[i] += w;
        if (valued) valued[i] += w * value;
    }
}

static long least(double x) { return x > 0 ? (long)ceil(x) : 0; }
static long most(double x, size_t nodes) { return x < (double)nodes - 1 ? (long)floor(x) : (long)nodes - 1; }

static void add_particle(const sampled_matter *m, const scalar_grid *g, float *valued, size_t particle, long first,
                         long end) {
    static const double SIGMA = 21 / (2 * 3.14159265358979324); /* factor of Wendland C2 in 3D, times support^3 */
    const double reach = SUPPORT * m->size / g->cell, *x = m->x + 3 * particle;
    const float sigma = (float)(SIGMA / (SUPPORT * SUPPORT * SUPPORT)), step = (float)(1 / reach);
    const float value = m->value && isfinite(m->value[particle]) ? m->value[particle] : 0;
    double at[3];
    for (int d = 0; d < 3; d++) at[d] = (x[d] - g->origin[d]) / g->cell;
    const long low = least(at[2] - reach), high = most(at[2] + reach, g->nodes[2]);
    for (long z = low > first ? low : first; z <= high && z < end; z++)
        for (long y = least(at[1] - reach); y <= most(at[1] + reach, g->nodes[1]); y++) {
            const double dy = ((double)y - at[1]) / reach, dz = ((double)z - at[2]) / reach;
            const double across = dy * dy + dz * dz;
            if (across >= 1) continue;
            const double half = reach * sqrt(1 - across);
            const size_t row = g->nodes[0] * ((size_t)y + g->nodes[1] * (size_t)z);
            add_row(g->value + row, valued ? valued + row : NULL, least(at[0] - half), most(at[0] + half, g->nodes[0]),
                    (float)(at[0] / reach), step, (float)across, sigma, value);
        }
}

/* One thread fills each slab; it adds the particles within reach in a fixed order. */
static pbd_status fill_grid(const sampled_matter *m, const scalar_grid *g, float *valued) {
    pbd_arena a PBD_ARENA;
    slabs s;
    PBD_TRY(sort_slabs(m, g, &a, &s));
    const size_t reach = (size_t)(SUPPORT * m->size / g->cell) / SLAB + 1;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t k = 0; k < s.count; k++) {
        const size_t from = k > reach ? k - reach : 0, to = k + reach + 1 < s.count ? k + reach + 1 : s.count;
        for (size_t n = s.begin[from]; n < s.begin[to]; n++)
            add_particle(m, g, valued, s.particle[n], (long)(k * SLAB), (long)((k + 1) * SLAB));
    }
    return pbd_ok();
}

/* ---- A surface --------------------------------------------------------------------------------------------------- */

static pbd_status give_values(const scalar_grid *g, const float *valued, const iso_mesh *mesh, float **value) {
    PBD_TRY_NEW(*value, mesh->vertices);
#pragma omp parallel for schedule(static, 4096)
    for (size_t v = 0; v < mesh->vertices; v++) {
        const float share = scalar_grid_at(g, g->value, mesh->vertex + 3 * v);
        (*value)[v] = share > 0 ? scalar_grid_at(g, valued, mesh->vertex + 3 * v) / share : 0;
    }
    return pbd_ok();
}

pbd_status particle_surface_make(const sampled_matter *matter, double cell, double level, iso_mesh *out, float **value,
                                 float *share) {
    pbd_arena a PBD_ARENA;
    scalar_grid g = {0};
    *out = (iso_mesh){0};
    *value = NULL;
    for (size_t i = 0; share && i < matter->count; i++) share[i] = 0;
    if (!lay_grid(matter, cell, &g)) return pbd_ok();
    const size_t nodes = g.nodes[0] * g.nodes[1] * g.nodes[2];
    float *valued = matter->value ? pbd_new(&a, float, nodes) : NULL;
    g.value = pbd_new(&a, float, nodes);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(fill_grid(matter, &g, valued));
    for (size_t i = 0; share && i < matter->count; i++)
        share[i] = scalar_grid_at(&g, g.value, matter->x + 3 * (size_t)matter->particle[i]);
    PBD_TRY(iso_mesh_make(&g, (float)level, out));
    return valued ? give_values(&g, valued, out, value) : pbd_ok();
}
