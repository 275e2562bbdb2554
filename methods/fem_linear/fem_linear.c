/* fem_linear: linear elasticity on 8-node hexahedra, the reference of rodero2016. Static only; f64 only. */
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/real.h"
#include "methods/params.h"
#include "methods/physics/parts/hex8.h"

#define PARAMS(REAL, INTEGER, CHOICE) \
    CHOICE(spectrum, "no", (no, yes), "record the eigenvalues of the first element's stiffness matrix")
PBD_SETTINGS(fem_linear_settings, PARAMS)
static const pbd_param params[] = {PBD_ROWS(PARAMS){0}};

typedef struct fem_linear {
    pbd_scene scene; /* only what the solve needs; arrays are copies */
    double *u;
    pbd_recorder *recorder;
} fem_linear;

static void destroy(void *state) {
    fem_linear *fem = state;
    if (!fem) return;
    free(fem->scene.particles.positions);
    free(fem->scene.loads.forces);
    free(fem->scene.hexes.corner);
    free(fem->scene.particles.fixed_particle);
    free(fem->u);
    free(fem);
}

static void *copy_of(const void *from, size_t bytes) {
    void *copy = malloc(bytes ? bytes : 1);
    if (copy && bytes) memcpy(copy, from, bytes);
    return copy;
}

/* The eigenvalues of one element, N/m: six rigid motions, then the softest deformation. Torsion about z is the motion
 * (-y z, x z, 0): its Rayleigh quotient and its distance from being an eigenvector are recorded beside them
 * (claim rodero2016.torsion_smallest_eigenvalue). */
static pbd_status record_spectrum(const pbd_scene *scene, pbd_recorder *recorder) {
    double x[HEX8_NODES][3], D[36], K[576], A[576], eigenvalue[HEX8_DOFS], centre[3] = {0};
    for (int a = 0; a < HEX8_NODES; a++)
        memcpy(x[a], scene->particles.positions + 3 * scene->hexes.corner[a], sizeof x[a]);
    hex8_elasticity(scene->material->E, scene->material->nu, scene->material->convention, D);
    PBD_TRY(hex8_stiffness(x, D, 0, K));
    memcpy(A, K, sizeof A);
    if (LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'N', 'U', HEX8_DOFS, A, HEX8_DOFS, eigenvalue) != 0)
        return pbd_error(PBD_FAILED, "LAPACK found no eigenvalues of the element's stiffness matrix");
    pbd_series(recorder, "eigenvalue", "value", "N/m", eigenvalue, HEX8_DOFS, 1);
    double t[HEX8_DOFS], Kt[HEX8_DOFS], tt = 0, tKt = 0, rest = 0;
    for (int a = 0; a < HEX8_NODES; a++)
        for (int d = 0; d < 3; d++) centre[d] += x[a][d] / HEX8_NODES;
    for (int a = 0; a < HEX8_NODES; a++) {
        double dx = x[a][0] - centre[0], dy = x[a][1] - centre[1], dz = x[a][2] - centre[2];
        t[3 * a] = -dy * dz;
        t[3 * a + 1] = dx * dz;
        t[3 * a + 2] = 0;
    }
    for (int i = 0; i < HEX8_DOFS; i++) {
        Kt[i] = 0;
        for (int j = 0; j < HEX8_DOFS; j++) Kt[i] += K[HEX8_DOFS * i + j] * t[j];
        tt += t[i] * t[i];
        tKt += t[i] * Kt[i];
    }
    double quotient = tKt / tt;
    for (int i = 0; i < HEX8_DOFS; i++) rest += (Kt[i] - quotient * t[i]) * (Kt[i] - quotient * t[i]);
    pbd_metric(recorder, "smallest_nonzero_eigenvalue", "N/m", PBD_STATE, eigenvalue[6]);
    pbd_metric(recorder, "torsion_eigenvalue", "N/m", PBD_STATE, quotient);
    pbd_metric(recorder, "torsion_residual", "1", PBD_ERROR, sqrt(rest / tt) / quotient);
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    (void)exec;
    const pbd_particles *of = &scene->particles;
    const size_t n = of->count;
    fem_linear *fem = *state = calloc(1, sizeof *fem);
    if (!fem) return pbd_error(PBD_FAILED, "out of memory for fem_linear");
    fem->recorder = recorder;
    fem->scene = *scene;
    pbd_scene *own = &fem->scene;
    own->particles.velocities = own->particles.masses = NULL;
    own->particles.positions = copy_of(of->positions, 3 * n * sizeof(double));
    own->loads.forces = copy_of(scene->loads.forces, 3 * n * sizeof(double));
    own->hexes.corner = copy_of(scene->hexes.corner, 8 * scene->hexes.count * sizeof *scene->hexes.corner);
    own->particles.fixed_particle = copy_of(of->fixed_particle, of->fixed * sizeof *of->fixed_particle);
    fem->u = calloc(3 * n + 1, sizeof *fem->u);
    if (!own->particles.positions || !own->loads.forces || !own->hexes.corner || !own->particles.fixed_particle ||
        !fem->u)
        return pbd_error(PBD_FAILED, "out of memory for fem_linear with %zu nodes", n);
    for (size_t i = 0; i < 3 * n; i++) own->loads.forces[i] += of->masses[i / 3] * scene->loads.gravity[i % 3];
    return fem_linear_settings_read(values).spectrum == spectrum_yes ? record_spectrum(scene, recorder) : pbd_ok();
}

static pbd_status solve(void *state) {
    fem_linear *fem = state;
    pbd_count(fem->recorder, "elements", fem->scene.hexes.count);
    return hex8_solve(&fem->scene, NULL, fem->u);
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const fem_linear *fem = state;
    size_t n = 3 * fem->scene.particles.count;
    if (field == PBD_VELOCITIES) {
        memset(out, 0, n * sizeof *out);
        return pbd_ok();
    }
    if (field != PBD_POSITIONS) return pbd_error(PBD_NOT_SUPPORTED, "fem_linear predicts no positions");
    for (size_t i = 0; i < n; i++) out[i] = fem->scene.particles.positions[i] + fem->u[i];
    return pbd_ok();
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const fem_linear *fem = state;
    *bytes = 3 * fem->scene.particles.count * sizeof *fem->u;
    if (blob) memcpy(blob, fem->u, *bytes);
    return pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    fem_linear *fem = state;
    if (bytes != 3 * fem->scene.particles.count * sizeof *fem->u)
        return pbd_error(PBD_BAD_INPUT, "fem_linear: the saved state has %zu bytes, not this mesh's", bytes);
    memcpy(fem->u, blob, bytes);
    return pbd_ok();
}

const pbd_method PBD_NAME(fem_linear) = {
    .bytes = sizeof(pbd_method),
    .name = "fem_linear",
    .summary = "linear elasticity on 8-node hexahedra, full integration, sparse direct solve",
    .source = "rodero2016 Eqs. 2-5 (Zienkiewicz 1977)",
    .needs = PBD_NEEDS_HEXES,
    .takes = PBD_TAKES_ELASTICITY,
    .params = params,
    .create = create,
    .backends = PBD_CPU,
    .precisions = PBD_F64,
    .solve = solve,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
