#include "methods/physics/parts/cloth_contact.h"

#include <math.h>
#include <stdlib.h>

#include "methods/physics/parts/cloth_contact_kernels.h"
#include "methods/physics/surface/mesh_tree.h"

/* RELAXATION: sweeps converge for values below 2; with 1 the common correction of all contacts is exact after one
 * sweep. REACH: search margin, as a fraction of d, that allows for changes of velocity during iterations. REBUILT:
 * steps between rebuilds of the tree. */
static const double RELAXATION = 1, REACH = 0.25;
enum { REBUILT = 64 };

struct cloth_contact {
    pbd_exec *exec;
    pbd_recorder *recorder;
    const cloth *cloth;
    cloth_contact_settings set;
    mesh_tree tree;
    double dt, deepest, most;
    uint64_t steps;
    size_t contacts, room; /* in this step; allocated */
    /* Device; contents: cloth_contact_kernels.h. */
    uint32_t *first, *first_side, *particle, *vertex, *key, *side;
    real *foot, *normal, *state, *impulse, *vertex_weight, *block;
};

/* Frees the arrays that are indexed by contact. */
static void free_cloth_contacts(cloth_contact *c) {
    void **of[] = {(void **)&c->particle, (void **)&c->vertex,  (void **)&c->key,
                   (void **)&c->side,     (void **)&c->foot,    (void **)&c->normal,
                   (void **)&c->state,    (void **)&c->impulse, (void **)&c->block};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        pbd_free(c->exec, *of[i]);
        *of[i] = NULL;
    }
    c->room = 0;
}

void cloth_contact_free(cloth_contact *c) {
    if (!c) return;
    free_cloth_contacts(c);
    pbd_free(c->exec, c->first);
    pbd_free(c->exec, c->first_side);
    pbd_free(c->exec, c->vertex_weight);
    mesh_tree_free(&c->tree);
    free(c);
}

size_t cloth_contact_arrays(cloth_contact *c, device_array *row) {
    const device_array rows[] = {HOST_SAVED(c->deepest), HOST_SAVED(c->most)};
    return DEVICE_ROWS(row, rows);
}

static pbd_status allocate(cloth_contact *c, size_t count, size_t size, void *out) {
    return pbd_alloc(c->exec, count * size, (void **)out);
}

pbd_status cloth_contact_create(const cloth *of, const cloth_contact_settings *settings, pbd_exec *exec,
                                pbd_recorder *recorder, cloth_contact **out) {
    const cloth_rows rows = cloth_rows_of(of);
    *out = NULL;
    if (!(settings->distance > 0 && isfinite(settings->distance)))
        return pbd_error(PBD_BAD_INPUT, "particles touch the cloth at a distance of %g m: must be above 0",
                         settings->distance);
    if (!(settings->friction >= 0 && isfinite(settings->friction)))
        return pbd_error(PBD_BAD_INPUT, "contact has friction=%g: must be at least 0", settings->friction);
    cloth_contact *c = calloc(1, sizeof *c);
    if (!c) return pbd_error(PBD_FAILED, "out of memory for contact with a cloth");
    *c = (cloth_contact){.exec = exec, .recorder = recorder, .cloth = of, .set = *settings};
    pbd_status status = mesh_tree_create(&c->tree, exec, rows.triangles);
    if (status.code == PBD_OK) status = allocate(c, settings->particles + 1, sizeof *c->first, &c->first);
    if (status.code == PBD_OK) status = allocate(c, rows.particles + 1, sizeof *c->first_side, &c->first_side);
    if (status.code == PBD_OK) status = allocate(c, rows.particles, sizeof *c->vertex_weight, &c->vertex_weight);
    if (status.code != PBD_OK)
        cloth_contact_free(c);
    else
        *out = c;
    return status;
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

static pbd_status make_room(cloth_contact *c, size_t contacts) {
    if (contacts <= c->room) return pbd_ok();
    const size_t n = contacts + contacts / 4 + 64;
    if (n > UINT32_MAX / 4)
        return pbd_error(PBD_FAILED, "%zu contacts with the cloth: check units of length", contacts);
    free_cloth_contacts(c);
    uint32_t **words[] = {&c->particle, &c->vertex, &c->key, &c->side};
    real **rows[] = {&c->foot, &c->normal, &c->state, &c->impulse};
    for (size_t i = 0; i < 4; i++) PBD_TRY(allocate(c, (i == 0 ? 1 : 3) * n, sizeof(uint32_t), words[i]));
    for (size_t i = 0; i < 4; i++) PBD_TRY(allocate(c, 4 * n, sizeof(real), rows[i]));
    PBD_TRY(allocate(c, CLOTH_CONTACT_SUMS * (n / CLOTH_CONTACT_BLOCK + 1), sizeof(real), &c->block));
    c->room = n;
    return pbd_ok();
}

static cloth_contact_args contact_args_of(const cloth_contact *c, real *v) {
    const cloth_rows rows = cloth_rows_of(c->cloth);
    return (cloth_contact_args){.particle = c->particle,
                                .vertex = c->vertex,
                                .first = c->first,
                                .side = c->side,
                                .first_side = c->first_side,
                                .foot = c->foot,
                                .normal = c->normal,
                                .state = c->state,
                                .impulse = c->impulse,
                                .vertex_weight = c->vertex_weight,
                                .start = rows.x,
                                .p = rows.p,
                                .v = v,
                                .dt = (real)c->dt,
                                .inverse_dt = (real)(1 / c->dt),
                                .friction = (real)c->set.friction,
                                .relaxation = (real)RELAXATION};
}

static int bits_of(size_t most) {
    int bits = 1;
    while (most >> bits) bits++;
    return bits;
}

/* Each contact has three sides, one per vertex. */
static pbd_work sides_of(const cloth_contact *c) {
    return (pbd_work){.items = cloth_rows_of(c->cloth).particles, .entries = 3 * c->contacts};
}

/* Sorts the contacts' sides by vertex of the cloth, stably. */
static pbd_status sort_sides(cloth_contact *c) {
    const cloth_rows rows = cloth_rows_of(c->cloth);
    const size_t sides = 3 * c->contacts;
    const cloth_contact_sides_args list = {c->vertex, c->key, c->side};
    const grid_cells_args first = {c->key, c->first_side, sides};
    PBD_TRY(PBD_RUN(c->exec, list_sides, sides, &list));
    PBD_TRY(pbd_sort_pairs(c->exec, c->key, c->side, sides, bits_of(rows.particles)));
    return PBD_RUN(c->exec, find_first_sides, rows.particles + 1, &first);
}

static pbd_status watch(cloth_contact *c) {
    const size_t blocks = (c->contacts + CLOTH_CONTACT_BLOCK - 1) / CLOTH_CONTACT_BLOCK;
    const cloth_contact_measure_args args = {c->normal, c->contacts, (real)c->set.distance, c->block};
    double sum[CLOTH_CONTACT_SUMS] = {0};
    PBD_TRY(PBD_RUN(c->exec, measure_cloth_contacts, blocks, &args));
    PBD_TRY(device_blocks_take(c->exec, c->block, blocks, CLOTH_CONTACT_SUMS, 1, sum));
    c->deepest = fmax(c->deepest, sum[0]);
    c->most = fmax(c->most, sum[1]);
    pbd_metric(c->recorder, "cloth_contacts", "1", PBD_STATE, sum[1]);
    return pbd_ok();
}

static pbd_status look_for(cloth_contact *c, const real *x, const real *v) {
    const cloth_rows rows = cloth_rows_of(c->cloth);
    const mesh_rows mesh = {.vertex = rows.x, .later = rows.p, .corner = rows.corner};
    PBD_TRY(c->steps++ % REBUILT == 0 ? mesh_tree_build(&c->tree, &mesh) : mesh_tree_refit(&c->tree, &mesh));
    cloth_contact_find_args find = {.mesh = mesh_tree_view(&c->tree, &mesh),
                                    .later = rows.p,
                                    .x = x,
                                    .v = v,
                                    .dt = (real)c->dt,
                                    .distance = (real)c->set.distance,
                                    .reach = (real)(REACH * c->set.distance),
                                    .floor = (real)(c->set.time > c->dt ? 1 - c->dt / c->set.time : 0),
                                    .first = c->first};
    uint64_t contacts = 0;
    PBD_TRY(PBD_RUN(c->exec, count_cloth_contacts, c->set.particles, &find));
    PBD_TRY(pbd_scan(c->exec, c->first, c->set.particles, &contacts));
    c->contacts = 0;
    PBD_TRY(make_room(c, (size_t)contacts));
    c->contacts = (size_t)contacts;
    if (c->contacts == 0) return pbd_ok();
    find.particle = c->particle;
    find.vertex = c->vertex;
    find.foot = c->foot;
    find.normal = c->normal;
    return PBD_RUN(c->exec, fill_cloth_contacts, c->set.particles,
                   (pbd_work){.items = c->set.particles, .entries = c->contacts}, &find);
}

pbd_status cloth_contact_begin(cloth_contact *c, const real *x, const real *v, double dt) {
    c->dt = dt;
    PBD_TRY(look_for(c, x, v));
    if (c->contacts == 0) {
        pbd_metric(c->recorder, "cloth_contacts", "1", PBD_STATE, 0);
        return pbd_ok();
    }
    PBD_TRY(watch(c));
    PBD_TRY(sort_sides(c));
    cloth_contact_args args = contact_args_of(c, NULL);
    args.v = (real *)(uintptr_t)v; /* weigh_cloth_contacts only reads it */
    PBD_TRY(PBD_RUN(c->exec, sum_vertex_weights, cloth_rows_of(c->cloth).particles, sides_of(c), &args));
    return PBD_RUN(c->exec, weigh_cloth_contacts, c->contacts, &args);
}

pbd_status cloth_contact_iterate(cloth_contact *c, real *v) {
    const cloth_contact_args args = contact_args_of(c, v);
    if (c->contacts == 0) return pbd_ok();
    PBD_TRY(PBD_RUN(c->exec, project_cloth_contacts, c->contacts, &args));
    PBD_TRY(PBD_RUN(c->exec, push_particles, c->contacts, &args));
    pbd_count(c->recorder, "cloth_contact_solves", c->contacts);
    return PBD_RUN(c->exec, push_vertices, cloth_rows_of(c->cloth).particles, sides_of(c), &args);
}

pbd_status cloth_contact_record(cloth_contact *c) {
    pbd_metric(c->recorder, "cloth_penetration", "m", PBD_FLAW, c->deepest);
    pbd_metric(c->recorder, "most_cloth_contacts", "1", PBD_STATE, c->most);
    return pbd_ok();
}
