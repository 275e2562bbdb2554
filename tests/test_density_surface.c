/* Surfaces of density (desbrun1996, section 4) against known results for one and two particles: circles and spheres of
 * a radius found by hand, the distance at which two separate, and conditions for a closed mesh. Near pairs, and
 * neighbours by several threads, against brute force. */
#include <assimp/cimport.h>
#include <assimp/scene.h>
#include <unistd.h>

#include "cases/geometry/density_surface.h"
#include "cases/geometry/near_pairs.h"
#include "cases/geometry/near_places.h"
#include "harness/exec/team.h"
#include "tests/ladder.h"
#include "tests/sanitized.h"

#undef REAL
#define REAL double
#include "methods/physics/space/sph_kernel.h"

static smoothed_matter matter_of(int dimensions, int kernel, size_t particles, const double *x, const double *mass) {
    return (smoothed_matter){dimensions, kernel, 0.5, particles, x, mass};
}

static density_surface surface_at(const smoothed_matter *m, double cell, double units) {
    density_grid g;
    density_surface s;
    check_ok(density_grid_make(m, cell, &g));
    check_ok(density_surface_make(&g, units * density_unit(m, m->mass[0]), &s));
    density_grid_free(&g);
    return s;
}

/* For the spiky kernel the surface at `units` times m W(h) has the radius r with (2 - r/h)^3 = units. */
static void test_one_particle(void **unused) {
    (void)unused;
    const double x[3] = {0.3, -0.2, 0.1}, mass[1] = {2};
    for (int dimensions = 2; dimensions <= 3; dimensions++)
        for (int units = 1; units <= 2; units++) {
            const smoothed_matter m = matter_of(dimensions, SPH_SPIKY, 1, x, mass);
            const double r = 0.5 * (2 - cbrt(units)), cell = dimensions == 2 ? 0.005 : 0.025;
            density_surface s = surface_at(&m, cell, units);
            const double area = dimensions == 2 ? 2 * M_PI * r : 4 * M_PI * r * r;
            const double volume = dimensions == 2 ? M_PI * r * r : 4 * M_PI / 3 * r * r * r;
            check_near("area or length", s.area / area, 1, dimensions == 2 ? 1e-3 : 5e-3);
            check_near("volume or area", s.volume / volume, 1, dimensions == 2 ? 1e-3 : 5e-3);
            assert_int_equal(s.pieces, 1);
            double worst = 0;
            for (size_t v = 0; v < s.vertices; v++)
                worst = fmax(worst, fabs(hypot(hypot(s.vertex[3 * v] - x[0], s.vertex[3 * v + 1] - x[1]),
                                               s.vertex[3 * v + 2] - x[2]) -
                                         r));
            check_near("radius, m", worst, 0, 2 * cell * cell);
            density_surface_free(&s);
        }
}

/* D-5: at the level 2 m W(h) two particles separate at 2h, where they no longer touch. At the level m W(h), where a
 * lone particle has its surface at h, they separate at 2.41 h. */
static void test_two_particles_part(void **unused) {
    (void)unused;
    static const struct {
        double units, apart;
        size_t pieces;
    } wanted[] = {{2, 1.98, 1}, {2, 2.02, 2}, {1, 2.39, 1}, {1, 2.43, 2}};
    for (int dimensions = 2; dimensions <= (SANITIZED ? 2 : 3); dimensions++)
        for (size_t k = 0; k < 4; k++) {
            const double x[6] = {0, 0, 0, 0.5 * wanted[k].apart, 0, 0}, mass[2] = {1, 1};
            const smoothed_matter m = matter_of(dimensions, SPH_SPIKY, 2, x, mass);
            density_surface s = surface_at(&m, dimensions == 2 ? 0.0025 : 0.01, wanted[k].units);
            if (s.pieces != wanted[k].pieces)
                fail_msg("%d dimensions, %g h apart: %zu pieces", dimensions, wanted[k].apart, s.pieces);
            density_surface_free(&s);
        }
}

/* A random heap: each edge of a triangle belongs to another one in the opposite direction; each end of a segment is the
 * beginning of another. */
static void test_surfaces_are_closed(void **unused) {
    (void)unused;
    uint64_t seed = 3;
    double x[3 * 40], mass[40];
    for (int dimensions = 2; dimensions <= 3; dimensions++) {
        for (size_t i = 0; i < 40; i++) {
            for (size_t d = 0; d < 3; d++) x[3 * i + d] = (int)d < dimensions ? 2 * noise(&seed) : 0;
            mass[i] = 1 + 0.5 * noise(&seed);
        }
        const smoothed_matter m = matter_of(dimensions, SPH_CUBIC_SPLINE, 40, x, mass);
        density_surface s = surface_at(&m, dimensions == 2 ? 0.11 : 0.3, 1.3);
        const size_t n = (size_t)s.corners;
        assert_true(s.faces > 50);
        size_t open = 0;
        if (n == 2)
            for (size_t f = 0; f < s.faces; f++) {
                int ends = 0, begins = 0;
                for (size_t e = 0; e < s.faces; e++) {
                    ends += s.face[2 * e + 1] == s.face[2 * f];
                    begins += s.face[2 * e] == s.face[2 * f];
                }
                open += ends != 1 || begins != 1;
            }
        else
            for (size_t k = 0; k < 3 * s.faces; k++) {
                const uint32_t a = s.face[k], b = s.face[k - k % 3 + (k + 1) % 3];
                int back = 0, again = 0;
                for (size_t e = 0; e < 3 * s.faces; e++) {
                    const uint32_t c = s.face[e], d = s.face[e - e % 3 + (e + 1) % 3];
                    back += c == b && d == a;
                    again += c == a && d == b;
                }
                open += back != 1 || again != 1;
            }
        assert_int_equal(open, 0);
        assert_true(s.volume > 0);
        density_surface_free(&s);
    }
}

/* Another library reads the file as written. */
static void test_ply(void **unused) {
    (void)unused;
    const double x[3] = {0, 0, 0}, mass[1] = {1};
    const smoothed_matter m = matter_of(3, SPH_SPIKY, 1, x, mass);
    density_surface s = surface_at(&m, 0.1, 1);
    char path[] = "/tmp/pbdbench-surface-XXXXXX.ply";
    const int file = mkstemps(path, 4);
    assert_true(file >= 0);
    close(file);
    check_ok(density_surface_write(&s, path));
    const struct aiScene *read = aiImportFile(path, 0);
    assert_non_null(read);
    assert_int_equal(read->mNumMeshes, 1);
    assert_int_equal(read->mMeshes[0]->mNumFaces, s.faces);
    aiReleaseImport(read);
    unlink(path);
    assert_int_equal(density_surface_write(&s, "/nowhere/at/all.ply").code, PBD_FAILED);
    density_surface_free(&s);
}

static void test_refusals(void **unused) {
    (void)unused;
    double x[6] = {0, 0, 0, 1e9, 0, 0}, mass[2] = {1, 1};
    smoothed_matter m = matter_of(2, SPH_SPIKY, 2, x, mass);
    density_grid g;
    assert_int_equal(density_grid_make(&m, 0.1, &g).code, PBD_BAD_INPUT);
    x[3] = NAN;
    assert_int_equal(density_grid_make(&m, 0.1, &g).code, PBD_BAD_INPUT);
    x[3] = 1;
    assert_int_equal(density_grid_make(&m, 0, &g).code, PBD_BAD_INPUT);
    check_ok(density_grid_make(&m, 0.1, &g));
    density_surface s;
    assert_int_equal(density_surface_make(&g, 0, &s).code, PBD_BAD_INPUT);
    density_grid_free(&g);
}

static void test_near_pairs(void **unused) {
    (void)unused;
    enum { N = 300 };
    uint64_t seed = 9;
    double x[3 * N];
    uint32_t piece[N];
    size_t size[N], all = 0;
    near_pairs p;
    for (size_t i = 0; i < 3 * N; i++) x[i] = 3 * noise(&seed) + (i / 3 < 100 ? 20 : 0);
    x[3 * 299] = NAN;
    check_ok(near_pairs_find(x, N, 2, &p));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < i; j++)
            all += hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]), x[3 * i + 2] - x[3 * j + 2]) < 2;
    assert_int_equal(p.count, all);
    assert_true(all > 1000);
    assert_int_equal(near_pairs_pieces(&p, N, piece, size), 3); /* two heaps, and a particle without a position */
    assert_int_equal(size[0], 100);
    assert_int_equal(size[1], 199);
    assert_int_equal(piece[299], 2);
    near_pairs_free(&p);
}

typedef struct tally {
    const bool *chosen;
    size_t all, wanted, out_of_order;
} tally;

static void tally_pair(void *to, size_t i, size_t j, double square) {
    tally *t = to;
    t->all++;
    t->wanted += t->chosen[i] || t->chosen[j];
    t->out_of_order += !(j < i && square < 0.25);
}

/* Few particles are chosen, in one corner, so that whole cells are skipped. */
static void test_near_pairs_of_the_chosen(void **unused) {
    (void)unused;
    enum { N = 2000 };
    uint64_t seed = 4;
    double x[3 * N];
    bool chosen[N];
    for (size_t i = 0; i < 3 * N; i++) x[i] = 3 * noise(&seed);
    for (size_t i = 0; i < N; i++) chosen[i] = x[3 * i] < 0.5 && i % 7 == 0;
    tally every = {.chosen = chosen}, some = {.chosen = chosen};
    check_ok(near_pairs_visit(x, N, 0.5, tally_pair, &every));
    check_ok(near_pairs_visit_chosen(x, N, chosen, 0.5, tally_pair, &some));
    assert_true(every.wanted > 100 && every.all > 5 * every.wanted);
    assert_int_equal(some.all, every.wanted);
    assert_int_equal(some.wanted, every.wanted);
    assert_int_equal(every.out_of_order + some.out_of_order, 0);
}

/* What near_places_visit passes for each particle: the number of others, the sum of their squared distances, and the
 * sum of these times the others' numbers. */
enum { SHOWN = 40000 };
typedef struct shown {
    const near_places *at;
    size_t count[SHOWN], wrong[SHOWN];
    double squares[SHOWN], order[SHOWN];
} shown;

static void note_others(void *to, size_t place, const near_list *others) {
    shown *s = to;
    const size_t i = s->at->particle[place];
    for (size_t k = 0; k < others->count; k++) {
        s->count[i]++;
        s->squares[i] += others->square[k];
        s->order[i] += others->square[k] * (double)s->at->particle[others->place[k]];
        s->wrong[i] += k > 0 && others->place[k - 1] >= others->place[k];
    }
    for (size_t k = others->count; k % NEAR_LANES != 0; k++) s->wrong[i] += others->square[k] < INFINITY;
}

static void show_all(const double *x, int threads, shown *out) {
    near_places at;
    pbd_team_set_threads(threads);
    check_ok(near_places_make(x, SHOWN, 0.12, &at));
    *out = (shown){.at = &at};
    check_ok(near_places_visit(&at, 0.1, note_others, out));
    near_places_free(&at);
    out->at = NULL;
    pbd_team_set_threads(0);
}

/* far: the x of one particle, possibly so far away that cells cannot be numbered. */
static void check_places(double *x, double far) {
    static shown one, many, brute;
    brute = (shown){0};
    x[3 * 97] = far;
    show_all(x, 1, &one);
    for (size_t i = 0; i < SHOWN; i += 97)
        for (size_t j = 0; j < SHOWN; j++) {
            const double *a = x + 3 * i, *b = x + 3 * j;
            const double square = pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2);
            if (i == j || !(square < 0.1 * 0.1)) continue;
            brute.count[i]++;
            brute.squares[i] += square;
        }
    for (size_t i = 0; i < SHOWN; i++) {
        assert_int_equal(one.wrong[i], 0);
        if (i % 97 != 0) continue;
        assert_int_equal(one.count[i], brute.count[i]);
        assert_true(fabs(one.squares[i] - brute.squares[i]) <= 1e-13);
    }
    for (int threads = 2; threads <= 8; threads += 3) {
        show_all(x, threads, &many);
        assert_memory_equal(&one, &many, sizeof one);
    }
}

static void test_near_places(void **unused) {
    (void)unused;
    static double x[3 * SHOWN];
    uint64_t seed = 5;
    for (size_t i = 0; i < 3 * SHOWN; i++) x[i] = noise(&seed);
    x[3 * 194 + 1] = NAN;
    x[3 * 291 + 2] = 1e9;
    check_places(x, 1);
    check_places(x, -1.5e8);
}

static void count_others(void *to, size_t place, const near_list *others) { ((size_t *)to)[place] = others->count; }

/* A pair at exactly the reach is none: of a lattice, with a reach of two spacings, the 26 others within one spacing
 * along each axis. Coordinates and distances are exact. */
static void test_reach_is_exclusive(void **unused) {
    (void)unused;
    enum { SIDE = 9, ALL = SIDE * SIDE * SIDE };
    static double x[3 * ALL];
    static size_t count[ALL];
    near_places at;
    size_t inner = 0;
    for (size_t i = 0; i < ALL; i++)
        for (size_t d = 0, rest = i; d < 3; d++, rest /= SIDE) x[3 * i + d] = 0.125 * (double)(rest % SIDE);
    check_ok(near_places_make(x, ALL, 0.25, &at));
    check_ok(near_places_visit(&at, 0.25, count_others, count));
    for (size_t place = 0; place < ALL; place++) {
        const double *of = x + 3 * at.particle[place];
        size_t others = 1;
        for (size_t d = 0; d < 3; d++) others *= of[d] > 0 && of[d] < 0.125 * (SIDE - 1) ? 3 : 2;
        assert_int_equal(count[place], others - 1);
        inner += others == 27;
    }
    assert_int_equal(inner, 7 * 7 * 7);
    near_places_free(&at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_particle),
        cmocka_unit_test(test_two_particles_part),
        cmocka_unit_test(test_surfaces_are_closed),
        cmocka_unit_test(test_ply),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_near_pairs),
        cmocka_unit_test(test_near_pairs_of_the_chosen),
        cmocka_unit_test(test_near_places),
        cmocka_unit_test(test_reach_is_exclusive),
    };
    return cmocka_run_group_tests_name("surfaces of density", tests, NULL, NULL);
}
