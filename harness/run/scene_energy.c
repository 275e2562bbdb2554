#include "harness/run/scene_energy.h"

#include <math.h>

#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/matter/law_material.h"
/* after law_material.h */
#include "cases/scenes/tetrahedron.h"

/* A material, prepared for evaluation. */
typedef struct evaluated {
    hyperelastic law;
    fibre_set fibre;
    bool known; /* false: Psi does not depend on F, or not on F alone */
} evaluated;

static evaluated evaluated_of(const pbd_material *m, bool membrane) {
    evaluated e = {.law = law_plain(m), .known = m->matter != PBD_FLUID && !m->flow && !(m->yield_strain > 0)};
    if (membrane) e.law.lambda = m->E * m->nu / (1 - m->nu * m->nu);
    if (fibres_make(m, 1, &e.fibre).code != PBD_OK) e.known = false;
    return e;
}

/* J/m^3; NaN: unknown. */
static double density_at(const evaluated *e, mat3 F) {
    if (!e->known) return NAN;
    stressed s = stress(e->law, F);
    add_fibres(&s, F, &e->fibre);
    return s.psi;
}

static void add(scene_energy *sum, double size, double low, double high) {
    if (isfinite(low)) sum->low += size * low;
    sum->high += size * high;
}

/* ---- Particles --------------------------------------------------------------------------------------------------- */

static double volume_of(const pbd_scene *scene, size_t i) {
    const double density = pbd_material_of(scene, i)->density;
    if (scene->particles.volumes) return scene->particles.volumes[i];
    return density > 0 ? scene->particles.masses[i] / density : NAN;
}

static pbd_status add_particles(const pbd_scene *scene, const pbd_method *method, const void *state,
                                const evaluated *by_material, scene_energy *out) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    double *F = pbd_new(&a, double, 9 * n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(method->read(state, PBD_DEFORMATION_GRADIENTS, F));
    for (size_t i = 0; i < n; i++) {
        const pbd_material *m = pbd_material_of(scene, i);
        if (m->matter == PBD_CLOTH) continue;
        const double *f = F + 9 * i;
        const mat3 gradient =
            mat3_make(vec3_make(f[0], f[3], f[6]), vec3_make(f[1], f[4], f[7]), vec3_make(f[2], f[5], f[8]));
        const double psi = density_at(&by_material[m - scene->material], gradient);
        add(out, volume_of(scene, i), psi, psi);
    }
    return pbd_ok();
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static vec3 edge(const double *rows, uint32_t from, uint32_t to) {
    return vec3_sub(row_at(rows, to), row_at(rows, from));
}

static void add_tet(const pbd_scene *scene, const uint32_t *c, const evaluated *e, const double *x, scene_energy *out) {
    double six_volumes;
    const mat3 F = mat3_over(tet_edges(x, c), tet_edges(scene->particles.positions, c), &six_volumes);
    const double psi = density_at(e, F);
    add(out, six_volumes / 6, psi, psi);
}

/* Derivatives of the corners' positions by the coordinates of the reference cube [-1, 1]^3, at r. */
static mat3 hex_slope(const double *rows, const uint32_t *corner, const double r[3]) {
    static const double at[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                    {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    vec3 column[3] = {vec3_make(0, 0, 0), vec3_make(0, 0, 0), vec3_make(0, 0, 0)};
    for (int c = 0; c < 8; c++)
        for (int d = 0; d < 3; d++) {
            const int p = (d + 1) % 3, q = (d + 2) % 3;
            const double slope = at[c][d] * (1 + at[c][p] * r[p]) * (1 + at[c][q] * r[q]) / 8;
            column[d] = vec3_add(column[d], vec3_scale(slope, row_at(rows, corner[c])));
        }
    return mat3_make(column[0], column[1], column[2]);
}

static double hex_density(const pbd_scene *scene, const uint32_t *c, const evaluated *e, const double *x,
                          const double r[3], double *size) {
    const mat3 F = mat3_over(hex_slope(x, c, r), hex_slope(scene->particles.positions, c, r), size);
    return density_at(e, F);
}

static void add_hex(const pbd_scene *scene, const uint32_t *c, const evaluated *e, const double *x, scene_energy *out) {
    static const double centre[3] = {0, 0, 0}, g = 0.57735026918962576451;
    double size;
    const double low = hex_density(scene, c, e, x, centre, &size);
    if (isfinite(low)) out->low += 8 * size * low;
    for (int k = 0; k < 8; k++) {
        const double r[3] = {k & 1 ? g : -g, k & 2 ? g : -g, k & 4 ? g : -g};
        const double high = hex_density(scene, c, e, x, r, &size);
        out->high += size * high;
    }
}

/* F is 3 x 2 in the plane at rest; with the unit normal as third column the law gives the energy of the membrane. */
static void add_triangle(const pbd_scene *scene, const uint32_t *c, const evaluated *e, double thickness,
                         const double *x, scene_energy *out) {
    const double *rest = scene->particles.positions;
    const vec3 a = edge(rest, c[2], c[0]), b = edge(rest, c[2], c[1]), n = vec3_cross(a, b);
    const vec3 p = edge(x, c[2], c[0]), q = edge(x, c[2], c[1]), m = vec3_cross(p, q);
    const double twice = sqrt(vec3_dot(n, n)), now = sqrt(vec3_dot(m, m));
    const mat3 from = mat3_make(a, b, vec3_scale(1 / twice, n));
    const mat3 to = mat3_make(p, q, vec3_scale(now > 0 ? 1 / now : 0, m));
    double det;
    const double psi = density_at(e, mat3_over(to, from, &det));
    add(out, 0.5 * twice * (thickness > 0 ? thickness : 1), psi, psi);
}

/* ---- A scene ----------------------------------------------------------------------------------------------------- */

static size_t material_of(const pbd_cells *cells, size_t cell) { return cells->material ? cells->material[cell] : 0; }

static void add_cells(const pbd_scene *scene, bool hexes, const evaluated *by_material, const double *x,
                      scene_energy *out) {
    if (hexes) {
        for (size_t i = 0; i < scene->hexes.count; i++)
            add_hex(scene, scene->hexes.corner + 8 * i, &by_material[material_of(&scene->hexes, i)], x, out);
        return;
    }
    for (size_t i = 0; i < scene->tets.count; i++)
        add_tet(scene, scene->tets.corner + 4 * i, &by_material[material_of(&scene->tets, i)], x, out);
}

/* Adds the energy that the method stores in addition to the law's. Without deformation gradients nothing else is
 * known. */
static pbd_status add_internal(const pbd_scene *scene, const pbd_method *method, const void *state, bool gradients,
                               scene_energy *out) {
    double internal = 0;
    const pbd_status status = method->read(state, PBD_INTERNAL_ENERGY, &internal);
    if (status.code == PBD_NOT_SUPPORTED) {
        out->high = !gradients && pbd_holds(scene, PBD_CONTINUUM) ? NAN : out->high;
        return pbd_ok();
    }
    out->low += internal;
    out->high += internal;
    return status;
}

pbd_status scene_elastic_energy(const pbd_scene *scene, const pbd_method *method, const void *state, bool gradients,
                                const double *x, scene_energy *out) {
    evaluated solid[PBD_MOST_MATERIALS], membrane[PBD_MOST_MATERIALS];
    for (size_t k = 0; k < PBD_MOST_MATERIALS; k++) {
        solid[k] = evaluated_of(&scene->material[k], false);
        membrane[k] = evaluated_of(&scene->material[k], true);
    }
    *out = (scene_energy){0};
    for (size_t i = 0; i < scene->triangles.count; i++) {
        const size_t k = material_of(&scene->triangles, i);
        add_triangle(scene, scene->triangles.corner + 3 * i, &membrane[k], scene->material[k].thickness, x, out);
    }
    if (gradients) PBD_TRY(add_particles(scene, method, state, solid, out));
    if (gradients || method->needs & PBD_NEEDS_SAMPLES) return add_internal(scene, method, state, gradients, out);
    add_cells(scene, scene->hexes.count > 0 && !(method->needs & (PBD_NEEDS_TETS | PBD_NEEDS_TETS_OR_TRIANGLES)), solid,
              x, out);
    return pbd_ok();
}
