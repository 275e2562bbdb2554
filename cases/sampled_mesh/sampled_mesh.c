/* A user's body, given by its surface: a closed triangle mesh, filled with particles. */
#include <math.h>

#include "cases/geometry/shape_mesh.h"
#include "cases/geometry/triangle_file.h"
#include "cases/geometry/triangle_mesh.h"
#include "cases/scenes/sampled.h"

static const pbd_param params[] = {
    {"file", "", PBD_FILE, "", 0, 0, 0, NULL,
     "a closed triangle mesh: .obj, .off, .ply or .stl; cgal:cow is that of Debian's package libcgal-demo"},
    {"scale", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "one unit of the file's lengths: 0.001 for millimetres"},
    PBD_SAMPLED_PARAMS,
    {0}};

static pbd_status build(const pbd_values *values, pbd_setup *setup) {
    char note[240];
    pbd_content content PBD_CLEANUP(pbd_content_free) = {0};
    triangle_mesh mesh PBD_CLEANUP(triangle_mesh_free) = {0};
    PBD_TRY(pbd_read_file(values, "file", &content));
    PBD_TRY(triangle_mesh_read(&content, pbd_real(values, "scale"), &mesh));
    triangle_mesh_note(&mesh, content.path, note, sizeof note);
    pbd_setup_warn(setup, "mesh", "%s", note);
    PBD_TRY(triangle_mesh_index(&mesh));
    const solid body = triangle_mesh_solid(&mesh);
    PBD_TRY(sampled_build(values, &body, setup));
    const placement here = placement_at(0, 0, 0);
    const shape_mesh skin = {mesh.vertices, mesh.triangles, mesh.position, mesh.triangle};
    return particle_add_skin(&setup->scene, 0, &skin, &here);
}

const pbd_case pbd_case_sampled_mesh = {
    .name = "sampled_mesh",
    .summary = "your own closed triangle mesh filled with particles: it hangs, or falls to a floor",
    .source = "",
    .provides = PBD_NEEDS_PARTICLES | PBD_NEEDS_SAMPLES,
    .params = params,
    PARTICLE_DETAIL(sampled_detail),
    .build = build,
    .measure = sampled_measure,
    .observe = sampled_observe,
};
