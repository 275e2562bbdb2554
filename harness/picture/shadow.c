#include "harness/picture/shadow.h"

static vector on_map(const shadow *s, const shadow_map *m, vector p) {
    return (vector){m->middle.x + s->per_metre * dot(p, m->right), m->middle.y + s->per_metre * dot(p, m->up),
                    dot(p, m->towards)};
}

/* ---- What the lamp sees ------------------------------------------------------------------------------------------ */

static void add_sphere(shadow_map *m, vector at, float radius, float texels) {
    const float wide = larger(texels, 0.6f);
    const int right = last_sample(at.x + wide, SHADOW_SIZE), bottom = last_sample(at.y + wide, SHADOW_SIZE);
    const int left = first_sample(at.x - wide);
    for (int y = first_sample(at.y - wide); y <= bottom; y++) {
        float *row = m->depth + y * SHADOW_SIZE;
        const float dy = ((float)y + 0.5f - at.y) / wide;
        for (int x = left; x <= right; x++) {
            const float dx = ((float)x + 0.5f - at.x) / wide, rest = 1 - dy * dy - dx * dx;
            const float depth = rest >= 0 ? at.z + radius * sqrtf(larger(rest, 0)) : -INFINITY;
            row[x] = larger(row[x], depth);
        }
    }
}

static void add_triangle(shadow_map *m, const vector p[3]) {
    const float area = turn(p[0], p[1], p[2].x, p[2].y);
    if (!(fabsf(area) > 0) || !isfinite(area)) return;
    const int right = last_sample(larger(p[0].x, larger(p[1].x, p[2].x)), SHADOW_SIZE);
    const int bottom = last_sample(larger(p[0].y, larger(p[1].y, p[2].y)), SHADOW_SIZE);
    const int left = first_sample(smaller(p[0].x, smaller(p[1].x, p[2].x)));
    for (int y = first_sample(smaller(p[0].y, smaller(p[1].y, p[2].y))); y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            float depth = 0, least = 0;
            for (int k = 0; k < 3; k++) {
                const float w = turn(p[k], p[(k + 1) % 3], (float)x + 0.5f, (float)y + 0.5f) / area;
                least = smaller(least, w);
                depth += w * p[(k + 2) % 3].z;
            }
            float *at = &m->depth[y * SHADOW_SIZE + x];
            if (least >= -1e-5f && depth > *at) *at = depth;
        }
}

static void add_body(const shadow *s, shadow_map *m, const raster_body *body) {
    const render_body *b = body->of;
    for (size_t t = 0; t < b->triangles; t++) {
        vector p[3];
        for (size_t k = 0; k < 3; k++) p[k] = on_map(s, m, body->point[b->triangle[3 * t + k]]);
        if (is_finite(p[0]) && is_finite(p[1]) && is_finite(p[2])) add_triangle(m, p);
    }
    for (size_t i = 0; i < b->points && b->radius > 0; i++) {
        const vector at = on_map(s, m, body->point[i]);
        const float radius = (float)b->radius * raster_grain(b, i);
        if (is_finite(at) && !(b->is_vertex && b->is_vertex[i])) add_sphere(m, at, radius, radius * s->per_metre);
    }
}

/* Points of the lamp's face on a spiral of equal areas (H. Vogel 1979), up to 5 degrees from its middle. */
static vector lamp_point(vector lamp, int k) {
    static const float WIDE = 0.0875f, GOLDEN = 2.39996323f;
    const vector across = unit(cross((vector){0, 0, 1}, lamp)), along = cross(lamp, across);
    const float off = WIDE * sqrtf(((float)k + 0.5f) / SHADOW_LAMPS), angle = GOLDEN * (float)k;
    return unit(sum(lamp, sum(scaled(across, off * cosf(angle)), scaled(along, off * sinf(angle)))));
}

pbd_status shadow_make(const raster *r, vector lamp, float reach, shadow *out) {
    *out = (shadow){.lamp = unit(lamp), .per_metre = 0.5f * SHADOW_SIZE / reach};
    for (int k = 0; k < SHADOW_LAMPS; k++) {
        shadow_map *m = &out->map[k];
        m->towards = lamp_point(out->lamp, k);
        m->right = unit(cross((vector){0, 0, 1}, m->towards));
        m->up = cross(m->towards, m->right);
        m->middle = (vector){0.5f * SHADOW_SIZE, 0.5f * SHADOW_SIZE, 0};
        m->depth = pbd_new(&out->owned, float, SHADOW_SIZE *SHADOW_SIZE);
    }
    PBD_TRY(pbd_arena_check(&out->owned));
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < SHADOW_LAMPS; k++) {
        for (int i = 0; i < SHADOW_SIZE * SHADOW_SIZE; i++) out->map[k].depth[i] = -INFINITY;
        for (size_t b = 0; b < r->bodies; b++) add_body(out, &out->map[k], &r->body[b]);
    }
    return pbd_ok();
}

void shadow_free(shadow *s) { pbd_arena_free(&s->owned); }

enum { APART = 4 };

/* ---- How much of it a point sees --------------------------------------------------------------------------------- */

/* The share of the four texels around a place that do not hide it, with bilinear weights. */
static float seen_by(const shadow_map *m, vector at, float slack) {
    const float x = at.x - 0.5f, y = at.y - 0.5f, depth = at.z + slack;
    if (!(x >= 0 && y >= 0 && x < SHADOW_SIZE - 1 && y < SHADOW_SIZE - 1)) return 1;
    const int i = (int)x, k = (int)y;
    const float *t = m->depth + k * SHADOW_SIZE + i, u = x - (float)i, v = y - (float)k;
    return (1 - v) * ((1 - u) * (float)(t[0] <= depth) + u * (float)(t[1] <= depth)) +
           v * ((1 - u) * (float)(t[SHADOW_SIZE] <= depth) + u * (float)(t[SHADOW_SIZE + 1] <= depth));
}

/* Tests a place slightly above the surface (shadow bias), by the size of a texel and the slant of the light. */
float shadow_light(const shadow *s, vector point, vector normal, int turn) {
    const float slant = 1 - larger(dot(normal, s->lamp), 0);
    const vector p = sum(point, scaled(normal, (0.6f + 1.6f * slant) / s->per_metre));
    float light = 0;
    for (int k = turn % APART; k < SHADOW_LAMPS; k += APART)
        light += seen_by(&s->map[k], on_map(s, &s->map[k], p), 0.8f / s->per_metre);
    return light * APART / SHADOW_LAMPS;
}
