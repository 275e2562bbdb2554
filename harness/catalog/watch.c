#include "harness/catalog/watch.h"

#include <stdlib.h>

#include "harness/exec/arena.h"

static struct {
    const pbd_method *method[2];
    pbd_place *place;
} watched; /* of this child */

typedef struct solver { /* the state that the harness sees */
    const pbd_method *method;
    void *state;
} solver;

static void enter(const char *slot) {
    static const char *before; /* compared by address: slots are constants of this file */
    watched.place->calls = before == slot ? watched.place->calls + 1 : 1;
    watched.place->slot = before = slot;
}

static pbd_status leave(pbd_status status) {
    watched.place->slot = NULL;
    return status;
}

static const char CREATE[] = "create", STEP[] = "step", SOLVE[] = "solve", READ[] = "read", SAVE[] = "save",
                  LOAD[] = "load", DESTROY[] = "destroy", MESH[] = "mesh", WATCH[] = "watch", WAIT[] = "wait";

static pbd_status create(pbd_precision precision, const pbd_scene *scene, const pbd_values *values, pbd_exec *exec,
                         pbd_recorder *recorder, void **state) {
    solver *s = calloc(1, sizeof *s);
    if (!s) return pbd_no_memory();
    s->method = watched.method[precision];
    enter(CREATE);
    pbd_status status = leave(pbd_method_create(s->method, scene, values, exec, recorder, &s->state));
    if (status.code == PBD_OK)
        *state = s;
    else
        free(s);
    return status;
}

static pbd_status create_f32(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                             void **state) {
    return create(PBD_PRECISION_F32, scene, values, exec, recorder, state);
}

static pbd_status create_f64(const pbd_scene *scene, const pbd_values *values, pbd_exec *exec, pbd_recorder *recorder,
                             void **state) {
    return create(PBD_PRECISION_F64, scene, values, exec, recorder, state);
}

static pbd_status step(void *state, double dt) {
    solver *s = state;
    enter(STEP);
    return leave(s->method->step(s->state, dt));
}

static pbd_status solve(void *state) {
    solver *s = state;
    enter(SOLVE);
    return leave(s->method->solve(s->state));
}

static pbd_status read_field(const void *state, pbd_field field, double *out) {
    const solver *s = state;
    enter(READ);
    return leave(s->method->read(s->state, field, out));
}

static pbd_status save(const void *state, void *blob, size_t *bytes) {
    const solver *s = state;
    enter(SAVE);
    return leave(s->method->save(s->state, blob, bytes));
}

static pbd_status load(void *state, const void *blob, size_t bytes) {
    solver *s = state;
    enter(LOAD);
    return leave(s->method->load(s->state, blob, bytes));
}

static void mesh(const void *state, pbd_mesh *out) {
    const solver *s = state;
    enter(MESH);
    s->method->mesh(s->state, out);
    watched.place->slot = NULL;
}

static void watch(void *state, pbd_residual *out) {
    const solver *s = state;
    enter(WATCH);
    s->method->watch(s->state, out);
    watched.place->slot = NULL;
}

static pbd_status wait_for_steps(void *state) {
    solver *s = state;
    enter(WAIT);
    return leave(s->method->wait(s->state));
}

static void destroy(void *state) {
    solver *s = state;
    enter(DESTROY);
    if (s)
        s->method->destroy(s->state);
    else
        watched.method[PBD_PRECISION_F64]->destroy(NULL);
    watched.place->slot = NULL;
    free(s);
}

void pbd_watch(const pbd_method_entry *entry, pbd_place *place, pbd_watched *out) {
    watched.place = place;
    out->entry = *entry;
    for (int p = 0; p < 2; p++) {
        pbd_method *m = &out->method[p];
        watched.method[p] = entry->by_precision[p];
        *m = *entry->by_precision[p];
        m->create = p == PBD_PRECISION_F32 ? create_f32 : create_f64;
        if (m->step) m->step = step;
        if (m->solve) m->solve = solve;
        m->read = read_field;
        if (m->save) m->save = save;
        if (m->load) m->load = load;
        m->destroy = destroy;
        if (m->mesh) m->mesh = mesh;
        if (m->watch) m->watch = watch;
        if (m->wait) m->wait = wait_for_steps;
        out->entry.by_precision[p] = m;
    }
}
