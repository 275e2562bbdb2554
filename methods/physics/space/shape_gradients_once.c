#include "methods/physics/space/shape_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#define REAL double
#include "methods/physics/space/shape_kernels.h"

int shape_flags(const shape_choice *choice) {
    if (choice->linear) return SHAPE_LINEAR;
    return (choice->kernel_correction ? SHAPE_KERNEL_CORRECTION : 0) |
           (choice->gradient_correction ? SHAPE_GRADIENT_CORRECTION : 0);
}

static size_t length_of(const rest_neighbours *near, size_t i) { return near->first[i + 1] - near->first[i]; }

/* D = I - sum (X_j - X_i) b_ij^T. Zero to rounding where neighbours span space and gradients are exact for linear
 * fields. gradient: b_ij of the particle's neighbours. */
static void offset_at(const rest_neighbours *near, const double *positions, const double *gradient, size_t i,
                      double *out) {
    for (int e = 0; e < 9; e++) out[e] = e % 4 == 0;
    for (size_t k = 0; k < length_of(near, i); k++) {
        const double *other = positions + 3 * (size_t)near->particle[near->first[i] + k];
        for (size_t e = 0; e < 9; e++) out[e] -= (other[e / 3] - positions[3 * i + e / 3]) * gradient[3 * k + e % 3];
    }
}

static bool needs_offset(const shape_choice *choice, uint32_t lost) {
    return lost > 0 || (choice->displacement && !choice->linear && !choice->gradient_correction);
}

static void find_offsets(const rest_neighbours *near, const double *positions, const shape_choice *choice,
                         shape_gradients *out) {
    for (size_t i = 0; i < near->particles; i++) {
        out->few += length_of(near, i) < 4;
        out->deficient += out->lost[i] > 0;
        if (!needs_offset(choice, out->lost[i])) continue;
        out->has_offset = true;
        offset_at(near, positions, out->gradient + 3 * near->first[i], i, out->offset + 9 * i);
    }
}

bool shape_is_known(const shape_known *known, const rest_neighbours *near, size_t i) {
    const size_t count = near->first[i + 1] - near->first[i], first = known->near->first[i];
    return known->near->first[i + 1] - first == count &&
           memcmp(near->particle + near->first[i], known->near->particle + first, count * sizeof *near->particle) == 0;
}

static void copy_known(const shape_known *known, const rest_neighbours *near, size_t i, shape_gradients *out) {
    const size_t count = near->first[i + 1] - near->first[i];
    memcpy(out->gradient + 3 * near->first[i], known->shape->gradient + 3 * known->near->first[i],
           3 * count * sizeof *out->gradient);
    out->lost[i] = known->shape->lost[i];
}

pbd_status shape_gradients_make(const rest_neighbours *near, const double *positions, const double *volumes,
                                const shape_choice *choice, const shape_known *known, shape_gradients *out) {
    const size_t n = near->particles, pairs = near->first[n];
    *out = (shape_gradients){.gradient = malloc((3 * pairs + 1) * sizeof(double)),
                             .offset = calloc(9 * n + 1, sizeof(double)),
                             .lost = calloc(n + 1, sizeof *out->lost)};
    pbd_arena a PBD_ARENA;
    double *rest = pbd_new(&a, double, 4 * n);
    uint32_t *first = pbd_new(&a, uint32_t, n + 1);
    const pbd_status status = out->gradient && out->offset && out->lost
                                  ? pbd_arena_check(&a)
                                  : pbd_error(PBD_FAILED, "out of memory for %zu pairs of neighbours", pairs);
    if (status.code != PBD_OK) {
        shape_gradients_free(out);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < 3; d++) rest[4 * i + d] = positions[3 * i + d];
        rest[4 * i + 3] = volumes[i];
    }
    for (size_t i = 0; i <= n; i++) first[i] = (uint32_t)near->first[i];
    const shape_args args = {
        rest, first, near->particle, out->gradient, out->lost, choice->radius, choice->kernel, shape_flags(choice), 0};
    for (size_t i = 0; i < n; i++)
        if (known && shape_is_known(known, near, i))
            copy_known(known, near, i, out);
        else
            shape_at(&args, i);
    find_offsets(near, positions, choice, out);
    return pbd_ok();
}

pbd_status shape_one_create(pbd_arena *arena, size_t most, shape_one *out) {
    *out = (shape_one){.rest = pbd_new(arena, double, 4 * (most + 1)),
                       .gradient = pbd_new(arena, double, 3 * most),
                       .number = pbd_new(arena, uint32_t, most)};
    PBD_TRY(pbd_arena_check(arena));
    for (size_t k = 0; k < most; k++) out->number[k] = (uint32_t)k + 1;
    return pbd_ok();
}

void shape_one_make(const rest_neighbours *near, const double *positions, const double *volumes,
                    const shape_choice *choice, size_t i, shape_one *out) {
    const uint32_t first[2] = {0, (uint32_t)length_of(near, i)};
    for (size_t k = 0; k <= first[1]; k++) {
        const size_t p = k ? near->particle[near->first[i] + k - 1] : i;
        for (size_t d = 0; d < 3; d++) out->rest[4 * k + d] = positions[3 * p + d];
        out->rest[4 * k + 3] = volumes[p];
    }
    const shape_args args = {out->rest,  first,          out->number,    out->gradient,
                             &out->lost, choice->radius, choice->kernel, shape_flags(choice),
                             0};
    shape_at(&args, 0);
    out->has_offset = needs_offset(choice, out->lost);
    if (out->has_offset) offset_at(near, positions, out->gradient, i, out->offset);
}

void shape_gradients_free(shape_gradients *s) {
    free(s->gradient);
    free(s->offset);
    free(s->lost);
    *s = (shape_gradients){0};
}
