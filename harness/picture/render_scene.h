/* What a picture is made of: a camera and bodies of triangles, spheres and lines. */
#ifndef PBD_RENDER_SCENE_H
#define PBD_RENDER_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    const float *normal;    /* points x 3, unit vectors; NULL: by the triangles, with edges where these turn by 40° */
    size_t triangles;
    const uint32_t *triangle;       /* triangles x 3 */
    const unsigned char *edges;     /* triangles: bit k is set where the edge from corner k on is drawn; NULL: none */
    double radius;                  /* m; > 0: points are spheres */
    const unsigned char *is_vertex; /* points: 1 where it is no sphere, but a corner of triangles; NULL: none is */
    size_t lines;
    const double *line; /* lines x 6, m: from, to; thin, grey, behind what is before them */
    render_palette palette;
    float gloss;    /* 0 matt to 1 wet */
    bool has_back;  /* triangles have another tint behind */
    bool is_smooth; /* no edges: normals are means of faces that turn by up to 80 degrees */
    double lift;    /* m: triangles are drawn so much nearer, to hide what they lie on */
    bool grains;    /* spheres vary slightly in colour and size */
} render_body;

enum { RENDER_MOST_BODIES = 32, RENDER_LARGEST = 4096 /* pixels */ };

/* The camera of a scene: it looks at the box from `low` to `high` (m), from the front, a little from the right and from
 * above; a box that is thin along x from its right, where it shows its face. Height over width of the picture is
 * in *aspect. */
render_camera render_look_at(const double low[3], const double high[3], double *aspect);

/* The scale's colour for x in [0, 1], as three numbers in [0, 1], sRGB. */
void render_colour(double x, float rgb[3]);
/* The colour of a body, of six that recur, as the next. */
void render_body_colour(uint32_t body, float rgb[3]);

#endif
