/* How a scene's matter is drawn. Elements are drawn by their outside, cloth by its triangles, sand by its grains,
 * liquid and matter that flows by the surface of its particles, and elastic bodies by a mesh that their particles
 * carry: the one they came with, or the surface of their particles at rest. Beneath a mesh that is torn, the inside is
 * drawn as the surface of the body's particles. */
#ifndef PBD_DRAWN_MATTER_H
#define PBD_DRAWN_MATTER_H

#include "cases/geometry/surface.h"
#include "harness/picture/carried_mesh.h"
#include "harness/picture/deformation.h"
#include "harness/picture/render_scene.h"

/* AUTO: as above; PARTICLES: particles that are no corners of elements as spheres. */
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
    unsigned char *edges; /* of the outside's triangles; NULL: cloth beside particles, of which none are drawn */
    size_t grains, surfaces, carried;
    drawn_group *grain, *melt, *solid; /* drawn as spheres; as surfaces; `carried` bodies by the meshes below */
    carried_mesh *mesh;
    pbd_arena owned, frame; /* frame: of the state that was drawn last */
} drawn_matter;

/* by_body: surfaces are of one body each, so that bodies may have colours. Scene and body must outlive it. Free with
 * drawn_matter_close (safe on a zeroed one), also after an error. */
pbd_status drawn_matter_open(const pbd_scene *scene, const pbd_body *body, pbd_draw draw, bool by_body,
                             drawn_matter *out);
void drawn_matter_close(drawn_matter *matter);

/* Half the distance of particles that fill their body. */
double drawn_radius(const pbd_scene *scene);

/* A state: by particle positions, x 3, m, and values of the palette; surfaces are drawn within the box. Adds to out,
 * which has room for RENDER_MOST_BODIES; valid until the next call. */
pbd_status drawn_matter_at(drawn_matter *matter, const double *x, const float *value, render_palette palette,
                           const double low[3], const double high[3], render_body *out, size_t *bodies);

#endif
