#include "harness/bench/stage.h"

#include <math.h>
#include <string.h>

#include "harness/catalog/scene_check.h"
#include "harness/exec/arena.h"
#include "harness/process/interrupt.h"

void pbd_stage_close(pbd_stage *s) {
    if (s->state) pbd_stage_method(s)->destroy(s->state);
    if (s->cell) pbd_case_free(s->cell->c, &s->setup);
    pbd_exec_destroy(s->exec);
    pbd_recorder_destroy(s->recorder);
    pbd_result_free(&s->record);
    *s = (pbd_stage){0};
}

const pbd_metric_item *pbd_stage_metric(const pbd_stage *s, const char *name) {
    for (size_t i = 0; i < s->record.metrics; i++)
        if (strcmp(s->record.metric[i].name, name) == 0) return &s->record.metric[i];
    return NULL;
}

/* The method's own time step: the one it reports to have chosen, else its parameter. */
static pbd_status find_dt(pbd_stage *s) {
    const pbd_value *dt = pbd_value_named(&s->cell->method_values, "dt");
    const pbd_metric_item *chosen = pbd_stage_metric(s, "dt");
    s->dt = chosen ? chosen->value : dt ? dt->number : 0;
    if (!pbd_stage_method(s)->step || s->dt > 0) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED, "method %s gives no time step: set dt", pbd_stage_method(s)->name);
}

pbd_status pbd_stage_open(const pbd_cell *cell, bool for_gpu, pbd_stage *out) {
    const pbd_method *m = pbd_cell_method(cell);
    *out = (pbd_stage){.cell = cell};
    if (!m->step && !m->solve) return pbd_error(PBD_NOT_SUPPORTED, "method %s has nothing to time", m->name);
    out->recorder = pbd_recorder_create(&out->record, pbd_interrupted);
    if (!out->recorder) return pbd_error(PBD_FAILED, "out of memory for a bench");
    PBD_TRY(pbd_exec_create(1 << cell->backend, cell->threads, &out->exec));
    if (for_gpu) pbd_exec_lay_out_for_gpu(out->exec);
    pbd_interrupt_ends("a scene was built");
    const pbd_status status = pbd_case_build(cell->c, &cell->case_values, &out->setup);
    pbd_interrupt_ends(NULL);
    PBD_TRY(status);
    PBD_TRY(pbd_check_scene(&out->setup.scene, m));
    PBD_TRY(pbd_method_create(m, &out->setup.scene, &cell->method_values, out->exec, out->recorder, &out->state));
    return find_dt(out);
}

pbd_status pbd_stage_check(const pbd_stage *s, long steps) {
    const size_t n = 3 * s->setup.scene.particles.count;
    pbd_arena a PBD_ARENA;
    double *x = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_stage_method(s)->read(s->state, PBD_POSITIONS, x));
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return pbd_error(PBD_DIVERGED, "after %ld steps of %g s a position is not finite", steps, s->dt);
    return pbd_ok();
}
