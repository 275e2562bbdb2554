/* Surfaces of density (desbrun1996, section 4) against what is known of one particle and of two: circles and spheres of
 * a radius found by hand, where two part, and what a mesh must be to be closed. Pairs of near particles against all. */
#include <assimp/cimport.h>
#include <assimp/scene.h>
#include <unistd.h>

#include "cases/geometry/density_surface.h"
#include "cases/geometry/near_pairs.h"
#include "tests/ladder.h"

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

/* (2 - r/h)^3 = units for the spiky kernel: where it is that many times m W(h). */
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

/* D-5: at 2 m W(h) two particles part where they no longer touch, 2h; at m W(h) at 2.41 h, and a lone one has its
 * surface at h. */
static void test_two_particles_part(void **unused) {
    (void)unused;
    static const struct {
        double units, apart;
        size_t pieces;
    } wanted[] = {{2, 1.98, 1}, {2, 2.02, 2}, {1, 2.39, 1}, {1, 2.43, 2}};
    for (int dimensions = 2; dimensions <= 3; dimensions++)
        for (size_t k = 0; k < 4; k++) {
            const double x[6] = {0, 0, 0, 0.5 * wanted[k].apart, 0, 0}, mass[2] = {1, 1};
            const smoothed_matter m = matter_of(dimensions, SPH_SPIKY, 2, x, mass);
            density_surface s = surface_at(&m, dimensions == 2 ? 0.0025 : 0.01, wanted[k].units);
            if (s.pieces != wanted[k].pieces)
                fail_msg("%d dimensions, %g h apart: %zu pieces", dimensions, wanted[k].apart, s.pieces);
            density_surface_free(&s);
        }
}

/* A random heap: each edge of a triangle is that of another one, the other way round; each end of a segment is the
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

/* What is written is what another program reads. */
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
    assert_int_equal(near_pairs_pieces(&p, N, piece, size), 3); /* two heaps, and one that is nowhere */
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

/* Few are chosen, in one corner, so that whole cells are passed over. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_particle),
        cmocka_unit_test(test_two_particles_part),
        cmocka_unit_test(test_surfaces_are_closed),
        cmocka_unit_test(test_ply),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_near_pairs),
        cmocka_unit_test(test_near_pairs_of_the_chosen),
    };
    return cmocka_run_group_tests_name("surfaces of density", tests, NULL, NULL);
}
