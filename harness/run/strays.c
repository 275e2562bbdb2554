#include "harness/run/strays.h"

#include "cases/geometry/near_pairs.h"
#include "cases/scenes/clearance.h"
#include "harness/exec/arena.h"
#include "harness/run/tears.h"

static const double REACH = 2; /* spacings */

/* ---- Through walls ----------------------------------------------------------------------------------------------- */

static pbd_status record_escaped(const pbd_scene *scene, const double *x, double time, pbd_recorder *recorder) {
    beyond_walls walls;
    if (scene->colliders.count == 0) return pbd_ok();
    PBD_TRY(clearance_beyond(scene, x, time, &walls));
    if (walls.free == 0) return pbd_ok();
    const double share = (double)walls.beyond / (double)walls.free;
    const start_overlap *deepest = &walls.deepest;
    pbd_metric(recorder, "escaped", "1", PBD_FLAW, share);
    if (walls.beyond == 0) return pbd_ok();
    pbd_warning(recorder, "escaped",
                "%zu of %zu free particles are beyond a collider (limit 0), particle %zu by %.3g m in collider %zu: a "
                "smaller dt, more iterations or a larger contact radius may keep them",
                walls.beyond, walls.free, deepest->particle, deepest->depth, deepest->collider);
    if (share <= PBD_ESCAPED_UNPHYSICAL) return pbd_ok();
    return pbd_error(PBD_UNPHYSICAL, "escaped %.3g: %zu of %zu free particles are beyond a collider; %g is the limit",
                     share, walls.beyond, walls.free, PBD_ESCAPED_UNPHYSICAL);
}

/* ---- Apart from all others --------------------------------------------------------------------------------------- */

static void note_company(void *to, size_t i, size_t j, double square) {
    bool *lone = to;
    (void)square;
    lone[i] = lone[j] = false;
}

static bool is_loose(const pbd_material *m) { return m->matter != PBD_CLOTH && !pbd_is_elastic(m); }

static pbd_status record_lone(const pbd_scene *scene, const double *x, pbd_recorder *recorder) {
    const size_t n = scene->particles.count;
    pbd_arena a PBD_ARENA;
    bool *lone = pbd_new(&a, bool, n);
    size_t loose = 0, count = 0;
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) loose += lone[i] = is_loose(pbd_material_of(scene, i));
    if (loose == 0) return pbd_ok();
    PBD_TRY(near_pairs_visit(x, n, REACH * scene->particles.spacing, note_company, lone));
    for (size_t i = 0; i < n; i++) count += lone[i];
    const double share = (double)count / (double)loose;
    pbd_metric(recorder, "lone", "1", PBD_FLAW, share);
    if (share > PBD_LONE_WARN)
        pbd_warning(
            recorder, "lone",
            "%.3g of the particles that flow have no other within two spacings (%zu of %zu; limit %g): a smaller "
            "dt or more particles; a share of largest pieces or quantiles does not see them",
            share, count, loose, PBD_LONE_WARN);
    return pbd_ok();
}

pbd_status pbd_strays_record(const pbd_scene *scene, const pbd_method *method, const double *x, double time,
                             pbd_recorder *recorder) {
    if ((method->needs & PBD_NEEDS_SAMPLES) && scene->particles.spacing > 0) PBD_TRY(record_lone(scene, x, recorder));
    return record_escaped(scene, x, time, recorder);
}
