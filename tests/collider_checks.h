/* Distances, normals and motion of colliders for the precision REAL: included by test_colliders.c (f64) and
 * test_colliders_f32.c. The oracle is a cloud of points on each surface, generated from the shape's definition. */
#include "methods/physics/surface/collider_pose.h"
#include "methods/physics/surface/colliders.h"

#include "tests/ladder.h"

static const double exact = sizeof(real) == sizeof(float) ? 2e-6 : 4e-15; /* tolerance for values of about 1 */

static const char *const names[PBD_COLLIDER_SHAPES] = {[PBD_PLANE] = "plane",
                                                       [PBD_BOX] = "box",
                                                       [PBD_SPHERE] = "sphere",
                                                       [PBD_CAPSULE] = "capsule",
                                                       [PBD_CYLINDER] = "cylinder",
                                                       [PBD_HOURGLASS] = "hourglass",
                                                       [PBD_PERFORATED_PLATE] = "perforated plate",
                                                       [PBD_TORUS] = "torus"};
static const real halves[PBD_COLLIDER_SHAPES][3] = {[PBD_PLANE] = {(real)0.5, (real)0.4, (real)0.3},
                                                    [PBD_BOX] = {(real)0.5, (real)0.4, (real)0.3},
                                                    [PBD_SPHERE] = {(real)0.5, (real)0.4, (real)0.3},
                                                    [PBD_CAPSULE] = {(real)0.5, (real)0.4, (real)0.3},
                                                    [PBD_CYLINDER] = {(real)0.5, (real)0.4, (real)0.3},
                                                    [PBD_HOURGLASS] = {(real)0.2, (real)0.7, (real)0.6},
                                                    [PBD_PERFORATED_PLATE] = {(real)0.2, (real)0.4, (real)0.3},
                                                    [PBD_TORUS] = {(real)0.5, (real)0.2, (real)0.3}};

/* ---- The oracle -------------------------------------------------------------------------------------------------- */

enum { FINE = 160, MOST_POINTS = 6 * (FINE + 1) * (FINE + 1) };
typedef struct surface_points {
    size_t count;
    double at[MOST_POINTS][3];
    double spacing; /* m, between neighbours, upper bound */
} surface_points;

static surface_points points;

static void add(double x, double y, double z) {
    double *at = points.at[points.count++];
    at[0] = x, at[1] = y, at[2] = z;
}

static void add_box(const real half[3]) {
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2)
            for (int i = 0; i <= FINE; i++)
                for (int j = 0; j <= FINE; j++) {
                    double x[3];
                    x[axis] = side * (double)half[axis];
                    x[(axis + 1) % 3] = (2.0 * i / FINE - 1) * (double)half[(axis + 1) % 3];
                    x[(axis + 2) % 3] = (2.0 * j / FINE - 1) * (double)half[(axis + 2) % 3];
                    add(x[0], x[1], x[2]);
                }
}

/* Adds the circle that the point (distance from the axis, z) sweeps about the axis. */
static void add_turned(double r, double z) {
    for (int i = 0; i < 2 * FINE; i++) add(r * cos(M_PI * i / FINE), r * sin(M_PI * i / FINE), z);
}

/* Adds a sphere of radius r, its upper half raised by `lift` and its lower half lowered by it. */
static void add_round(double r, double lift) {
    for (int j = 0; j <= FINE; j++) {
        const double angle = M_PI * (j / (double)FINE - 0.5), up = sin(angle);
        add_turned(r * cos(angle), r * up + (up < 0 ? -lift : lift));
    }
}

static void add_mantle(double r, double reach) {
    for (int j = 0; j <= FINE; j++) add_turned(r, reach * (2.0 * j / FINE - 1));
}

static void add_ends(double r, double z) {
    for (int j = 0; j <= FINE / 2; j++)
        for (int side = -1; side <= 1; side += 2) add_turned(r * j / (FINE / 2), side * z);
}

static void add_cones(const real half[3]) {
    for (int j = -FINE; j <= FINE; j++) {
        const double share = fabs(j / (double)FINE);
        add_turned((1 - share) * (double)half[0] + share * (double)half[1], j / (double)FINE * (double)half[2]);
    }
}

/* Adds the faces with their holes and the walls of the holes, a little beyond the range of the random query points. */
static void add_plate(const real half[3]) {
    const double r = (double)half[0], pitch = 2 * (double)half[1], h = (double)half[2];
    for (int i = -FINE / 2; i <= FINE / 2; i++)
        for (int j = -FINE / 2; j <= FINE / 2; j++) {
            const double x = 1.3 * i / (FINE / 2), y = 1.3 * j / (FINE / 2);
            if (hypot(remainder(x, pitch), remainder(y, pitch)) < r) continue;
            add(x, y, h);
            add(x, y, -h);
        }
    for (int i = -2; i <= 2; i++)
        for (int j = -2; j <= 2; j++)
            for (int k = 0; k < FINE / 2; k++)
                for (int level = -16; level <= 16; level++)
                    add(pitch * i + r * cos(4 * M_PI * k / FINE), pitch * j + r * sin(4 * M_PI * k / FINE),
                        h * level / 16);
}

static void add_ring(const real half[3]) {
    for (int j = 0; j < FINE; j++) {
        const double angle = 2 * M_PI * j / FINE;
        add_turned((double)half[0] + (double)half[1] * cos(angle), (double)half[1] * sin(angle));
    }
}

static void make_points(int shape) {
    const real *half = halves[shape];
    points.count = 0;
    points.spacing = 0.02;
    const double r = (double)half[0], h = (double)half[2];
    if (shape == PBD_BOX) add_box(half);
    if (shape == PBD_SPHERE) add_round(r, 0);
    if (shape == PBD_CAPSULE) add_round(r, h), add_mantle(r, h);
    if (shape == PBD_CYLINDER) add_mantle(r, h), add_ends(r, h);
    if (shape == PBD_HOURGLASS) add_cones(half), add_ends((double)half[1], h);
    if (shape == PBD_PERFORATED_PLATE) add_plate(half);
    if (shape == PBD_TORUS) add_ring(half);
}

/* From the definition of each solid. */
static bool is_inside(int shape, const double x[3]) {
    const real *half = halves[shape];
    const double r = (double)half[0], other = (double)half[1], h = (double)half[2], radial = hypot(x[0], x[1]);
    if (shape == PBD_BOX) return fabs(x[0]) < r && fabs(x[1]) < other && fabs(x[2]) < h;
    if (shape == PBD_SPHERE) return hypot(radial, x[2]) < r;
    if (shape == PBD_CYLINDER) return radial < r && fabs(x[2]) < h;
    if (shape == PBD_HOURGLASS) return fabs(x[2]) < h && radial < r + (other - r) * fabs(x[2]) / h;
    if (shape == PBD_PERFORATED_PLATE)
        return fabs(x[2]) < h && hypot(remainder(x[0], 2 * other), remainder(x[1], 2 * other)) > r;
    if (shape == PBD_TORUS) return hypot(radial - r, x[2]) < other;
    return fabs(x[2]) < h ? radial < r : hypot(radial, fabs(x[2]) - h) < r;
}

static double to_points(const double x[3]) {
    double least = INFINITY;
    for (size_t i = 0; i < points.count; i++) {
        const double *p = points.at[i];
        const double square =
            (x[0] - p[0]) * (x[0] - p[0]) + (x[1] - p[1]) * (x[1] - p[1]) + (x[2] - p[2]) * (x[2] - p[2]);
        if (square < least) least = square;
    }
    return sqrt(least);
}

static vec3 random_point(uint64_t *seed) {
    const double x = noise(seed), y = noise(seed), z = noise(seed);
    return vec3_make((real)x, (real)y, (real)z);
}

static void test_distances_against_points_of_the_surface(void **unused) {
    (void)unused;
    for (int shape = PBD_BOX; shape < PBD_COLLIDER_SHAPES; shape++) {
        if (shape == PBD_MESH) continue;
        make_points(shape);
        uint64_t seed = 7;
        double worst = 0;
        for (int n = 0; n < 120; n++) {
            const vec3 at = random_point(&seed);
            const double x[3] = {(double)at.x, (double)at.y, (double)at.z};
            const double got = (double)shape_gap(shape, halves[shape], at).distance;
            const double wanted = to_points(x) * (is_inside(shape, x) ? -1 : 1);
            assert_true((got < 0) == is_inside(shape, x));
            /* the nearest sample is at most spacing/sqrt(2) from the true closest point of the surface */
            const double limit = hypot(got, points.spacing / sqrt(2)) - fabs(got) + 10 * exact;
            worst = fmax(worst, fabs(got - wanted) / limit);
        }
        check_near(names[shape], worst, 0, 1);
    }
}

/* The normal has length 1. Going back along it by the distance leads from any point to the surface, where the distance
 * is 0. */
static void test_normals_lead_to_the_surface(void **unused) {
    (void)unused;
    for (int shape = 0; shape < PBD_COLLIDER_SHAPES; shape++) {
        if (shape == PBD_MESH) continue;
        uint64_t seed = 11;
        double off = 0, length = 0;
        for (int n = 0; n < 2000; n++) {
            const vec3 x = random_point(&seed);
            const collider_gap gap = shape_gap(shape, halves[shape], x);
            const vec3 foot = vec3_sub(x, vec3_scale(gap.distance, gap.normal));
            off = fmax(off, fabs((double)shape_gap(shape, halves[shape], foot).distance));
            length = fmax(length, fabs(sqrt((double)vec3_dot(gap.normal, gap.normal)) - 1));
        }
        check_near(names[shape], off, 0, exact);
        check_near("its normal's length, off 1", length, 0, exact);
    }
}

/* Distances and normals calculated by hand for the sizes above. */
static void test_distances_by_hand(void **unused) {
    (void)unused;
    static const struct {
        int shape;
        double x[3], distance, normal[3];
    } given[] = {{PBD_PLANE, {7, -3, 0.25}, 0.25, {0, 0, 1}},
                 {PBD_PLANE, {7, -3, -2}, -2, {0, 0, 1}},
                 {PBD_BOX, {0.4, 0, 0}, -0.1, {1, 0, 0}},
                 {PBD_BOX, {0, -0.2, 0}, -0.2, {0, -1, 0}},
                 {PBD_BOX, {-0.8, 0.8, 0.1}, 0.5, {-0.6, 0.8, 0}}, /* beyond an edge: 0.3 and 0.4 */
                 {PBD_BOX, {0, 0, -1.3}, 1, {0, 0, -1}},
                 {PBD_SPHERE, {0, 3, 4}, 4.5, {0, 0.6, 0.8}},
                 {PBD_SPHERE, {0, 0, 0}, -0.5, {0, 0, 1}}, /* all directions are equally short: any is right */
                 {PBD_CAPSULE, {0, 0.6, 0.2}, 0.1, {0, 1, 0}},
                 {PBD_CAPSULE, {0.3, 0, 0.7}, 0, {0.6, 0, 0.8}},
                 {PBD_CAPSULE, {0, 0, 0.1}, -0.5, {1, 0, 0}}, /* on the axis: any normal to it */
                 {PBD_CYLINDER, {0, 0.8, 0.7}, 0.5, {0, 0.6, 0.8}},
                 {PBD_CYLINDER, {0, 0.1, 0.2}, -0.1, {0, 0, 1}},
                 {PBD_CYLINDER, {-0.45, 0, 0.1}, -0.05, {-1, 0, 0}},
                 {PBD_HOURGLASS, {0, 0, 0.5}, -0.1, {0, 0, 1}},
                 {PBD_HOURGLASS, /* 0.1 from the middle of its slope, which rises by 0.6 over 0.5 */
                  {0, 0.45 + 0.06 / 0.78102496759066544, 0.3 - 0.05 / 0.78102496759066544},
                  0.1,
                  {0, 0.6 / 0.78102496759066544, -0.5 / 0.78102496759066544}},
                 {PBD_HOURGLASS, {0.1, 0, -0.9}, 0.3, {0, 0, -1}},
                 {PBD_PERFORATED_PLATE, {0, -0.15, 0.2}, 0.05, {0, 1, 0}}, /* in a hole: towards its axis */
                 {PBD_PERFORATED_PLATE, {0.8, 0.65, 0}, 0.05, {0, 1, 0}},  /* in another */
                 {PBD_PERFORATED_PLATE, {0.4, 0.4, 1}, 0.7, {0, 0, 1}},
                 {PBD_PERFORATED_PLATE, {0.24, 0, 0.1}, -0.04, {-1, 0, 0}},
                 {PBD_PERFORATED_PLATE, {0.16, 0, 0.33}, 0.05, {-0.8, 0, 0.6}},
                 {PBD_TORUS, {0, 0.2, 0.4}, 0.3, {0, -0.6, 0.8}}, /* 0.3 and 0.4 from the circle */
                 {PBD_TORUS, {-0.6, 0, 0}, -0.1, {-1, 0, 0}},
                 {PBD_TORUS, {0, 0, 0}, 0.3, {-1, 0, 0}},    /* on the axis: any direction in the plane of the hole */
                 {PBD_TORUS, {0, 0.5, 0}, -0.2, {0, 1, 0}}}; /* on the circle: any normal to it */
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        const vec3 x = vec3_make((real)given[i].x[0], (real)given[i].x[1], (real)given[i].x[2]);
        const collider_gap gap = shape_gap(given[i].shape, halves[given[i].shape], x);
        check_near(names[given[i].shape], (double)gap.distance, given[i].distance, exact);
        const double off = fabs((double)gap.normal.x - given[i].normal[0]) +
                           fabs((double)gap.normal.y - given[i].normal[1]) +
                           fabs((double)gap.normal.z - given[i].normal[2]);
        check_near("its normal", off, 0, exact);
    }
}

static void test_numbers_that_are_none_push_nothing(void **unused) {
    (void)unused;
    for (int shape = 0; shape < PBD_COLLIDER_SHAPES; shape++) {
        if (shape == PBD_MESH) continue;
        const collider_gap gap = shape_gap(shape, halves[shape], vec3_make((real)NAN, (real)NAN, (real)NAN));
        assert_false(gap.distance < 0);
    }
}

/* Scalar and batch forms are compiled from the same text: they agree up to fused multiply-adds. */
static void test_batches_agree_with_points(void **unused) {
    (void)unused;
    for (int shape = 0; shape < PBD_COLLIDER_SHAPES; shape++) {
        if (shape == PBD_MESH) continue;
        uint64_t seed = 13;
        double off = 0, turned = 0;
        for (int n = 0; n < 500; n++) {
            real at[3][PBD_BATCH], got[4][PBD_BATCH];
            for (int l = 0; l < PBD_BATCH; l++) {
                const vec3 x = random_point(&seed);
                at[0][l] = x.x, at[1][l] = x.y, at[2][l] = x.z;
            }
            const vcollider_gap gap =
                vshape_gap(shape, halves[shape],
                           vvec3_make(batch_load(at[0], 0, PBD_BATCH), batch_load(at[1], 0, PBD_BATCH),
                                      batch_load(at[2], 0, PBD_BATCH)));
            batch_store(got[0], 0, PBD_BATCH, gap.distance);
            batch_store(got[1], 0, PBD_BATCH, gap.normal.x);
            batch_store(got[2], 0, PBD_BATCH, gap.normal.y);
            batch_store(got[3], 0, PBD_BATCH, gap.normal.z);
            for (int l = 0; l < PBD_BATCH; l++) {
                const collider_gap one = shape_gap(shape, halves[shape], vec3_make(at[0][l], at[1][l], at[2][l]));
                const double x = (double)(got[1][l] - one.normal.x), y = (double)(got[2][l] - one.normal.y);
                off = fmax(off, fabs((double)(got[0][l] - one.distance)));
                /* a direction is only as exact as the distance that it was divided by */
                turned = fmax(turned, hypot(hypot(x, y), (double)(got[3][l] - one.normal.z)) *
                                          fmin(fabs((double)one.distance), 1));
            }
        }
        check_near(names[shape], off, 0, exact);
        check_near("its normal", turned, 0, exact);
    }
}

/* ---- Outlines ---------------------------------------------------------------------------------------------------- */

typedef struct drawn {
    int shape, lines;
    double off, reach[3];
} drawn;

static pbd_status look_at_line(void *to, const double from[3], const double end[3]) {
    drawn *d = to;
    d->lines++;
    for (int k = 0; k < 2; k++) {
        const double *x = k ? end : from;
        const vec3 at = vec3_make((real)x[0], (real)x[1], (real)x[2]);
        d->off = fmax(d->off, fabs((double)shape_gap(d->shape, halves[d->shape], at).distance));
        for (int c = 0; c < 3; c++) d->reach[c] = fmax(d->reach[c], fabs(x[c]));
    }
    return pbd_ok();
}

/* The lines of an outline begin and end on the surface and span the extent of the shape. */
static void test_outlines(void **unused) {
    (void)unused;
    const pbd_scene scene = {0};
    for (int shape = PBD_BOX; shape < PBD_COLLIDER_SHAPES; shape++) {
        if (shape == PBD_MESH) continue;
        const real *half = halves[shape];
        const pbd_collider c = {.shape = (pbd_collider_shape)shape, .half = {half[0], half[1], half[2]}};
        drawn d = {.shape = shape};
        double extent[3];
        check_ok(collider_outline(&scene, &c, &(collider_pen){look_at_line, &d}));
        collider_extent(&scene, &c, extent);
        assert_true(d.lines >= 12);
        check_near(names[shape], d.off, 0, 4 * exact);
        for (int k = shape == PBD_PERFORATED_PLATE ? 2 : 0; k < 3; k++)
            check_near("its extent, m", extent[k], d.reach[k], 4 * exact);
    }
}

/* ---- Motion ------------------------------------------------------------------------------------------------------ */

static pbd_collider make_collider(pbd_collider_shape shape) {
    return (pbd_collider){.shape = shape, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, .half = {0.5, 0.4, 0.3}};
}

/* Moves from 1 s to 3 s along y at 2 m/s, and rotates about z by a quarter turn per second. */
static void test_motion_by_hand(void **unused) {
    (void)unused;
    pbd_collider c = make_collider(PBD_BOX);
    c.centre[0] = 10;
    c.velocity[1] = 2;
    c.spin[2] = M_PI / 2;
    c.begin = 1;
    c.end = 3;
    static const struct {
        double time, y, x_axis[3];
    } given[] = {{0, 0, {1, 0, 0}}, {1, 0, {1, 0, 0}},  {1.5, 1, {M_SQRT1_2, M_SQRT1_2, 0}},
                 {2, 2, {0, 1, 0}}, {3, 4, {-1, 0, 0}}, {9, 4, {-1, 0, 0}}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        double centre[3], axis[3][3];
        collider_at(&c, given[i].time, centre, axis);
        check_near("centre x, m", centre[0], 10, 1e-15);
        check_near("centre y, m", centre[1], given[i].y, 1e-15);
        for (int d = 0; d < 3; d++) check_near("x axis", axis[0][d], given[i].x_axis[d], 1e-15);
    }
    c.end = 0; /* never stops */
    double centre[3], axis[3][3];
    collider_at(&c, 101, centre, axis);
    check_near("centre y after 100 s, m", centre[1], 200, 1e-12);
}

/* A translated and rotated collider: distances are those in its own frame. A container's have the opposite sign. */
static void test_place_turn_and_side(void **unused) {
    (void)unused;
    collider_pose pose = {.axis = {0, 1, 0, 0, 0, 1, 1, 0, 0}, .centre = {5, 6, 7}, .shape = PBD_CYLINDER};
    memcpy(pose.half, halves[PBD_CYLINDER], sizeof pose.half);
    /* its z axis is the world's x: 0.4 beyond the end face at 0.3, and 0.3 beyond the mantle at 0.5 */
    const vec3 x = vec3_make((real)5.7, 6, (real)7.8);
    const collider_gap out = collider_gap_at(&pose, x);
    check_near("distance, m", (double)out.distance, 0.5, exact);
    check_near("normal x", (double)out.normal.x, 0.8, 4 * exact);
    check_near("normal z", (double)out.normal.z, 0.6, 4 * exact);
    pose.container = 1;
    const collider_gap in = collider_gap_at(&pose, x);
    check_near("distance from inside, m", (double)in.distance, -0.5, exact);
    check_near("normal x", (double)in.normal.x, -0.8, 4 * exact);
}

/* collider_carried returns the displacement of the collider's material point that is at x after the step. */
static void test_carried(void **unused) {
    (void)unused;
    pbd_collider c = make_collider(PBD_BOX);
    memcpy(c.velocity, (double[3]){0.5, -1, 2}, sizeof c.velocity);
    memcpy(c.spin, (double[3]){1, 2, -0.5}, sizeof c.spin);
    double before[3], after[3], axis_before[3][3], axis_after[3][3];
    collider_at(&c, 0.3, before, axis_before);
    collider_at(&c, 0.4, after, axis_after);
    collider_pose pose = {.shape = PBD_BOX};
    const double own[3] = {0.5, 0.1, -0.3}; /* coordinates of the point in the collider's frame */
    double from[3], to[3];
    for (int d = 0; d < 3; d++) {
        pose.centre[d] = (real)after[d];
        pose.centre_before[d] = (real)before[d];
        from[d] = before[d];
        to[d] = after[d];
        for (int k = 0; k < 3; k++) {
            pose.axis[3 * k + d] = (real)axis_after[k][d];
            pose.axis_before[3 * k + d] = (real)axis_before[k][d];
            from[d] += own[k] * axis_before[k][d];
            to[d] += own[k] * axis_after[k][d];
        }
    }
    const vec3 got = collider_carried(&pose, vec3_make((real)to[0], (real)to[1], (real)to[2]));
    check_near("x, m", (double)got.x, to[0] - from[0], 4 * exact);
    check_near("y, m", (double)got.y, to[1] - from[1], 4 * exact);
    check_near("z, m", (double)got.z, to[2] - from[2], 4 * exact);
}

static void test_friction_of_a_step(void **unused) {
    (void)unused;
    const vec3 up = vec3_make(0, 0, 1), slip = vec3_make(3, 4, 9);
    const vec3 stuck = friction_of(slip, up, 5), slides = friction_of(slip, up, 1), none = friction_of(up, up, 1);
    check_near("all of it, x", (double)stuck.x, 3, exact);
    check_near("all of it, z", (double)stuck.z, 0, exact);
    check_near("a fifth, y", (double)slides.y, 0.8, exact);
    check_near("straight on: none", (double)vec3_dot(none, none), 0, 0);
}

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void refuse(pbd_collider c, const char *word) {
    pbd_scene scene = {.colliders.count = 1, .colliders.item = &c};
    const pbd_status status = colliders_check(&scene);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    if (!strstr(status.text, word)) fail_msg("'%s' does not speak of '%s'", status.text, word);
}

static void test_bad_colliders(void **unused) {
    (void)unused;
    pbd_collider c = make_collider(PBD_SPHERE);
    pbd_scene scene = {.colliders.count = 1, .colliders.item = &c};
    check_ok(colliders_check(&scene));
    c.half[0] = 0;
    refuse(c, "radius 0 m");
    c = make_collider(PBD_BOX);
    c.half[2] = -1;
    refuse(c, "half-width along z");
    c = make_collider(PBD_CAPSULE);
    c.half[2] = 0; /* a sphere */
    scene.colliders.item = &c;
    check_ok(colliders_check(&scene));
    c.half[2] = NAN;
    refuse(c, "finite");
    c = make_collider(PBD_CYLINDER);
    c.half[2] = 0;
    refuse(c, "half-length");
    c = make_collider(PBD_PLANE);
    c.axis[2][2] = 0;
    refuse(c, "invalid frame");
    c = make_collider(PBD_PLANE);
    c.axis[2][2] = -1; /* left-handed */
    refuse(c, "invalid frame");
    c = make_collider(PBD_PLANE);
    c.friction = -0.1;
    refuse(c, "friction=-0.1");
    c = make_collider(PBD_PLANE);
    c.begin = 2;
    c.end = 1;
    refuse(c, "before it starts");
    c = make_collider(PBD_PERFORATED_PLATE); /* holes of 0.5 m, 0.8 m apart */
    refuse(c, "nothing remains of the plate");
    c = make_collider(PBD_HOURGLASS);
    c.half[0] = c.half[1] = 0;
    refuse(c, "radius 0 m in the middle and at the ends");
    c = make_collider(PBD_TORUS);
    c.half[1] = 0.5;
    refuse(c, "no hole");
    c = make_collider((pbd_collider_shape)77);
    refuse(c, "shape 77");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances_against_points_of_the_surface),
                                       cmocka_unit_test(test_normals_lead_to_the_surface),
                                       cmocka_unit_test(test_distances_by_hand),
                                       cmocka_unit_test(test_numbers_that_are_none_push_nothing),
                                       cmocka_unit_test(test_batches_agree_with_points),
                                       cmocka_unit_test(test_outlines),
                                       cmocka_unit_test(test_motion_by_hand),
                                       cmocka_unit_test(test_place_turn_and_side),
                                       cmocka_unit_test(test_carried),
                                       cmocka_unit_test(test_friction_of_a_step),
                                       cmocka_unit_test(test_bad_colliders)};
    return cmocka_run_group_tests_name("colliders", tests, NULL, NULL);
}
