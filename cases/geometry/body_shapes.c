/* Bodies by name. The animals are drawn by hand, in metres, from the side (bunny and cow face +x) or from the front
 * (the armadillo faces -y), and then scaled to the same size. */
#include <math.h>

#include "cases/geometry/solid.h"

const char *const body_shape_names[BODY_SHAPES + 1] = {"sphere", "box", "capsule",   "torus", "sheet",
                                                       "bunny",  "cow", "armadillo", "ant",   NULL};

#define P(x, y, z) ((const double[3]){x, y, z})

static void bunny(shapes *s) {
    s->blend = 0.07;
    shapes_ellipsoid(s, 0, 0, 0.34, 0.37, 0.26, 0.31);
    shapes_cone(s, P(0.2, 0, 0.5), 0.17, P(0.3, 0, 0.66), 0.16); /* neck */
    shapes_ellipsoid(s, 0.33, 0, 0.72, 0.22, 0.18, 0.18);        /* head */
    shapes_sphere(s, 0.47, 0, 0.67, 0.1);                        /* muzzle */
    shapes_sphere(s, -0.39, 0, 0.3, 0.1);                        /* tail */
    for (int side = -1; side <= 1; side += 2) {
        shapes_cone(s, P(0.25, side * 0.09, 0.86), 0.065, P(0.07, side * 0.17, 1.26), 0.075); /* ear */
        shapes_ellipsoid(s, -0.13, side * 0.2, 0.22, 0.23, 0.12, 0.21);                       /* haunch */
        shapes_cone(s, P(-0.16, side * 0.21, 0.075), 0.075, P(0.1, side * 0.22, 0.07), 0.07); /* hind foot */
        shapes_cone(s, P(0.27, side * 0.12, 0.33), 0.09, P(0.33, side * 0.13, 0.08), 0.075);  /* fore leg */
    }
}

static void cow(shapes *s) {
    s->blend = 0.08;
    shapes_ellipsoid(s, 0, 0, 0.86, 0.66, 0.3, 0.31);
    shapes_sphere(s, 0.42, 0, 0.9, 0.27);                              /* shoulders */
    shapes_sphere(s, -0.42, 0, 0.92, 0.27);                            /* hips */
    shapes_cone(s, P(0.5, 0, 1.0), 0.2, P(0.84, 0, 1.2), 0.14);        /* neck */
    shapes_cone(s, P(0.86, 0, 1.22), 0.14, P(1.12, 0, 1.04), 0.1);     /* head */
    shapes_cone(s, P(-0.66, 0, 1.05), 0.06, P(-0.76, 0, 0.45), 0.055); /* tail */
    shapes_sphere(s, -0.22, 0, 0.6, 0.14);                             /* udder */
    for (int side = -1; side <= 1; side += 2) {
        shapes_cone(s, P(0.43, side * 0.17, 0.75), 0.13, P(0.43, side * 0.18, 0.07), 0.075);
        shapes_cone(s, P(-0.46, side * 0.17, 0.75), 0.14, P(-0.48, side * 0.18, 0.07), 0.075);
        shapes_cone(s, P(0.84, side * 0.1, 1.3), 0.065, P(0.88, side * 0.2, 1.44), 0.055);  /* horn */
        shapes_cone(s, P(0.78, side * 0.13, 1.22), 0.06, P(0.72, side * 0.29, 1.18), 0.06); /* ear */
    }
}

static const double palm[3] = {0.56, -0.16, 1.2};
static const double palm_radius = 0.11;

static void armadillo(shapes *s) {
    s->blend = 0.05;
    shapes_ellipsoid(s, 0, 0, 0.62, 0.21, 0.18, 0.28);
    shapes_ellipsoid(s, 0, 0.1, 0.66, 0.22, 0.17, 0.27);               /* shell */
    shapes_ellipsoid(s, 0, -0.07, 1.0, 0.14, 0.15, 0.14);              /* head */
    shapes_cone(s, P(0, -0.15, 0.98), 0.085, P(0, -0.34, 0.92), 0.05); /* snout */
    shapes_cone(s, P(0, 0.13, 0.4), 0.11, P(0, 0.46, 0.07), 0.05);     /* tail */
    for (int side = -1; side <= 1; side += 2) {
        shapes_cone(s, P(side * 0.1, -0.02, 1.1), 0.05, P(side * 0.19, 0.02, 1.33), 0.05);              /* ear */
        shapes_cone(s, P(side * 0.17, 0, 0.8), 0.115, P(side * 0.44, -0.05, 0.88), 0.095);              /* upper arm */
        shapes_cone(s, P(side * 0.44, -0.05, 0.88), 0.095, P(side * palm[0], palm[1], palm[2]), 0.085); /* forearm */
        shapes_sphere(s, side * palm[0], palm[1], palm[2], palm_radius);
        shapes_cone(s, P(side * 0.12, 0, 0.43), 0.13, P(side * 0.22, -0.04, 0.24), 0.1); /* thigh */
        shapes_cone(s, P(side * 0.22, -0.04, 0.24), 0.095, P(side * 0.22, 0, 0.08), 0.075);
        shapes_cone(s, P(side * 0.22, 0, 0.065), 0.065, P(side * 0.24, -0.17, 0.06), 0.06); /* foot */
    }
}

/* Legs and feelers are thick enough to be sampled by particles: this is a piece of candy, not an animal. */
static void ant(shapes *s) {
    static const double hip[3] = {0.18, 0.08, -0.03}, lean[3] = {0.13, 0, -0.17};
    s->blend = 0.03;
    shapes_ellipsoid(s, -0.38, 0, 0.3, 0.25, 0.17, 0.16);           /* gaster */
    shapes_cone(s, P(-0.2, 0, 0.29), 0.1, P(0, 0, 0.29), 0.095);    /* petiole */
    shapes_ellipsoid(s, 0.08, 0, 0.3, 0.17, 0.1, 0.11);             /* thorax */
    shapes_cone(s, P(0.18, 0, 0.32), 0.09, P(0.32, 0, 0.33), 0.09); /* neck */
    shapes_ellipsoid(s, 0.37, 0, 0.34, 0.14, 0.13, 0.11);           /* head */
    for (int side = -1; side <= 1; side += 2) {
        shapes_cone(s, P(0.47, side * 0.05, 0.29), 0.04, P(0.57, side * 0.02, 0.27), 0.035); /* mandible */
        shapes_cone(s, P(0.43, side * 0.07, 0.4), 0.035, P(0.5, side * 0.17, 0.52), 0.035);  /* feeler */
        shapes_cone(s, P(0.5, side * 0.17, 0.52), 0.035, P(0.66, side * 0.22, 0.5), 0.035);
        for (int k = 0; k < 3; k++) {
            const double knee = hip[k] + lean[k], foot = hip[k] + 2 * lean[k];
            shapes_cone(s, P(hip[k], side * 0.07, 0.27), 0.045, P(knee, side * 0.26, 0.38), 0.042);
            shapes_cone(s, P(knee, side * 0.26, 0.38), 0.042, P(foot, side * 0.42, 0.04), 0.04);
        }
    }
}

/* Scales the body to a largest edge of 1 m and places it on the ground, centred above the origin. */
static void stand(shapes *s) {
    shapes sharp = *s;
    sharp.blend = 0; /* without blending the box is tight */
    const solid body = shapes_solid(&sharp);
    double largest = 0, by[3];
    for (int d = 0; d < 3; d++) largest = fmax(largest, body.high[d] - body.low[d]);
    for (int d = 0; d < 3; d++) by[d] = -(d == 2 ? body.low[d] : 0.5 * (body.low[d] + body.high[d])) / largest;
    shapes_place(s, 1 / largest, by);
}

void body_shape_make(body_shape which, shapes *out) {
    *out = (shapes){0};
    switch (which) {
        case BODY_SPHERE:
            shapes_sphere(out, 0, 0, 0, 0.5);
            break;
        case BODY_BOX:
            shapes_box(out, P(-0.5, -0.5, 0), P(0.5, 0.5, 1));
            break;
        case BODY_CAPSULE:
            shapes_cone(out, P(-0.25, 0, 0), 0.25, P(0.25, 0, 0), 0.25);
            break;
        case BODY_TORUS:
            shapes_torus(out, 0, 0, 0, 0.34, 0.16);
            break;
        case BODY_SHEET:
            shapes_box(out, P(-0.5, -0.5, 0), P(0.5, 0.5, 0.05));
            break;
        case BODY_BUNNY:
            bunny(out);
            break;
        case BODY_COW:
            cow(out);
            break;
        case BODY_ARMADILLO:
            armadillo(out);
            break;
        case BODY_ANT:
            ant(out);
            break;
        case BODY_SHAPES:
            break;
    }
    stand(out);
}

void armadillo_hand(double at[3], double *radius) {
    shapes s;
    body_shape_make(BODY_ARMADILLO, &s);
    for (int i = 0; i < s.count; i++)
        if (s.item[i].kind == SHAPE_SPHERE && s.item[i].at[0] > 0) {
            for (int d = 0; d < 3; d++) at[d] = s.item[i].at[d];
            *radius = s.item[i].size[0];
        }
}
