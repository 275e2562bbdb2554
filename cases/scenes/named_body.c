#include "cases/scenes/named_body.h"

#include <math.h>
#include <string.h>

#include "cases/geometry/shape_mesh.h"
#include "cases/geometry/triangle_file.h"
#include "harness/exec/arena.h"

/* The scans that the blends approximate, and rotations (rows) after which z is up, and x and y are as in the blends. */
static const struct {
    body_shape shape;
    const char *path;
    double turn[3][3];
} scans[] = {{BODY_BUNNY, "cgal:bunny00.off", {{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}}},
             {BODY_COW, "cgal:cow.off", {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}}},
             {BODY_ARMADILLO, "cgal:armadillo.off", {{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}}}};
enum { SCANS = sizeof scans / sizeof *scans };

const char *named_body_scan(body_shape which) {
    for (int s = 0; s < SCANS; s++)
        if (scans[s].shape == which) return scans[s].path;
    return NULL;
}

static void warn_of_blend(body_shape which, pbd_setup *setup) {
    const char *scan = named_body_scan(which);
    if (scan)
        pbd_setup_warn(setup, "stand_in", "the %s is a blend of ellipsoids; body=%s is a scan", body_shape_names[which],
                       scan);
}

static bool is_blend(const pbd_values *values) { return strcmp(pbd_text(values, "body"), "blend") == 0; }

void named_body_free(named_body *body) { triangle_mesh_free(&body->mesh); }

static void turn(const char *path, triangle_mesh *mesh) {
    for (int s = 0; s < SCANS; s++) {
        if (strcmp(path, scans[s].path) != 0) continue;
        for (size_t v = 0; v < mesh->vertices; v++) {
            double *x = mesh->position + 3 * v;
            const double from[3] = {x[0], x[1], x[2]};
            for (int d = 0; d < 3; d++)
                x[d] = scans[s].turn[d][0] * from[0] + scans[s].turn[d][1] * from[1] + scans[s].turn[d][2] * from[2];
        }
    }
}

/* Scales the mesh so that the longest edge of its bounding box is `size`, and puts it on z = 0, centred above the
 * origin. */
static void place(double size, triangle_mesh *mesh) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, longest = 0;
    for (size_t i = 0; i < 3 * mesh->vertices; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->position[i]);
        high[i % 3] = fmax(high[i % 3], mesh->position[i]);
    }
    for (int d = 0; d < 3; d++) longest = fmax(longest, high[d] - low[d]);
    const double to[3] = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), low[2]};
    for (size_t i = 0; i < 3 * mesh->vertices; i++)
        mesh->position[i] = size / longest * (mesh->position[i] - to[i % 3]);
}

pbd_status named_body_make(const pbd_values *values, body_shape which, double size, pbd_setup *setup, named_body *out) {
    *out = (named_body){0};
    if (is_blend(values)) {
        const double stay[3] = {0, 0, 0};
        body_shape_make(which, &out->blend);
        shapes_place(&out->blend, size, stay);
        out->solid = shapes_solid(&out->blend);
        warn_of_blend(which, setup);
        return pbd_ok();
    }
    char note[240];
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    triangle_mesh raw PBD_CLEANUP(triangle_mesh_free) = {0};
    PBD_TRY(pbd_read_file(values, "body", &content));
    PBD_TRY(triangle_file_read(&content, &raw));
    turn(content.path, &raw);
    place(size, &raw);
    PBD_TRY(triangle_mesh_make(content.path, raw.vertices, raw.position, raw.triangles, raw.triangle, &out->mesh));
    triangle_mesh_note(&out->mesh, content.path, note, sizeof note);
    pbd_setup_warn(setup, "mesh", "%s", note);
    PBD_TRY(triangle_mesh_index(&out->mesh));
    out->solid = triangle_mesh_solid(&out->mesh);
    return pbd_ok();
}

pbd_status named_body_skin(const named_body *body, const placement *place, pbd_scene *scene) {
    const triangle_mesh *m = &body->mesh;
    const shape_mesh skin = {m->vertices, m->triangles, m->position, m->triangle};
    return skin.triangles > 0 ? particle_add_skin(scene, 0, &skin, place) : pbd_ok();
}
