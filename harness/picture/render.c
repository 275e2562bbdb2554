#include "harness/picture/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

enum { SAMPLES = 3, SHADOW = 384, LARGEST_PICTURE = 4096 };

/* ---- Vectors ----------------------------------------------------------------------------------------------------- */

typedef struct vector {
    float x, y, z;
} vector;

static vector sum(vector a, vector b) { return (vector){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vector difference(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vector scaled(vector a, float s) { return (vector){a.x * s, a.y * s, a.z * s}; }
static float dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vector cross(vector a, vector b) {
    return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static vector unit(vector a) {
    const float length = sqrtf(dot(a, a));
    return length > 0 ? scaled(a, 1 / length) : a;
}
static vector vector_of(const double *x) { return (vector){(float)x[0], (float)x[1], (float)x[2]}; }
static bool is_finite(vector a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
static float clamped(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* From light and neutral to dark; lightness (CIE L*) falls evenly from 88 to 22, so that grey tells the same. */
static const float scale[5][3] = {{0.835f, 0.871f, 0.906f},
                                  {0.937f, 0.671f, 0.431f},
                                  {0.839f, 0.420f, 0.286f},
                                  {0.647f, 0.208f, 0.251f},
                                  {0.376f, 0.063f, 0.208f}};
/* Told apart also without red and green (Okabe and Ito 2008), lightened to take shading. */
static const float bodies[6][3] = {{0.45f, 0.70f, 0.90f}, {0.93f, 0.68f, 0.25f}, {0.30f, 0.70f, 0.56f},
                                   {0.86f, 0.58f, 0.74f}, {0.88f, 0.50f, 0.28f}, {0.72f, 0.72f, 0.70f}};

void render_colour(double x, float rgb[3]) {
    const float at = clamped((float)x, 0, 1) * 4;
    const int from = at < 3 ? (int)at : 3;
    for (int c = 0; c < 3; c++) rgb[c] = scale[from][c] + (at - (float)from) * (scale[from + 1][c] - scale[from][c]);
}

void render_body_colour(uint32_t body, float rgb[3]) { memcpy(rgb, bodies[body % 6], 3 * sizeof *rgb); }

static void colour_of(const render_body *body, float value, float rgb[3]) {
    if (body->palette == RENDER_SCALE)
        render_colour(isfinite(value) ? (double)value : 1, rgb);
    else if (body->palette == RENDER_BODIES)
        render_body_colour((uint32_t)value, rgb);
    else
        for (int c = 0; c < 3; c++) rgb[c] = (float)((unsigned)value >> (16 - 8 * c) & 255) / 255;
}

/* ---- The camera -------------------------------------------------------------------------------------------------- */

static void cross_double(const double a[3], const double b[3], double out[3]) {
    for (int d = 0; d < 3; d++) out[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}
static void unit_double(double a[3]) {
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int d = 0; d < 3; d++) a[d] /= length;
}

/* 1, 2 or 5 times a power of ten: about a sixth of the length. */
static double grid_for(double length) {
    const double rough = length / 6, ten = pow(10, floor(log10(rough)));
    return rough / ten < 1.5 ? ten : rough / ten < 3.5 ? 2 * ten : rough / ten < 7.5 ? 5 * ten : 10 * ten;
}

render_camera render_look_at(const double low[3], const double high[3], double *aspect) {
    static const double MARGIN = 1.06;
    render_camera c = {.towards = {0.38, -1, 0.42}, .has_ground = true, .ground = low[2]};
    const double z[3] = {0, 0, 1};
    if (high[0] - low[0] < 0.5 * (high[1] - low[1]))
        c.towards[0] = 1, c.towards[1] = -0.38; /* a sheet, from its face */
    double size = 0, diagonal = 0;
    unit_double(c.towards);
    cross_double(z, c.towards, c.right);
    unit_double(c.right);
    cross_double(c.towards, c.right, c.up);
    for (int d = 0; d < 3; d++) {
        const double half = 0.5 * (high[d] - low[d]);
        c.centre[d] = 0.5 * (low[d] + high[d]);
        c.half_width += MARGIN * fabs(c.right[d]) * half;
        c.half_height += MARGIN * fabs(c.up[d]) * half;
        size = fmax(size, 2 * half);
        if (d < 2) diagonal += half * half;
    }
    if (!(size > 0)) size = c.half_width = c.half_height = 1; /* a point, or nothing that is finite */
    *aspect = fmin(fmax(c.half_height / c.half_width, 0.5), 1);
    if (c.half_height < *aspect * c.half_width)
        c.half_height = *aspect * c.half_width;
    else
        c.half_width = c.half_height / *aspect;
    c.grid = grid_for(size);
    c.ground_centre[0] = c.centre[0], c.ground_centre[1] = c.centre[1];
    c.ground_radius = 1.15 * sqrt(diagonal) + 0.1 * size;
    return c;
}

/* ---- The canvas: samples with depth ------------------------------------------------------------------------------ */

typedef struct canvas {
    int width, height; /* samples */
    float *depth;      /* towards the eye, m */
    float (*colour)[3];
    vector *point; /* of the body, from the picture's middle: f32 is enough there, wherever the scene lies */
    vector right, up, towards, lamp;
    float per_metre;                                       /* samples */
    float ground, grid, ground_radius, ground_x, ground_y; /* m, from the picture's middle */
    float *shadow; /* SHADOW x SHADOW over the ground's square: 0 in the light, 1 in the dark */
} canvas;

/* A point as the canvas sees it: x and y in samples from the top left, z the depth. */
static vector seen(const canvas *c, vector p) {
    return (vector){0.5f * (float)c->width + c->per_metre * dot(p, c->right),
                    0.5f * (float)c->height - c->per_metre * dot(p, c->up), dot(p, c->towards)};
}

/* The samples whose middle lies in [low, high], cut at the canvas. */
static int first_sample(float low) { return (int)clamped(ceilf(low - 0.5f), 0, 1e6f); }
static int last_sample(float high, int count) { return (int)clamped(floorf(high - 0.5f), -1, (float)(count - 1)); }

/* Light and shade of a surface whose normal is n: gentle, so that colours can be read off. */
static float shade(const canvas *c, vector n) {
    if (dot(n, c->towards) < 0) n = scaled(n, -1);
    const float direct = dot(n, c->lamp);
    return 0.64f + 0.05f * n.z + 0.32f * (direct > 0 ? direct : 0);
}

static void paint(canvas *c, int x, int y, float depth, const float rgb[3], float light) {
    const size_t at = (size_t)y * (size_t)c->width + (size_t)x;
    if (!(depth > c->depth[at])) return;
    c->depth[at] = depth;
    for (int k = 0; k < 3; k++) c->colour[at][k] = clamped(rgb[k] * light, 0, 1);
}

/* ---- Triangles --------------------------------------------------------------------------------------------------- */

/* Twice the area of (a, b, p) on the canvas. */
static float turn(vector a, vector b, float x, float y) { return (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x); }

typedef struct drawn_triangle {
    vector corner[3], normal[3]; /* on the canvas; in the scene */
    float value[3];
    unsigned edges;
} drawn_triangle;

/* The light of a point at a distance from an edge, in samples. Lines of small triangles are fainter: a fine mesh is a
 * tint, not a net. */
static float edge_light(float distance, float strength) { return 1 - strength * (1 - clamped(distance - 0.5f, 0, 1)); }

static float edge_strength(const float length[3]) {
    const float mean = (length[0] + length[1] + length[2]) / (3 * SAMPLES);
    return 0.34f * clamped((mean - 3) / 15, 0, 1);
}

static int nearest(const float w[3]) { return w[0] >= w[1] && w[0] >= w[2] ? 0 : w[1] >= w[2] ? 1 : 2; }

static void draw_triangle(canvas *c, const render_body *body, const drawn_triangle *t) {
    const vector *p = t->corner;
    const float area = turn(p[0], p[1], p[2].x, p[2].y);
    if (!(fabsf(area) > 0) || !isfinite(area)) return; /* seen from its edge */
    const int left = first_sample(fminf(p[0].x, fminf(p[1].x, p[2].x)));
    const int right = last_sample(fmaxf(p[0].x, fmaxf(p[1].x, p[2].x)), c->width);
    const int top = first_sample(fminf(p[0].y, fminf(p[1].y, p[2].y)));
    const int bottom = last_sample(fmaxf(p[0].y, fmaxf(p[1].y, p[2].y)), c->height);
    float length[3];
    for (int k = 0; k < 3; k++) length[k] = hypotf(p[(k + 1) % 3].x - p[k].x, p[(k + 1) % 3].y - p[k].y);
    const float strength = edge_strength(length);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            float w[3], value = 0, light = 1, depth = 0, rgb[3];
            vector normal = {0};
            bool inside = true;
            for (int k = 0; k < 3; k++) { /* w[k] belongs to the corner opposite of edge k+1 .. k+2 */
                w[k] = turn(p[(k + 1) % 3], p[(k + 2) % 3], (float)x + 0.5f, (float)y + 0.5f) / area;
                inside = inside && w[k] >= 0;
            }
            if (!inside) continue;
            for (int k = 0; k < 3; k++) {
                depth += w[k] * p[k].z;
                value += w[k] * t->value[k];
                normal = sum(normal, scaled(t->normal[k], w[k]));
                if (t->edges & 1u << k) /* the edge from k to k+1 is opposite of corner k+2 */
                    light = fminf(light, edge_light(w[(k + 2) % 3] * fabsf(area) / length[k], strength));
            }
            if (body->palette != RENDER_SCALE) value = t->value[nearest(w)];
            colour_of(body, value, rgb);
            paint(c, x, y, depth, rgb, light * shade(c, unit(normal)));
        }
}

/* Which triangles meet at a point. */
typedef struct fans {
    uint32_t *begin; /* points + 1 */
    uint32_t *triangle;
    vector *normal; /* of each triangle, twice its area long */
} fans;

static pbd_status make_fans(const canvas *c, const render_body *b, pbd_arena *a, fans *f) {
    f->begin = pbd_new(a, uint32_t, b->points + 2);
    f->triangle = pbd_new(a, uint32_t, 3 * b->triangles);
    f->normal = pbd_new(a, vector, b->triangles);
    PBD_TRY(pbd_arena_check(a));
    for (size_t i = 0; i < 3 * b->triangles; i++) f->begin[b->triangle[i] + 2]++;
    for (size_t p = 2; p < b->points + 2; p++) f->begin[p] += f->begin[p - 1];
    for (size_t i = 0; i < 3 * b->triangles; i++) f->triangle[f->begin[b->triangle[i] + 1]++] = (uint32_t)(i / 3);
    for (size_t t = 0; t < b->triangles; t++) {
        const uint32_t *n = b->triangle + 3 * t;
        const vector from = c->point[n[0]];
        f->normal[t] = cross(difference(c->point[n[1]], from), difference(c->point[n[2]], from));
    }
    return pbd_ok();
}

/* The mean normal of the faces around a corner that turn by less than 40 degrees from this one: smooth where the body
 * is, with edges where it has edges. */
static vector corner_normal(const fans *f, size_t triangle, uint32_t point) {
    static const float COSINE = 0.766f;
    vector own = unit(f->normal[triangle]), mean = {0};
    for (uint32_t i = f->begin[point]; i < f->begin[point + 1]; i++) {
        const vector other = f->normal[f->triangle[i]];
        if (dot(unit(other), own) > COSINE) mean = sum(mean, other);
    }
    return dot(mean, mean) > 0 ? unit(mean) : own;
}

static pbd_status draw_triangles(canvas *c, const render_body *b) {
    pbd_arena a PBD_ARENA;
    fans f;
    PBD_TRY(make_fans(c, b, &a, &f));
    for (size_t t = 0; t < b->triangles; t++) {
        drawn_triangle drawn = {.edges = b->edges ? b->edges[t] : 0};
        bool finite = true;
        for (size_t k = 0; k < 3; k++) {
            const uint32_t point = b->triangle[3 * t + k];
            drawn.corner[k] = seen(c, c->point[point]);
            drawn.normal[k] = corner_normal(&f, t, point);
            drawn.value[k] = b->value[point];
            finite = finite && is_finite(drawn.corner[k]);
        }
        if (finite) draw_triangle(c, b, &drawn);
    }
    return pbd_ok();
}

/* ---- Spheres ----------------------------------------------------------------------------------------------------- */

static void draw_sphere(canvas *c, const render_body *b, vector centre, float value) {
    const vector at = seen(c, centre);
    const float radius = (float)b->radius * c->per_metre;
    float rgb[3];
    if (!is_finite(at)) return;
    colour_of(b, value, rgb);
    const int bottom = last_sample(at.y + radius, c->height), right = last_sample(at.x + radius, c->width);
    for (int y = first_sample(at.y - radius); y <= bottom; y++)
        for (int x = first_sample(at.x - radius); x <= right; x++) {
            const float dx = ((float)x + 0.5f - at.x) / radius, dy = (at.y - (float)y - 0.5f) / radius;
            const float square = 1 - dx * dx - dy * dy;
            if (square < 0) continue;
            const float dz = sqrtf(square);
            const vector n = sum(sum(scaled(c->right, dx), scaled(c->up, dy)), scaled(c->towards, dz));
            /* A dark rim keeps neighbours of one colour apart. */
            paint(c, x, y, at.z + dz * (float)b->radius, rgb, shade(c, n) * (0.72f + 0.28f * clamped(2.5f * dz, 0, 1)));
        }
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* A dot of about a pixel, half see-through: a line is many, each sample darkened once. */
static void draw_dot(canvas *c, vector at, unsigned char *drawn) {
    static const float RADIUS = 0.55f * SAMPLES, GREY = 0.42f;
    const int right = last_sample(at.x + RADIUS, c->width), bottom = last_sample(at.y + RADIUS, c->height);
    for (int y = first_sample(at.y - RADIUS); y <= bottom; y++)
        for (int x = first_sample(at.x - RADIUS); x <= right; x++) {
            const size_t sample = (size_t)y * (size_t)c->width + (size_t)x;
            if (drawn[sample] || !(at.z > c->depth[sample])) continue;
            drawn[sample] = 1;
            for (int k = 0; k < 3; k++) c->colour[sample][k] += 0.75f * (GREY - c->colour[sample][k]);
        }
}

static vector from_middle(const render_camera *camera, const double *x) {
    double off[3];
    for (int d = 0; d < 3; d++) off[d] = x[d] - camera->centre[d];
    return vector_of(off);
}

static pbd_status draw_lines(canvas *c, const render_body *b, const render_camera *camera) {
    const float longest = 4 * hypotf((float)c->width, (float)c->height);
    pbd_arena a PBD_ARENA;
    unsigned char *drawn = pbd_new(&a, unsigned char, (size_t)c->width *(size_t)c->height);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < b->lines; i++) {
        const vector from = seen(c, from_middle(camera, b->line + 6 * i));
        const vector to = seen(c, from_middle(camera, b->line + 6 * i + 3)), way = difference(to, from);
        const float length = hypotf(way.x, way.y);
        if (!is_finite(way) || length > longest) continue;
        const int dots = (int)length + 1;
        for (int k = 0; k <= dots; k++) draw_dot(c, sum(from, scaled(way, (float)k / (float)dots)), drawn);
    }
    return pbd_ok();
}

/* ---- The ground and its shadow ----------------------------------------------------------------------------------- */

/* Where the lamp throws a point onto the ground, in texels of the shadow. */
static vector thrown(const canvas *c, vector p) {
    const float down = (p.z - c->ground) / c->lamp.z, texels = SHADOW / (2 * c->ground_radius);
    return (vector){0.5f * SHADOW + texels * (p.x - down * c->lamp.x - c->ground_x),
                    0.5f * SHADOW + texels * (p.y - down * c->lamp.y - c->ground_y), 0};
}

static void shade_triangle(canvas *c, const vector p[3]) {
    const float area = turn(p[0], p[1], p[2].x, p[2].y);
    if (!(fabsf(area) > 0) || !isfinite(area)) return;
    const int right = last_sample(fmaxf(p[0].x, fmaxf(p[1].x, p[2].x)), SHADOW);
    const int bottom = last_sample(fmaxf(p[0].y, fmaxf(p[1].y, p[2].y)), SHADOW);
    for (int y = first_sample(fminf(p[0].y, fminf(p[1].y, p[2].y))); y <= bottom; y++)
        for (int x = first_sample(fminf(p[0].x, fminf(p[1].x, p[2].x))); x <= right; x++) {
            bool inside = true;
            for (int k = 0; k < 3; k++)
                inside = inside && turn(p[k], p[(k + 1) % 3], (float)x + 0.5f, (float)y + 0.5f) / area >= 0;
            if (inside) c->shadow[y * SHADOW + x] = 1;
        }
}

/* A sphere's shadow is an ellipse; a disc is near enough under the blur. */
static void shade_disc(canvas *c, vector at, float radius) {
    if (!is_finite(at)) return;
    const int right = last_sample(at.x + radius, SHADOW), bottom = last_sample(at.y + radius, SHADOW);
    for (int y = first_sample(at.y - radius); y <= bottom; y++)
        for (int x = first_sample(at.x - radius); x <= right; x++)
            if (hypotf((float)x + 0.5f - at.x, (float)y + 0.5f - at.y) <= radius) c->shadow[y * SHADOW + x] = 1;
}

/* Running means of 2 r + 1 texels along rows or columns. */
static void blur_lines(float *map, int step, int across, int r) {
    float line[SHADOW];
    for (int i = 0; i < SHADOW; i++) {
        float *at = map + i * across, mean = 0;
        for (int k = 0; k < SHADOW; k++) line[k] = at[k * step];
        for (int k = -r; k < SHADOW; k++) {
            if (k + r < SHADOW) mean += line[k + r];
            if (k - r - 1 >= 0) mean -= line[k - r - 1];
            if (k >= 0) at[k * step] = mean / (float)(2 * r + 1);
        }
    }
}

/* A lamp as wide as the sky: three passes of a running mean are near a Gaussian. */
static void cast_shadow(canvas *c, const render_body *b) {
    for (size_t t = 0; t < b->triangles; t++) {
        vector p[3];
        for (size_t k = 0; k < 3; k++) p[k] = thrown(c, c->point[b->triangle[3 * t + k]]);
        if (is_finite(p[0]) && is_finite(p[1]) && is_finite(p[2])) shade_triangle(c, p);
    }
    const float texels = SHADOW / (2 * c->ground_radius);
    for (size_t i = 0; i < b->points && b->radius > 0; i++)
        shade_disc(c, thrown(c, c->point[i]), fmaxf((float)b->radius * texels, 0.7f));
    for (int pass = 0; pass < 3; pass++) {
        blur_lines(c->shadow, 1, SHADOW, 6);
        blur_lines(c->shadow, SHADOW, 1, 6);
    }
}

static float shadow_at(const canvas *c, vector at) {
    const float x = clamped(at.x - 0.5f, 0, SHADOW - 1.001f), y = clamped(at.y - 0.5f, 0, SHADOW - 1.001f);
    const int i = (int)x, k = (int)y;
    const float *s = c->shadow + k * SHADOW + i, u = x - (float)i, v = y - (float)k;
    return (1 - v) * ((1 - u) * s[0] + u * s[1]) + v * ((1 - u) * s[SHADOW] + u * s[SHADOW + 1]);
}

/* 1 on a line of the grid that is `wide` broad, 0 off it. */
static float on_grid(float x, float grid, float wide) {
    const float off = fabsf(x / grid - roundf(x / grid)) * grid;
    return clamped(1.5f - off / wide, 0, 1);
}

/* Fills the samples behind which the ground lies; it hides nothing, so that a body below it is seen as well. */
static void draw_ground(canvas *c) {
    const float radius = c->ground_radius, wide = 0.9f / c->per_metre;
    for (int y = 0; y < c->height; y++)
        for (int x = 0; x < c->width; x++) {
            const float across = ((float)x + 0.5f - 0.5f * (float)c->width) / c->per_metre;
            const float above = (0.5f * (float)c->height - (float)y - 0.5f) / c->per_metre;
            vector p = sum(scaled(c->right, across), scaled(c->up, above));
            p = sum(p, scaled(c->towards, (c->ground - p.z) / c->towards.z));
            const float off = hypotf(p.x - c->ground_x, p.y - c->ground_y);
            const float there = clamped((radius - off) / (0.35f * radius), 0, 1);
            const float line = fmaxf(on_grid(p.x - c->ground_x, c->grid, wide),
                                     on_grid(p.y - c->ground_y, c->grid, wide / fabsf(c->towards.z)));
            const float light = 1 - there * (0.055f + 0.10f * line + 0.30f * shadow_at(c, thrown(c, p)));
            float *rgb = c->colour[(size_t)y * (size_t)c->width + (size_t)x];
            for (int k = 0; k < 3; k++) rgb[k] = light;
        }
}

/* ---- A picture --------------------------------------------------------------------------------------------------- */

static pbd_status resolve(const canvas *c, pbd_image *out) {
    out->pixel = malloc(3 * (size_t)out->width * (size_t)out->height);
    if (!out->pixel) return pbd_no_memory();
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            for (int k = 0; k < 3; k++) {
                float mean = 0;
                for (int s = 0; s < SAMPLES * SAMPLES; s++)
                    mean += c->colour[(size_t)(SAMPLES * y + s / SAMPLES) * (size_t)c->width +
                                      (size_t)(SAMPLES * x + s % SAMPLES)][k];
                out->pixel[3 * ((size_t)y * (size_t)out->width + (size_t)x) + (size_t)k] =
                    (unsigned char)lrintf(255 * mean / (SAMPLES * SAMPLES));
            }
    return pbd_ok();
}

static pbd_status draw_all(canvas *c, const render_body *body, const render_camera *camera, pbd_image *out) {
    const size_t samples = (size_t)c->width * (size_t)c->height;
    pbd_arena a PBD_ARENA;
    c->depth = pbd_arena_take(&a, samples, sizeof *c->depth);
    c->colour = pbd_arena_take(&a, samples, sizeof *c->colour);
    c->shadow = pbd_arena_take(&a, SHADOW * SHADOW, sizeof *c->shadow);
    c->point = pbd_arena_take(&a, body->points, sizeof *c->point);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < body->points; i++) {
        double off[3];
        for (size_t d = 0; d < 3; d++) off[d] = body->position[3 * i + d] - camera->centre[d];
        c->point[i] = vector_of(off);
    }
    for (size_t i = 0; i < samples; i++) {
        c->depth[i] = -INFINITY;
        for (int k = 0; k < 3; k++) c->colour[i][k] = 1;
    }
    if (camera->has_ground) {
        cast_shadow(c, body);
        draw_ground(c);
    }
    PBD_TRY(draw_triangles(c, body));
    for (size_t i = 0; i < body->points && body->radius > 0; i++)
        if (!body->is_vertex || !body->is_vertex[i]) draw_sphere(c, body, c->point[i], body->value[i]);
    if (body->lines > 0) PBD_TRY(draw_lines(c, body, camera));
    return resolve(c, out);
}

pbd_status render_draw(const render_body *body, const render_camera *camera, int width, int height, pbd_image *out) {
    *out = (pbd_image){.width = width, .height = height};
    if (width < 1 || height < 1 || width > LARGEST_PICTURE || height > LARGEST_PICTURE)
        return pbd_error(PBD_BAD_INPUT, "a picture of %d x %d: each must lie in [1, %d]", width, height,
                         LARGEST_PICTURE);
    canvas c = {.width = SAMPLES * width,
                .height = SAMPLES * height,
                .right = vector_of(camera->right),
                .up = vector_of(camera->up),
                .towards = vector_of(camera->towards),
                .ground = (float)(camera->ground - camera->centre[2]),
                .grid = (float)camera->grid,
                .ground_radius = (float)camera->ground_radius,
                .ground_x = (float)(camera->ground_centre[0] - camera->centre[0]),
                .ground_y = (float)(camera->ground_centre[1] - camera->centre[1])};
    c.per_metre =
        0.5f * fminf((float)c.width / (float)camera->half_width, (float)c.height / (float)camera->half_height);
    c.lamp = unit(sum(sum(scaled(c.right, -0.45f), scaled(c.towards, 0.75f)), (vector){0, 0, 1}));
    const pbd_status status = draw_all(&c, body, camera, out);
    if (status.code != PBD_OK) pbd_image_free(out);
    return status;
}
