/* How a scene's matter is drawn. Elements are drawn as their outer faces, cloth as its triangles, sand as grains,
 * liquid and flowing matter as the surface of its particles, and elastic bodies as a mesh that their particles carry:
 * the scene's mesh of the body, or the surface of its particles at rest. Under a torn mesh the inside is drawn as the
 * surface of the body's particles. */
#ifndef PBD_DRAWN_MATTER_H
#define PBD_DRAWN_MATTER_H

#include "cases/geometry/surface.h"
#include "harness/picture/carried_mesh.h"
#include "harness/picture/deformation.h"
#include "harness/picture/render_scene.h"

/* AUTO: as above; PARTICLES: particles that are not corners of elements are drawn as spheres. */
typedef enum pbd_draw { PBD_DRAW_AUTO, PBD_DRAW_PARTICLES } pbd_draw;
#define PBD_DRAW_NAMES "auto|particles"

/* Particles that are drawn together, ascending. */
typedef struct drawn_group {
    size_t count;
    uint32_t *particle;
    const pbd_material *material;
    uint32_t body; /* of the first */
} drawn_group;

typedef struct drawn_matter {
    const pbd_scene *scene;
    pbd_body body;
    double radius; /* m: of bare particles; 0: there are none */
    surface outside;
    double edge;          /* m: mean edge of its triangles */
    unsigned char *edges; /* by triangle of the outside: its drawn edges as bits; NULL: none (cloth) */
    size_t grains, surfaces, carried;
    drawn_group *grain, *melt, *solid; /* drawn as spheres; as surfaces; `carried` bodies as the meshes below */
    carried_mesh *mesh;
    pbd_arena owned, frame; /* frame: of the state that was drawn last */
} drawn_matter;

/* by_body: each surface shows one body, so that bodies may differ in colour. Scene and body must outlive it. Free with
 * drawn_matter_close (safe on a zeroed one), also after an error. */
pbd_status drawn_matter_open(const pbd_scene *scene, const pbd_body *body, pbd_draw draw, bool by_body,
                             drawn_matter *out);
void drawn_matter_close(drawn_matter *matter);

/* m: half the spacing of the particles, which is estimated if the scene has none. */
double drawn_radius(const pbd_scene *scene);

/* Adds the bodies of a state to out, which has room for RENDER_MOST_BODIES; they are valid until the next call. By
 * particle: x (x 3, m) and values of the palette. Surfaces are drawn within the box low .. high. */
pbd_status drawn_matter_at(drawn_matter *matter, const double *x, const float *value, render_palette palette,
                           const double low[3], const double high[3], render_body *out, size_t *bodies);

#endif
