/* Pictures of the states of one run, with one camera and one colour scale for all of them.
 *
 * First pass every state, or some states of a film, to pbd_album_see. Then pbd_album_look sets the camera and the scale
 * that fit all of them, and pbd_album_draw draws them. */
#ifndef PBD_ALBUM_H
#define PBD_ALBUM_H

#include "harness/picture/collider_mesh.h"
#include "harness/picture/colours.h"
#include "harness/picture/drawn_matter.h"
#include "harness/picture/render.h"

typedef struct pbd_album_plan {
    pbd_colour colour;
    double strain_scale; /* the strain of the darkest colour; 0: from the states seen */
    pbd_draw draw;
    int width; /* of a picture, pixels */
} pbd_album_plan;

typedef struct pbd_album {
    const pbd_scene *scene;
    pbd_body body;
    pbd_colour colour;            /* not AUTO */
    double scale_low, scale_high; /* of the lightest and the darkest colour; set by pbd_album_look */
    bool scale_is_given;          /* by the user */
    int width, height;            /* of a picture, pixels; the height after pbd_album_look */
    double low[3], high[3];       /* m: the box that the picture shows */
    render_camera camera;
    double *strain;      /* by element: pbd_album_strain */
    double *at_particle; /* by particle: the same, or the values of the colour */
    uint32_t *number;    /* by particle: which body */
    /* Internal. */
    pbd_arena owned;
    drawn_matter matter;
    collider_meshes colliders;
    float *value; /* by particle: for the renderer */
    float *point; /* points x 3, m: particles of the states that were seen, for the camera */
    size_t points, room;
    double *sample; /* values that were seen, for the scale */
    size_t samples, sample_room;
} pbd_album;

/* The scene must outlive it. `method` NULL: bare particles are drawn. PBD_NOT_SUPPORTED if the colour is not available
 * in the first state. Close it also after an error. */
pbd_status pbd_album_open(const pbd_scene *scene, const pbd_method *method, const pbd_album_plan *plan,
                          const pbd_seen_state *first, pbd_album *out);
void pbd_album_close(pbd_album *album); /* safe on a zeroed one */

/* Sets `strain` and `at_particle`, which the calls below may overwrite. Positions: particles x 3, m. */
pbd_status pbd_album_strain(pbd_album *album, const double *positions);

pbd_status pbd_album_see(pbd_album *album, const pbd_seen_state *state);
/* Sets the camera and the scale after all states were seen. `height` 0: from the shape of the view. */
void pbd_album_look(pbd_album *album, int height);
/* The same for several albums, which get one camera and one scale. */
pbd_status pbd_album_share(pbd_album *const *album, size_t albums, int height);
/* The colours of the scale for gnuplot: "0 '#rrggbb', 0.125 '#rrggbb', ...". */
void pbd_album_spell_palette(char *out, size_t size);

pbd_status pbd_album_draw(pbd_album *album, const pbd_seen_state *state, pbd_image *out);

#endif
