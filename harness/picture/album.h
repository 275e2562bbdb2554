/* Pictures of the states of one run, by which it is seen from one place and in one scale of colours.
 *
 * First every state, or some of a film's, is shown to pbd_album_see: the view holds what moves, and the scale goes up
 * to the largest strain. Then pbd_album_draw draws them. */
#ifndef PBD_ALBUM_H
#define PBD_ALBUM_H

#include "cases/geometry/surface.h"
#include "harness/exec/arena.h"
#include "harness/picture/deformation.h"
#include "harness/picture/render.h"

/* What colours mean. AUTO: the matter, where some of it flows, is liquid or cloth; else the strain, where there are
 * elements or a sampled body; else the body. */
typedef enum pbd_colour { PBD_COLOUR_AUTO, PBD_COLOUR_STRAIN, PBD_COLOUR_MATTER, PBD_COLOUR_BODY } pbd_colour;
#define PBD_COLOUR_NAMES "auto|strain|matter|body"
/* -1: no such name. */
int pbd_colour_named(const char *name);
/* Whether AUTO is the matter. */
bool pbd_has_matter(const pbd_scene *scene);
/* 0xRRGGBB, sRGB. */
uint32_t pbd_colour_of_material(const pbd_material *material);

typedef struct pbd_album {
    const pbd_scene *scene;
    pbd_body body;
    pbd_colour colour;      /* not AUTO */
    double scale;           /* strain of the darkest colour; 0 until it is asked for or seen */
    bool scale_is_given;    /* by the user */
    int width, height;      /* of a picture, pixels; the height after pbd_album_look */
    double low[3], high[3]; /* m: what is in the picture */
    render_camera camera;
    double *strain;      /* by element: pbd_album_strain */
    double *at_particle; /* likewise by particle */
    uint32_t *number;    /* by particle: which body */
    /* Internal. */
    pbd_arena owned;
    float *value; /* by particle: the renderer's */
    surface outside;
    float *point; /* points x 3, m: particles of the states that were seen, for the camera */
    size_t points, room;
    unsigned char *edges;     /* of the outside's triangles */
    double radius;            /* m: of bare particles; 0: there are none */
    unsigned char *is_vertex; /* by particle: 1 in cloth beside bare particles; else NULL */
} pbd_album;

/* The scene must outlive it. `method` NULL: the particles are drawn as they are. strain_scale 0: by what is seen. */
pbd_status pbd_album_open(const pbd_scene *scene, const pbd_method *method, pbd_colour colour, double strain_scale,
                          int width, pbd_album *out);
void pbd_album_close(pbd_album *album); /* safe on a zeroed one */

/* Sets `strain` and `at_particle`, which the calls below use as well. Positions: particles x 3, m. */
pbd_status pbd_album_strain(pbd_album *album, const double *positions);

pbd_status pbd_album_see(pbd_album *album, const double *positions);
/* The camera, once all was seen. `height` 0: by the shape of what is seen. */
void pbd_album_look(pbd_album *album, int height);
/* time: s, for what moves beside the body. */
pbd_status pbd_album_draw(pbd_album *album, const double *positions, double time, pbd_image *out);

#endif
