#include "harness/picture/shade.h"

#include <stdlib.h>

#include "harness/picture/shadow.h"

typedef vector colour; /* x, y, z: red, green, blue, linear */

/* ---- sRGB -------------------------------------------------------------------------------------------------------- */

static float to_linear(float x) { return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f); }

enum { ENCODED = 4096 };

typedef struct encoding {
    unsigned char of[ENCODED + 1];
    float linear[256];
} encoding;

static void make_encoding(encoding *e) {
    for (int i = 0; i <= ENCODED; i++) {
        const float x = (float)i / ENCODED;
        e->of[i] = (unsigned char)lrintf(255 * (x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f));
    }
    for (int i = 0; i < 256; i++) e->linear[i] = to_linear((float)i / 255);
}

static unsigned char encode(const encoding *e, float x) { return e->of[(int)(clamped(x, 0, 1) * ENCODED + 0.5f)]; }

/* ---- Colours of bodies ------------------------------------------------------------------------------------------- */

static colour colour_of(const render_body *body, float value, const encoding *e) {
    float rgb[3];
    if (body->palette == RENDER_SCALE)
        render_colour(isfinite(value) ? (double)value : 1, rgb);
    else if (body->palette == RENDER_BODIES)
        render_body_colour((uint32_t)value, rgb);
    else
        return (colour){e->linear[(unsigned)value >> 16 & 255], e->linear[(unsigned)value >> 8 & 255],
                        e->linear[(unsigned)value & 255]};
    return (colour){e->linear[lrintf(255 * rgb[0])], e->linear[lrintf(255 * rgb[1])], e->linear[lrintf(255 * rgb[2])]};
}

/* ---- The picture ------------------------------------------------------------------------------------------------- */

/* The light of lamp and sky is found for every second pixel of every second row. Each of four such neighbours has its
 * own turn, with its own taps around the pixel and its own points of the lamp; the mean over the four includes all. */
enum { TAPS = 5, TURNS = 4 };

typedef struct painter {
    const raster *r;
    const shadow *shadow;
    encoding code;
    int width, height; /* pixels */
    bool has_ground;
    float ground, grid, ground_radius, ground_x, ground_y; /* m, from the picture's middle */
    float *near;             /* by pixel: depth of its nearest sample, m, else of the ground; -INFINITY: nothing */
    float *open;             /* by pixel: share of the sky that its nearest surface sees */
    float *light;            /* by pixel: the same for the lamp */
    int tap[TURNS][TAPS][2]; /* pixels: offsets, by place_taps */
} painter;

/* What a sample shows. */
typedef struct spot {
    vector point, normal; /* the normal points towards the eye */
    colour colour;
    float gloss, edge; /* edge: 1, less on lines of the mesh */
} spot;

static vector place_of(const raster *r, float x, float y, float depth) {
    const float across = (x - 0.5f * (float)r->width) / r->per_metre;
    const float above = (0.5f * (float)r->height - y) / r->per_metre;
    return sum(sum(scaled(r->right, across), scaled(r->up, above)), scaled(r->towards, depth));
}

static const raster_body *body_of(const raster *r, uint32_t item) {
    size_t b = r->bodies - 1;
    while (b > 0 && r->body[b].first > item) b--;
    return &r->body[b];
}

/* ---- Triangles and spheres --------------------------------------------------------------------------------------- */

static int nearest(const float w[3]) { return w[0] >= w[1] && w[0] >= w[2] ? 0 : w[1] >= w[2] ? 1 : 2; }

/* Edges of small triangles are fainter, so that a fine mesh looks like a tint, not like a net. */
static float edge_light(const raster *r, unsigned edges, const vector p[3], const float w[3], float area) {
    float length[3], mean = 0, light = 1;
    for (int k = 0; k < 3; k++) {
        length[k] = hypotf(p[(k + 1) % 3].x - p[k].x, p[(k + 1) % 3].y - p[k].y);
        mean += length[k] / (3 * (float)r->samples);
    }
    const float strength = 0.42f * clamped((mean - 3) / 15, 0, 1);
    for (int k = 0; k < 3; k++) /* the edge from k to k+1 is opposite of corner k+2 */
        if (edges & 1u << k) {
            const float off = w[(k + 2) % 3] * fabsf(area) / length[k];
            light = smaller(light, 1 - strength * (1 - clamped(off - 0.5f, 0, 1)));
        }
    return light;
}

static vector normal_at(const raster_body *b, size_t t, size_t k) {
    if (b->normal) return b->normal[3 * t + k];
    const float *n = b->of->normal + 3 * (size_t)b->of->triangle[3 * t + k];
    return (vector){n[0], n[1], n[2]};
}

/* The back of a sheet is darker and greyer, so that its sides can be told apart. */
static colour tint_of_back(colour c) {
    const float grey = 0.3f * c.x + 0.55f * c.y + 0.15f * c.z;
    return scaled(sum(scaled(c, 0.45f), scaled((colour){grey, grey, grey}, 0.55f)), 0.7f);
}

static void spot_of_triangle(const painter *p, const raster_body *b, size_t t, float x, float y, spot *out) {
    const render_body *body = b->of;
    vector at[3], face;
    float w[3], value = 0;
    for (size_t k = 0; k < 3; k++) at[k] = raster_seen(p->r, b->point[body->triangle[3 * t + k]]);
    const float area = turn(at[0], at[1], at[2].x, at[2].y);
    for (int k = 0; k < 3; k++) {
        w[k] = clamped(turn(at[(k + 1) % 3], at[(k + 2) % 3], x, y) / area, 0, 1);
        value += w[k] * body->value[body->triangle[3 * t + (size_t)k]];
    }
    face = (vector){0};
    for (size_t k = 0; k < 3; k++) face = sum(face, scaled(normal_at(b, t, k), w[k]));
    if (body->palette == RENDER_SCALE) {
        out->colour = colour_of(body, value, &p->code);
    } else {
        const uint32_t *corner = body->triangle + 3 * t;
        const float *v = body->value;
        if (body->palette == RENDER_BODIES || (v[corner[0]] == v[corner[1]] && v[corner[1]] == v[corner[2]])) {
            out->colour = colour_of(body, v[corner[nearest(w)]], &p->code);
        } else {
            out->colour = (colour){0};
            for (int k = 0; k < 3; k++)
                out->colour = sum(out->colour, scaled(colour_of(body, v[corner[k]], &p->code), w[k]));
        }
    }
    out->normal = unit(face);
    if (area > 0 && body->has_back) out->colour = tint_of_back(out->colour); /* clockwise, as y points down */
    if (body->edges && body->edges[t]) out->edge = edge_light(p->r, body->edges[t], at, w, area);
}

static void spot_of_sphere(const painter *p, const raster_body *b, size_t i, spot *out) {
    const float radius = (float)b->of->radius * raster_grain(b->of, i);
    const vector off = difference(out->point, b->point[i]);
    out->normal = unit(off);
    out->colour = colour_of(b->of, b->of->value[i], &p->code);
    const float rim = dot(out->normal, p->r->towards);
    if (b->of->grains) { /* each grain has its own shade */
        const uint32_t hash = ((uint32_t)i + 77u) * UINT32_C(2246822519);
        out->colour = scaled(out->colour, 0.72f + 0.5f * (float)(hash >> 8) / 16777216.0f);
    }
    /* A dark rim keeps neighbours of one colour apart where they are large enough to show one. */
    if (radius * p->r->per_metre > 4) out->edge = 0.6f + 0.4f * clamped(2.5f * rim, 0, 1);
}

static void spot_at(const painter *p, int x, int y, spot *out) {
    const raster *r = p->r;
    const size_t sample = (size_t)y * (size_t)r->width + (size_t)x;
    const uint32_t item = r->item[sample] - 1;
    const raster_body *b = body_of(r, item);
    const size_t i = item - b->first;
    *out = (spot){.gloss = b->of->gloss, .edge = 1};
    out->point = place_of(r, (float)x + 0.5f, (float)y + 0.5f, r->depth[sample]);
    if (i < b->of->triangles)
        spot_of_triangle(p, b, i, (float)x + 0.5f, (float)y + 0.5f, out);
    else
        spot_of_sphere(p, b, i - b->of->triangles, out);
    if (dot(out->normal, r->towards) < 0) out->normal = scaled(out->normal, -1);
}

/* Light of the lamp and of the sky; that of the sky comes from above and, fainter, from the eye's side. */
static colour light_up(const painter *p, const spot *s, float open, float light) {
    const vector n = s->normal, lamp = p->shadow->lamp, eye = p->r->towards;
    const float direct = larger(dot(n, lamp), 0) * light;
    const float around = (0.27f + 0.13f * n.z + 0.10f * larger(dot(n, eye), 0)) * open;
    colour out = scaled(s->colour, (around + 0.62f * direct) * s->edge);
    if (s->gloss > 0) { /* Blinn-Phong, and more of the sky at grazing angles (Schlick 1994) */
        const float half = larger(dot(n, unit(sum(lamp, eye))), 0), graze = 1 - larger(dot(n, eye), 0);
        const float shine = s->gloss * (0.55f * powf(half, 60) * light + 0.10f * powf(half, 8) * light +
                                        0.35f * graze * graze * graze * graze * (0.6f + 0.4f * n.z) * open);
        out = sum(out, (colour){shine, shine, shine});
    }
    return out;
}

/* ---- The ground -------------------------------------------------------------------------------------------------- */

static float ground_depth(const painter *p, float x, float y) {
    const vector at = place_of(p->r, x, y, 0);
    return (p->ground - at.z) / p->r->towards.z;
}

/* 1 on a line of the grid that is `wide` broad, 0 off it. */
static float on_grid(float x, float grid, float wide) {
    const float off = fabsf(x / grid - roundf(x / grid)) * grid;
    return clamped(1.5f - off / wide, 0, 1);
}

/* The opacity of the ground, which fades out. */
static float ground_there(const painter *p, vector at) {
    const float dx = at.x - p->ground_x, dy = at.y - p->ground_y, off = sqrtf(dx * dx + dy * dy);
    const float t = clamped((p->ground_radius - off) / (0.55f * p->ground_radius), 0, 1);
    return t * t * (3 - 2 * t);
}

/* The colour of the ground in the middle of a pixel; white where there is none. */
static colour ground_at(const painter *p, int x, int y, float open, float light) {
    const raster *r = p->r;
    const float s = (float)r->samples, u = s * ((float)x + 0.5f), v = s * ((float)y + 0.5f);
    const vector at = place_of(r, u, v, ground_depth(p, u, v));
    const float there = ground_there(p, at);
    if (!(there > 0)) return (colour){1, 1, 1};
    const float wide = 0.5f * s / r->per_metre;
    const float line = larger(on_grid(at.x - p->ground_x, p->grid, wide),
                              on_grid(at.y - p->ground_y, p->grid, wide / fabsf(r->towards.z)));
    const float tone = (0.52f * open + 0.48f * light) * (1 - 0.13f * line);
    const colour lit = {0.90f * tone, 0.905f * tone, 0.915f * tone};
    return sum(scaled(lit, there), scaled((colour){1, 1, 1}, 1 - there));
}

/* ---- What each pixel sees of lamp and sky ------------------------------------------------------------------------ */

static int middle_of(const raster *r, int pixel) { return r->samples * pixel + r->samples / 2; }

/* The sample of a pixel that is nearest to the eye; it represents the pixel. */
static size_t nearest_sample(const raster *r, int x, int y) {
    size_t best = (size_t)middle_of(r, y) * (size_t)r->width + (size_t)middle_of(r, x);
    for (int k = 0; k < r->samples * r->samples; k++) {
        const size_t at =
            (size_t)(r->samples * y + k / r->samples) * (size_t)r->width + (size_t)(r->samples * x + k % r->samples);
        if (r->depth[at] > r->depth[best]) best = at;
    }
    return best;
}

static void find_depths(painter *p) {
#pragma omp parallel for schedule(static, 16)
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const float s = (float)p->r->samples;
            const float depth = p->r->depth[nearest_sample(p->r, x, y)];
            p->near[(size_t)y * (size_t)p->width + (size_t)x] =
                isfinite(depth) ? depth
                : p->has_ground ? ground_depth(p, s * ((float)x + 0.5f), s * ((float)y + 0.5f))
                                : -INFINITY;
        }
}

/* Places the taps of each turn on a spiral; those of all turns cover a disc. */
static void place_taps(painter *p, float reach) {
    static const float GOLDEN = 2.39996323f;
    const float pixels = reach * p->r->per_metre / (float)p->r->samples;
    for (int k = 0; k < TURNS * TAPS; k++) {
        const float share = sqrtf(((float)k + 0.5f) / (TURNS * TAPS)), angle = GOLDEN * (float)k;
        p->tap[k % TURNS][k / TURNS][0] = (int)lrintf(pixels * share * cosf(angle));
        p->tap[k % TURNS][k / TURNS][1] = (int)lrintf(pixels * share * sinf(angle));
    }
}

static int turn_of(int x, int y) { return y / 2 % 2 * 2 + x / 2 % 2; }

/* Ambient obscurance by the depths around a pixel (M. McGuire et al., The alchemy screen-space ambient obscurance
 * algorithm, HPG 2011). */
static float openness(const painter *p, int x, int y, vector normal, float reach) {
    const raster *r = p->r;
    const float s = (float)r->samples, least = 0.02f * reach, own = p->near[(size_t)y * (size_t)p->width + (size_t)x];
    float hidden = 0;
    for (int k = 0; k < TAPS; k++) {
        const int di = p->tap[turn_of(x, y)][k][0], dj = p->tap[turn_of(x, y)][k][1], i = x + di, j = y + dj;
        if (i < 0 || j < 0 || i >= p->width || j >= p->height || (di == 0 && dj == 0)) continue;
        const float up = p->near[(size_t)j * (size_t)p->width + (size_t)i] - own;
        if (!(up > -INFINITY)) continue;
        const float across = s * (float)di / r->per_metre, above = -s * (float)dj / r->per_metre;
        const float square = across * across + above * above + up * up;
        if (square >= reach * reach) continue;
        const float length = sqrtf(square);
        const float along = across * dot(r->right, normal) + above * dot(r->up, normal) + up * dot(r->towards, normal) -
                            0.06f * length - 0.25f * least;
        hidden += larger(along, 0) * length / (square + least * least) * (1 - square / (reach * reach));
    }
    return clamped(1 - 2.2f * hidden / TAPS, 0.12f, 1);
}

static void find_light_of(painter *p, int x, int y, float reach) {
    const raster *r = p->r;
    const size_t at = (size_t)y * (size_t)p->width + (size_t)x, sample = nearest_sample(r, x, y);
    vector point, normal = {0, 0, 1};
    if (r->item[sample]) {
        spot s;
        spot_at(p, (int)(sample % (size_t)r->width), (int)(sample / (size_t)r->width), &s);
        point = s.point, normal = s.normal;
    } else if (p->has_ground) {
        const float s = (float)r->samples;
        point = place_of(r, s * ((float)x + 0.5f), s * ((float)y + 0.5f), p->near[at]);
        if (!(ground_there(p, point) > 0)) {
            p->open[at] = p->light[at] = 1;
            return;
        }
    } else {
        return;
    }
    p->open[at] = openness(p, x, y, normal, reach);
    p->light[at] = shadow_light(p->shadow, point, normal, turn_of(x, y));
}

/* Averages over four of the pixels with known light at a similar depth; without any, finds the pixel's own light. */
static void smooth_light(painter *p, float reach, float *open, float *light) {
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const size_t own = (size_t)y * (size_t)p->width + (size_t)x;
            float opens = 0, lights = 0, weight = 0;
            for (int k = 0; k < 4; k++) {
                const int i = (x - 1) / 2 * 2 + 2 * (k % 2), j = (y - 1) / 2 * 2 + 2 * (k / 2);
                if (i >= p->width || j >= p->height) continue;
                const size_t at = (size_t)j * (size_t)p->width + (size_t)i;
                if (!(fabsf(p->near[at] - p->near[own]) < 0.1f * reach)) continue;
                opens += p->open[at];
                lights += p->light[at];
                weight += 1;
            }
            if (weight == 0) {
                find_light_of(p, x, y, reach);
                opens = p->open[own], lights = p->light[own], weight = 1;
            }
            open[own] = opens / weight;
            light[own] = lights / weight;
        }
}

/* ---- Pixels ------------------------------------------------------------------------------------------------------ */

/* Samples of one pixel at another depth than the nearest, such as the ground beside an edge, get their own light. */
static colour sample_colour(const painter *p, int x, int y, size_t pixel, float reach) {
    spot s;
    float light = p->light[pixel];
    spot_at(p, x, y, &s);
    if (p->near[pixel] - p->r->depth[(size_t)y * (size_t)p->r->width + (size_t)x] > 0.1f * reach)
        light = shadow_light(p->shadow, s.point, s.normal, turn_of(x, y));
    return light_up(p, &s, p->open[pixel], light);
}

static colour background(const painter *p, int x, int y, size_t pixel, bool alone) {
    if (!p->has_ground) return (colour){1, 1, 1};
    if (alone) return ground_at(p, x, y, p->open[pixel], p->light[pixel]);
    const float s = (float)p->r->samples, u = s * ((float)x + 0.5f), v = s * ((float)y + 0.5f);
    const vector at = place_of(p->r, u, v, ground_depth(p, u, v));
    return ground_at(p, x, y, p->open[pixel], shadow_light(p->shadow, at, (vector){0, 0, 1}, turn_of(x, y)));
}

/* Whether the whole pixel shows one triangle or sphere: then one sample suffices. */
static bool is_uniform(const raster *r, int x, int y) {
    const uint32_t *item = r->item + (size_t)(r->samples * y) * (size_t)r->width + (size_t)(r->samples * x);
    bool same = item[0] != 0;
    for (int j = 0; j < r->samples; j++)
        for (int i = 0; i < r->samples; i++) same = same && item[(size_t)j * (size_t)r->width + (size_t)i] == item[0];
    return same;
}

static colour bounded(colour c) { return (colour){smaller(c.x, 1), smaller(c.y, 1), smaller(c.z, 1)}; }

static colour mean_of_samples(const painter *p, int x, int y, float reach) {
    const raster *r = p->r;
    const size_t pixel = (size_t)y * (size_t)p->width + (size_t)x;
    const int count = r->samples * r->samples;
    colour mean = {0};
    int empty = 0;
    for (int k = 0; k < count; k++) {
        const int i = r->samples * x + k % r->samples, j = r->samples * y + k / r->samples;
        if (r->item[(size_t)j * (size_t)r->width + (size_t)i] == 0)
            empty++;
        else
            mean = sum(mean, bounded(sample_colour(p, i, j, pixel, reach)));
    }
    if (empty > 0) mean = sum(mean, scaled(background(p, x, y, pixel, empty == count), (float)empty));
    return scaled(mean, 1 / (float)count);
}

static float line_share(const raster *r, int x, int y) {
    int lines = 0;
    for (int k = 0; r->line && k < r->samples * r->samples; k++)
        lines += r->line[(size_t)(r->samples * y + k / r->samples) * (size_t)r->width +
                         (size_t)(r->samples * x + k % r->samples)];
    return (float)lines / (float)(r->samples * r->samples);
}

static void paint_pixel(const painter *p, int x, int y, float reach, unsigned char rgb[3]) {
    const size_t pixel = (size_t)y * (size_t)p->width + (size_t)x;
    const float ink = 0.75f * line_share(p->r, x, y);
    colour mean = is_uniform(p->r, x, y)
                      ? bounded(sample_colour(p, middle_of(p->r, x), middle_of(p->r, y), pixel, reach))
                      : mean_of_samples(p, x, y, reach);
    mean = sum(scaled(mean, 1 - ink), scaled((colour){0.12f, 0.12f, 0.13f}, ink));
    rgb[0] = encode(&p->code, mean.x), rgb[1] = encode(&p->code, mean.y), rgb[2] = encode(&p->code, mean.z);
}

static pbd_status paint(painter *p, pbd_image *out) {
    const size_t pixels = (size_t)p->width * (size_t)p->height;
    const float reach =
        0.07f * smaller((float)p->r->width, (float)p->r->height) / p->r->per_metre; /* of ambient occlusion, m */
    pbd_arena a PBD_ARENA;
    p->near = pbd_new(&a, float, pixels);
    p->open = pbd_new(&a, float, pixels);
    p->light = pbd_new(&a, float, pixels);
    float *open = pbd_new(&a, float, pixels), *light = pbd_new(&a, float, pixels);
    PBD_TRY(pbd_arena_check(&a));
    out->pixel = malloc(3 * pixels);
    if (!out->pixel) return pbd_no_memory();
    find_depths(p);
    place_taps(p, reach);
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < p->height; y += 2)
        for (int x = 0; x < p->width; x += 2) find_light_of(p, x, y, reach);
    smooth_light(p, reach, open, light);
    p->open = open, p->light = light;
#pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++)
            paint_pixel(p, x, y, reach, out->pixel + 3 * ((size_t)y * (size_t)p->width + (size_t)x));
    return pbd_ok();
}

static void free_shadow(shadow *s) { shadow_free(s); }

pbd_status shade_picture(const raster *r, const render_camera *camera, pbd_image *out) {
    shadow s PBD_CLEANUP(free_shadow) = {0};
    const vector lamp = sum(sum(scaled(r->right, -0.55f), scaled(r->towards, 0.60f)), (vector){0, 0, 1.1f});
    const float reach = 1.1f * hypotf((float)r->width, (float)r->height) / (2 * r->per_metre);
    PBD_TRY(shadow_make(r, lamp, reach, &s));
    painter p = {.r = r,
                 .shadow = &s,
                 .width = out->width,
                 .height = out->height,
                 .has_ground = camera->has_ground,
                 .ground = (float)(camera->ground - camera->centre[2]),
                 .grid = (float)camera->grid,
                 .ground_radius = (float)camera->ground_radius,
                 .ground_x = (float)(camera->ground_centre[0] - camera->centre[0]),
                 .ground_y = (float)(camera->ground_centre[1] - camera->centre[1])};
    make_encoding(&p.code);
    return paint(&p, out);
}
