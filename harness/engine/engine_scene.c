#include "harness/engine/engine_scene.h"

#include <stdio.h>
#include <string.h>

#include "methods/physics/matter/flow_table.h"

static const char *const shape_names[] = {
#define COLLIDER_SHAPE(NAME, name) #name,
#include "methods/physics/surface/shapes/shapes.def"
#undef COLLIDER_SHAPE
};
static const char *const matters[PBD_MATTERS] = {"continuum", "fluid", "cloth"};

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

typedef enum element { REALS, NUMBERS, BYTES } element;

/* NULL data: the scene has none, and the array is left out. */
static void add(pbd_engine_scene *out, const char *name, element type, size_t rows, size_t width, const void *data) {
    static const char *const types[] = {"<f8", "<u4", "|u1"};
    static const size_t sizes[] = {8, 4, 1};
    if (!data || out->arrays == PBD_ENGINE_MOST_ARRAYS) return;
    snprintf(out->name[out->arrays], sizeof out->name[0], "%s", name);
    out->array[out->arrays] =
        (pbd_engine_array){out->name[out->arrays], types[type], rows, width, rows * width * sizes[type], data};
    out->arrays++;
}

static void add_cells(pbd_engine_scene *out, const char *name, const pbd_cells *cells, size_t width) {
    char materials[40];
    snprintf(materials, sizeof materials, "%s_material", name);
    if (cells->count == 0) return;
    add(out, name, NUMBERS, cells->count, width, cells->corner);
    add(out, materials, BYTES, cells->count, 1, cells->material);
}

static void add_arrays(const pbd_scene *s, pbd_engine_scene *out) {
    const pbd_particles *p = &s->particles;
    add(out, "positions", REALS, p->count, 3, p->positions);
    add(out, "start", REALS, p->count, 3, p->start);
    add(out, "velocities", REALS, p->count, 3, p->velocities);
    add(out, "masses", REALS, p->count, 1, p->masses);
    add(out, "volumes", REALS, p->count, 1, p->volumes);
    add(out, "material", BYTES, p->count, 1, p->material);
    add(out, "body", NUMBERS, p->count, 1, p->body);
    if (p->fixed > 0) add(out, "fixed", NUMBERS, p->fixed, 1, p->fixed_particle);
    if (p->fixed > 0) add(out, "fixed_until", REALS, p->fixed, 1, s->pour.until);
    add_cells(out, "hexes", &s->hexes, 8);
    add_cells(out, "tets", &s->tets, 4);
    add_cells(out, "triangles", &s->triangles, 3);
    add(out, "forces", REALS, p->count, 3, s->loads.forces);
    add(out, "contact_radius", REALS, p->count, 1, s->contact.radius);
    for (size_t i = 0; i < s->colliders.meshes; i++) {
        const pbd_collider_mesh *m = &s->colliders.mesh[i];
        char name[40];
        snprintf(name, sizeof name, "collider_%zu_vertices", i);
        add(out, name, REALS, m->vertices, 3, m->vertex);
        snprintf(name, sizeof name, "collider_%zu_triangles", i);
        add(out, name, NUMBERS, m->triangles, 3, m->triangle);
    }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static json_t *vector_json(const double v[3]) { return json_pack("[f, f, f]", v[0], v[1], v[2]); }

static json_t *flow_json(const pbd_material *m) {
    const int rule = flow_number(m->flow);
    json_t *all = json_object();
    if (rule < 0) return all;
    const flow_parameter *p = flow_table[rule].parameter;
    for (int i = 0; p[i].param.name && i < PBD_MOST_FLOW_VALUES; i++)
        json_object_set_new(all, p[i].param.name, json_real(m->flow_value[i]));
    return all;
}

static json_t *fibres_json(const pbd_material *m) {
    json_t *all = json_array();
    for (int i = 0; i < PBD_MOST_FIBRES; i++)
        if (m->fibre_stiffness[i] > 0)
            json_array_append_new(all, json_pack("{s:o, s:f}", "direction", vector_json(m->fibre[i]), "stiffness",
                                                 m->fibre_stiffness[i]));
    return all;
}

static json_t *materials_json(const pbd_scene *s) {
    json_t *all = json_array();
    for (size_t i = 0; i < (s->materials > 0 ? s->materials : 1); i++) {
        const pbd_material *m = &s->material[i];
        json_array_append_new(
            all, json_pack("{s:s, s:f, s:f, s:f, s:s, s:s?, s:o, s:o, s:f, s:f, s:f, s:f, s:f}", "matter",
                           matters[m->matter], "E", m->E, "nu", m->nu, "density", m->density, "law",
                           m->law ? m->law : "corotated", "flow", m->flow, "flow_values", flow_json(m), "fibres",
                           fibres_json(m), "yield_strain", m->yield_strain, "creep", m->creep, "thickness",
                           m->thickness, "bending", m->bending, "viscosity", m->viscosity));
    }
    return all;
}

static json_t *colliders_json(const pbd_scene *s) {
    json_t *all = json_array();
    for (size_t i = 0; i < s->colliders.count; i++) {
        const pbd_collider *c = &s->colliders.item[i];
        json_t *one = json_pack("{s:s, s:b, s:o, s:[o, o, o], s:o, s:o, s:o, s:f, s:f, s:f}", "shape",
                                shape_names[c->shape], "container", (int)c->container, "centre", vector_json(c->centre),
                                "axis", vector_json(c->axis[0]), vector_json(c->axis[1]), vector_json(c->axis[2]),
                                "half", vector_json(c->half), "velocity", vector_json(c->velocity), "spin",
                                vector_json(c->spin), "begin", c->begin, "end", c->end, "friction", c->friction);
        if (c->shape == PBD_MESH) {
            json_object_set_new(one, "mesh", json_integer((json_int_t)c->mesh));
            json_object_set_new(one, "thickness", json_real(s->colliders.mesh[c->mesh].thickness));
        }
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *blades_json(const pbd_scene *s) {
    json_t *all = json_array();
    for (size_t i = 0; i < s->blades.count; i++) {
        const pbd_blade *b = &s->blades.item[i];
        json_array_append_new(all, json_pack("{s:o, s:[o, o], s:o, s:f, s:f}", "corner", vector_json(b->corner), "edge",
                                             vector_json(b->edge[0]), vector_json(b->edge[1]), "velocity",
                                             vector_json(b->velocity), "begin", b->begin, "end", b->end));
    }
    return all;
}

static json_t *values_json(const pbd_values *values) {
    json_t *all = json_object();
    for (size_t i = 0; i < values->count; i++) {
        const pbd_value *v = &values->item[i];
        json_t *value = v->param->kind == PBD_REAL      ? json_real(v->number)
                        : v->param->kind == PBD_INTEGER ? json_integer((json_int_t)v->number)
                                                        : json_string(v->words ? v->words : v->text);
        json_object_set_new(all, v->param->name, value);
    }
    return all;
}

pbd_status pbd_engine_scene_write(const pbd_scene *s, const pbd_values *values, int threads, pbd_engine_scene *out) {
    enum { OTHER_ARRAYS = 20 }; /* besides those of collider meshes */
    *out = (pbd_engine_scene){0};
    if (2 * s->colliders.meshes + OTHER_ARRAYS > PBD_ENGINE_MOST_ARRAYS)
        return pbd_error(PBD_NOT_SUPPORTED, "%zu colliders are meshes: at most %d are sent to an engine",
                         s->colliders.meshes, (PBD_ENGINE_MOST_ARRAYS - OTHER_ARRAYS) / 2);
    add_arrays(s, out);
    out->request = json_pack(
        "{s:s, s:i, s:f, s:f, s:f, s:I, s:o, s:o, s:f, s:o, s:o, s:o, s:o, s:{s:b, s:f, s:f}}", "op", "create",
        "threads", threads, "duration", s->duration, "extent", s->extent, "spacing", s->particles.spacing, "bodies",
        (json_int_t)(s->particles.bodies > 0 ? s->particles.bodies : 1), "params", values_json(values), "gravity",
        vector_json(s->loads.gravity), "forces_end", s->loads.forces_end, "fixed_velocity",
        vector_json(s->pour.velocity), "materials", materials_json(s), "colliders", colliders_json(s), "blades",
        blades_json(s), "contact", "between_bodies", (int)s->contact.between_bodies, "self_distance",
        s->contact.self_distance, "friction", s->contact.friction);
    return out->request ? pbd_ok() : pbd_no_memory();
}
