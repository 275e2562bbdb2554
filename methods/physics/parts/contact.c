#include "methods/physics/parts/contact.h"

#include <math.h>

#include "harness/exec/arena.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/device/phase.h"
#include "methods/physics/parts/contact_kernels.h"

static const double NEVER = 1e30; /* m: initial value of minima */

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static size_t slices_of(const contact *c) { return (c->members + CONTACT_SLICE - 1) / CONTACT_SLICE; }

static size_t arrays_of(const contact *c, device_array *row) {
    const size_t n = c->particles, m = c->members, near = c->pairs ? n : 0, lines = slices_of(c) * CONTACT_SLICE;
    const device_array rows[] = {DEVICE_ARRAY(c->radius, c->radii),
                                 DEVICE_ARRAY(c->block, CONTACT_SUMS * (n / CONTACT_BLOCK + 1)),
                                 DEVICE_ARRAY(c->beyond, c->walled ? n : 0),
                                 DEVICE_ARRAY(c->rest, 4 * near),
                                 DEVICE_ARRAY(c->near, near),
                                 DEVICE_ARRAY(c->depth, near),
                                 DEVICE_ARRAY(c->crowd, 4 * near),
                                 DEVICE_ARRAY(c->body, c->pairs ? m + PBD_BATCH : 0),
                                 DEVICE_ARRAY(c->kept, CONTACTS_KEPT * m),
                                 DEVICE_ARRAY(c->count, m),
                                 DEVICE_ARRAY(c->key, m),
                                 DEVICE_ARRAY(c->order, m),
                                 DEVICE_ARRAY(c->overlaps, m),
                                 DEVICE_ARRAY(c->slice, c->pairs ? slices_of(c) + 1 : 0),
                                 DEVICE_ARRAY(c->own, lines),
                                 DEVICE_ARRAY(c->touches, lines),
                                 DEVICE_ARRAY(c->push, 3 * lines),
                                 DEVICE_ARRAY(c->list, 0), /* this and the next two: allocated by lists_room */
                                 DEVICE_ARRAY(c->reach, 0),
                                 DEVICE_ARRAY(c->touching, 0)};
    return DEVICE_ROWS(row, rows);
}

void contact_free(contact *c) {
    device_array row[DEVICE_MOST_ARRAYS];
    device_arrays_free(c->exec, row, arrays_of(c, row));
    grid_free(&c->grid);
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
                         "contact within a body begins at self_distance=%g m at rest, which is below the sum of two "
                         "radii, %g m: the body would push itself apart at rest",
                         k->self_distance, 2 * *largest);
    return pbd_ok();
}

/* Uploads radii; with pairs also rest positions and bodies, and creates the grid of the members. */
static pbd_status place_particles(contact *c, const pbd_scene *scene, const uint32_t *particle, double largest) {
    const size_t n = c->particles;
    size_t members = 0;
    pbd_arena a PBD_ARENA;
    real *radius = pbd_new(&a, real, n), *rest = pbd_new(&a, real, 4 * n), *near = pbd_new(&a, real, n);
    uint32_t *member = pbd_new(&a, uint32_t, n);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < n; i++) {
        const size_t k = particle ? particle[i] : i;
        for (size_t d = 0; d < 3; d++) rest[4 * i + d] = (real)scene->particles.positions[3 * k + d];
        rest[4 * i + 3] = (real)(scene->particles.body ? scene->particles.body[k] : 0);
        near[i] = (real)-NEVER;
        if (c->radii) radius[i] = (real)scene->contact.radius[k];
        if (c->radii && scene->contact.radius[k] > 0) member[members++] = (uint32_t)i;
    }
    if (c->radii) PBD_TRY(pbd_upload(c->exec, c->radius, radius, n * sizeof *radius));
    if (!c->pairs) return pbd_ok();
    PBD_TRY(pbd_upload(c->exec, c->rest, rest, 4 * n * sizeof *rest));
    PBD_TRY(pbd_upload(c->exec, c->near, near, n * sizeof *near));
    return grid_create(&c->grid, c->exec, members, member, 2 * largest + c->margin, true);
}

pbd_status contact_create(contact *c, const pbd_scene *scene, const collider_poses *walls, const uint32_t *particle,
                          pbd_exec *exec, pbd_recorder *recorder, contact_settings set) {
    const size_t n = scene->particles.count;
    const double *radius = scene->contact.radius;
    double largest;
    *c = (contact){.exec = exec, .recorder = recorder, .set = set, .particles = n, .filled = 1, .walls = walls};
    PBD_TRY(check_contact(scene, &largest));
    c->walled = scene->colliders.count > 0;
    c->between = scene->contact.between_bodies && (scene->particles.body || scene->blades.count > 0);
    c->self_distance = scene->contact.self_distance;
    c->pairs = largest > 0 && (c->between || c->self_distance > 0);
    if (!c->pairs && !c->walled) return pbd_ok();
    c->radii = radius ? n : 0;
    for (size_t i = 0; i < n && c->pairs; i++) c->members += radius[i] > 0;
    c->margin = set.contact_margin * 2 * largest;
    c->friction = scene->contact.friction;
    c->tolerance = 1e-5 * scene->extent;
    device_array row[DEVICE_MOST_ARRAYS];
    PBD_TRY(device_arrays_allocate(exec, row, arrays_of(c, row)));
    return place_particles(c, scene, particle, largest);
}

/* ---- A substep --------------------------------------------------------------------------------------------------- */

/* Enlarges the lists and the arrays of their size. Their contents are lost. */
static pbd_status lists_room(contact *c) {
    const size_t entries = (size_t)(c->rows * CONTACT_SLICE), had = c->capacity;
    PBD_TRY(neighbours_room(c->exec, c->members, c->rows * CONTACT_SLICE, &c->list, &c->capacity));
    if (entries <= had && had > 0) return pbd_ok();
    const device_array row[] = {DEVICE_ARRAY(c->reach, c->capacity), DEVICE_ARRAY(c->touching, c->capacity)};
    device_arrays_free(c->exec, row, 2);
    return device_arrays_allocate(c->exec, row, 2);
}

/* The work of a launch over the lists. The host reads the fraction of entries that are candidates only where it waits
 * anyway (contact_record); in between it uses the last value, and 1 before the first. */
static pbd_work listed(const contact *c) {
    return (pbd_work){.items = c->members, .entries = (size_t)(c->filled * (double)(c->rows * CONTACT_SLICE))};
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
    pbd_arena a PBD_ARENA;
    real *rest = pbd_new(&a, real, 4 * c->particles);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_download(c->exec, rest, c->rest, bytes));
    for (size_t i = 0; i < c->particles; i++) rest[4 * i + 3] = (real)body[i];
    c->stale = true;
    return pbd_upload(c->exec, c->rest, rest, bytes);
}

pbd_status contact_begin(contact *c, const real *p) {
    return c->pairs ? PBD_PHASE(c->recorder, "contact_search", search(c, p)) : pbd_ok();
}

/* Only kernels that move particles write p. */
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
                               .shared = c->set.contact_sum == contact_sum_shared,
                               .push = c->push,
                               .stride = slices_of(c) * CONTACT_SLICE,
                               .friction = (real)c->friction,
                               .relaxation = (real)c->set.contact_relaxation};
}

static pbd_status push_pairs(contact *c, const real *x, real *p) {
    const contact_pass_args args = pass_of(c, x, p);
    PBD_TRY(PBD_RUN(c->exec, find_touching, c->members, listed(c), &args));
    PBD_TRY(PBD_RUN(c->exec, find_pushes, c->members, (pbd_work){.items = c->members, .entries = c->touching_sides},
                    &args));
    return PBD_RUN(c->exec, apply_pushes, c->members, &args);
}

static pbd_status push_out(contact *c, const real *x, real *p) {
    const collide_args args = {c->walls->device, (int)c->walls->count, c->radius, x, p, collider_sums_of(c->walls)};
    return PBD_RUN(c->exec, collide_batch, c->particles, &args);
}

/* Colliders last, so that they are satisfied to rounding after any iteration. */
pbd_status contact_iterate(contact *c, const real *x, real *p) {
    const bool near = c->pairs && c->rows > 0;
    if (!near && !c->walled) return pbd_ok();
    if (near) PBD_TRY(PBD_PHASE(c->recorder, "contact", push_pairs(c, x, p)));
    if (!c->walled) return pbd_ok();
    return PBD_PHASE(c->recorder, collider_poses_phase(c->walls, "contact"), push_out(c, x, p));
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

pbd_status contact_end(contact *c, const real *p) {
    if (c->pairs) {
        const contact_measure_args args = {.pass = pass_of(c, NULL, NULL),
                                           .rest = c->rest,
                                           .p = p,
                                           .within = c->self_distance > 0,
                                           .pairs = c->overlaps,
                                           .depth = c->depth,
                                           .near = c->near};
        PBD_TRY(PBD_RUN(c->exec, measure_pairs, c->members, listed(c), &args));
    }
    if (!c->walled) return pbd_ok();
    const wall_measure_args args = {c->walls->device, (int)c->walls->count, p, c->beyond};
    return PBD_RUN(c->exec, measure_walls_batch, c->particles, &args);
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
    const size_t blocks = c->particles / CONTACT_BLOCK + 1;
    PBD_TRY(PBD_RUN(c->exec, sum_contacts, blocks, &args));
    return device_blocks_take(c->exec, c->block, blocks, CONTACT_SUMS, 2, sum);
}

pbd_status contact_record(contact *c) {
    if (!c->pairs && !c->walled) return pbd_ok();
    double sum[CONTACT_SUMS] = {0, -NEVER, 0, 0, 0};
    PBD_TRY(sum_blocks(c, sum));
    if (c->pairs) {
        if (c->rows > 0) c->filled = sum[4] / (double)(c->rows * CONTACT_SLICE);
        c->touching_sides = (size_t)sum[2];
        c->most_pairs = fmax(c->most_pairs, sum[2] / 2);
        pbd_metric(c->recorder, "deepest_penetration", "m", PBD_FLAW, sum[0]);
        pbd_metric(c->recorder, "contact_pairs", "1", PBD_STATE, sum[2] / 2);
        pbd_metric(c->recorder, "most_contact_pairs", "1", PBD_STATE, c->most_pairs);
        if (sum[1] > -0.5 * NEVER) pbd_metric(c->recorder, "smallest_far_distance", "m", PBD_QUALITY, -sum[1]);
    }
    if (c->walled) pbd_metric(c->recorder, "particles_ever_outside", "1", PBD_FLAW, sum[3]);
    return pbd_ok();
}
