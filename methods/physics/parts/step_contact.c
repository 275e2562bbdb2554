#include "methods/physics/parts/step_contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

/* Most rounds of Gauss-Seidel in one move. The next move corrects what then remains. */
enum { MOST_ROUNDS = 1000 };

void step_contact_free(step_contact *c) {
    void *owned[] = {c->radius, c->particle, c->listed, c->column, c->force, c->at, c->scratch, c->moving, c->sums};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
    if (c->host) collider_poses_free(&c->meshed);
    pbd_exec_destroy(c->host);
    *c = (step_contact){0};
}

/* The method's meshes are in its backend's memory; contact on the host needs its own. */
static pbd_status make_meshed(step_contact *c, const pbd_scene *scene) {
    PBD_TRY(pbd_exec_create(PBD_CPU, 1, &c->host));
    return collider_poses_create(&c->meshed, scene, c->host, NULL);
}

pbd_status step_contact_create(step_contact *c, const pbd_scene *scene, collider_poses *walls, step_matrix *matrix) {
    const size_t n = scene->particles.count;
    *c = (step_contact){.walls = walls, .matrix = matrix, .limit = 1e-13 * scene->extent};
    if (walls->count == 0) return pbd_ok();
    if (walls->meshes) PBD_TRY(make_meshed(c, scene));
    if (walls->summed > 0) PBD_TRY_NEW(c->sums, COLLIDER_SUMS * n);
    PBD_TRY_NEW(c->radius, n);
    PBD_TRY_NEW(c->listed, n);
    PBD_TRY_NEW(c->at, 3 * n);
    if (scene->contact.radius) memcpy(c->radius, scene->contact.radius, n * sizeof *c->radius);
    return pbd_ok();
}

/* Writes the position to which colliders push a particle at `at`, in f64; the contact law is evaluated in the method's
 * precision. own: the particle's diagonal entry of A^-1, m/N. With sums, the push is the effect of a force, and its
 * impulse is the force times the substep. */
static void push_out(const step_contact *c, size_t i, const double *start, const double *at, double own,
                     collider_sums sums, double *out) {
    const collider_contact of = {.row = i,
                                 .inverse_mass = (real)(own * sums.inverse_dt * sums.inverse_dt),
                                 .radius = (real)c->radius[i],
                                 .start = {(real)start[0], (real)start[1], (real)start[2]},
                                 .sums = sums};
    const collider_poses *walls = c->meshed.count > 0 ? &c->meshed : c->walls;
    const vec3 before = vec3_make((real)at[0], (real)at[1], (real)at[2]);
    vec3 after = before;
    memcpy(out, at, 3 * sizeof *out);
    if (!collider_push_all(walls->sent, (int)walls->count, &of, &after)) return;
    out[0] += (double)(after.x - before.x);
    out[1] += (double)(after.y - before.y);
    out[2] += (double)(after.z - before.z);
}

pbd_status step_contact_begin(step_contact *c, double time) {
    if (c->walls->count == 0) return pbd_ok();
    PBD_TRY(collider_poses_move(&c->meshed, time, 1 / c->walls->inverse_dt));
    if (c->factored != c->matrix->factored) {
        for (size_t k = 0; k < c->touching; k++) c->listed[c->particle[k]] = false;
        c->touching = 0;
        c->factored = c->matrix->factored;
    }
    for (size_t k = 0; k < 3 * c->touching; k++) c->force[k] = 0;
    c->acts = false;
    return pbd_ok();
}

/* ---- Particles that touch ---------------------------------------------------------------------------------------- */

static pbd_status grow(void *at, size_t bytes) {
    void **member = at, *longer = realloc(*member, bytes);
    if (!longer) return pbd_no_memory();
    *member = longer;
    return pbd_ok();
}

static pbd_status add(step_contact *c, size_t particle) {
    const size_t n = c->matrix->particles, k = c->touching;
    if (k == c->room) {
        const size_t room = k < 32 ? 64 : 2 * k;
        PBD_TRY(grow(&c->particle, room * sizeof *c->particle));
        PBD_TRY(grow(&c->column, room * n * sizeof *c->column));
        PBD_TRY(grow(&c->force, 3 * room * sizeof *c->force));
        PBD_TRY(grow(&c->scratch, 3 * n * sizeof *c->scratch));
        PBD_TRY(grow(&c->moving, 3 * room * sizeof *c->moving));
        c->room = room;
    }
    memset(c->scratch, 0, 3 * n * sizeof *c->scratch);
    c->scratch[3 * particle] = 1;
    PBD_TRY(step_matrix_solve(c->matrix, c->scratch));
    for (size_t i = 0; i < n; i++) c->column[n * k + i] = c->scratch[3 * i];
    for (size_t d = 0; d < 3; d++) c->force[3 * k + d] = 0;
    c->particle[k] = (uint32_t)particle;
    c->listed[particle] = true;
    c->touching++;
    return pbd_ok();
}

/* c->at = from + move + A^-1 f */
static void place(step_contact *c, const double *from, const double *move) {
    const size_t n = c->matrix->particles;
    for (size_t i = 0; i < 3 * n; i++) c->at[i] = from[i] + move[i];
    for (size_t k = 0; k < c->touching; k++) {
        const double *column = c->column + n * k, *f = c->force + 3 * k;
        if (f[0] == 0 && f[1] == 0 && f[2] == 0) continue;
        for (size_t i = 0; i < 3 * n; i++) c->at[i] += column[i / 3] * f[i % 3];
    }
}

/* Adds the particles that touch at c->at and are not yet listed. */
static pbd_status list(step_contact *c, const double *start, bool *found) {
    *found = false;
    for (size_t i = 0; i < c->matrix->particles; i++) {
        double out[3];
        if (c->listed[i] || !(c->matrix->mass[i] > 0)) continue;
        push_out(c, i, start + 3 * i, c->at + 3 * i, 0, (collider_sums){0}, out);
        if (out[0] == c->at[3 * i] && out[1] == c->at[3 * i + 1] && out[2] == c->at[3 * i + 2]) continue;
        PBD_TRY(add(c, i));
        *found = true;
    }
    return pbd_ok();
}

/* One round of Gauss-Seidel: sets each force to the one that pushes its particle out, with the others fixed. Returns
 * the largest change of a position, m. */
static double sweep(step_contact *c, const double *start) {
    const size_t n = c->matrix->particles;
    double most = 0;
    for (size_t k = 0; k < c->touching; k++) {
        const size_t i = c->particle[k];
        const double own = c->column[n * k + i];
        double *f = c->force + 3 * k, *x = c->moving + 3 * k, without[3], out[3], change[3];
        for (size_t d = 0; d < 3; d++) without[d] = x[d] - own * f[d];
        push_out(c, i, start + 3 * i, without, own, (collider_sums){0}, out);
        for (size_t d = 0; d < 3; d++) {
            change[d] = (out[d] - without[d]) / own - f[d];
            f[d] += change[d];
            most = fmax(most, fabs(own * change[d]));
        }
        if (change[0] == 0 && change[1] == 0 && change[2] == 0) continue;
        for (size_t j = 0; j < c->touching; j++)
            for (size_t d = 0; d < 3; d++) c->moving[3 * j + d] += c->column[n * k + c->particle[j]] * change[d];
    }
    return most;
}

pbd_status step_contact_move(step_contact *c, const double *start, const double *from, double *move, long *rounds) {
    *rounds = 0;
    if (c->walls->count == 0) return pbd_ok();
    for (bool found, swept = false;; swept = true) {
        place(c, from, move);
        PBD_TRY(list(c, start, &found));
        if (c->touching == 0 || (swept && !found)) break;
        for (size_t k = 0; k < c->touching; k++)
            memcpy(c->moving + 3 * k, c->at + 3 * c->particle[k], 3 * sizeof *c->moving);
        for (double left = INFINITY; left > c->limit && *rounds < MOST_ROUNDS; ++*rounds) left = sweep(c, start);
    }
    c->acts = false;
    for (size_t k = 0; k < 3 * c->touching; k++) c->acts |= c->force[k] != 0;
    for (size_t i = 0; i < 3 * c->matrix->particles; i++) move[i] = c->at[i] - from[i];
    return pbd_ok();
}

void step_contact_forces(const step_contact *c, double *out) {
    memset(out, 0, 3 * c->matrix->particles * sizeof *out);
    for (size_t k = 0; k < c->touching; k++) memcpy(out + 3 * c->particle[k], c->force + 3 * k, 3 * sizeof *out);
}

/* Repeats the push of each particle with a force, now adding up each collider's impulse and the work of its surface. */
void step_contact_end(step_contact *c, const double *start) {
    if (!c->sums || !c->acts) return;
    const size_t n = c->matrix->particles;
    double total[COLLIDER_SUMS] = {0};
    for (size_t k = 0; k < c->touching; k++) {
        const size_t i = c->particle[k];
        const double own = c->column[n * k + i], *f = c->force + 3 * k;
        double *row = c->sums + COLLIDER_SUMS * i, without[3], out[3];
        if (f[0] == 0 && f[1] == 0 && f[2] == 0) continue;
        for (size_t d = 0; d < 3; d++) without[d] = c->at[3 * i + d] - own * f[d];
        memset(row, 0, COLLIDER_SUMS * sizeof *row);
        push_out(c, i, start + 3 * i, without, own, (collider_sums){c->sums, c->walls->inverse_dt}, out);
        for (size_t s = 0; s < COLLIDER_SUMS; s++) total[s] += row[s];
    }
    collider_sums_add(c->walls, total);
}
