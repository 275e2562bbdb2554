/* What the colours of pictures show: a number of each particle in a state. */
#ifndef PBD_COLOURS_H
#define PBD_COLOURS_H

#include "harness/picture/deformation.h"

/* AUTO: matter, if some of it flows or is liquid or cloth; else strain, if there are elements or a sampled body; else
 * body.
 *
 *     strain    norm of Green's strain, of elements or of the map that best fits a particle's neighbours at rest
 *     speed     m/s
 *     density   kg/m^3: by det F of elastic matter, else the kernel sum of the masses (Wendland C2 over two spacings)
 *     pressure  Pa: of liquid the method's own, of elastic matter minus a third of the trace of the Cauchy stress
 *     stress    Pa: von Mises equivalent of the Cauchy stress, by the elastic law and F
 *     damage    share of a particle's neighbours at rest from which it has parted (sample_strain.h) */
typedef enum pbd_colour {
    PBD_COLOUR_AUTO,
    PBD_COLOUR_STRAIN,
    PBD_COLOUR_MATTER,
    PBD_COLOUR_BODY,
    PBD_COLOUR_SPEED,
    PBD_COLOUR_DENSITY,
    PBD_COLOUR_PRESSURE,
    PBD_COLOUR_STRESS,
    PBD_COLOUR_DAMAGE,
    PBD_COLOURS
} pbd_colour;
#define PBD_COLOUR_NAMES "auto|strain|matter|body|speed|density|pressure|stress|damage"
/* -1: no such name. */
int pbd_colour_named(const char *name);
const char *pbd_colour_name(pbd_colour colour);

/* Whether AUTO is the matter. */
bool pbd_has_matter(const pbd_scene *scene);
/* 0xRRGGBB, sRGB. */
uint32_t pbd_colour_of_material(const pbd_material *material);

/* Whether the colour shows a number on a scale; the label of that scale: "speed, m/s". */
bool pbd_colour_has_scale(pbd_colour colour);
const char *pbd_colour_label(pbd_colour colour);
/* Whether the scale begins at 0. */
bool pbd_colour_from_zero(pbd_colour colour);

/* A state as read from its method; NULL: the method has no such field. */
typedef struct pbd_seen_state {
    double time;            /* s */
    const double *position; /* particles x 3, m */
    const double *velocity; /* particles x 3, m/s */
    const double *gradient; /* particles x 9: elastic deformation gradients, row by row */
    const double *pressure; /* particles, Pa: of liquid */
} pbd_seen_state;

/* Fields beside positions that a colour reads: bits 1 << pbd_field. */
unsigned pbd_colour_fields(pbd_colour colour);

/* Resolves AUTO. PBD_NOT_SUPPORTED if the colour is not available in this state; the message names those that are. */
pbd_status pbd_colour_choose(const pbd_scene *scene, const pbd_body *body, pbd_colour wanted,
                             const pbd_seen_state *first, pbd_colour *out);

/* The value of each particle, NaN: none. For colours with a scale, but not for strain (see pbd_strain). */
pbd_status pbd_colour_values(const pbd_scene *scene, const pbd_body *body, pbd_colour colour,
                             const pbd_seen_state *state, double *value);

#endif
