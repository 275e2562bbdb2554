#include "methods/physics/parts/particle_cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Blades ------------------------------------------------------------------------------------------------------ */

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static pbd_status check_blade(const pbd_blade *b, size_t which) {
    double normal[3];
    cross(b->edge[0], b->edge[1], normal);
    const double area = sqrt(dot(normal, normal)),
                 sides = sqrt(dot(b->edge[0], b->edge[0]) * dot(b->edge[1], b->edge[1]));
    if (!(area > 1e-9 * sides && isfinite(area)))
        return pbd_error(PBD_BAD_INPUT, "blade %zu has an area of %g m^2: its two edges must span an area", which,
                         area);
    const double *numbers[] = {b->corner, b->velocity};
    for (int k = 0; k < 6; k++)
        if (!isfinite(numbers[k / 3][k % 3]))
            return pbd_error(PBD_BAD_INPUT, "blade %zu has a non-finite position or velocity", which);
    if (!(b->end >= b->begin))
        return pbd_error(PBD_BAD_INPUT, "blade %zu ends at %g s, before it begins at %g s", which, b->end, b->begin);
    return pbd_ok();
}

pbd_status particle_cuts_make(const pbd_scene *scene, particle_cuts *out) {
    *out = (particle_cuts){.blades = scene->blades.count};
    for (size_t i = 0; i < scene->blades.count; i++) PBD_TRY(check_blade(&scene->blades.item[i], i));
    out->blade = malloc((scene->blades.count + 1) * sizeof *out->blade);
    if (!out->blade) return pbd_error(PBD_FAILED, "out of memory for %zu blades", scene->blades.count);
    if (scene->blades.count > 0) memcpy(out->blade, scene->blades.item, scene->blades.count * sizeof *out->blade);
    return pbd_ok();
}

void particle_cuts_free(particle_cuts *c) {
    free(c->blade);
    *c = (particle_cuts){0};
}

static bool is_there(const pbd_blade *b, double time) { return time >= b->begin && time <= b->end; }

bool particle_cuts_active(const particle_cuts *c, double time) {
    for (size_t i = 0; i < c->blades; i++)
        if (is_there(&c->blade[i], time)) return true;
    return false;
}

/* A blade's present position, and the dual vectors that give the coordinates of a point in its plane: a = (point -
 * corner) . dual[0]. */
typedef struct edge_test {
    double corner[3], normal[3], dual[2][3];
} edge_test;

static edge_test test_at(const pbd_blade *b, double time) {
    edge_test out;
    for (int d = 0; d < 3; d++) out.corner[d] = b->corner[d] + b->velocity[d] * (time - b->begin);
    cross(b->edge[0], b->edge[1], out.normal);
    const double square = dot(out.normal, out.normal);
    cross(b->edge[1], out.normal, out.dual[0]);
    cross(out.normal, b->edge[0], out.dual[1]);
    for (int d = 0; d < 3; d++) {
        out.dual[0][d] /= square;
        out.dual[1][d] /= square;
    }
    return out;
}

static double side(const edge_test *t, const double p[3]) {
    const double d[3] = {p[0] - t->corner[0], p[1] - t->corner[1], p[2] - t->corner[2]};
    return dot(d, t->normal);
}

static bool crosses(const edge_test *t, const double p[3], const double q[3]) {
    const double from = side(t, p), to = side(t, q);
    if ((from < 0) == (to < 0)) return false;
    const double s = from / (from - to);
    double d[3];
    for (int i = 0; i < 3; i++) d[i] = p[i] + s * (q[i] - p[i]) - t->corner[i];
    const double a = dot(d, t->dual[0]), b = dot(d, t->dual[1]);
    return a >= 0 && a <= 1 && b >= 0 && b <= 1;
}

/* ---- Pairs lost -------------------------------------------------------------------------------------------------- */

/* Marks the entries of near->particle whose pairs cross the blade in `lost`; returns the number of newly marked pairs.
 * Both entries of a pair get the same result, since the test goes from the lower particle to the higher. */
static size_t mark_crossed(const edge_test *t, const double *x, const rest_neighbours *near, unsigned char *lost) {
    size_t count = 0;
    for (size_t i = 0; i < near->particles; i++)
        for (size_t k = near->first[i]; k < near->first[i + 1]; k++) {
            const size_t j = near->particle[k], low = i < j ? i : j, high = i < j ? j : i;
            if (lost[k] || !crosses(t, x + 3 * low, x + 3 * high)) continue;
            lost[k] = 1;
            count += i < j;
        }
    return count;
}

static double square_apart(const double *rest, size_t i, size_t j) {
    double sum = 0;
    for (size_t d = 0; d < 3; d++) sum += (rest[3 * i + d] - rest[3 * j + d]) * (rest[3 * i + d] - rest[3 * j + d]);
    return sum;
}

typedef struct pair {
    uint32_t low, high;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return (p->high > q->high) - (p->high < q->high);
}

static bool is_near(const rest_neighbours *near, size_t i, uint32_t j) {
    for (size_t k = near->first[i]; k < near->first[i + 1]; k++)
        if (near->particle[k] == j) return true;
    return false;
}

/* Returns the new neighbour of i: of its remaining neighbours' remaining neighbours, the nearest one at rest beyond the
 * radius; ties go to the lower number. UINT32_MAX: none. */
static uint32_t nearest_beyond(const rest_neighbours *near, const unsigned char *lost, const double *rest,
                               double radius, size_t i) {
    uint32_t best = UINT32_MAX;
    double least = INFINITY;
    for (size_t k = near->first[i]; k < near->first[i + 1]; k++) {
        const size_t j = near->particle[k];
        for (size_t l = near->first[j]; l < near->first[j + 1] && !lost[k]; l++) {
            const uint32_t other = near->particle[l];
            if (lost[l] || other == i) continue;
            const double apart = square_apart(rest, i, other);
            if (apart < radius * radius || apart > least || (apart == least && other >= best)) continue;
            if (is_near(near, i, other)) continue; /* added by an earlier cut, and perhaps cut now */
            least = apart;
            best = other;
        }
    }
    return best;
}

static bool any_crosses(const edge_test *tests, size_t count, const double *p, const double *q) {
    for (size_t t = 0; t < count; t++)
        if (crosses(&tests[t], p, q)) return true;
    return false;
}

/* Writes the pairs to be added, sorted and unique; returns their number. */
static size_t find_added(const rest_neighbours *near, const unsigned char *lost, const double *x, const double *rest,
                         double radius, const uint32_t *full, const edge_test *tests, size_t count, pair *out) {
    size_t added = 0, kept = 0;
    for (size_t i = 0; i < near->particles; i++) {
        size_t left = 0;
        for (size_t k = near->first[i]; k < near->first[i + 1]; k++) left += !lost[k];
        if (left == near->first[i + 1] - near->first[i] || left >= full[i]) continue;
        const uint32_t j = nearest_beyond(near, lost, rest, radius, i);
        if (j == UINT32_MAX || any_crosses(tests, count, x + 3 * i, x + 3 * (size_t)j)) continue;
        out[added++] = j < i ? (pair){j, (uint32_t)i} : (pair){(uint32_t)i, j};
    }
    qsort(out, added, sizeof *out, compare_pairs);
    for (size_t n = 0; n < added; n++)
        if (n == 0 || compare_pairs(&out[n], &out[n - 1]) != 0) out[kept++] = out[n];
    return kept;
}

/* ---- New lists --------------------------------------------------------------------------------------------------- */

static int compare_particles(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static pbd_status rewrite(const unsigned char *lost, const pair *added, size_t count, rest_neighbours *near) {
    const size_t n = near->particles;
    rest_neighbours next = {.particles = n, .first = calloc(n + 1, sizeof *next.first)};
    next.particle = malloc((near->first[n] + 2 * count + 1) * sizeof *next.particle);
    size_t *fill = malloc((n + 1) * sizeof *fill);
    if (!next.first || !next.particle || !fill) {
        rest_neighbours_free(&next);
        free(fill);
        return pbd_error(PBD_FAILED, "out of memory for %zu pairs of neighbours", near->first[n]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = near->first[i]; k < near->first[i + 1]; k++) next.first[i + 1] += !lost[k];
    for (size_t a = 0; a < count; a++) next.first[added[a].low + 1]++, next.first[added[a].high + 1]++;
    for (size_t i = 0; i < n; i++) next.first[i + 1] += next.first[i];
    memcpy(fill, next.first, (n + 1) * sizeof *fill);
    for (size_t i = 0; i < n; i++)
        for (size_t k = near->first[i]; k < near->first[i + 1]; k++)
            if (!lost[k]) next.particle[fill[i]++] = near->particle[k];
    for (size_t a = 0; a < count; a++) {
        next.particle[fill[added[a].low]++] = added[a].high;
        next.particle[fill[added[a].high]++] = added[a].low;
    }
    for (size_t i = 0; i < n; i++)
        qsort(next.particle + next.first[i], next.first[i + 1] - next.first[i], sizeof *next.particle,
              compare_particles);
    free(fill);
    rest_neighbours_free(near);
    *near = next;
    return pbd_ok();
}

pbd_status particle_cut(particle_cuts *c, double time, const double *x, const double *rest, double radius,
                        const uint32_t *full, rest_neighbours *near, bool *changed) {
    edge_test *tests = malloc((c->blades + 1) * sizeof *tests);
    unsigned char *lost = calloc(near->first[near->particles] + 1, 1);
    pair *added = malloc((near->particles + 1) * sizeof *added);
    pbd_status status = tests && lost && added ? pbd_ok() : pbd_error(PBD_FAILED, "out of memory for a cut");
    size_t count = 0, cut = 0;
    *changed = false;
    for (size_t b = 0; b < c->blades && status.code == PBD_OK; b++)
        if (is_there(&c->blade[b], time)) tests[count++] = test_at(&c->blade[b], time);
    for (size_t t = 0; t < count && status.code == PBD_OK; t++) cut += mark_crossed(&tests[t], x, near, lost);
    if (cut > 0) {
        const size_t more = find_added(near, lost, x, rest, radius, full, tests, count, added);
        status = rewrite(lost, added, more, near);
        c->cut += cut;
        c->added += more;
        *changed = true;
    }
    free(tests);
    free(lost);
    free(added);
    return status;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

pbd_status particle_pieces(const rest_neighbours *near, uint32_t *number, size_t *pieces) {
    uint32_t *todo = malloc((near->particles + 1) * sizeof *todo);
    if (!todo) return pbd_error(PBD_FAILED, "out of memory for %zu particles", near->particles);
    for (size_t i = 0; i < near->particles; i++) number[i] = UINT32_MAX;
    *pieces = 0;
    for (size_t i = 0; i < near->particles; i++) {
        if (number[i] != UINT32_MAX) continue;
        size_t left = 0;
        todo[left++] = (uint32_t)i;
        number[i] = (uint32_t)*pieces;
        while (left > 0) {
            const size_t p = todo[--left];
            for (size_t k = near->first[p]; k < near->first[p + 1]; k++) {
                const uint32_t j = near->particle[k];
                if (number[j] != UINT32_MAX) continue;
                number[j] = (uint32_t)*pieces;
                todo[left++] = j;
            }
        }
        ++*pieces;
    }
    free(todo);
    return pbd_ok();
}
