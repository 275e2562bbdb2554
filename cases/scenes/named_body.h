/* A body by name: a blend of ellipsoids, the scanned mesh that the blend approximates, or any other mesh. */
#ifndef PBD_NAMED_BODY_H
#define PBD_NAMED_BODY_H

#include "cases/case.h"
#include "cases/geometry/triangle_mesh.h"
#include "cases/scenes/particle_scene.h"

/* After the parameter `shape`, if the case has one. */
#define PBD_BODY_PARAM(shape_)                                                                                    \
    {                                                                                                             \
        "body", "", PBD_FILE, "blend", 0, 0, 0, NULL,                                                             \
            shape_                                                                                                \
            ": blend, of ellipsoids; a closed mesh, .obj, .off, .ply or .stl; cgal:cow, of Debian's libcgal-demo" \
    }

typedef struct named_body {
    shapes blend;
    triangle_mesh mesh; /* empty: the blend is used */
    solid solid;        /* lowest point at z = 0, centred above the origin; borrows the two above */
} named_body;

/* size: the longest edge of the bounding box, m. Meshes of libcgal-demo are rotated so that z is up. */
pbd_status named_body_make(const pbd_values *values, body_shape which, double size, pbd_setup *setup, named_body *out);
/* Returns the scan that a blend approximates, such as "cgal:cow.off"; NULL: none. */
const char *named_body_scan(body_shape which);
/* If the body is a mesh, makes it the skin of the scene's first body, put in its place, for pictures. */
pbd_status named_body_skin(const named_body *body, const placement *place, pbd_scene *scene);
void named_body_free(named_body *body); /* safe on a zeroed one */

#endif
