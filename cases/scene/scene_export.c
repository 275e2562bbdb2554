#include "cases/scene/scene_export.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases/geometry/points_file.h"
#include "cases/scene/surroundings.h"
#include "harness/files/numbers.h"
#include "methods/physics/matter/flow_table.h"
#include "methods/physics/matter/law_table.h"

static uint32_t body_of(const pbd_scene *s, size_t i) { return s->particles.body ? s->particles.body[i] : 0; }
static size_t matters_of(const pbd_scene *s) { return s->materials > 0 ? s->materials : 1; }

/* In the order of points_cell. */
static void list_cells(const pbd_scene *s, const pbd_cells *out[POINTS_CELLS]) {
    out[POINTS_HEX] = &s->hexes;
    out[POINTS_TET] = &s->tets;
    out[POINTS_FACE] = &s->triangles;
}

/* ---- What cannot be said ----------------------------------------------------------------------------------------- */

#define UNSAID "a scene file cannot say "

static pbd_status check_matter(const pbd_scene *s, const pbd_material *m) {
    if (!(m->density > 0)) return pbd_error(PBD_BAD_INPUT, UNSAID "matter without a density, density=0");
    if (m->matter == PBD_FLUID) return pbd_ok();
    if (!(m->E > 0)) return pbd_error(PBD_BAD_INPUT, UNSAID "solid matter without a Young's modulus");
    if (m->convention == PBD_D_PRINTED && s->hexes.count > 0)
        return pbd_error(PBD_BAD_INPUT, UNSAID "the elasticity matrix as printed in rodero2016: convention=printed");
    return pbd_ok();
}

/* The particles of a body must be contiguous and of one matter: each body is one file. */
static pbd_status check_bodies(const pbd_scene *s) {
    for (size_t i = 1; i < s->particles.count; i++) {
        const uint32_t body = body_of(s, i), before = body_of(s, i - 1);
        if (body != before && body != before + 1)
            return pbd_error(PBD_BAD_INPUT, UNSAID "bodies whose particles are mixed: %zu is of body %u, %zu of %u",
                             i - 1, (unsigned)before, i, (unsigned)body);
        if (body == before && pbd_material_of(s, i) != pbd_material_of(s, i - 1))
            return pbd_error(PBD_BAD_INPUT, UNSAID "a body of two matters: particles %zu and %zu of body %u", i - 1, i,
                             (unsigned)body);
    }
    return pbd_ok();
}

static pbd_status check_cells(const pbd_scene *s, const pbd_cells *cells, size_t corners) {
    uint32_t last = 0;
    for (size_t c = 0; c < cells->count; c++) {
        const uint32_t *corner = cells->corner + corners * c, body = body_of(s, corner[0]);
        bool same = body >= last && pbd_cell_material(s, cells, c) == pbd_material_of(s, corner[0]);
        for (size_t k = 1; k < corners; k++) same &= body_of(s, corner[k]) == body;
        if (!same) return pbd_error(PBD_BAD_INPUT, UNSAID "cells that join bodies or are not in their order");
        last = body;
    }
    return pbd_ok();
}

pbd_status scene_export_check(const pbd_setup *setup) {
    const pbd_scene *s = &setup->scene;
    const pbd_surface_load *surface = &s->surface_load;
    const pbd_cells *cells[POINTS_CELLS];
    list_cells(s, cells);
    if (setup->settle.window > 0) return pbd_error(PBD_BAD_INPUT, UNSAID "motion until rest: it has a duration");
    if (s->pour.until) return pbd_error(PBD_BAD_INPUT, UNSAID "held particles that move and are let go: pour=on");
    for (size_t k = 0; k < matters_of(s); k++) PBD_TRY(check_matter(s, &s->material[k]));
    if (s->hints.fixing != PBD_FIXED_WEIGHT || s->hints.shared != PBD_SHARED_ONCE)
        return pbd_error(PBD_BAD_INPUT, UNSAID "the choices of rodero2016 for pbd_distance: base, shared");
    if (surface->edges.count + surface->triangles.count + surface->quads.count > 0)
        return pbd_error(PBD_BAD_INPUT, UNSAID "loads on faces and edges, only forces on particles");
    PBD_TRY(check_bodies(s));
    for (int kind = 0; kind < POINTS_CELLS; kind++)
        PBD_TRY(check_cells(s, cells[kind], points_corners((points_cell)kind)));
    return pbd_ok();
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void put_number(FILE *file, const char *key, double x) {
    char text[PBD_NUMBER_SIZE];
    pbd_spell_number(x, text);
    fprintf(file, "%s: %s\n", key, text);
}

static void put_vector(FILE *file, const char *key, const double x[3]) {
    char text[3][PBD_NUMBER_SIZE];
    for (int d = 0; d < 3; d++) pbd_spell_number(x[d], text[d]);
    fprintf(file, "%s: [%s, %s, %s]\n", key, text[0], text[1], text[2]);
}

static void put_moving(FILE *file, const char *key, const double x[3]) {
    if (x[0] != 0 || x[1] != 0 || x[2] != 0) put_vector(file, key, x);
}

/* A key of a nested mapping. */
static void put_indented(FILE *file, const char *key, double x) {
    fputs("    ", file);
    put_number(file, key, x);
}

static void put_positive(FILE *file, const char *key, double x) {
    if (x > 0) put_number(file, key, x);
}

/* ---- Matters ----------------------------------------------------------------------------------------------------- */

static void put_flow(FILE *file, const pbd_material *m) {
    const flow_entry *rule = flow_table;
    while (strcmp(rule->name, m->flow) != 0) rule++;
    fprintf(file, "    flow: %s\n", rule->name);
    for (size_t k = 0; rule->parameter[k].param.name; k++) {
        const flow_parameter *p = &rule->parameter[k];
        if (p->role == FLOW_STATE || p->role == FLOW_STEP) continue;
        if (p->param.kind == PBD_CHOICE)
            fprintf(file, "    %s: %s\n", p->param.name, p->param.choices[(size_t)m->flow_value[k]]);
        else
            put_indented(file, p->param.name, m->flow_value[k]);
    }
}

static void put_fibres(FILE *file, const pbd_material *m) {
    if (!pbd_has_fibres(m)) return;
    fputs("    fibres:\n", file);
    for (int k = 0; k < PBD_MOST_FIBRES; k++)
        if (m->fibre_stiffness[k] > 0) {
            put_vector(file, "      - direction", m->fibre[k]);
            put_number(file, "        stiffness", m->fibre_stiffness[k]);
        }
}

static void put_matter(FILE *file, size_t number, const pbd_material *m) {
    static const char *const kinds[] = {[PBD_CONTINUUM] = "solid", [PBD_FLUID] = "liquid", [PBD_CLOTH] = "cloth"};
    fprintf(file, "  matter%zu:\n    kind: %s\n", number, kinds[m->matter]);
    put_number(file, "    density", m->density);
    if (m->matter == PBD_FLUID) {
        put_number(file, "    viscosity", m->viscosity);
        return;
    }
    put_number(file, "    young", m->E);
    put_number(file, "    poisson", m->nu);
    fprintf(file, "    law: %s\n", m->law ? m->law : "corotated");
    if (m->matter == PBD_CLOTH) {
        put_number(file, "    thickness", m->thickness > 0 ? m->thickness : 1);
        put_number(file, "    bending", m->bending);
        return;
    }
    put_positive(file, "    thickness", m->thickness);
    put_positive(file, "    yield_strain", m->yield_strain);
    put_positive(file, "    creep", m->creep);
    put_fibres(file, m);
    if (m->flow) put_flow(file, m);
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

typedef struct exported {
    const pbd_scene *scene;
    const char *folder;
    FILE *file;
    uint32_t body; /* with its particles first ... first + count - 1 */
    size_t first, count;
} exported;

/* The body's part of an array; NULL if all its values are 0. */
static double *part_of(const exported *e, double *of_scene, size_t width) {
    double *part = of_scene ? of_scene + width * e->first : NULL;
    for (size_t i = 0; part && i < width * e->count; i++)
        if (part[i] != 0) return part;
    return NULL;
}

static pbd_status take_weights(const exported *e, pbd_arena *arena, points_file *out) {
    const pbd_particles *p = &e->scene->particles;
    const double density = pbd_material_of(e->scene, e->first)->density, *mass = p->masses + e->first;
    double *volume = out->field[POINTS_VOLUME] = pbd_new(arena, double, e->count);
    PBD_TRY(pbd_arena_check(arena));
    for (size_t i = 0; i < e->count; i++) {
        volume[i] = p->volumes ? p->volumes[e->first + i] : mass[i] / density;
        if (mass[i] != density * volume[i]) out->field[POINTS_MASS] = p->masses + e->first;
    }
    return pbd_ok();
}

static pbd_status take_held(const exported *e, pbd_arena *arena, points_file *out) {
    const pbd_particles *p = &e->scene->particles;
    double *held = pbd_new(arena, double, e->count);
    PBD_TRY(pbd_arena_check(arena));
    for (size_t k = 0; k < p->fixed; k++)
        if (p->fixed_particle[k] - e->first < e->count) {
            held[p->fixed_particle[k] - e->first] = 1;
            out->field[POINTS_HELD] = held;
        }
    return pbd_ok();
}

static pbd_status take_cells(const exported *e, pbd_arena *arena, points_file *out) {
    const pbd_cells *cells[POINTS_CELLS];
    list_cells(e->scene, cells);
    for (int kind = 0; kind < POINTS_CELLS; kind++) {
        const size_t corners = points_corners((points_cell)kind);
        const uint32_t *from = cells[kind]->corner;
        uint32_t *to = out->corner[kind] = pbd_new(arena, uint32_t, corners * cells[kind]->count);
        PBD_TRY(pbd_arena_check(arena));
        for (size_t c = 0; c < cells[kind]->count; c++) {
            if (body_of(e->scene, from[corners * c]) != e->body) continue;
            for (size_t k = 0; k < corners; k++)
                to[corners * out->cells[kind] + k] = from[corners * c + k] - (uint32_t)e->first;
            out->cells[kind]++;
        }
    }
    return pbd_ok();
}

/* Radii are always written: missing ones would follow from the spacing. */
static pbd_status write_points(const exported *e, const char *path, pbd_arena *arena, points_file *out) {
    const pbd_scene *s = e->scene;
    *out = (points_file){.count = e->count,
                         .field = {[POINTS_POSITION] = s->particles.positions + 3 * e->first,
                                   [POINTS_VELOCITY] = part_of(e, s->particles.velocities, 3),
                                   [POINTS_START] = s->particles.start ? s->particles.start + 3 * e->first : NULL,
                                   [POINTS_FORCE] = part_of(e, s->loads.forces, 3)}};
    out->field[POINTS_RADIUS] = s->contact.radius ? s->contact.radius + e->first : pbd_new(arena, double, e->count);
    PBD_TRY(take_weights(e, arena, out));
    PBD_TRY(take_held(e, arena, out));
    PBD_TRY(take_cells(e, arena, out));
    return points_file_write(path, out);
}

static pbd_status put_body(exported *e) {
    const pbd_scene *s = e->scene;
    pbd_arena arena PBD_ARENA;
    points_file points;
    e->body = body_of(s, e->first);
    for (e->count = 0; e->first + e->count < s->particles.count; e->count++)
        if (body_of(s, e->first + e->count) != e->body) break;
    const char *path = pbd_new_format(&arena, "%s/body%u.ply", e->folder, (unsigned)e->body);
    PBD_TRY(pbd_arena_check(&arena));
    PBD_TRY(write_points(e, path, &arena, &points));
    fprintf(e->file, "  - points: body%u.ply\n    name: body%u\n    matter: matter%zu\n", (unsigned)e->body,
            (unsigned)e->body, (size_t)(pbd_material_of(s, e->first) - s->material));
    if (points.cells[POINTS_FACE] == 0) put_positive(e->file, "    spacing", s->particles.spacing);
    e->first += e->count;
    return pbd_ok();
}

/* ---- Colliders and blades ---------------------------------------------------------------------------------------- */

/* Writes the rotation whose columns are the axes, by way of a quaternion. Its largest component is found first, so that
 * the others are exact to rounding for every angle (Shepperd 1978). */
static void put_turn(FILE *file, const double axis[3][3]) {
    const double trace = axis[0][0] + axis[1][1] + axis[2][2];
    double q[4] = {1 + trace}, vector[3]; /* q[0]: the scalar. Up to a common factor */
    int most = 0;
    for (int d = 0; d < 3; d++) q[1 + d] = 1 + 2 * axis[d][d] - trace;
    for (int k = 1; k < 4; k++)
        if (q[k] > q[most]) most = k;
    for (int d = 0; d < 3; d++) {
        const int i = (d + 1) % 3, j = (d + 2) % 3;
        const double across = axis[i][j] - axis[j][i];
        if (most == 0)
            q[1 + d] = across;
        else if (most == 1 + d)
            q[0] = across;
        else
            q[1 + d] = axis[most - 1][d] + axis[d][most - 1];
    }
    memcpy(vector, q + 1, sizeof vector);
    const double size = sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
    if (size == 0) return;
    fputs("    rotate:\n", file);
    put_vector(file, "      axis", vector);
    put_number(file, "      degrees", 2 * atan2(size, q[0]) * 180 / acos(-1));
}

static void put_sizes(FILE *file, const pbd_collider *c) {
    const collider_size *size = collider_sizes(collider_shapes[c->shape]);
    for (; size && size->key; size++)
        if (strcmp(size->key, "size") == 0)
            put_vector(file, "    size", (const double[]){2 * c->half[0], 2 * c->half[1], 2 * c->half[2]});
        else
            put_indented(file, size->key, c->half[size->entry] / size->factor);
}

static pbd_status put_surface(const exported *e, size_t number, const pbd_collider_mesh *mesh) {
    pbd_arena arena PBD_ARENA;
    const points_file points = {.count = mesh->vertices,
                                .field[POINTS_POSITION] = mesh->vertex,
                                .cells[POINTS_FACE] = mesh->triangles,
                                .corner[POINTS_FACE] = mesh->triangle};
    const char *path = pbd_new_format(&arena, "%s/collider%zu.ply", e->folder, number);
    PBD_TRY(pbd_arena_check(&arena));
    fprintf(e->file, "  - mesh: collider%zu.ply\n    origin: file\n", number);
    put_positive(e->file, "    thickness", mesh->thickness);
    return points_file_write(path, &points);
}

static pbd_status put_collider(const exported *e, size_t number) {
    const pbd_collider *c = &e->scene->colliders.item[number];
    FILE *file = e->file;
    if (c->shape == PBD_MESH)
        PBD_TRY(put_surface(e, number, &e->scene->colliders.mesh[c->mesh]));
    else
        fprintf(file, "  - shape: %s\n", collider_shapes[c->shape]);
    put_sizes(file, c);
    put_vector(file, "    place", c->centre);
    if (c->shape == PBD_PLANE)
        put_vector(file, "    normal", c->axis[2]);
    else
        put_turn(file, c->axis);
    put_number(file, "    friction", c->friction);
    if (c->container) fputs("    container: true\n", file);
    put_moving(file, "    velocity", c->velocity);
    put_moving(file, "    angular_velocity", c->spin);
    put_positive(file, "    begin", c->begin);
    put_positive(file, "    end", c->end);
    return pbd_ok();
}

static void put_blade(FILE *file, const pbd_blade *b) {
    put_vector(file, "  - corner", b->corner);
    put_vector(file, "    edge_a", b->edge[0]);
    put_vector(file, "    edge_b", b->edge[1]);
    put_moving(file, "    velocity", b->velocity);
    put_positive(file, "    begin", b->begin);
    put_number(file, "    end", b->end);
}

/* ---- A scene ----------------------------------------------------------------------------------------------------- */

static pbd_status put_scene(exported *e) {
    const pbd_scene *s = e->scene;
    put_number(e->file, "duration", s->duration);
    put_vector(e->file, "gravity", s->loads.gravity);
    e->count = s->particles.count;
    if (part_of(e, s->loads.forces, 3)) put_positive(e->file, "forces_end", s->loads.forces_end);
    fprintf(e->file, "contact:\n    between_bodies: %s\n", s->contact.between_bodies ? "true" : "false");
    put_number(e->file, "    self_distance", s->contact.self_distance);
    put_number(e->file, "    friction", s->contact.friction);
    fputs("matters:\n", e->file);
    for (size_t k = 0; k < matters_of(s); k++) put_matter(e->file, k, &s->material[k]);
    fputs("bodies:\n", e->file);
    while (e->first < s->particles.count) PBD_TRY(put_body(e));
    if (s->colliders.count > 0) fputs("colliders:\n", e->file);
    for (size_t k = 0; k < s->colliders.count; k++) PBD_TRY(put_collider(e, k));
    if (s->blades.count > 0) fputs("blades:\n", e->file);
    for (size_t k = 0; k < s->blades.count; k++) put_blade(e->file, &s->blades.item[k]);
    return pbd_ok();
}

pbd_status scene_export(const pbd_setup *setup, const char *folder, const char *about) {
    pbd_arena arena PBD_ARENA;
    const char *path = pbd_new_format(&arena, "%s/scene.yaml", folder);
    PBD_TRY(pbd_arena_check(&arena));
    exported e = {.scene = &setup->scene, .folder = folder, .file = fopen(path, "w")};
    if (!e.file) return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
    fputs(about, e.file);
    const pbd_status status = put_scene(&e);
    const bool bad = ferror(e.file) != 0;
    if (fclose(e.file) == 0 && !bad) return status;
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}
