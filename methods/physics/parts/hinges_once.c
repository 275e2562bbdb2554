#include "methods/physics/parts/hinges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One side of a triangle: its ends, the lower first, the opposite corner, and the triangle. */
typedef struct side {
    uint32_t low, high, across, triangle;
} side;

void hinges_free(hinges *h) {
    free(h->corner);
    free(h->stiffness);
    *h = (hinges){0};
}

static int by_ends(const void *one, const void *other) {
    const side *a = one, *b = other;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->triangle < b->triangle ? -1 : 1;
}

static void list_sides(const pbd_scene *scene, side *out) {
    for (size_t t = 0; t < scene->triangles.count; t++)
        for (size_t k = 0; k < 3; k++) {
            const uint32_t *corner = scene->triangles.corner + 3 * t, a = corner[(k + 1) % 3], b = corner[(k + 2) % 3];
            out[3 * t + k] = (side){a < b ? a : b, a < b ? b : a, corner[k], (uint32_t)t};
        }
    qsort(out, 3 * scene->triangles.count, sizeof *out, by_ends);
}

static void edge(const pbd_scene *scene, uint32_t from, uint32_t to, double out[3]) {
    for (size_t d = 0; d < 3; d++)
        out[d] = scene->particles.positions[3 * to + d] - scene->particles.positions[3 * from + d];
}

static double area_of(const pbd_scene *scene, uint32_t triangle) {
    const uint32_t *corner = scene->triangles.corner + 3 * (size_t)triangle;
    double a[3], b[3];
    edge(scene, corner[0], corner[1], a);
    edge(scene, corner[0], corner[2], b);
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    return sqrt(x * x + y * y + z * z) / 2;
}

static bool is_held(const pbd_scene *scene, const bool *held, uint32_t triangle) {
    const uint32_t *corner = scene->triangles.corner + 3 * (size_t)triangle;
    return held[corner[0]] && held[corner[1]] && held[corner[2]];
}

/* Adds the hinge of two coincident sides, unless neither triangle can bend. */
static void add_hinge(const pbd_scene *scene, const bool *held, const side *a, const side *b, hinges *out) {
    double e[3];
    const double area = (is_held(scene, held, a->triangle) ? 0 : area_of(scene, a->triangle)) +
                        (is_held(scene, held, b->triangle) ? 0 : area_of(scene, b->triangle));
    if (!(area > 0)) return;
    edge(scene, a->low, a->high, e);
    const uint32_t corner[4] = {a->low, a->high, a->across, b->across};
    memcpy(out->corner + 4 * out->count, corner, sizeof corner);
    out->stiffness[out->count++] = (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) / area;
}

static pbd_status pair_sides(const pbd_scene *scene, const bool *held, const side *of, hinges *out) {
    const size_t sides = 3 * scene->triangles.count;
    for (size_t i = 0; i + 1 < sides; i++) {
        if (of[i].low != of[i + 1].low || of[i].high != of[i + 1].high) continue;
        if (i + 2 < sides && of[i].low == of[i + 2].low && of[i].high == of[i + 2].high)
            return pbd_error(PBD_BAD_INPUT,
                             "more than two triangles share the edge from particle %u to %u: cloth has at most two",
                             of[i].low, of[i].high);
        add_hinge(scene, held, &of[i], &of[i + 1], out);
        i++;
    }
    return pbd_ok();
}

pbd_status hinges_make(const pbd_scene *scene, hinges *out) {
    const size_t sides = 3 * scene->triangles.count;
    *out = (hinges){0};
    side *of = malloc((sides + 1) * sizeof *of);
    bool *held = calloc(scene->particles.count + 1, sizeof *held);
    out->corner = malloc((2 * sides + 4) * sizeof *out->corner);
    out->stiffness = malloc((sides / 2 + 1) * sizeof *out->stiffness);
    pbd_status status = pbd_error(PBD_FAILED, "out of memory for the edges of %zu triangles", scene->triangles.count);
    if (of && held && out->corner && out->stiffness) {
        for (size_t i = 0; i < scene->particles.fixed; i++) held[scene->particles.fixed_particle[i]] = true;
        list_sides(scene, of);
        status = pair_sides(scene, held, of, out);
    }
    free(of);
    free(held);
    if (status.code != PBD_OK) hinges_free(out);
    return status;
}
