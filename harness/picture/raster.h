/* Which triangle or sphere each sample of a picture shows, and its depth: a z-buffer that stores the number of the
 * visible item instead of its colour, so that light is computed only once, for what stays visible. */
#ifndef PBD_RASTER_H
#define PBD_RASTER_H

#include "harness/exec/arena.h"
#include "harness/picture/render_scene.h"
#include "harness/picture/vector.h"

/* A body as it is drawn. Its items are numbered: triangles first, then spheres. */
typedef struct raster_body {
    const render_body *of;
    vector *point;  /* relative to the picture's middle, so that f32 suffices wherever the scene lies */
    vector *normal; /* triangles x 3; NULL: of->normal */
    uint32_t first; /* number of its first item */
} raster_body;

typedef struct raster {
    int width, height; /* samples */
    int samples;       /* along each edge of a pixel */
    vector right, up, towards;
    float per_metre;     /* samples */
    float *depth;        /* by sample: towards the eye, m; -INFINITY: nothing */
    uint32_t *item;      /* by sample: 1 + number of the visible item; 0: nothing */
    unsigned char *line; /* by sample: 1 on a line; NULL: there are none */
    size_t bodies;
    raster_body body[RENDER_MOST_BODIES];
    pbd_arena owned;
} raster;

/* The camera and bodies must outlive it. Free with raster_free (safe on a zeroed one), also after an error. */
pbd_status raster_make(const render_body *body, size_t bodies, const render_camera *camera, int width, int height,
                       raster *out);
void raster_free(raster *r);

/* Projects a point: x and y in samples from the top left, z the depth. */
static inline vector raster_seen(const raster *r, vector p) {
    return (vector){0.5f * (float)r->width + r->per_metre * dot(p, r->right),
                    0.5f * (float)r->height - r->per_metre * dot(p, r->up), dot(p, r->towards)};
}

/* Factor of the radius of sphere i of a body: 0.85 to 1.15 for grains, else 1. */
float raster_grain(const render_body *body, size_t i);

#endif
