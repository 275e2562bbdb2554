#include "methods/physics/parts/contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/physics/parts/contact_kernels.h"

static const double NEVER = 1e30; /* m: of a distance that was not seen */

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

void contact_free(contact *c) {
    void *device[] = {c->body,  c->kept,  c->radius,   c->rest,  c->count,  c->key,     c->order,
                      c->slice, c->own,   c->list,     c->reach, c->crowd,  c->touches, c->touching,
                      c->push,  c->depth, c->overlaps, c->near,  c->beyond, c->block};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(c->exec, device[i]);
    grid_free(&c->grid);
    collider_poses_free(&c->walls);
    *c = (contact){0};
}

static pbd_status check_contact(const pbd_scene *scene, double *largest) {
    const pbd_contact *k = &scene->contact;
    *largest = 0;
    for (size_t i = 0; k->radius && i < scene->particles.count; i++) {
        if (!(k->radius[i] >= 0 && isfinite(k->radius[i])))
            return pbd_error(PBD_BAD_INPUT, "particle %zu has the contact radius %g m: must be at least 0", i,
                             k->radius[i]);
        *largest = fmax(*largest, k->radius[i]);
    }
    if (!(k->friction >= 0 && isfinite(k->friction)))
        return pbd_error(PBD_BAD_INPUT, "contact has friction=%g: must be at least 0", k->friction);
    if (!(k->self_distance >= 0))
        return pbd_error(PBD_BAD_INPUT, "contact has self_distance=%g m: must be at least 0", k->self_distance);
    if (k->self_distance > 0 && k->self_distance < 2 * *largest * (1 - 1e-9))
        return pbd_error(PBD_BAD_INPUT,
                         "contact within a body begins at self_distance=%g m at "
                         "rest, which is below the sum of two "
                         "radii, %g m: the body would push itself apart at rest",
                         k->self_distance, 2 * *largest);
    return pbd_ok();
}

/* A copy on the device, of `count` things of `size` bytes. */
static pbd_status place(contact *c, const void *host, size_t count, size_t size, void *device) {
    void **out = device;
    PBD_TRY(pbd_alloc(c->exec, count * size, out));
    return host ? pbd_upload(c->exec, *out, host, count * size) : pbd_ok();
}

static size_t scene_number(const uint32_t *particle, size_t i) { return particle ? particle[i] : i; }

static pbd_status place_radii(contact *c, const pbd_scene *scene, const uint32_t *particle) {
    if (!scene->contact.radius) return pbd_ok();
    real *radius = malloc((c->particles + 1) * sizeof *radius);
    if (!radius) return pbd_error(PBD_FAILED, "out of memory for the radii of %zu particles", c->particles);
    for (size_t i = 0; i < c->particles; i++) radius[i] = (real)scene->contact.radius[scene_number(particle, i)];
    const pbd_status status = place(c, radius, c->particles, sizeof *radius, &c->radius);
    free(radius);
    return status;
}

static pbd_status place_rest(contact *c, const pbd_scene *scene, const uint32_t *particle) {
    real *rest = malloc((4 * c->particles + 1) * sizeof *rest);
    if (!rest) return pbd_error(PBD_FAILED, "out of memory for %zu particles at rest", c->particles);
    for (size_t i = 0; i < c->particles; i++) {
        const size_t n = scene_number(particle, i);
        for (size_t d = 0; d < 3; d++) rest[4 * i + d] = (real)scene->particles.positions[3 * n + d];
        rest[4 * i + 3] = (real)(scene->particles.body ? scene->particles.body[n] : 0);
    }
    const pbd_status status = place(c, rest, 4 * c->particles, sizeof *rest, &c->rest);
    free(rest);
    return status;
}

static pbd_status place_grid(contact *c, const pbd_scene *scene, const uint32_t *particle, double largest) {
    uint32_t *member = malloc((c->particles + 1) * sizeof *member);
    if (!member) return pbd_error(PBD_FAILED, "out of memory for %zu particles in contact", c->particles);
    for (size_t i = 0; i < c->particles; i++)
        if (scene->contact.radius[scene_number(particle, i)] > 0) member[c->members++] = (uint32_t)i;
    const pbd_status status = grid_create(&c->grid, c->exec, c->members, member, 2 * largest + c->margin, true);
    free(member);
    return status;
}

static pbd_status place_watch(contact *c) {
    real *near = malloc((c->particles + 1) * sizeof *near);
    if (!near) return pbd_error(PBD_FAILED, "out of memory for %zu particles in contact", c->particles);
    for (size_t i = 0; i < c->particles; i++) near[i] = (real)-NEVER;
    const pbd_status status = place(c, near, c->particles, sizeof *near, &c->near);
    free(near);
    PBD_TRY(status);
    PBD_TRY(place(c, NULL, c->members, sizeof *c->overlaps, &c->overlaps));
    return place(c, NULL, c->particles, sizeof *c->depth, &c->depth);
}

static size_t slices_of(const contact *c) { return (c->members + CONTACT_SLICE - 1) / CONTACT_SLICE; }

static pbd_status place_lines(contact *c) {
    const size_t lines = slices_of(c) * CONTACT_SLICE;
    PBD_TRY(place(c, NULL, c->members, sizeof *c->count, &c->count));
    PBD_TRY(place(c, NULL, c->members, sizeof *c->key, &c->key));
    PBD_TRY(place(c, NULL, c->members, sizeof *c->order, &c->order));
    PBD_TRY(place(c, NULL, slices_of(c) + 1, sizeof *c->slice, &c->slice));
    PBD_TRY(place(c, NULL, lines, sizeof *c->own, &c->own));
    PBD_TRY(place(c, NULL, lines, sizeof *c->touches, &c->touches));
    return place(c, NULL, 3 * lines, sizeof *c->push, &c->push);
}

static pbd_status create_pairs(contact *c, const pbd_scene *scene, const uint32_t *particle, double largest) {
    PBD_TRY(place_rest(c, scene, particle));
    PBD_TRY(place_grid(c, scene, particle, largest));
    PBD_TRY(place_lines(c));
    PBD_TRY(place(c, NULL, c->members + PBD_BATCH, sizeof *c->body, &c->body));
    PBD_TRY(place(c, NULL, CONTACTS_KEPT * c->members, sizeof *c->kept, &c->kept));
    PBD_TRY(place(c, NULL, 4 * c->particles, sizeof *c->crowd, &c->crowd));
    return place_watch(c);
}

pbd_status contact_create(contact *c, const pbd_scene *scene, const uint32_t *particle, pbd_exec *exec,
                          pbd_recorder *recorder, const pbd_values *values) {
    double largest;
    *c = (contact){.exec = exec, .recorder = recorder, .particles = scene->particles.count, .filled = 1};
    PBD_TRY(collider_poses_create(&c->walls, scene, exec, recorder));
    PBD_TRY(check_contact(scene, &largest));
    c->walled = scene->colliders.count > 0;
    c->between = scene->contact.between_bodies && (scene->particles.body || scene->blades.count > 0);
    c->self_distance = scene->contact.self_distance;
    c->pairs = largest > 0 && (c->between || c->self_distance > 0);
    if (!c->pairs && !c->walled) return pbd_ok();
    c->shared = pbd_choice(values, "contact_sum") == 0;
    c->relaxation = pbd_real(values, "contact_relaxation");
    c->margin = pbd_real(values, "contact_margin") * 2 * largest;
    c->friction = scene->contact.friction;
    c->tolerance = 1e-5 * scene->extent;
    const size_t blocks = c->particles / CONTACT_BLOCK + 1;
    PBD_TRY(place(c, NULL, CONTACT_SUMS * blocks, sizeof *c->block, &c->block));
    PBD_TRY(place_radii(c, scene, particle));
    if (c->pairs) PBD_TRY(create_pairs(c, scene, particle, largest));
    return c->walled ? place(c, NULL, c->particles, sizeof *c->beyond, &c->beyond) : pbd_ok();
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

/* Lists and what goes beside them; what was there is lost. */
static pbd_status lists_room(contact *c) {
    const size_t entries = (size_t)(c->rows * CONTACT_SLICE), had = c->capacity;
    PBD_TRY(neighbours_room(c->exec, c->members, c->rows * CONTACT_SLICE, &c->list, &c->capacity));
    if (entries <= had && had > 0) return pbd_ok();
    pbd_free(c->exec, c->reach);
    pbd_free(c->exec, c->touching);
    c->reach = NULL;
    c->touching = NULL;
    PBD_TRY(place(c, NULL, c->capacity, sizeof *c->reach, &c->reach));
    return place(c, NULL, c->capacity, sizeof *c->touching, &c->touching);
}

/* How many places of the slices' rows hold a candidate the host learns where it waits anyway (contact_record): the
 * share is the last that was, or all of them before. */
static pbd_work listed(const contact *c) {
    return (pbd_work){c->members, (size_t)(c->filled * (double)(c->rows * CONTACT_SLICE))};
}

static contact_search_args search_args_of(const contact *c) {
    return (contact_search_args){.grid = grid_view_of(&c->grid),
                                 .rest = c->rest,
                                 .radius = c->radius,
                                 .body = c->body,
                                 .margin = (real)c->margin,
                                 .self_square = (real)(c->self_distance > 0 ? c->self_distance * c->self_distance : -1),
                                 .between = c->between,
                                 .members = c->members,
                                 .count = c->count,
                                 .kept = c->kept,
                                 .key = c->key,
                                 .order = c->order,
                                 .slice = c->slice,
                                 .own = c->own};
}

static int window_bits(const contact *c) {
    int bits = CONTACT_COUNT_BITS;
    while (c->members >> CONTACT_WINDOW_BITS >> (bits - CONTACT_COUNT_BITS)) bits++;
    return bits;
}

static pbd_status search(contact *c, const real *p) {
    double moved;
    PBD_TRY(grid_largest_move(&c->grid, p, &moved));
    if (moved <= 0.25 * c->margin && !c->stale) return pbd_ok();
    c->stale = false;
    PBD_TRY(grid_build(&c->grid, p, c->radius));
    const contact_bodies_args bodies = {c->grid.particle, c->rest, c->body};
    PBD_TRY(PBD_RUN(c->exec, place_bodies, c->members, &bodies));
    contact_search_args args = search_args_of(c);
    PBD_TRY(PBD_RUN(c->exec, count_contacts, c->members, grid_search_work(&c->grid, listed(c).entries), &args));
    PBD_TRY(pbd_sort_pairs(c->exec, c->key, c->order, c->members, window_bits(c)));
    PBD_TRY(PBD_RUN(c->exec, count_contact_rows, slices_of(c), &args));
    PBD_TRY(pbd_scan(c->exec, c->slice, slices_of(c), &c->rows));
    PBD_TRY(lists_room(c));
    args.list = c->list;
    args.reach = c->reach;
    pbd_count(c->recorder, "contact_searches", 1);
    return PBD_RUN(c->exec, fill_contacts, slices_of(c) * CONTACT_SLICE, listed(c), &args);
}

pbd_status contact_set_bodies(contact *c, const uint32_t *body) {
    if (!c->pairs) return pbd_ok();
    const size_t bytes = 4 * c->particles * sizeof(real);
    real *rest = malloc(bytes + 1);
    if (!rest) return pbd_error(PBD_FAILED, "out of memory for the bodies of %zu particles", c->particles);
    pbd_status status = pbd_download(c->exec, rest, c->rest, bytes);
    for (size_t i = 0; i < c->particles; i++) rest[4 * i + 3] = (real)body[i];
    if (status.code == PBD_OK) status = pbd_upload(c->exec, c->rest, rest, bytes);
    free(rest);
    c->stale = true;
    return status;
}

pbd_status contact_begin(contact *c, const real *p, double time, double dt) {
    PBD_TRY(collider_poses_move(&c->walls, time, dt));
    if (!c->pairs) return pbd_ok();
    pbd_phase_begin(c->recorder, "contact_search");
    const pbd_status status = search(c, p);
    pbd_phase_end(c->recorder);
    return status;
}

/* `p` is written to by the kernels that move particles alone. */
static contact_pass_args pass_of(const contact *c, const real *x, real *p) {
    return (contact_pass_args){.slice = c->slice,
                               .own = c->own,
                               .list = c->list,
                               .reach = c->reach,
                               .x = x,
                               .p = p,
                               .touching = c->touching,
                               .touches = c->touches,
                               .radius = c->radius,
                               .crowd = c->crowd,
                               .shared = c->shared,
                               .push = c->push,
                               .stride = slices_of(c) * CONTACT_SLICE,
                               .friction = (real)c->friction,
                               .relaxation = (real)c->relaxation};
}

static pbd_status push_pairs(contact *c, const real *x, real *p) {
    const contact_pass_args args = pass_of(c, x, p);
    PBD_TRY(PBD_RUN(c->exec, find_touching, c->members, listed(c), &args));
    PBD_TRY(PBD_RUN(c->exec, find_pushes, c->members, (pbd_work){c->members, c->touching_sides}, &args));
    return PBD_RUN(c->exec, apply_pushes, c->members, &args);
}

static pbd_status push_out(contact *c, const real *x, real *p) {
    const collide_args args = {c->walls.device, (int)c->walls.count, c->radius, x, p};
    return PBD_RUN(c->exec, collide_batch, c->particles, &args);
}

/* Colliders last: what they say holds to rounding, however few the iterations.
 */
pbd_status contact_iterate(contact *c, const real *x, real *p) {
    const bool near = c->pairs && c->rows > 0;
    if (!near && !c->walled) return pbd_ok();
    pbd_phase_begin(c->recorder, "contact");
    pbd_status status = near ? push_pairs(c, x, p) : pbd_ok();
    if (c->walls.meshes) { /* theirs is a phase of its own */
        pbd_phase_end(c->recorder);
        pbd_phase_begin(c->recorder, "collision_detection");
    }
    if (status.code == PBD_OK && c->walled) status = push_out(c, x, p);
    pbd_phase_end(c->recorder);
    return status;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

pbd_status contact_end(contact *c, const real *p) {
    if (c->pairs) {
        const contact_watch_args args = {.pass = pass_of(c, NULL, NULL),
                                         .rest = c->rest,
                                         .p = p,
                                         .within = c->self_distance > 0,
                                         .pairs = c->overlaps,
                                         .depth = c->depth,
                                         .near = c->near};
        PBD_TRY(PBD_RUN(c->exec, watch_pairs, c->members, listed(c), &args));
    }
    if (!c->walled) return pbd_ok();
    const wall_watch_args args = {c->walls.device, (int)c->walls.count, p, c->beyond};
    return PBD_RUN(c->exec, watch_walls_batch, c->particles, &args);
}

static pbd_status sum_blocks(contact *c, double sum[CONTACT_SUMS]) {
    const contact_sum_args args = {.pairs = c->overlaps,
                                   .count = c->count,
                                   .depth = c->depth,
                                   .near = c->near,
                                   .beyond = c->beyond,
                                   .lines = c->members,
                                   .particles = c->particles,
                                   .tolerance = (real)c->tolerance,
                                   .out = c->block};
    const size_t blocks = c->particles / CONTACT_BLOCK + 1, count = CONTACT_SUMS * blocks;
    real *block = malloc(count * sizeof *block);
    if (!block) return pbd_error(PBD_FAILED, "out of memory for %zu blocks of particles", blocks);
    pbd_status status = PBD_RUN(c->exec, sum_contacts, blocks, &args);
    if (status.code == PBD_OK) status = pbd_download(c->exec, block, c->block, count * sizeof *block);
    sum[0] = sum[1] = sum[3] = sum[4] = 0;
    sum[2] = -NEVER;
    for (size_t b = 0; b < blocks && status.code == PBD_OK; b++) {
        const real *one = block + CONTACT_SUMS * b;
        sum[0] += (double)one[0];
        sum[1] = fmax(sum[1], (double)one[1]);
        sum[2] = fmax(sum[2], (double)one[2]);
        sum[3] += (double)one[3];
        sum[4] += (double)one[4];
    }
    free(block);
    return status;
}

pbd_status contact_record(contact *c) {
    if (!c->pairs && !c->walled) return pbd_ok();
    double sum[CONTACT_SUMS] = {0, 0, -NEVER, 0, 0};
    PBD_TRY(sum_blocks(c, sum));
    if (c->pairs) {
        if (c->rows > 0) c->filled = sum[4] / (double)(c->rows * CONTACT_SLICE);
        c->touching_sides = (size_t)sum[0];
        c->most_pairs = fmax(c->most_pairs, sum[0] / 2);
        pbd_metric(c->recorder, "deepest_penetration", "m", PBD_ERROR, sum[1]);
        pbd_metric(c->recorder, "contact_pairs", "1", PBD_STATE, sum[0] / 2);
        pbd_metric(c->recorder, "most_contact_pairs", "1", PBD_STATE, c->most_pairs);
        if (sum[2] > -0.5 * NEVER) pbd_metric(c->recorder, "smallest_far_distance", "m", PBD_QUALITY, -sum[2]);
    }
    if (c->walled) pbd_metric(c->recorder, "particles_ever_outside", "1", PBD_ERROR, sum[3]);
    return pbd_ok();
}
