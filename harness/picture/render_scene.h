/* What a picture is made of: a camera and bodies of triangles, spheres and lines. */
#ifndef PBD_RENDER_SCENE_H
#define PBD_RENDER_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An orthographic camera: three orthogonal directions, and the extent of the picture. */
typedef struct render_camera {
    double right[3], up[3], towards[3]; /* towards: from the scene to the eye; unit vectors */
    double centre[3];                   /* m: in the picture's middle */
    double half_width, half_height;     /* m */
    bool has_ground;
    double ground;                          /* z, m */
    double grid;                            /* m: spacing of the lines on the ground, counted from its centre */
    double ground_centre[2], ground_radius; /* m: where the ground fades out */
} render_camera;

typedef enum render_palette { RENDER_SCALE, RENDER_BODIES, RENDER_COLOURS } render_palette;

typedef struct render_body {
    size_t points;
    const double *position; /* points x 3, m */
    const float *value;     /* points: by palette, position on the scale in [0, 1], number of the body, or 0xRRGGBB
                               (sRGB), which a float holds exactly */
    const float *normal;    /* points x 3, unit vectors; NULL: from the triangles, with edges where they turn by 40° */
    size_t triangles;
    const uint32_t *triangle;       /* triangles x 3 */
    const unsigned char *edges;     /* triangles: bit k: the edge from corner k to the next is drawn; NULL: none */
    double radius;                  /* m; > 0: points are spheres */
    const unsigned char *is_vertex; /* points: 1 for a corner of triangles, which is no sphere; NULL: none is */
    size_t lines;
    const double *line; /* lines x 6, m: from, to; thin, grey, hidden by what is in front of them */
    render_palette palette;
    float gloss;    /* 0 matt to 1 wet */
    bool has_back;  /* triangles have another tint on their back */
    bool is_smooth; /* no edges: normals are means of faces that turn by up to 80 degrees */
    double lift;    /* m: triangles are moved towards the eye by this, to hide what they lie on */
    bool grains;    /* spheres vary slightly in colour and size */
} render_body;

enum { RENDER_MOST_BODIES = 32, RENDER_LARGEST = 4096 /* pixels */ };

/* The camera for the box from `low` to `high` (m). It looks from the front, a little from the right and from above; at
 * a box that is thin along x it looks from the right, where its face is. *aspect: height over width of the picture. */
render_camera render_look_at(const double low[3], const double high[3], double *aspect);

/* The scale's colour for x in [0, 1], as three numbers in [0, 1], sRGB. */
void render_colour(double x, float rgb[3]);
/* The colour of a body, in sRGB as above; one of six, which recur. */
void render_body_colour(uint32_t body, float rgb[3]);

#endif
