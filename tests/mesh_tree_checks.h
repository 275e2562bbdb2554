/* The linear BVH against brute force in long double, for the precision REAL: included by test_mesh_tree.c (f64) and
 * test_mesh_tree_f32.c. */
#define PBD_UNIT mesh_tree
#include "methods/physics/surface/mesh_tree.h"

#include "tests/ladder.h"

static const double exact = sizeof(real) == sizeof(float) ? 4e-6 : 1e-14; /* relative to the largest coordinate */

/* ---- Surfaces ---------------------------------------------------------------------------------------------------- */

enum { MOST_VERTICES = 2000, MOST_TRIANGLES = 3000, MOST_PLACES = 2000 };

typedef struct surface {
    const char *name;
    size_t vertices, triangles;
    double size; /* m, the largest coordinate */
    bool thin;   /* has slivers, in which a point cannot be located to all digits */
    real vertex[4 * MOST_VERTICES];
    uint32_t corner[3 * MOST_TRIANGLES];
} surface;

static uint32_t put_vertex(surface *s, double x, double y, double z) {
    real *row = s->vertex + 4 * s->vertices;
    row[0] = (real)x, row[1] = (real)y, row[2] = (real)z;
    row[3] = (real)NAN; /* must not be read */
    s->size = fmax(s->size, fmax(fabs(x), fmax(fabs(y), fabs(z))));
    return (uint32_t)s->vertices++;
}

static void put_triangle(surface *s, uint32_t a, uint32_t b, uint32_t c) {
    uint32_t *corner = s->corner + 3 * s->triangles++;
    corner[0] = a, corner[1] = b, corner[2] = c;
}

static void make_soup_of(surface *s, const char *name, double size, size_t triangles) {
    uint64_t seed = 5;
    *s = (surface){.name = name};
    while (s->triangles < triangles) {
        uint32_t v[3];
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed);
        for (int k = 0; k < 3; k++) {
            const double a = noise(&seed), b = noise(&seed), c = noise(&seed);
            v[k] = put_vertex(s, size * (x + 0.1 * a), size * (y + 0.1 * b), size * (z + 0.1 * c));
        }
        put_triangle(s, v[0], v[1], v[2]);
    }
}

static void make_soup(surface *s) { make_soup_of(s, "random", 1, 600); }
static void make_huge(surface *s) { make_soup_of(s, "huge", 1e6, 300); }
static void make_tiny(surface *s) { make_soup_of(s, "tiny", 1e-5, 300); }
static void make_single(surface *s) { make_soup_of(s, "one", 1, 1); }
static void make_pair(surface *s) { make_soup_of(s, "two", 1, 2); }
static void make_none(surface *s) { make_soup_of(s, "none", 1, 0); }

/* Far from the origin: boxes are small compared with coordinates. */
static void make_far(surface *s) {
    make_soup_of(s, "far away", 1, 300);
    for (size_t i = 0; i < 4 * s->vertices; i++) s->vertex[i] += (real)(i % 4 == 3 ? 0 : 100);
    s->size = 101;
}

/* The same triangle a hundred times: all codes are equal, and every distance is a tie. */
static void make_coincident(surface *s) {
    *s = (surface){.name = "a hundred in one place"};
    put_vertex(s, 0.1, 0.2, 0.3);
    put_vertex(s, 0.7, 0.1, 0.2);
    put_vertex(s, 0.3, 0.8, 0.4);
    while (s->triangles < 100) put_triangle(s, 0, 1, 2);
}

/* Triangles rotated about a common centre: equal codes, different boxes. */
static void make_one_code(surface *s) {
    *s = (surface){.name = "of one code"};
    for (int k = 0; k < 200; k++) {
        const double angle = 2 * M_PI * k / 200, c = cos(angle), t = sin(angle);
        const uint32_t a = put_vertex(s, c, t, -1), b = put_vertex(s, -c, -t, -1), top = put_vertex(s, 0, 0, 1);
        put_triangle(s, a, b, top);
    }
}

/* Long thin triangles, triangles without width, and points. */
static void make_slivers(surface *s) {
    uint64_t seed = 8;
    *s = (surface){.name = "slivers", .thin = true};
    for (int k = 0; k < 200; k++) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed), w = pow(10, -k % 20);
        const uint32_t a = put_vertex(s, x, y, z), b = put_vertex(s, x + 1, y + 0.5, z);
        put_triangle(s, a, b, put_vertex(s, x + 0.5, y + 0.25 + w, z));
        put_triangle(s, a, a, a);
        put_triangle(s, a, b, b);
    }
}

/* A sheet of squares: neighbours share edges and corners, so that many distances are ties. */
static void make_sheet(surface *s) {
    *s = (surface){.name = "a sheet"};
    for (int i = 0; i <= 16; i++)
        for (int j = 0; j <= 16; j++) put_vertex(s, i / 8.0 - 1, j / 8.0 - 1, 0);
    for (uint32_t i = 0; i < 16; i++)
        for (uint32_t j = 0; j < 16; j++) {
            const uint32_t a = 17 * i + j;
            put_triangle(s, a, a + 17, a + 18);
            put_triangle(s, a, a + 18, a + 1);
        }
}

static void (*const makers[])(surface *) = {make_soup, make_huge,       make_tiny,     make_far,     make_single,
                                            make_pair, make_coincident, make_one_code, make_slivers, make_sheet};
enum { SURFACES = sizeof makers / sizeof *makers };

/* ---- The oracle: each triangle cut up, in long double ------------------------------------------------------------ */

typedef struct lv {
    long double x[3];
} lv;

static lv lv_of(const real *row) { return (lv){{row[0], row[1], row[2]}}; }
static lv lv_mix(lv a, lv b, long double t) {
    for (int d = 0; d < 3; d++) a.x[d] += t * (b.x[d] - a.x[d]);
    return a;
}
static long double lv_square(lv a, lv b) {
    long double sum = 0;
    for (int d = 0; d < 3; d++) sum += (a.x[d] - b.x[d]) * (a.x[d] - b.x[d]);
    return sum;
}

/* The squared distance from x to the segment from a to b. The distance to the segment across the triangle at t, from
 * mix(a, b, t) to mix(a, c, t), is convex in t: brute_square minimises it by golden-section search, without cases for
 * faces, edges or slivers. */
static long double to_stretch(lv a, lv b, lv x) {
    long double ab = 0, ax = 0;
    for (int d = 0; d < 3; d++)
        ab += (b.x[d] - a.x[d]) * (b.x[d] - a.x[d]), ax += (x.x[d] - a.x[d]) * (b.x[d] - a.x[d]);
    return lv_square(x, lv_mix(a, b, ab > 0 ? fminl(fmaxl(ax / ab, 0), 1) : 0));
}

static long double brute_square(const surface *s, size_t t, const real *place) {
    const lv a = lv_of(s->vertex + 4 * s->corner[3 * t]), b = lv_of(s->vertex + 4 * s->corner[3 * t + 1]);
    const lv c = lv_of(s->vertex + 4 * s->corner[3 * t + 2]), x = lv_of(place);
    const long double gold = 0.6180339887498948482L;
    long double low = 0, high = 1;
    for (int k = 0; k < 90; k++) {
        const long double one = high - gold * (high - low), two = low + gold * (high - low);
        const bool left =
            to_stretch(lv_mix(a, b, one), lv_mix(a, c, one), x) < to_stretch(lv_mix(a, b, two), lv_mix(a, c, two), x);
        if (left)
            high = two;
        else
            low = one;
    }
    const long double at = 0.5L * (low + high);
    long double best = to_stretch(lv_mix(a, b, at), lv_mix(a, c, at), x);
    best = fminl(best, fminl(to_stretch(a, b, x), fminl(to_stretch(b, c, x), to_stretch(a, c, x))));
    return best;
}

/* ---- A tree on the device ---------------------------------------------------------------------------------------- */

typedef struct planted {
    const surface *s;
    pbd_exec *exec;
    mesh_tree tree;
    mesh_rows rows;
    void *vertex, *later, *corner, *x, *out;
} planted;

static void plant(planted *p, const surface *s, int backend, int threads) {
    *p = (planted){.s = s};
    check_ok(pbd_exec_create(backend, threads, &p->exec));
    check_ok(pbd_alloc(p->exec, sizeof s->vertex, &p->vertex));
    check_ok(pbd_alloc(p->exec, sizeof s->vertex, &p->later));
    check_ok(pbd_alloc(p->exec, sizeof s->corner, &p->corner));
    check_ok(pbd_alloc(p->exec, 4 * MOST_PLACES * sizeof(real), &p->x));
    check_ok(pbd_alloc(p->exec, MOST_PLACES * sizeof(mesh_point), &p->out));
    check_ok(pbd_upload(p->exec, p->vertex, s->vertex, sizeof s->vertex));
    check_ok(pbd_upload(p->exec, p->corner, s->corner, sizeof s->corner));
    p->rows = (mesh_rows){.vertex = p->vertex, .corner = p->corner};
    check_ok(mesh_tree_create(&p->tree, p->exec, s->triangles));
    check_ok(mesh_tree_build(&p->tree, &p->rows));
}

static void uproot(planted *p) {
    mesh_tree_free(&p->tree);
    void *device[] = {p->vertex, p->later, p->corner, p->x, p->out};
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) pbd_free(p->exec, device[i]);
    pbd_exec_destroy(p->exec);
}

static void ask(planted *p, const real *x, size_t n, double reach, bool own, mesh_point *out) {
    check_ok(pbd_upload(p->exec, p->x, x, 4 * n * sizeof *x));
    check_ok(mesh_tree_nearest(&p->tree, &p->rows, p->x, n, reach, own, p->out));
    check_ok(pbd_download(p->exec, out, p->out, n * sizeof *out));
}

/* Places near, on and far from the surface, also at corners and on edges. */
static size_t make_places(const surface *s, real *x, size_t n) {
    uint64_t seed = 12;
    for (size_t i = 0; i < n; i++) {
        real *row = x + 4 * i;
        const double share = noise(&seed), other = noise(&seed);
        const size_t t = s->triangles ? (size_t)(fabs(share) * (double)s->triangles) % s->triangles : 0;
        const real *a = s->vertex + 4 * s->corner[3 * t], *b = s->vertex + 4 * s->corner[3 * t + 1];
        for (int d = 0; d < 3; d++) {
            const double far = s->size * 1.5 * noise(&seed), on = (double)a[d] + fabs(other) * (double)(b[d] - a[d]);
            row[d] = i % 4 == 0 ? (real)far : i % 4 == 1 ? a[d] : (real)on;
            if (i % 4 == 3) row[d] += (real)(1e-3 * far);
        }
        row[3] = 1;
    }
    return n;
}

static surface one;
static real places[4 * MOST_PLACES];
static mesh_point points[MOST_PLACES], others[MOST_PLACES];

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void test_nearest_against_brute_force(void **unused) {
    (void)unused;
    for (size_t k = 0; k < SURFACES; k++) {
        planted p;
        makers[k](&one);
        const size_t n = make_places(&one, places, 120);
        plant(&p, &one, PBD_CPU, 2);
        ask(&p, places, n, INFINITY, false, points);
        double worst = 0, off = 0;
        for (size_t i = 0; i < n; i++) {
            long double least = INFINITY;
            for (size_t t = 0; t < one.triangles; t++) least = fminl(least, brute_square(&one, t, places + 4 * i));
            assert_true(points[i].triangle < one.triangles);
            worst = fmax(worst, fabs(sqrt((double)points[i].square) - sqrt((double)least)));
            double sum = 0, square = 0; /* the point with these weights is at that distance */
            for (size_t d = 0; d < 3; d++) {
                double at = 0;
                for (size_t c = 0; c < 3; c++)
                    at += (double)points[i].weight[c] *
                          (double)one.vertex[4 * one.corner[3 * points[i].triangle + c] + d];
                square += (at - (double)places[4 * i + d]) * (at - (double)places[4 * i + d]);
                assert_true(points[i].weight[d] >= 0);
                sum += (double)points[i].weight[d];
            }
            check_near("weights, off 1", fabs(sum - 1), 0, exact);
            off = fmax(off, fabs(sqrt(square) - sqrt((double)points[i].square)));
        }
        check_near(one.name, worst / one.size, 0, one.thin ? sqrt(exact) : exact);
        check_near("its point, of its distance", off / one.size, 0, exact);
        uproot(&p);
    }
}

/* The nearest point by testing every triangle in turn, the first of ties. The tree must give bitwise the same, so the
 * result does not depend on the tree. */
static mesh_point in_turn(const surface *s, const real *x, double reach, uint32_t without) {
    const mesh_view all = {(uint32_t)s->triangles, s->corner, s->vertex, NULL, NULL, NULL, NULL};
    mesh_point best = {.triangle = MESH_NONE};
    best.square = reach < (double)MESH_FAR ? (real)reach * (real)reach : MESH_FAR * MESH_FAR;
    for (uint32_t t = 0; t < s->triangles; t++) mesh_try_triangle(&all, t, load3(x, 0), without, &best);
    return best;
}

static void test_nearest_to_the_bit_and_ties_by_number(void **unused) {
    (void)unused;
    for (size_t k = 0; k < SURFACES; k++) {
        planted p;
        makers[k](&one);
        const size_t n = make_places(&one, places, 400);
        plant(&p, &one, PBD_CPU, 1);
        for (int pass = 0; pass < 3; pass++) {
            const double reach = pass == 0 ? INFINITY : pass == 1 ? 0.05 * one.size : 0;
            size_t found = 0;
            ask(&p, places, n, reach, false, points);
            for (size_t i = 0; i < n; i++) {
                const mesh_point wanted = in_turn(&one, places + 4 * i, reach, MESH_NONE);
                assert_memory_equal(&points[i], &wanted, sizeof wanted);
                found += wanted.triangle != MESH_NONE;
            }
            print_message("    %s within %g m: %zu of %zu near\n", one.name, reach, found, n);
            assert_true(pass > 0 || found == n);
        }
        uproot(&p);
    }
}

static void test_own_triangles_do_not_count(void **unused) {
    (void)unused;
    planted p;
    make_sheet(&one);
    for (size_t v = 0; v < one.vertices; v++) one.vertex[4 * v + 2] = (real)(0.01 * sin(7.0 * (double)v));
    plant(&p, &one, PBD_CPU, 1);
    ask(&p, one.vertex, one.vertices, INFINITY, true, points);
    for (size_t v = 0; v < one.vertices; v++) {
        const mesh_point wanted = in_turn(&one, one.vertex + 4 * v, INFINITY, (uint32_t)v);
        assert_memory_equal(&points[v], &wanted, sizeof wanted);
        assert_true(points[v].square > 0);
        for (size_t c = 0; c < 3; c++) assert_true(one.corner[3 * points[v].triangle + c] != v);
    }
    uproot(&p);
}

/* Checks that every leaf is reached once, and that every box bounds exactly what is below it. */
static size_t count_leaves(const mesh_view *m, uint32_t node, int depth, unsigned char *seen) {
    assert_true(depth < MESH_LEVELS);
    if (node >= m->triangles - 1) {
        const uint32_t t = m->leaf[node - (m->triangles - 1)];
        assert_false(seen[t]++);
        return 1;
    }
    const uint32_t *child = m->child + 2 * (size_t)node;
    for (size_t d = 0; d < 6; d++) {
        const real a = m->box[6 * child[0] + d], b = m->box[6 * child[1] + d];
        assert_true(m->box[6 * (size_t)node + d] == (d < 3 ? (a < b ? a : b) : (a > b ? a : b)));
    }
    return count_leaves(m, child[0], depth + 1, seen) + count_leaves(m, child[1], depth + 1, seen);
}

static void test_the_tree_holds_every_triangle_once(void **unused) {
    (void)unused;
    static unsigned char seen[MOST_TRIANGLES];
    for (size_t k = 0; k < SURFACES; k++) {
        planted p;
        makers[k](&one);
        plant(&p, &one, PBD_CPU, 1);
        const mesh_view view = mesh_tree_view(&p.tree, &p.rows); /* the host can read the memory of the cpu backend */
        memset(seen, 0, sizeof seen);
        assert_int_equal(count_leaves(&view, 0, 0, seen), one.triangles);
        uproot(&p);
    }
    planted p;
    make_none(&one);
    plant(&p, &one, PBD_CPU, 1);
    make_places(&one, places, 3);
    ask(&p, places, 3, INFINITY, false, points);
    assert_int_equal(points[2].triangle, MESH_NONE);
    uproot(&p);
}

static void test_nothing_is_near_what_is_no_number(void **unused) {
    (void)unused;
    planted p;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    make_soup(&one);
    one.vertex[5] = (real)NAN; /* makes two triangles invalid */
    one.vertex[4 * 5] = (real)INFINITY;
    plant(&p, &one, PBD_CPU, 1);
    const size_t n = make_places(&one, places, 40);
    for (size_t i = 0; i < 3; i++) places[4 * i + i] = (real)bad[i];
    ask(&p, places, n, INFINITY, false, points);
    for (size_t i = 0; i < n; i++) {
        assert_true(i < 3 ? points[i].triangle == MESH_NONE
                          : points[i].triangle > 1 || isfinite((double)points[i].square));
        if (i < 3) continue;
        const mesh_point wanted = in_turn(&one, places + 4 * i, INFINITY, MESH_NONE);
        assert_memory_equal(&points[i], &wanted, sizeof wanted);
    }
    uproot(&p);
}

/* After a refit to moved vertices, queries give the results of a rebuilt tree. */
static void test_refit(void **unused) {
    (void)unused;
    planted p;
    make_sheet(&one);
    plant(&p, &one, PBD_CPU, 2);
    const size_t n = make_places(&one, places, 300);
    for (size_t v = 0; v < one.vertices; v++) {
        real *row = one.vertex + 4 * v;
        row[2] += (real)(0.5 * sin(3.0 * (double)row[0]));
        row[0] = (real)-0.7 * row[0];
    }
    check_ok(pbd_upload(p.exec, p.vertex, one.vertex, sizeof one.vertex));
    check_ok(mesh_tree_refit(&p.tree, &p.rows));
    ask(&p, places, n, INFINITY, false, points);
    check_ok(mesh_tree_build(&p.tree, &p.rows));
    ask(&p, places, n, INFINITY, false, others);
    assert_memory_equal(points, others, n * sizeof *points);
    for (size_t i = 0; i < n; i++) {
        const mesh_point wanted = in_turn(&one, places + 4 * i, INFINITY, MESH_NONE);
        assert_memory_equal(&points[i], &wanted, sizeof wanted);
    }
    uproot(&p);
}

/* With later positions, the boxes bound the motion: a walk finds every triangle whose swept box meets the query box. */
static void test_walks_find_what_moves_through(void **unused) {
    (void)unused;
    planted p;
    static real later[4 * MOST_VERTICES];
    make_soup(&one);
    plant(&p, &one, PBD_CPU, 1);
    for (size_t i = 0; i < 4 * one.vertices; i++) later[i] = one.vertex[i] + (real)(i % 4 == 0 ? 0.4 : 0);
    check_ok(pbd_upload(p.exec, p.later, later, sizeof later));
    mesh_rows moving = p.rows;
    moving.later = p.later;
    moving.margin = (real)0.01;
    check_ok(mesh_tree_build(&p.tree, &moving));
    const mesh_view view = mesh_tree_view(&p.tree, &moving);
    uint64_t seed = 2;
    size_t found = 0;
    for (int n = 0; n < 200; n++) {
        const double x = noise(&seed), y = noise(&seed), z = noise(&seed), w = 0.05 + 0.05 * noise(&seed);
        const vec3 low = vec3_make((real)(x - w), (real)(y - w), (real)(z - w));
        const vec3 high = vec3_make((real)(x + w), (real)(y + w), (real)(z + w));
        static unsigned char seen[MOST_TRIANGLES];
        memset(seen, 0, sizeof seen);
        mesh_walk walk;
        mesh_walk_begin(&view, &walk);
        for (uint32_t t; (t = mesh_walk_next(&view, &walk, low, high)) != MESH_NONE;) assert_false(seen[t]++);
        for (uint32_t t = 0; t < one.triangles; t++) {
            real box[6];
            mesh_box_of(&moving, t, box);
            assert_int_equal(seen[t], mesh_box_meets(box, low, high));
            found += seen[t];
        }
    }
    assert_true(found > 100);
    uproot(&p);
}

/* By hand: segments that cross a unit square of two triangles at z = 0 from above and below, on the diagonal, on the
 * rim, and beside it. */
static void test_crossings_by_hand(void **unused) {
    (void)unused;
    planted p;
    one = (surface){.name = "a square"};
    put_vertex(&one, 0, 0, 0);
    put_vertex(&one, 1, 0, 0);
    put_vertex(&one, 1, 1, 0);
    put_vertex(&one, 0, 1, 0);
    put_triangle(&one, 0, 1, 2);
    put_triangle(&one, 0, 2, 3);
    plant(&p, &one, PBD_CPU, 1);
    const mesh_view view = mesh_tree_view(&p.tree, &p.rows);
    enum { BOTH = MESH_FROM_FRONT | MESH_FROM_BACK };
    static const struct {
        double from[3], to[3];
        int sides;
        uint32_t triangle;
        double time, up;
    } given[] = {{{0.7, 0.2, 1}, {0.7, 0.2, -3}, BOTH, 0, 0.25, 1},
                 {{0.2, 0.7, 1}, {0.2, 0.7, -3}, BOTH, 1, 0.25, 1},
                 {{0.2, 0.7, -1}, {0.2, 0.7, 3}, BOTH, 1, 0.25, -1},
                 {{0.2, 0.7, -1}, {0.2, 0.7, 3}, MESH_FROM_FRONT, MESH_NONE, 2, 0},
                 {{0.2, 0.7, 1}, {0.2, 0.7, -3}, MESH_FROM_BACK, MESH_NONE, 2, 0},
                 {{0.5, 0.5, 1}, {0.5, 0.5, -1}, BOTH, 0, 0.5, 1}, /* the diagonal: hits both, the first counts */
                 {{0, 0, 1}, {0, 0, -1}, BOTH, 0, 0.5, 1},         /* a corner */
                 {{1, 0.5, 1}, {1, 0.5, -1}, BOTH, 0, 0.5, 1},     /* the rim */
                 {{1.001, 0.5, 1}, {1.001, 0.5, -1}, BOTH, MESH_NONE, 2, 0},
                 {{0.3, 0.1, 2}, {0.3, 0.1, 1}, BOTH, MESH_NONE, 2, 0},     /* ends before the square */
                 {{0.3, 0.1, 0.5}, {0.8, 0.1, 0.5}, BOTH, MESH_NONE, 2, 0}, /* parallel to it */
                 {{0.3, 0.1, 0}, {0.3, 0.1, -1}, BOTH, 0, 0, 1},            /* starts on it */
                 {{0.3, 0.1, 0}, {0.3, 0.1, 1}, MESH_FROM_FRONT, MESH_NONE, 2, 0}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const double *a = given[i].from, *b = given[i].to;
        const mesh_hit hit = mesh_crossing(&view, vec3_make((real)a[0], (real)a[1], (real)a[2]),
                                           vec3_make((real)b[0], (real)b[1], (real)b[2]), given[i].sides, (real)1e-6);
        assert_int_equal(hit.triangle, given[i].triangle);
        if (hit.triangle == MESH_NONE) continue;
        check_near("time", (double)hit.time, given[i].time, exact);
        check_near("normal", (double)hit.normal.z, given[i].up, exact);
    }
    uproot(&p);
}

static void test_threads_and_emulation_to_the_bit(void **unused) {
    (void)unused;
    planted p, q;
    make_slivers(&one);
    const size_t n = make_places(&one, places, 200);
    plant(&p, &one, PBD_CPU, 1);
    ask(&p, places, n, 0.3, false, points);
    for (int other = 0; other < 2; other++) {
        plant(&q, &one, other ? PBD_EMU : PBD_CPU, other ? 1 : 3);
        ask(&q, places, n, 0.3, false, others);
        assert_memory_equal(points, others, n * sizeof *points);
        assert_memory_equal(p.tree.child, q.tree.child, 2 * (one.triangles - 1) * sizeof *p.tree.child);
        assert_memory_equal(p.tree.box, q.tree.box, 6 * (2 * one.triangles - 1) * sizeof *p.tree.box);
        uproot(&q);
    }
    uproot(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_against_brute_force),
        cmocka_unit_test(test_nearest_to_the_bit_and_ties_by_number),
        cmocka_unit_test(test_own_triangles_do_not_count),
        cmocka_unit_test(test_the_tree_holds_every_triangle_once),
        cmocka_unit_test(test_nothing_is_near_what_is_no_number),
        cmocka_unit_test(test_refit),
        cmocka_unit_test(test_walks_find_what_moves_through),
        cmocka_unit_test(test_crossings_by_hand),
        cmocka_unit_test(test_threads_and_emulation_to_the_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
