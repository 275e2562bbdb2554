#include "harness/picture/raster.h"

#include <stdlib.h>
#include <string.h>

enum { BAND = 48 /* rows of samples that one thread draws at a time */ };

/* Fibonacci hashing: neighbours in the order differ. */
float raster_grain(const render_body *body, size_t i) {
    if (!body->grains) return 1;
    const uint32_t hash = (uint32_t)i * UINT32_C(2654435769);
    return 0.85f + 0.3f * (float)(hash >> 8) / 16777216.0f;
}

static bool is_sphere(const render_body *b, size_t i) { return b->radius > 0 && !(b->is_vertex && b->is_vertex[i]); }

static size_t items_of(const render_body *b) { return b->triangles + (b->radius > 0 ? b->points : 0); }

/* ---- Normals ----------------------------------------------------------------------------------------------------- */

/* Which triangles meet at a point. */
typedef struct fans {
    uint32_t *begin; /* points + 1 */
    uint32_t *triangle;
    vector *normal; /* of each triangle, twice its area long */
    vector *unit;
} fans;

static pbd_status make_fans(const raster_body *body, pbd_arena *a, fans *f) {
    const render_body *b = body->of;
    f->begin = pbd_new(a, uint32_t, b->points + 2);
    f->triangle = pbd_new(a, uint32_t, 3 * b->triangles);
    f->normal = pbd_new(a, vector, b->triangles);
    f->unit = pbd_new(a, vector, b->triangles);
    PBD_TRY(pbd_arena_check(a));
    for (size_t i = 0; i < 3 * b->triangles; i++) f->begin[b->triangle[i] + 2]++;
    for (size_t p = 2; p < b->points + 2; p++) f->begin[p] += f->begin[p - 1];
    for (size_t i = 0; i < 3 * b->triangles; i++) f->triangle[f->begin[b->triangle[i] + 1]++] = (uint32_t)(i / 3);
    for (size_t t = 0; t < b->triangles; t++) {
        const uint32_t *n = b->triangle + 3 * t;
        const vector from = body->point[n[0]];
        f->normal[t] = cross(difference(body->point[n[1]], from), difference(body->point[n[2]], from));
        f->unit[t] = unit(f->normal[t]);
    }
    return pbd_ok();
}

/* The mean normal of the faces around a corner that turn by less than an angle from this one (its cosine; 40 degrees,
 * or 80 for smooth bodies), so that smooth parts look smooth and edges stay sharp. */
static vector corner_normal(const fans *f, size_t triangle, uint32_t point, float cosine) {
    const vector own = f->unit[triangle];
    vector mean = {0};
    for (uint32_t i = f->begin[point]; i < f->begin[point + 1]; i++)
        if (dot(f->unit[f->triangle[i]], own) > cosine) mean = sum(mean, f->normal[f->triangle[i]]);
    return dot(mean, mean) > 0 ? unit(mean) : own;
}

static pbd_status add_normals(raster_body *body, pbd_arena *owned) {
    const render_body *b = body->of;
    pbd_arena a PBD_ARENA;
    fans f;
    const float cosine = b->is_smooth ? 0.17f : 0.766f;
    if (b->triangles == 0 || b->normal) return pbd_ok();
    body->normal = pbd_new(owned, vector, 3 * b->triangles);
    PBD_TRY(pbd_arena_check(owned));
    PBD_TRY(make_fans(body, &a, &f));
#pragma omp parallel for schedule(static, 1024)
    for (size_t t = 0; t < b->triangles; t++)
        for (size_t k = 0; k < 3; k++) body->normal[3 * t + k] = corner_normal(&f, t, b->triangle[3 * t + k], cosine);
    return pbd_ok();
}

/* ---- Items in bands ---------------------------------------------------------------------------------------------- */

/* One row of samples of a sphere, without a branch, so that it is vectorized. */
static void draw_row(float *restrict depth, uint32_t *restrict item, int from, int to, float x, float scale, float left,
                     float z, float radius, uint32_t number) {
    for (int i = from; i <= to; i++) {
        const float dx = ((float)i + 0.5f - x) * scale;
        const float at = z + radius * sqrtf(larger(left - dx * dx, 0));
        const bool nearer = at > depth[i];
        depth[i] = nearer ? at : depth[i];
        item[i] = nearer ? number : item[i];
    }
}

/* A sphere smaller than a sample is drawn as large as one. */
static void draw_sphere(raster *r, vector at, float radius, uint32_t number, int top, int end) {
    const float wide = larger(radius * r->per_metre, 0.6f);
    const int first = first_sample(at.y - wide), last = last_sample(at.y + wide, r->height);
    for (int y = first > top ? first : top; y <= last && y < end; y++) {
        const float dy = (at.y - (float)y - 0.5f) / wide, left = 1 - dy * dy;
        if (left < 0) continue;
        const float half = wide * sqrtf(left);
        const size_t row = (size_t)y * (size_t)r->width;
        draw_row(r->depth + row, r->item + row, first_sample(at.x - half), last_sample(at.x + half, r->width), at.x,
                 1 / wide, left, at.z, radius, number);
    }
}

/* Reduces [*low, *high] to the samples k of a row on the inner side of an edge: from + k slope >= 0. */
static void cut_row(float from, float slope, int *low, int *high) {
    if (slope > 0) {
        const float k = ceilf(-from / slope);
        if (k > (float)*low) *low = k < 1e6f ? (int)k : 1000000;
    } else if (slope < 0) {
        const float k = floorf(-from / slope);
        if (k < (float)*high) *high = k > -1 ? (int)k : -1;
    } else if (from < 0) {
        *high = -1;
    }
}

static void draw_triangle(raster *r, const vector p[3], uint32_t number, int top, int end) {
    const float area = turn(p[0], p[1], p[2].x, p[2].y);
    if (!(fabsf(area) > 0) || !isfinite(area)) return;
    const int first = first_sample(smaller(p[0].y, smaller(p[1].y, p[2].y)));
    const int last = last_sample(larger(p[0].y, larger(p[1].y, p[2].y)), r->height);
    float slope[3], z_slope = 0;
    for (int k = 0; k < 3; k++) { /* of the weight of corner k + 2 along a row */
        slope[k] = -(p[(k + 1) % 3].y - p[k].y) / area;
        z_slope += slope[k] * p[(k + 2) % 3].z;
    }
    for (int y = first > top ? first : top; y <= last && y < end; y++) {
        int from = 0, to = r->width - 1;
        float z = 0;
        for (int k = 0; k < 3; k++) {
            const float w = turn(p[k], p[(k + 1) % 3], 0.5f, (float)y + 0.5f) / area;
            cut_row(w + 1e-5f, slope[k], &from, &to); /* so that rounding leaves no gap between neighbours */
        }
        if (from > to) continue;
        for (int k = 0; k < 3; k++)
            z += p[(k + 2) % 3].z * turn(p[k], p[(k + 1) % 3], (float)from + 0.5f, (float)y + 0.5f) / area;
        float *depth = r->depth + (size_t)y * (size_t)r->width;
        uint32_t *item = r->item + (size_t)y * (size_t)r->width;
        for (int x = from; x <= to; x++) {
            const float at = z + (float)(x - from) * z_slope;
            const bool nearer = at > depth[x];
            depth[x] = nearer ? at : depth[x];
            item[x] = nearer ? number : item[x];
        }
    }
}

/* Rows of samples that an item covers, *low > *high: none. */
static void rows_of(const raster *r, const raster_body *b, size_t i, int *low, int *high) {
    *low = 0, *high = -1;
    if (i < b->of->triangles) {
        float least = INFINITY, most = -INFINITY;
        for (size_t k = 0; k < 3; k++) {
            const vector p = raster_seen(r, b->point[b->of->triangle[3 * i + k]]);
            if (!is_finite(p)) return;
            least = smaller(least, p.y);
            most = larger(most, p.y);
        }
        *low = first_sample(least), *high = last_sample(most, r->height);
        return;
    }
    const size_t point = i - b->of->triangles;
    const vector p = raster_seen(r, b->point[point]);
    if (!is_sphere(b->of, point) || !is_finite(p)) return;
    const float wide = larger((float)b->of->radius * raster_grain(b->of, point) * r->per_metre, 0.6f);
    *low = first_sample(p.y - wide), *high = last_sample(p.y + wide, r->height);
}

static void draw_item(raster *r, const raster_body *b, size_t i, int top, int end) {
    const uint32_t number = b->first + (uint32_t)i + 1;
    if (i < b->of->triangles) {
        vector p[3];
        for (size_t k = 0; k < 3; k++) {
            p[k] = raster_seen(r, b->point[b->of->triangle[3 * i + k]]);
            p[k].z += (float)b->of->lift;
        }
        draw_triangle(r, p, number, top, end);
    } else {
        const size_t point = i - b->of->triangles;
        draw_sphere(r, raster_seen(r, b->point[point]), (float)b->of->radius * raster_grain(b->of, point), number, top,
                    end);
    }
}

/* Sorts items by the bands that they cover and keeps their order. One thread draws each band, from the same list. */
static pbd_status draw_body(raster *r, const raster_body *b) {
    const size_t items = items_of(b->of);
    const int bands = (r->height + BAND - 1) / BAND;
    pbd_arena a PBD_ARENA;
    size_t *begin = pbd_new(&a, size_t, (size_t)bands + 2);
    int16_t *low = pbd_new(&a, int16_t, items), *high = pbd_new(&a, int16_t, items);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < items; i++) {
        int from, to;
        rows_of(r, b, i, &from, &to);
        low[i] = (int16_t)(from <= to ? from / BAND : 1), high[i] = (int16_t)(from <= to ? to / BAND : 0);
        for (int k = low[i]; k <= high[i]; k++) begin[k + 2]++;
    }
    for (int k = 0; k < bands; k++) begin[k + 2] += begin[k + 1];
    uint32_t *list = pbd_new(&a, uint32_t, begin[bands + 1]);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < items; i++)
        for (int k = low[i]; k <= high[i]; k++) list[begin[k + 1]++] = (uint32_t)i;
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < bands; k++)
        for (size_t n = begin[k]; n < begin[k + 1]; n++) draw_item(r, b, list[n], k * BAND, (k + 1) * BAND);
    return pbd_ok();
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* A dot of about a pixel. */
static void draw_dot(raster *r, vector at) {
    const float radius = 0.55f * (float)r->samples;
    const int right = last_sample(at.x + radius, r->width), bottom = last_sample(at.y + radius, r->height);
    for (int y = first_sample(at.y - radius); y <= bottom; y++)
        for (int x = first_sample(at.x - radius); x <= right; x++) {
            const size_t sample = (size_t)y * (size_t)r->width + (size_t)x;
            if (at.z > r->depth[sample]) r->line[sample] = 1;
        }
}

static vector from_middle(const render_camera *camera, const double *x) {
    double off[3];
    for (int d = 0; d < 3; d++) off[d] = x[d] - camera->centre[d];
    return vector_of(off);
}

static pbd_status draw_lines(raster *r, const render_body *b, const render_camera *camera) {
    const float longest = 4 * hypotf((float)r->width, (float)r->height);
    if (b->lines > 0 && !r->line) r->line = pbd_new(&r->owned, unsigned char, (size_t)r->width *(size_t)r->height);
    PBD_TRY(pbd_arena_check(&r->owned));
    for (size_t i = 0; i < b->lines; i++) {
        const vector from = raster_seen(r, from_middle(camera, b->line + 6 * i));
        const vector to = raster_seen(r, from_middle(camera, b->line + 6 * i + 3)), way = difference(to, from);
        const float length = hypotf(way.x, way.y);
        if (!is_finite(way) || length > longest) continue;
        const int dots = (int)length + 1;
        for (int k = 0; k <= dots; k++) draw_dot(r, sum(from, scaled(way, (float)k / (float)dots)));
    }
    return pbd_ok();
}

/* ---- A raster ---------------------------------------------------------------------------------------------------- */

static pbd_status add_body(raster *r, const render_body *b, const render_camera *camera, size_t *items) {
    raster_body *out = &r->body[r->bodies++];
    *out = (raster_body){.of = b, .first = (uint32_t)*items, .point = pbd_new(&r->owned, vector, b->points)};
    PBD_TRY(pbd_arena_check(&r->owned));
    *items += items_of(b);
    if (*items >= UINT32_MAX) return pbd_error(PBD_BAD_INPUT, "a picture of more than 4e9 triangles and spheres");
    for (size_t i = 0; i < b->points; i++) out->point[i] = from_middle(camera, b->position + 3 * i);
    return add_normals(out, &r->owned);
}

pbd_status raster_make(const render_body *body, size_t bodies, const render_camera *camera, int width, int height,
                       raster *out) {
    static const int SMALL = 1000; /* pixels: pictures up to this width get more samples per pixel */
    const int samples = width <= SMALL ? 3 : 2;
    *out = (raster){.width = samples * width,
                    .height = samples * height,
                    .samples = samples,
                    .right = vector_of(camera->right),
                    .up = vector_of(camera->up),
                    .towards = vector_of(camera->towards)};
    out->per_metre =
        0.5f * smaller((float)out->width / (float)camera->half_width, (float)out->height / (float)camera->half_height);
    const size_t count = (size_t)out->width * (size_t)out->height;
    size_t items = 0;
    out->depth = pbd_new(&out->owned, float, count);
    out->item = pbd_new(&out->owned, uint32_t, count);
    PBD_TRY(pbd_arena_check(&out->owned));
    for (size_t i = 0; i < count; i++) out->depth[i] = -INFINITY;
    for (size_t i = 0; i < bodies; i++) PBD_TRY(add_body(out, &body[i], camera, &items));
    for (size_t i = 0; i < bodies; i++) PBD_TRY(draw_body(out, &out->body[i]));
    for (size_t i = 0; i < bodies; i++) PBD_TRY(draw_lines(out, &body[i], camera));
    return pbd_ok();
}

void raster_free(raster *r) { pbd_arena_free(&r->owned); }
