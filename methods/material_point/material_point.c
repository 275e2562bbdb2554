/* material_point: a material law at one deformation gradient, the response of a homogeneously deformed body, without
 * mesh or solver. The reference for laws and joins (cao2023-fig2).
 *
 * The gradient is that of the scene's first tetrahedron at the start; with sides=free the lateral stretches are those
 * of uniaxial stress along x. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/params.h"
#include "methods/physics/matter/law_table.h"
#include "methods/physics/matter/uniaxial.h"
#include "methods/physics/space/element_shape.h"

#define PARAMS(REAL, INTEGER, CHOICE)                                                                   \
    CHOICE(join, "none", (LAW_JOINS), "continuation of the law under compression and inversion")        \
    REAL(threshold, "", "0", 0, 1, 0, "join!=none: singular value below which it acts; 0: its default") \
    CHOICE(sides, "confined", (confined, free),                                                         \
           "confined: F as in the scene; free: stretched along x, sides free of traction")
PBD_SETTINGS(material_point_settings, PARAMS)
static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct material_point {
    hyperelastic law;
    bool free_sides;
    size_t particles;
    double *rest;
    mat3 F, P;
    pbd_recorder *recorder;
} material_point;

static void destroy(void *state) {
    material_point *s = state;
    if (!s) return;
    free(s->rest);
    free(s);
}

static pbd_status start_gradient(const pbd_scene *scene, mat3 *F) {
    element_shape shape;
    const double *x = scene->particles.start ? scene->particles.start : scene->particles.positions;
    if (scene->tets.count == 0) return pbd_error(PBD_BAD_INPUT, "the scene has no tetrahedron to take F from");
    PBD_TRY(element_shape_of(scene, 4, 0, &shape));
    vec3 edge[3];
    for (int k = 0; k < 3; k++) {
        const double *a = x + 3 * scene->tets.corner[k], *b = x + 3 * scene->tets.corner[3];
        edge[k] = vec3_make((real)(a[0] - b[0]), (real)(a[1] - b[1]), (real)(a[2] - b[2]));
    }
    const mat3 d = mat3_make(edge[0], edge[1], edge[2]);
    vec3 column[3];
    for (int c = 0; c < 3; c++) {
        const double *b = shape.inverse + 3 * c;
        column[c] = mat3_apply(d, vec3_make((real)b[0], (real)b[1], (real)b[2]));
    }
    *F = mat3_make(column[0], column[1], column[2]);
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec;
    const material_point_settings set = material_point_settings_read(values);
    const pbd_material *m = scene->material;
    const pbd_join join = (pbd_join)set.join;
    const size_t n = scene->particles.count;
    int law;
    material_point *s = *state = calloc(1, sizeof *s);
    double *rest = calloc(3 * n + 1, sizeof *rest);
    if (!s || !rest) {
        free(rest);
        return pbd_error(PBD_FAILED, "out of memory for material_point with %zu particles", n);
    }
    *s = (material_point){.free_sides = set.sides == sides_free, .particles = n, .rest = rest, .recorder = recorder};
    memcpy(rest, scene->particles.positions, 3 * n * sizeof *rest);
    PBD_TRY(law_find(m->law, &law));
    s->law = hyperelastic_make(law, join, m->E, m->nu,
                               set.threshold > 0 ? set.threshold : hyperelastic_threshold(law, join));
    return start_gradient(scene, &s->F);
}

static pbd_status solve(void *state) {
    material_point *s = state;
    if (s->free_sides) {
        const uniaxial found = uniaxial_solve(s->law, s->F.x.x);
        if (!found.found)
            return pbd_error(PBD_NO_EQUILIBRIUM,
                             "no lateral stretch leaves the sides free of traction at a stretch of %g",
                             (double)s->F.x.x);
        s->F = mat3_diagonal(vec3_make(s->F.x.x, found.lateral, found.lateral));
    }
    const stressed answer = stress(s->law, s->F);
    s->P = answer.p;
    if (!isfinite((double)answer.psi) || !isfinite((double)answer.p.x.x))
        return pbd_error(PBD_DIVERGED, "the law has no energy at det F = %g", (double)mat3_det(s->F));
    pbd_metric(s->recorder, "energy_density", "J/m^3", PBD_STATE, (double)answer.psi);
    return pbd_ok();
}

static void write_rows(mat3 a, double out[9]) {
    const vec3 column[3] = {a.x, a.y, a.z};
    for (int c = 0; c < 3; c++) {
        out[c] = (double)column[c].x;
        out[3 + c] = (double)column[c].y;
        out[6 + c] = (double)column[c].z;
    }
}

/* Positions: the body at rest, mapped by F. */
static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const material_point *s = state;
    double f[9];
    if (field == PBD_MEAN_STRESS) {
        write_rows(s->P, out);
        return pbd_ok();
    }
    if (field != PBD_POSITIONS) return pbd_error(PBD_NOT_SUPPORTED, "material_point has positions and a stress only");
    write_rows(s->F, f);
    for (size_t p = 0; p < s->particles; p++)
        for (size_t r = 0; r < 3; r++)
            out[3 * p + r] =
                f[3 * r] * s->rest[3 * p] + f[3 * r + 1] * s->rest[3 * p + 1] + f[3 * r + 2] * s->rest[3 * p + 2];
    return pbd_ok();
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const material_point *s = state;
    *bytes = sizeof s->F;
    if (blob) memcpy(blob, &s->F, sizeof s->F);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    material_point *s = state;
    if (bytes != sizeof s->F)
        return pbd_error(PBD_BAD_INPUT, "material_point: the saved state has %zu bytes, not %zu", bytes, sizeof s->F);
    memcpy(&s->F, blob, sizeof s->F);
    return pbd_ok();
}

const pbd_method PBD_NAME(material_point) = {
    .bytes = sizeof(pbd_method),
    .name = "material_point",
    .summary = "a material law at one deformation gradient",
    .source = "cao2023 section 4.2, Fig. 2; methods/physics/README.md",
    .needs = PBD_NEEDS_TETS,
    .takes = PBD_TAKES_START | PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU,
    .precisions = PBD_F32 | PBD_F64,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
