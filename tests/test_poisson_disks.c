/* Poisson-disk sampling: the points that remain against the published algorithm, distances, gaps, layers, and the same
 * particles for any number of threads. */
#include "cases/geometry/triangle_mesh.h"
#include "cases/sampling/elimination.h"
#include "cases/sampling/sampling.h"
#include "cases/scenes/body.h"
#include "harness/exec/team.h"
#include "tests/ladder.h"

static const double SUM_OF_SEED_1 = 379.0455435932181;

static sampling fill(const shapes *s, sampling_plan plan) {
    const solid body = shapes_solid(s);
    sampling out;
    check_ok(sampling_make(&body, &plan, &out));
    return out;
}

static bool same_particles(const sampling *a, const sampling *b) {
    return a->count == b->count && memcmp(a->position, b->position, 3 * a->count * sizeof *a->position) == 0 &&
           memcmp(a->layer, b->layer, a->count) == 0;
}

static double *random_points(size_t points, double x_scale) {
    double *x = malloc(3 * points * sizeof *x);
    uint64_t seed = 3;
    for (size_t i = 0; i < 3 * points; i++) x[i] = (i % 3 == 0 ? x_scale : 1) * (0.5 + 0.5 * body_noise(&seed));
    return x;
}

/* ---- Elimination ------------------------------------------------------------------------------------------------- */

/* Yuksel 2015, section 3, as printed: compute all weights, remove the heaviest sample, update the weights of its
 * neighbours, repeat. Weights are multiples of 2^-44; of equal weights the first sample is removed. */
static double pair_weight(const double *a, const double *b, double least, double reach) {
    double square = 0;
    for (int d = 0; d < 3; d++) square += (a[d] - b[d]) * (a[d] - b[d]);
    const double w = 1 - fmax(sqrt(square), least) / reach;
    return w > 0 ? floor(ldexp(w * w * (w * w) * (w * w * (w * w)), 44)) : 0;
}

static void eliminate_one_by_one(size_t points, const double *x, double volume, size_t keep, unsigned char *kept) {
    const double most = (double)(float)cbrt(volume / (4 * sqrt(2) * (double)keep));
    const double least = 2 * most * 0.65 * (1 - pow((double)keep / (double)points, 1.5));
    memset(kept, 1, points);
    for (size_t left = points; left > keep; left--) {
        size_t heaviest = 0;
        double most_weight = -1;
        for (size_t i = 0; i < points; i++) {
            double weight = 0;
            for (size_t j = 0; j < points && kept[i]; j++)
                if (j != i && kept[j]) weight += pair_weight(x + 3 * i, x + 3 * j, least, 2 * most);
            if (kept[i] && weight > most_weight) most_weight = weight, heaviest = i;
        }
        kept[heaviest] = 0;
    }
}

/* A cube, and a slab of a fortieth of a spacing, where many samples have no neighbour. */
static void test_as_published(void **state) {
    (void)state;
    enum { KEEP = 60, POINTS = 5 * KEEP };
    for (int thin = 0; thin < 2; thin++) {
        unsigned char expected[POINTS], kept[POINTS];
        double *x = random_points(POINTS, thin ? 0.001 : 1);
        const double volume = thin ? 0.001 : 1;
        check_ok(eliminate_samples(POINTS, x, volume, KEEP, kept));
        eliminate_one_by_one(POINTS, x, volume, KEEP, expected);
        assert_memory_equal(kept, expected, POINTS);
        free(x);
    }
}

static void test_any_number_of_threads(void **state) {
    (void)state;
    enum { KEEP = 12000, POINTS = 5 * KEEP }; /* fifteen pieces */
    double *x = random_points(POINTS, 1);
    unsigned char *one = malloc(POINTS), *more = malloc(POINTS);
    size_t count = 0;
    pbd_team_set_threads(1);
    check_ok(eliminate_samples(POINTS, x, 1, KEEP, one));
    for (size_t i = 0; i < POINTS; i++) count += one[i];
    assert_int_equal(count, KEEP);
    for (int threads = 2; threads <= 4; threads += 2) {
        pbd_team_set_threads(threads);
        check_ok(eliminate_samples(POINTS, x, 1, KEEP, more));
        assert_memory_equal(one, more, POINTS);
    }
    pbd_team_set_threads(0);
    free(x);
    free(one);
    free(more);
}

static void test_bodies_on_any_number_of_threads(void **state) {
    (void)state;
    shapes s;
    body_shape_make(BODY_COW, &s);
    for (int kind = SAMPLING_LATTICE; kind <= SAMPLING_POISSON; kind++) {
        const sampling_plan plan = {(sampling_kind)kind, 0, 3000, 7, false, false};
        pbd_team_set_threads(1);
        sampling one = fill(&s, plan);
        for (int threads = 2; threads <= 4; threads += 2) {
            pbd_team_set_threads(threads);
            sampling more = fill(&s, plan);
            assert_true(same_particles(&one, &more));
            sampling_free(&more);
        }
        sampling_free(&one);
    }
    pbd_team_set_threads(0);
}

/* ---- Bodies ------------------------------------------------------------------------------------------------------ */

static double least_distance(const sampling *s) {
    double least = INFINITY;
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < i; j++) {
            double square = 0;
            for (size_t d = 0; d < 3; d++) {
                const double gap = s->position[3 * i + d] - s->position[3 * j + d];
                square += gap * gap;
            }
            least = fmin(least, square);
        }
    return sqrt(least);
}

static void test_poisson_disks(void **state) {
    (void)state;
    shapes s = {0};
    shapes_torus(&s, 0, 0, 0, 0.34, 0.16);
    const solid body = shapes_solid(&s);
    sampling out = fill(&s, (sampling_plan){SAMPLING_POISSON, 0, 1500, 7, false, false});
    assert_int_equal(out.count, 1500);
    check_near("volume", 1500 * out.volume, body.volume, 1e-12);
    /* The smallest distance of random points would be about 0.55 / 1500^(2/3) = 0.004 spacings. In the plane,
     * elimination reaches 0.7 to 0.8 of the densest packing's radius (Yuksel 2015, Table 1). Densest packing here:
     * 2^(1/6) spacings. */
    const double least = least_distance(&out) / out.spacing;
    print_message("    nearest pair: %.3f spacings\n", least);
    assert_true(least > 0.6);
    size_t count[3] = {0};
    for (size_t i = 0; i < out.count; i++) {
        const double deep = -body.distance(&body, out.position + 3 * i) / out.spacing;
        assert_true(deep >= 0.3);
        assert_int_equal(out.layer[i], deep < 1 ? 1 : deep < 2 ? 2 : 0);
        count[out.layer[i]]++;
    }
    assert_true(count[0] > 0 && count[1] > 0 && count[2] > 0);
    sampling_free(&out);
}

static double distance_to_nearest(const sampling *s, const double x[3]) {
    double least = INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        double square = 0;
        for (size_t d = 0; d < 3; d++) square += (s->position[3 * i + d] - x[d]) * (s->position[3 * i + d] - x[d]);
        least = fmin(least, square);
    }
    return sqrt(least);
}

/* No further sample fits at a distance of 2^(1/6) spacings, that of the densest packing of as many samples. The set is
 * not maximal for its own smallest distance: elimination does not guarantee that (Yuksel 2015, section 3.2). */
static void test_gaps(void **state) {
    (void)state;
    shapes s = {0};
    shapes_box(&s, (const double[]){0, 0, 0}, (const double[]){1, 1, 1});
    sampling out = fill(&s, (sampling_plan){SAMPLING_POISSON, 0, 4000, 7, false, false});
    uint64_t seed = 9;
    double widest = 0;
    for (int i = 0; i < 20000; i++) {
        double x[3];
        for (int d = 0; d < 3; d++) x[d] = 0.5 + (0.5 - 2 * out.spacing) * body_noise(&seed);
        widest = fmax(widest, distance_to_nearest(&out, x));
    }
    print_message("    widest gap: %.3f spacings, nearest pair: %.4f\n", widest / out.spacing,
                  least_distance(&out) / out.spacing);
    assert_true(widest < pow(2, 1.0 / 6) * out.spacing);
    sampling_free(&out);
}

/* The sum is a regression value, equal on machines with and without fused multiply-add. */
static void test_seeds(void **state) {
    (void)state;
    shapes s;
    body_shape_make(BODY_BUNNY, &s);
    sampling one = fill(&s, (sampling_plan){SAMPLING_POISSON, 0, 300, 1, false, false});
    sampling again = fill(&s, (sampling_plan){SAMPLING_POISSON, 0, 300, 1, false, false});
    sampling other = fill(&s, (sampling_plan){SAMPLING_POISSON, 0, 300, 2, false, false});
    assert_true(same_particles(&one, &again));
    assert_false(same_particles(&one, &other));
    double sum = 0;
    for (size_t i = 0; i < 3 * one.count; i++) sum += one.position[i] * (double)(i % 7 + 1);
    check_near("regression", sum, SUM_OF_SEED_1, 1e-9);
    sampling_free(&one);
    sampling_free(&again);
    sampling_free(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_published),
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_bodies_on_any_number_of_threads),
        cmocka_unit_test(test_poisson_disks),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
