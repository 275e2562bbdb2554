#include "methods/physics/space/clusters.h"

#include <math.h>
#include <stdlib.h>

#include "methods/physics/space/colouring.h"

/* Mean number of elements per box: of the first grid, its upper bound, and its growth from one grid to the next. */
#define SMALLEST_BOX 20
#define LARGEST_BOX 60
#define LARGER 1.25
/* Shift of the grid, as a fraction of a box. Centres of a lattice may lie on the boundary of two boxes; rounding must
 * not decide which one they belong to. */
#define OFF_CENTRE 1e-6
enum { ARITY = 4, PLACE_BITS = 20, MOST_PARTS = 64 };

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

typedef struct grid {
    double low[3], side[3];
    uint64_t count[3];
} grid;

/* An element and the key of its box, whose highest bits are the parities of the box's grid coordinates. */
typedef struct placed {
    uint64_t box;
    uint32_t element, material;
} placed;

static const double *corner_of(const pbd_scene *scene, size_t element, int corner) {
    return scene->particles.positions + 3 * (size_t)scene->tets.corner[ARITY * element + (size_t)corner];
}

static double volume_of(const pbd_scene *scene, size_t element) {
    const double *last = corner_of(scene, element, 3);
    double e[3][3];
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++) e[c][d] = corner_of(scene, element, c)[d] - last[d];
    return fabs(e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* Makes a grid whose boxes have the volume of `elements` mean elements. Returns false if the mesh has no size. */
static bool make_grid(const pbd_scene *scene, double elements, grid *g) {
    double high[3], volume = 0;
    for (int d = 0; d < 3; d++) g->low[d] = high[d] = scene->particles.positions[d];
    for (size_t p = 0; p < scene->particles.count; p++)
        for (int d = 0; d < 3; d++) {
            const double x = scene->particles.positions[3 * p + (size_t)d];
            g->low[d] = fmin(g->low[d], x);
            high[d] = fmax(high[d], x);
        }
    for (size_t e = 0; e < scene->tets.count; e++) volume += volume_of(scene, e);
    const double side = cbrt(elements * volume / (double)scene->tets.count);
    if (!(side > 0) || !isfinite(side)) return false;
    for (int d = 0; d < 3; d++) {
        const double length = high[d] - g->low[d], most = (double)((UINT64_C(1) << PLACE_BITS) - 1);
        const double count = fmin(floor(length / side + OFF_CENTRE), most);
        if (!isfinite(length)) return false;
        g->count[d] = count > 1 ? (uint64_t)count : 1;
        g->side[d] = length / (double)g->count[d];
    }
    return true;
}

static uint64_t box_of(const pbd_scene *scene, const grid *g, size_t element) {
    uint64_t key = 0, parities = 0;
    for (int d = 0; d < 3; d++) {
        double x = 0;
        for (int c = 0; c < ARITY; c++) x += corner_of(scene, element, c)[d] / ARITY;
        const uint64_t place = (uint64_t)fmax((x - g->low[d]) / g->side[d] + OFF_CENTRE, 0);
        const uint64_t at = place < g->count[d] ? place : g->count[d] - 1;
        key = key << PLACE_BITS | at;
        parities = parities << 1 | (at & 1);
    }
    return parities << (3 * PLACE_BITS) | key;
}

static int compare_placed(const void *a, const void *b) {
    const placed *p = a, *q = b;
    if (p->material != q->material) return p->material < q->material ? -1 : 1;
    if (p->box != q->box) return p->box < q->box ? -1 : 1;
    return (p->element > q->element) - (p->element < q->element);
}

static void place_elements(const pbd_scene *scene, const grid *g, placed *out) {
    for (size_t e = 0; e < scene->tets.count; e++)
        out[e] = (placed){box_of(scene, g, e), (uint32_t)e, scene->tets.material ? scene->tets.material[e] : 0};
    qsort(out, scene->tets.count, sizeof *out, compare_placed);
}

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

/* Clusters sorted by material, then by box. part and own are in the order of `at`: the part of an element, and its
 * corners as indices into the particles of its cluster. */
typedef struct pieces {
    placed *at;
    uint8_t *part, *own;
    size_t *first, *first_particle; /* by cluster, one more at the end: index into `at`, `particle` */
    uint32_t *particle;
    size_t count;
} pieces;

/* The cluster that is being filled. */
typedef struct filling {
    uint32_t *index;                  /* by particle of the scene: 1 + its index in the cluster; 0: not in it */
    uint64_t used[CLUSTER_PARTICLES]; /* by particle of the cluster: bit mask of the parts at it */
    size_t particles;
} filling;

static void begin_cluster(pieces *p, filling *f, size_t at, size_t entries) {
    for (size_t k = entries - f->particles; k < entries; k++) f->index[p->particle[k]] = 0;
    f->particles = 0;
    p->first[p->count] = at;
    p->first_particle[p->count++] = entries;
}

/* Returns false if the cluster has no room for the element. */
static bool add_element(const pbd_scene *scene, pieces *p, filling *f, size_t at, size_t *entries) {
    const uint32_t *corner = scene->tets.corner + ARITY * (size_t)p->at[at].element;
    size_t more = 0;
    uint64_t taken = 0;
    for (int c = 0; c < ARITY; c++) {
        more += f->index[corner[c]] == 0;
        if (f->index[corner[c]] > 0) taken |= f->used[f->index[corner[c]] - 1];
    }
    if (f->particles + more > CLUSTER_PARTICLES || taken == UINT64_MAX) return false;
    const int part = __builtin_ctzll(~taken);
    for (int c = 0; c < ARITY; c++) {
        if (f->index[corner[c]] == 0) {
            p->particle[(*entries)++] = corner[c];
            f->used[f->particles] = 0;
            f->index[corner[c]] = (uint32_t)++f->particles;
        }
        p->own[ARITY * at + (size_t)c] = (uint8_t)(f->index[corner[c]] - 1);
        f->used[f->index[corner[c]] - 1] |= UINT64_C(1) << part;
    }
    p->part[at] = (uint8_t)part;
    return true;
}

/* Makes the elements of a material in a box one cluster, or several if they have too many particles. */
static pbd_status cut_boxes(const pbd_scene *scene, pieces *p) {
    pbd_arena a PBD_ARENA;
    filling f = {.index = pbd_new(&a, uint32_t, scene->particles.count)};
    size_t entries = 0;
    PBD_TRY(pbd_arena_check(&a));
    p->count = 0;
    for (size_t at = 0; at < scene->tets.count; at++) {
        const placed *now = &p->at[at], *before = now - (at > 0);
        if (at == 0 || now->box != before->box || now->material != before->material) begin_cluster(p, &f, at, entries);
        if (add_element(scene, p, &f, at, &entries)) continue;
        begin_cluster(p, &f, at, entries);
        add_element(scene, p, &f, at, &entries);
    }
    p->first[p->count] = scene->tets.count;
    p->first_particle[p->count] = entries;
    return pbd_ok();
}

/* ---- Colours ----------------------------------------------------------------------------------------------------- */

/* Each material has its own colours, since a launch has a single material. order: clusters, batch by batch. */
typedef struct colouring {
    uint32_t *order;
    cluster_batch *batch;
    size_t batches;
    int colours; /* largest number for one material */
} colouring;

static pbd_status colour_material(const pbd_scene *scene, const pieces *p, size_t first, size_t end, int material,
                                  colouring *out) {
    pbd_arena a PBD_ARENA;
    size_t *colour_first;
    int colours;
    PBD_TRY(pbd_colour_lists(end - first, p->first_particle + first, p->particle, scene->particles.count, false, &a,
                             out->order + first, &colour_first, &colours));
    if (colours > out->colours) out->colours = colours;
    for (size_t k = first; k < end; k++) out->order[k] += (uint32_t)first;
    for (int c = 0; c < colours && colours <= CLUSTER_COLOURS; c++)
        out->batch[out->batches++] =
            (cluster_batch){first + colour_first[c], colour_first[c + 1] - colour_first[c], material};
    return pbd_ok();
}

static uint32_t material_of(const pieces *p, size_t cluster) { return p->at[p->first[cluster]].material; }

static pbd_status colour_clusters(const pbd_scene *scene, const pieces *p, colouring *out) {
    out->batches = 0;
    out->colours = 0;
    for (size_t first = 0, end; first < p->count; first = end) {
        for (end = first + 1; end < p->count && material_of(p, end) == material_of(p, first);) end++;
        PBD_TRY(colour_material(scene, p, first, end, (int)material_of(p, first), out));
    }
    return pbd_ok();
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

/* Appends cluster k to the plan: its elements, part by part, and its particles. */
static void write_cluster(const pieces *p, size_t k, cluster_plan *out, size_t *place) {
    const size_t first = p->first[k], end = p->first[k + 1];
    out->first_part[out->clusters] = (uint32_t)out->parts;
    out->first_particle[out->clusters++] = (uint32_t)out->entries;
    for (size_t i = p->first_particle[k]; i < p->first_particle[k + 1]; i++)
        out->particle[out->entries++] = p->particle[i];
    for (size_t left = end - first, part = 0; left > 0; part++) {
        out->part[out->parts++] = (uint32_t)*place;
        for (size_t i = first; i < end; i++) {
            if (p->part[i] != part) continue;
            for (size_t c = 0; c < ARITY; c++) out->own[ARITY * *place + c] = p->own[ARITY * i + c];
            out->order[(*place)++] = p->at[i].element;
            left--;
        }
    }
}

static pbd_status write_plan(const pieces *p, const colouring *of, size_t elements, pbd_arena *arena,
                             cluster_plan *out) {
    const size_t entries = p->first_particle[p->count];
    size_t place = 0;
    out->colours = of->colours;
    out->batches = of->batches;
    out->order = pbd_new(arena, uint32_t, elements);
    out->own = pbd_new(arena, uint32_t, ARITY * elements);
    out->part = pbd_new(arena, uint32_t, elements + 1); /* a part has at least one element */
    out->first_part = pbd_new(arena, uint32_t, p->count + 1);
    out->first_particle = pbd_new(arena, uint32_t, p->count + 1);
    out->particle = pbd_new(arena, uint32_t, entries);
    out->batch = pbd_new(arena, cluster_batch, of->batches);
    PBD_TRY(pbd_arena_check(arena));
    memcpy(out->batch, of->batch, of->batches * sizeof *out->batch);
    for (size_t k = 0; k < p->count; k++) write_cluster(p, of->order[k], out, &place);
    out->first_part[out->clusters] = (uint32_t)out->parts;
    out->part[out->parts] = (uint32_t)place;
    out->first_particle[out->clusters] = (uint32_t)out->entries;
    return pbd_ok();
}

pbd_status cluster_plan_make(const pbd_scene *scene, pbd_arena *arena, cluster_plan *out) {
    const size_t n = scene->tets.count;
    *out = (cluster_plan){0};
    if (n == 0 || n >= UINT32_MAX / ARITY) return pbd_ok();
    pbd_arena a PBD_ARENA;
    pieces p = {.at = pbd_new(&a, placed, n),
                .part = pbd_new(&a, uint8_t, n),
                .own = pbd_new(&a, uint8_t, ARITY * n),
                .first = pbd_new(&a, size_t, n + 1),
                .first_particle = pbd_new(&a, size_t, n + 1),
                .particle = pbd_new(&a, uint32_t, ARITY * n)};
    colouring of = {.order = pbd_new(&a, uint32_t, n),
                    .batch = pbd_new(&a, cluster_batch, CLUSTER_COLOURS * PBD_MOST_MATERIALS)};
    PBD_TRY(pbd_arena_check(&a));
    for (double elements = SMALLEST_BOX; elements < LARGEST_BOX; elements *= LARGER) {
        grid g;
        if (!make_grid(scene, elements, &g)) return pbd_ok();
        place_elements(scene, &g, p.at);
        PBD_TRY(cut_boxes(scene, &p));
        PBD_TRY(colour_clusters(scene, &p, &of));
        if (of.colours <= CLUSTER_COLOURS) return write_plan(&p, &of, n, arena, out);
    }
    return pbd_ok();
}
