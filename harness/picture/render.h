/* Pictures of bodies: shaded triangles and spheres with depth, over a ground that takes their shadow.
 *
 * A plain z-buffer on the CPU, f32, each pixel the mean of 3 x 3 samples. The view is parallel, so that lengths can be
 * compared within a picture and between pictures of one camera. One lamp, from the left and above; faces are lit from
 * both sides. Colours tell a number in [0, 1], from light to dark, so that they read in grey as well. */
#ifndef PBD_RENDER_H
#define PBD_RENDER_H

#include "harness/files/png_file.h"

/* Three directions at right angles, and what lies in the picture. */
typedef struct render_camera {
    double right[3], up[3], towards[3]; /* towards: from the scene to the eye; unit vectors */
    double centre[3];                   /* m: in the picture's middle */
    double half_width, half_height;     /* m */
    bool has_ground;
    double ground;                          /* z, m */
    double grid;                            /* m: distance of the lines on the ground, from its centre */
    double ground_centre[2], ground_radius; /* m: where the ground ends, softly */
} render_camera;

typedef enum render_palette { RENDER_SCALE, RENDER_BODIES, RENDER_COLOURS } render_palette;

typedef struct render_body {
    size_t points;
    const double *position; /* points x 3, m */
    const float *value;     /* points: place on the scale, in [0, 1]; the number of the body; or 0xRRGGBB, sRGB, which
                               a float holds exactly */
    size_t triangles;
    const uint32_t *triangle;       /* triangles x 3 */
    const unsigned char *edges;     /* triangles: bit k is set where the edge from corner k on is drawn; NULL: none */
    double radius;                  /* m; > 0: points are spheres */
    const unsigned char *is_vertex; /* points: 1 where it is no sphere, but a corner of triangles; NULL: none is */
    size_t lines;
    const double *line; /* lines x 6, m: from, to; thin, grey, behind what is before them */
    render_palette palette;
} render_body;

/* The camera of a scene: it looks at the box from `low` to `high` (m), from the front, a little from the right and from
 * above; a box that is thin along x from its right, where it shows its face. Height over width of the picture is
 * in *aspect. */
render_camera render_look_at(const double low[3], const double high[3], double *aspect);

/* Draws. Triangles and spheres with a coordinate that is no number are left out. */
pbd_status render_draw(const render_body *body, const render_camera *camera, int width, int height, pbd_image *out);

/* The colour of a body, of six that recur, as the next. */
void render_body_colour(uint32_t body, float rgb[3]);
/* The scale's colour for x in [0, 1], as three numbers in [0, 1], sRGB. */
void render_colour(double x, float rgb[3]);

#endif
