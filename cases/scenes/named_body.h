/* A body by name: a blend of ellipsoids made here, or the scanned mesh that it stands for, or any other mesh. */
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
    solid solid;        /* its lowest point at z = 0, its middle over the origin; borrows the two above */
} named_body;

/* The largest edge of the box around it: `size` (m). Meshes of libcgal-demo are turned so that z is up. */
pbd_status named_body_make(const pbd_values *values, body_shape which, double size, pbd_setup *setup, named_body *out);
/* The scan that a blend stands for, such as "cgal:cow.off"; NULL: none. */
const char *named_body_scan(body_shape which);
/* A mesh is the skin of the scene's first body at `place`: pictures show it. */
pbd_status named_body_skin(const named_body *body, const placement *place, pbd_scene *scene);
void named_body_free(named_body *body); /* safe on a zeroed one */

#endif
