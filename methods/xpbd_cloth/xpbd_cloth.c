/* xpbd_cloth: cloth by XPBD, strains of triangles and the angles between them as compliant constraints. The solver is
 * methods/physics/parts/cloth.h; README.md has the equations. */
#include <math.h>
#include <stdlib.h>

#include "methods/physics/parts/cloth.h"
#include "methods/physics/parts/contact.h"

static const char *const gradients[] = {"end", "path", NULL};

static const pbd_param params[] = {
    {"iterations", "", PBD_INTEGER, "10", 1, 100000, 0, NULL, "projections of every constraint in a substep"},
    {"substeps", "", PBD_INTEGER, "1", 1, 10000, 0, NULL, "of a step"},
    {"dt", "s", PBD_REAL, "0.005", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},
    {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},
    {"gradients", "", PBD_CHOICE, "end", 0, 0, 0, gradients,
     "impulses act along gradients at the end of a step (implicit Euler), or where they were computed (XPBD)"},
    PBD_ROWS(CONTACT_PARAMS){0}};

typedef struct xpbd_cloth {
    cloth *cloth;
    pbd_exec *exec;
    pbd_recorder *recorder;
    pbd_repeat *repeat; /* the launches of a step */
    long iterations, substeps;
    double damping;
} xpbd_cloth;

static void destroy(void *state) {
    xpbd_cloth *s = state;
    if (!s) return;
    pbd_repeat_free(s->exec, s->repeat);
    cloth_free(s->cloth);
    free(s);
}

/* Of a scene with several kinds of matter it can do cloth alone. */
static pbd_status check(const pbd_scene *scene) {
    for (size_t i = 0; scene->particles.material && i < scene->particles.count; i++)
        if (pbd_matter_of(scene, i) != PBD_CLOTH)
            return pbd_error(PBD_NOT_SUPPORTED, "xpbd_cloth supports cloth only: particle %zu of the scene is %s", i,
                             pbd_matter_of(scene, i) == PBD_FLUID ? "liquid" : "of a continuum");
    return pbd_ok();
}

static pbd_status create(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                         void **state) {
    PBD_TRY(check(scene));
    xpbd_cloth *s = calloc(1, sizeof *s);
    if (!s) return pbd_error(PBD_FAILED, "out of memory for xpbd_cloth");
    s->recorder = recorder;
    s->iterations = pbd_integer(values, "iterations");
    s->exec = exec;
    s->substeps = pbd_integer(values, "substeps");
    s->damping = pbd_real(values, "damping");
    pbd_scene own = *scene;
    if (scene->particles.material && scene->particles.count > 0) own.material[0] = *pbd_material_of(scene, 0);
    const pbd_status status = cloth_create(&own, pbd_choice(values, "gradients") == 0, contact_settings_read(values),
                                           exec, recorder, &s->cloth);
    if (status.code != PBD_OK)
        destroy(s);
    else
        *state = s;
    return status;
}

static pbd_status step(void *state, double dt) {
    xpbd_cloth *s = state;
    PBD_TRY(pbd_repeat_begin(s->exec, &s->repeat));
    for (long i = 0; i < s->substeps; i++) {
        PBD_TRY(cloth_begin(s->cloth, dt / (double)s->substeps));
        for (long k = 0; k < s->iterations; k++) PBD_TRY(cloth_iterate(s->cloth));
        PBD_TRY(cloth_end(s->cloth, s->damping));
    }
    PBD_TRY(pbd_repeat_end(s->exec));
    pbd_count(s->recorder, "steps", 1);
    return cloth_record(s->cloth);
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    return cloth_read(((const xpbd_cloth *)state)->cloth, field, out);
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const xpbd_cloth *s = state;
    *bytes = cloth_bytes(s->cloth);
    return blob ? cloth_save(s->cloth, blob) : pbd_ok();
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    xpbd_cloth *s = state;
    if (bytes != cloth_bytes(s->cloth))
        return pbd_error(PBD_BAD_INPUT, "xpbd_cloth: the saved state has %zu bytes, not %zu", bytes,
                         cloth_bytes(s->cloth));
    return cloth_load(s->cloth, blob);
}

const pbd_method PBD_NAME(xpbd_cloth) = {
    .bytes = sizeof(pbd_method),
    .name = "xpbd_cloth",
    .summary = "cloth: strains of triangles and the angles between them, XPBD with a thin plate's compliances",
    .source = "Macklin et al. 2016; Bridson et al. 2003 (angles); yu2024 section 4.4",
    .needs = PBD_NEEDS_TRIANGLES,
    .takes = PBD_TAKES_COLLIDERS | PBD_TAKES_CONTACT | PBD_TAKES_START | PBD_TAKES_FORCES_END | PBD_TAKES_CLOTH,
    .params = params,
    .create = create,
    .backends = PBD_CPU | PBD_EMU | PBD_CUDA,
    .precisions = PBD_F32 | PBD_F64,
    .step = step,
    .read = read_field,
    .save = save,
    .load = load,
    .destroy = destroy,
};
