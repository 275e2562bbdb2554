/* A world of free particles in contact with each other and with colliders, without other constraints, in the precision
 * REAL. */
#ifndef PBD_TESTS_CONTACT_WORLD_H
#define PBD_TESTS_CONTACT_WORLD_H

#define PBD_UNIT contact
#include "methods/physics/parts/contact.h"
#include "methods/physics/parts/contact_kernels.h"

#include "tests/ladder.h"

enum { MOST = 2000 };

typedef struct world {
    pbd_scene scene;
    double positions[3 * MOST], radius[MOST];
    uint32_t body[MOST];
    pbd_collider collider[4];
    real x[4 * MOST], v[4 * MOST]; /* host; x[3]: inverse mass */
    double time;
    int sum; /* contact_sum */
    double relaxation, margin;
    pbd_exec *exec;
    pbd_result result;
    pbd_recorder *recorder;
    contact contact;
    collider_poses walls;
    void *device_x, *device_p;
} world;

static void world_begin(world *w) {
    memset(w, 0, sizeof *w);
    w->sum = contact_sum_shared;
    w->relaxation = 1;
    w->margin = 0.5;
    w->scene.extent = 1;
}

static size_t put(world *w, double x, double y, double z, double mass, double radius, uint32_t body) {
    const size_t i = w->scene.particles.count++;
    const double at[3] = {x, y, z};
    for (size_t d = 0; d < 3; d++) w->x[4 * i + d] = (real)(w->positions[3 * i + d] = at[d]);
    w->x[4 * i + 3] = mass > 0 ? (real)(1 / mass) : 0;
    w->radius[i] = radius;
    w->body[i] = body;
    return i;
}

UNUSED static pbd_collider plane_at(double angle, double friction) {
    const double c = cos(angle), s = sin(angle);
    return (pbd_collider){
        .shape = PBD_PLANE, .axis = {{c, 0, -s}, {0, 1, 0}, {s, 0, c}}, .friction = friction}; /* falls along +x */
}

static pbd_status try_world_open(world *w, int backend, int threads) {
    const contact_settings set = {
        .contact_sum = w->sum, .contact_relaxation = w->relaxation, .contact_margin = w->margin};
    w->scene.particles.positions = w->positions;
    w->scene.contact.radius = w->radius;
    w->scene.particles.body = w->body;
    w->scene.colliders.item = w->collider;
    check_ok(pbd_exec_create(backend, threads, &w->exec));
    w->recorder = pbd_recorder_create(&w->result, NULL);
    check_ok(pbd_alloc(w->exec, sizeof w->x, &w->device_x));
    check_ok(pbd_alloc(w->exec, sizeof w->x, &w->device_p));
    PBD_TRY(collider_poses_create(&w->walls, &w->scene, w->exec, w->recorder));
    return contact_create(&w->contact, &w->scene, &w->walls, NULL, w->exec, w->recorder, set);
}

static void world_open(world *w, int backend, int threads) { check_ok(try_world_open(w, backend, threads)); }

static void world_close(world *w) {
    contact_free(&w->contact);
    collider_poses_free(&w->walls);
    pbd_free(w->exec, w->device_x);
    pbd_free(w->exec, w->device_p);
    pbd_exec_destroy(w->exec);
    pbd_recorder_destroy(w->recorder);
    pbd_result_free(&w->result);
}

UNUSED static double recorded(world *w, const char *name) {
    check_ok(contact_record(&w->contact));
    for (size_t i = 0; i < w->result.metrics; i++)
        if (strcmp(w->result.metric[i].name, name) == 0) return w->result.metric[i].value;
    fail_msg("no metric %s", name);
    return NAN;
}

/* Runs `passes` contact iterations on the predicted rows p, in place. */
static void passes_from(world *w, real *p, double dt, int passes) {
    const size_t bytes = 4 * w->scene.particles.count * sizeof(real);
    check_ok(pbd_upload(w->exec, w->device_x, w->x, bytes));
    check_ok(pbd_upload(w->exec, w->device_p, p, bytes));
    check_ok(collider_poses_move(&w->walls, w->time, dt));
    check_ok(contact_begin(&w->contact, w->device_p));
    for (int i = 0; i < passes; i++) check_ok(contact_iterate(&w->contact, w->device_x, w->device_p));
    check_ok(contact_end(&w->contact, w->device_p));
    check_ok(pbd_download(w->exec, p, w->device_p, bytes));
}

static void step(world *w, double dt, int passes, const double gravity[3]) {
    static real p[4 * MOST];
    const size_t n = w->scene.particles.count;
    for (size_t i = 0; i < 4 * n; i++) {
        const size_t d = i % 4;
        p[i] = w->x[i];
        if (d < 3 && w->x[i - d + 3] > 0)
            p[i] = (real)((double)w->x[i] + dt * ((double)w->v[i] + dt * (gravity ? gravity[d] : 0)));
    }
    passes_from(w, p, dt, passes);
    for (size_t i = 0; i < 4 * n; i++) {
        if (i % 4 == 3) continue;
        w->v[i] = (real)(((double)p[i] - (double)w->x[i]) / dt);
        w->x[i] = p[i];
    }
    w->time += dt;
}

UNUSED static world one, other; /* too large for a stack */

#endif
