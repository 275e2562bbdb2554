/* Snapshots: rendered outlines of known bodies, depth order, strains by hand, which states are kept, and the contents
 * of the files. */
#include <jansson.h>
#include <png.h>

#include "harness/picture/collider_lines.h"
#include "harness/picture/deformation.h"
#include "harness/picture/render.h"
#include "harness/picture/sample_strain.h"
#include "harness/picture/snapshots.h"
#include "tests/ladder.h"
#include "tests/program.h"
#include "tests/vtk_file.h"

/* ---- The renderer ------------------------------------------------------------------------------------------------ */

enum { WIDE = 600, HIGH = 600 };

/* Looks at a cube of 2 x 2 x 2 m around the origin, without ground. */
static render_camera camera_of_box(void) {
    double aspect;
    render_camera camera = render_look_at((const double[]){-1, -1, -1}, (const double[]){1, 1, 1}, &aspect);
    camera.half_width = camera.half_height = 2;
    camera.has_ground = false;
    return camera;
}

static const unsigned char *pixel(const pbd_image *image, int x, int y) {
    return image->pixel + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
}

static double covered(const pbd_image *image) {
    double count = 0;
    for (int i = 0; i < image->width * image->height; i++)
        count += pixel(image, i % image->width, i / image->width)[2] < 250;
    return count;
}

/* In a parallel projection the outline is a circle of the sphere's radius. */
static void test_a_sphere_has_its_size(void **state) {
    (void)state;
    const double position[3] = {0.3, -0.2, 0.1};
    const float value[1] = {0};
    const render_body body = {.points = 1, .position = position, .value = value, .radius = 0.8};
    const render_camera camera = camera_of_box();
    pbd_image image;
    check_ok(render_draw(&body, 1, &camera, WIDE, HIGH, &image));
    const double per_metre = WIDE / 4.0;
    check_near("area, pixels", covered(&image), 3.14159265358979 * 0.64 * per_metre * per_metre, 400);
    pbd_image_free(&image);
}

/* A unit cube, each face two triangles, counter-clockwise from outside. */
static const double cube[24] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
static const uint32_t cube_faces[36] = {0, 3, 2, 0, 2, 1, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                        1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};

/* The outline of a convex body has half the sum of its projected face areas: |t_x| + |t_y| + |t_z| for a unit cube. */
static void test_a_cube_has_its_size(void **state) {
    (void)state;
    const float value[8] = {0};
    const render_body body = {.points = 8, .position = cube, .value = value, .triangles = 12, .triangle = cube_faces};
    const render_camera camera = camera_of_box();
    pbd_image image;
    check_ok(render_draw(&body, 1, &camera, WIDE, HIGH, &image));
    const double per_metre = WIDE / 4.0;
    const double wanted = fabs(camera.towards[0]) + fabs(camera.towards[1]) + fabs(camera.towards[2]);
    check_near("area, pixels", covered(&image), wanted * per_metre * per_metre, 500);
    pbd_image_free(&image);
}

static void test_the_nearer_one_is_seen(void **state) {
    (void)state;
    const render_camera camera = camera_of_box();
    const float value[2] = {0, 1}; /* bodies 0 (blue) and 1 (orange) */
    for (int nearer = 0; nearer < 2; nearer++) {
        double position[6];
        pbd_image image;
        for (int d = 0; d < 3; d++) {
            position[3 * nearer + d] = 0.5 * camera.towards[d];
            position[3 * (1 - nearer) + d] = -0.5 * camera.towards[d];
        }
        const render_body body = {
            .points = 2, .position = position, .value = value, .radius = 0.4, .palette = RENDER_BODIES};
        check_ok(render_draw(&body, 1, &camera, WIDE, HIGH, &image));
        const unsigned char *middle = pixel(&image, WIDE / 2, HIGH / 2);
        if (nearer == 0)
            assert_true(middle[2] > middle[0]);
        else
            assert_true(middle[0] > middle[2]);
        pbd_image_free(&image);
    }
}

/* Two triangles that intersect in the vertical middle line of the picture: on each side a different one is in front. */
static void test_crossing_triangles_hide_each_other(void **state) {
    (void)state;
    static const double at[6][3] = {{-1, -1, -0.5}, {1, -1, 0.5}, {0, 1, 0}, {-1, -1, 0.5}, {1, -1, -0.5}, {0, 1, 0}};
    static const uint32_t triangle[6] = {0, 1, 2, 3, 5, 4}; /* one faces the viewer, one faces away */
    const float value[6] = {0, 0, 0, 1, 1, 1};
    const render_camera camera = camera_of_box();
    double position[18];
    for (int p = 0; p < 6; p++) /* right, up and towards the viewer */
        for (int d = 0; d < 3; d++)
            position[3 * p + d] = at[p][0] * camera.right[d] + at[p][1] * camera.up[d] + at[p][2] * camera.towards[d];
    const render_body body = {.points = 6,
                              .position = position,
                              .value = value,
                              .triangles = 2,
                              .triangle = triangle,
                              .palette = RENDER_BODIES};
    pbd_image image;
    check_ok(render_draw(&body, 1, &camera, WIDE, HIGH, &image));
    const unsigned char *left = pixel(&image, WIDE / 2 - 60, HIGH / 2 + 60),
                        *right = pixel(&image, WIDE / 2 + 60, HIGH / 2 + 60);
    assert_true(left[0] > left[2]);   /* orange */
    assert_true(right[2] > right[0]); /* blue */
    assert_int_equal(pixel(&image, 5, 5)[0], 255);
    pbd_image_free(&image);
}

static double lightness(const float rgb[3]) {
    double linear[3];
    for (int c = 0; c < 3; c++) linear[c] = rgb[c] <= 0.04045f ? rgb[c] / 12.92 : pow((rgb[c] + 0.055) / 1.055, 2.4);
    const double y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

/* Each tenth of the colour scale is darker than the one before by about the same CIE 1976 L*. */
static void test_the_scale_reads_in_grey(void **state) {
    (void)state;
    float rgb[3];
    render_colour(0, rgb);
    double before = lightness(rgb);
    assert_true(before > 80);
    for (int i = 1; i <= 10; i++) {
        render_colour(i / 10.0, rgb);
        const double step = before - lightness(rgb);
        print_message("    %.1f: L* %.1f, darker by %.2f\n", i / 10.0, lightness(rgb), step);
        assert_true(step > 4.5 && step < 9);
        before -= step;
    }
    assert_true(before < 30);
}

/* A sheet in the y-z plane, which would be a line from the front, is seen from the side. */
static void test_a_sheet_shows_its_face(void **state) {
    (void)state;
    double aspect;
    const render_camera front = render_look_at((const double[]){-1, -1, -1}, (const double[]){1, 1, 1}, &aspect);
    const render_camera side = render_look_at((const double[]){0, -1, -1}, (const double[]){0.1, 1, 1}, &aspect);
    assert_true(front.towards[1] < -0.8 && side.towards[0] > 0.8);
    for (int c = 0; c < 2; c++) { /* right-handed, orthonormal and upright */
        const render_camera *k = c ? &side : &front;
        for (int d = 0; d < 3; d++) {
            const int a = (d + 1) % 3, b = (d + 2) % 3;
            check_near("right x up", k->right[a] * k->up[b] - k->right[b] * k->up[a], k->towards[d], 1e-14);
        }
        assert_true(k->right[2] == 0 && k->up[2] > 0.8);
    }
}

static void test_a_body_throws_a_shadow(void **state) {
    (void)state;
    double aspect;
    render_camera camera = render_look_at((const double[]){-1, -1, -1}, (const double[]){2, 2, 2}, &aspect);
    const float value[8] = {0};
    render_body body = {.points = 8, .position = cube, .value = value, .triangles = 12, .triangle = cube_faces};
    pbd_image with, without;
    check_ok(render_draw(&body, 1, &camera, WIDE, HIGH, &with));
    body.points = body.triangles = 0;
    check_ok(render_draw(&body, 1, &camera, WIDE, HIGH, &without));
    int darker = 0, lighter = 0;
    for (int i = 0; i < WIDE * HIGH; i++) {
        const int off = pixel(&with, i % WIDE, i / WIDE)[0] - pixel(&without, i % WIDE, i / WIDE)[0];
        darker += off < -20 && i / WIDE > HIGH / 2;
        lighter += off > 20;
    }
    print_message("    %d pixels darker below the middle, %d lighter\n", darker, lighter);
    assert_true(darker > 2000 && lighter == 0);
    pbd_image_free(&with);
    pbd_image_free(&without);
}

static void test_what_is_no_number_is_left_out(void **state) {
    (void)state;
    double points[24];
    const float value[8] = {0, NAN, 0, 0, INFINITY, 0, 0, -1};
    memcpy(points, cube, sizeof cube);
    points[18] = NAN;
    points[4] = 1e300;
    const render_body body = {
        .points = 8, .position = points, .value = value, .triangles = 12, .triangle = cube_faces, .radius = 0.1};
    const render_camera camera = camera_of_box();
    pbd_image image;
    check_ok(render_draw(&body, 1, &camera, 64, 64, &image));
    pbd_image_free(&image);
    assert_int_equal(render_draw(&body, 1, &camera, 0, 64, &image).code, PBD_BAD_INPUT);
}

/* ---- Strain and bodies ------------------------------------------------------------------------------------------- */

/* x = R diag(1.1, 1, 0.8) X: E = diag(0.105, 0, -0.18) for any R. In the plane of a triangle in (x, y) it is 0.105. */
static void test_strain_by_hand(void **state) {
    (void)state;
    const uint32_t hex[8] = {0, 1, 2, 3, 4, 5, 6, 7}, tet[4] = {1, 0, 3, 4}, triangle[3] = {0, 1, 3};
    const double c = cos(0.7), s = sin(0.7);
    double x[24], strain;
    for (int i = 0; i < 8; i++) {
        const double p[3] = {1.1 * cube[3 * i], cube[3 * i + 1], 0.8 * cube[3 * i + 2]};
        x[3 * i] = c * p[0] - s * p[2] + 5;
        x[3 * i + 1] = p[1] - 7;
        x[3 * i + 2] = s * p[0] + c * p[2];
    }
    const pbd_body bodies[] = {{8, 1, hex, 8, NULL}, {8, 1, tet, 4, NULL}, {8, 1, triangle, 3, NULL}};
    const double wanted[] = {hypot(0.105, 0.18), hypot(0.105, 0.18), 0.105};
    for (int b = 0; b < 3; b++) {
        pbd_strain(&bodies[b], cube, x, &strain);
        check_near("strain", strain, wanted[b], 1e-14);
        pbd_strain(&bodies[b], cube, cube, &strain);
        check_near("strain at rest", strain, 0, 1e-15);
    }
}

/* A lattice of 4 x 4 x 4 particles under the same map; a single layer of it has only the strain along its edges. */
static void test_strain_of_samples(void **state) {
    (void)state;
    double rest[192], x[192], strain[64];
    pbd_scene scene = {.particles.count = 64, .particles.spacing = 0.5, .particles.positions = rest};
    const double c = cos(0.7), s = sin(0.7);
    for (size_t i = 0; i < 64; i++) {
        rest[3 * i] = 0.5 * (double)(i % 4), rest[3 * i + 1] = 0.5 * (double)(i / 4 % 4),
                 rest[3 * i + 2] = 0.5 * (double)(i / 16);
        const double p[3] = {1.1 * rest[3 * i], rest[3 * i + 1], 0.8 * rest[3 * i + 2]};
        x[3 * i] = c * p[0] - s * p[2] + 5;
        x[3 * i + 1] = p[1] - 7;
        x[3 * i + 2] = s * p[0] + c * p[2];
    }
    check_ok(pbd_sample_strain(&scene, x, strain));
    for (size_t i = 0; i < 64; i += 21) check_near("strain", strain[i], hypot(0.105, 0.18), 1e-12);
    check_ok(pbd_sample_strain(&scene, rest, strain));
    for (size_t i = 0; i < 64; i += 21) check_near("strain at rest", strain[i], 0, 1e-12);
    /* A corner of the layer has neighbours along x (0.105), y (0) and the diagonal (0.0525). */
    scene.particles.count = 16;
    check_ok(pbd_sample_strain(&scene, x, strain));
    check_near("strain of a layer", strain[0], sqrt((0.105 * 0.105 + 0.0525 * 0.0525) / 3), 1e-12);
    scene.particles.count = 1;
    check_ok(pbd_sample_strain(&scene, x, strain));
    check_near("of one alone", strain[0], 0, 0);
}

/* A ground, two walls that meet at (1, 1), a moving box and a blade. */
static void test_lines_of_colliders(void **state) {
    (void)state;
    pbd_collider collider[] = {{.shape = PBD_PLANE, .centre = {0, 0, -2}, .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                               {.shape = PBD_PLANE, .centre = {1, 0, 0}, .axis = {{0, 1, 0}, {0, 0, -1}, {-1, 0, 0}}},
                               {.shape = PBD_PLANE, .centre = {0, 1, 0}, .axis = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}},
                               {.shape = PBD_BOX,
                                .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                .half = {0.1, 0.2, 0.3},
                                .velocity = {0, 0, 2},
                                .begin = 1,
                                .end = 2}};
    pbd_blade blade = {.edge = {{1, 0, 0}, {0, 0, 1}}, .velocity = {0, 1, 0}, .begin = 1, .end = 3};
    const pbd_scene scene = {
        .colliders.count = 4, .colliders.item = collider, .blades.count = 1, .blades.item = &blade, .duration = 5};
    assert_ptr_equal(pbd_ground_of(&scene), &collider[0]);
    double low[3] = {-1, -1, 0}, high[3] = {0, 0, 1};
    pbd_grow_by_colliders(&scene, low, high);
    check_near("ground", low[2], -2, 0);
    check_near("wall", high[0], 1, 0);
    check_near("top of the box at its end", high[2], 2.3, 1e-15);
    pbd_lines lines;
    check_ok(pbd_collider_lines(&scene, 0.5, low, high, true, &lines));
    assert_int_equal(lines.count, 4 + 4 + 12); /* walls, the box; no blade yet */
    for (size_t i = 0; i < 8; i++)
        for (size_t end = 0; end < 2; end++) { /* each wall from its end at -1 to the other wall */
            const double *p = lines.end + 6 * i + 3 * end;
            assert_true(p[2] >= -2 && (i < 4 ? p[0] == 1 : p[1] == 1));
            assert_true(fabs(p[i < 4] - 1) < 1e-6 || fabs(p[i < 4] + 1) < 1e-6);
        }
    free(lines.end);
    check_ok(pbd_collider_lines(&scene, 2.5, low, high, true, &lines));
    assert_int_equal(lines.count, 4 + 4 + 12 + 4);
    double most = -1;
    for (size_t i = 8; i < 20; i++) most = fmax(most, lines.end[6 * i + 5]);
    check_near("the box stands still again", most, 2.3, 1e-15);
    check_near("the blade", lines.end[6 * 20 + 1], 1.5, 1e-15);
    free(lines.end);
}

/* A horizontal line through the middle is dark except where a sphere is in front of it. */
static void test_lines_are_hidden(void **state) {
    (void)state;
    double aspect;
    const render_camera camera = render_look_at((const double[]){-1, -1, -1}, (const double[]){1, 1, 1}, &aspect);
    const double behind[3] = {-0.5 * camera.towards[0], -0.5 * camera.towards[1], -0.5 * camera.towards[2]};
    double line[6];
    for (int d = 0; d < 3; d++) {
        line[d] = behind[d] - camera.right[d];
        line[3 + d] = behind[d] + camera.right[d];
    }
    const double origin[3] = {0, 0, 0};
    const float value = 0;
    const render_body body = {
        .points = 1, .position = origin, .value = &value, .radius = 0.3, .lines = 1, .line = line};
    pbd_image image;
    check_ok(render_draw(&body, 1, &camera, 101, 101, &image));
    const unsigned char *row = image.pixel + 3 * 101 * 50;
    assert_true(row[3 * 20] < 190 && row[3 * 80] < 190);
    assert_true(row[3 * 50] > 150);                      /* the light colour of the sphere */
    assert_true(image.pixel[3 * (101 * 40 + 20)] > 200); /* beside the line */
    pbd_image_free(&image);
}

static void test_bodies_are_told_apart(void **state) {
    (void)state;
    const uint32_t lines[] = {4, 3, 1, 0, 2, 5, 1, 6, 4}; /* triangles 4-3-1, 0-2-5, 1-6-4 of seven particles */
    const pbd_body body = {7, 3, lines, 3, NULL}, bare = {7, 7, NULL, 1, NULL};
    uint32_t number[7];
    const uint32_t wanted[7] = {0, 1, 0, 1, 1, 0, 1};
    check_ok(pbd_number_bodies(&body, number));
    for (int p = 0; p < 7; p++) assert_int_equal(number[p], wanted[p]);
    check_ok(pbd_number_bodies(&bare, number));
    for (int p = 0; p < 7; p++) assert_int_equal(number[p], 0);
    const pbd_body apart = {7, 7, NULL, 1, wanted};
    check_ok(pbd_number_bodies(&apart, number));
    for (int p = 0; p < 7; p++) assert_int_equal(number[p], wanted[p]);
    double at[7];
    check_ok(pbd_to_particles(&body, (const double[]){1, 2, 4}, at));
    check_near("particle 1, of two elements", at[1], 2.5, 0);
    check_near("particle 2, of one", at[2], 2, 0);
}

/* ---- Which states are kept --------------------------------------------------------------------------------------- */

/* A "state" is a number: the position of its only particle. */
static pbd_status read_number(const void *state, pbd_field field, double *out) {
    if (field != PBD_POSITIONS) return pbd_error(PBD_NOT_SUPPORTED, "no such field");
    out[0] = out[1] = 0;
    out[2] = *(const double *)state;
    return pbd_ok();
}

static void write_sequence(const char *folder, int count, long steps, bool told_steps) {
    const pbd_method method = {.name = "number", .read = read_number};
    double position[3] = {0}, mass = 1, force[3] = {0};
    const pbd_scene scene = {.particles.count = 1,
                             .particles.positions = position,
                             .particles.masses = &mass,
                             .loads.forces = force,
                             .extent = 1};
    const pbd_snapshot_plan plan = {
        .count = count, .folder = folder, .album = {.colour = PBD_COLOUR_BODY, .width = 40}};
    pbd_snapshots *s;
    check_ok(pbd_snapshots_open(&plan, &scene, &method, &s));
    for (long i = 0; i <= steps; i++) {
        const double z = (double)i;
        if (pbd_snapshots_want(s, 0.001 * (double)i, i, told_steps ? steps : 0)) check_ok(pbd_snapshots_keep(s, &z));
    }
    const double end = (double)steps;
    check_ok(pbd_snapshots_end(s, &end));
    const pbd_status status = pbd_snapshots_write(s);
    pbd_snapshots_close(s);
    if (status.code != PBD_NOT_SUPPORTED) check_ok(status); /* without gnuplot there is no sheet */
}

static char *text_of(const char *folder, const char *name) {
    char path[PATH_MAX + 400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDONLY);
    if (file < 0) fail_msg("%s: %s", path, strerror(errno));
    return slurp(file);
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) count++;
    return count;
}

/* Times are evenly spaced, as far as steps allow, and include the first and the last. */
static void check_times(const char *folder, int count, double end, double slack) {
    char *list = text_of(folder, "states.pvd"), *at = list;
    assert_int_equal(count_of(list, "<DataSet"), count);
    for (int i = 0; i < count; i++) {
        double time;
        at = strstr(at + 1, "timestep=\"");
        assert_int_equal(sscanf(at, "timestep=\"%lf\"", &time), 1);
        check_near("time, s", time, count == 1 ? end : end * i / (count - 1), i == 0 || i == count - 1 ? 1e-12 : slack);
    }
    free(list);
}

static void test_states_are_spread_evenly(void **state) {
    (void)state;
    char folder[PATH_MAX + 400];
    snprintf(folder, sizeof folder, "%s", in_workplace("sequence"));
    write_sequence(folder, 5, 1000, true);
    check_times(folder, 5, 1, 0.0006);
    write_sequence(folder, 4, 7, true);
    check_times(folder, 4, 0.007, 0.0006);
    write_sequence(folder, 1, 30, true);
    check_times(folder, 1, 0.03, 0);
    write_sequence(folder, 9, 3, true); /* there are only four states */
    check_times(folder, 4, 0.003, 1e-12);
    /* The number of steps, 1000, was unknown in advance: between 5 and 10 states were kept on the way. */
    write_sequence(folder, 5, 1000, false);
    check_times(folder, 5, 1, 0.065);
    char *text = vtk_read(folder, "state_004.vtu");
    double *x = vtk_array(text, "position", 3);
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 1000);
    free(x), free(text);
    assert_int_not_equal(access(in_workplace("sequence/state_005.vtu"), F_OK), 0);
}

/* ---- As a person runs it ----------------------------------------------------------------------------------------- */

static void find_folder(const char *err, char out[PATH_MAX]) {
    static const char before[] = "snapshots in ";
    const char *at = strstr(err, before);
    if (!at) fail_msg("no folder is named: %s", err);
    snprintf(out, PATH_MAX, "%.*s", (int)strcspn(at + sizeof before - 1, "\n"), at + sizeof before - 1);
}

static void check_picture(const char *folder, const char *name, unsigned width, unsigned height) {
    char path[PATH_MAX + 400];
    png_image image = {.version = PNG_IMAGE_VERSION};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!png_image_begin_read_from_file(&image, path)) fail_msg("%s: %s", path, image.message);
    if (width) assert_int_equal(image.width, width);
    assert_true(image.height >= height);
    png_image_free(&image);
}

static void test_a_static_run_has_a_start_and_an_end(void **state) {
    (void)state;
    char out[PATH_MAX + 400], folder[PATH_MAX];
    snprintf(out, sizeof out, "--out=%s", in_workplace("pictures"));
    told answer = tell("run", "cube_shear", "-m", "fem_linear", "-s", "cells=3", "--snapshots", "4", out, "--json");
    expect_code(answer, 0);
    find_folder(answer.err, folder);
    json_t *run = json_loads(answer.out, 0, NULL);
    assert_non_null(json_object_get(json_object_get(run, "timing"), "snapshots")); /* not in the solve's time */
    assert_int_equal(json_object_size(json_object_get(run, "warnings")), 0);
    json_decref(run);
    forget(&answer);
    char *list = text_of(folder, "states.pvd"), *first = vtk_read(folder, "state_000.vtu"),
         *last = vtk_read(folder, "state_001.vtu");
    assert_int_equal(count_of(list, "<DataSet"), 2);
    expect_says(last, "NumberOfPoints=\"64\" NumberOfCells=\"27\"");
    expect_says(last, "Name=\"displacement\" NumberOfComponents=\"3\"");
    double *type = vtk_array(last, "types", 27), *offset = vtk_array(last, "offsets", 27);
    double *before = vtk_array(first, "position", 192), *after = vtk_array(last, "position", 192);
    assert_true(type[0] == 12 && offset[26] == 216); /* hexahedra */
    if (memcmp(before, after, 192 * sizeof *before) == 0) fail_msg("nothing has moved");
    free(type), free(offset), free(before), free(after);
    free(list);
    free(first);
    free(last);
    check_picture(folder, "state_000.png", 800, 400);
    check_picture(folder, "state_001.png", 800, 400);
    if (system("command -v gnuplot >/dev/null") == 0) check_picture(folder, "sheet.png", 1600, 400);
}

static char *pulled_body(const char *element) {
    char out[PATH_MAX + 400], set[40], folder[PATH_MAX];
    snprintf(out, sizeof out, "--out=%s", in_workplace(element));
    snprintf(set, sizeof set, "element=%s", element);
    told answer =
        tell("run", "material_sweep", "-m", "fem_implicit", "-s", set, "-s", "load=surface", "-s", "nu=0", "-s",
             "cells=1", "-s", "length=0.2", "-s", "material=corotated", "--snapshots", "2", out, "--json");
    expect_code(answer, 0);
    find_folder(answer.err, folder);
    forget(&answer);
    return vtk_read(folder, "state_001.vtu");
}

/* VTK's order of the 27 nodes: parametric coordinates of vtkTriQuadraticHexahedron, doubled. */
static const int triquadratic[27][3] = {{0, 0, 0}, {2, 0, 0}, {2, 2, 0}, {0, 2, 0}, {0, 0, 2}, {2, 0, 2}, {2, 2, 2},
                                        {0, 2, 2}, {1, 0, 0}, {2, 1, 0}, {1, 2, 0}, {0, 1, 0}, {1, 0, 2}, {2, 1, 2},
                                        {1, 2, 2}, {0, 1, 2}, {0, 0, 1}, {2, 0, 1}, {2, 2, 1}, {0, 2, 1}, {0, 1, 1},
                                        {2, 1, 1}, {1, 0, 1}, {1, 2, 1}, {1, 1, 0}, {1, 1, 2}, {1, 1, 1}};

static void test_quadratic_hexahedra_have_all_nodes(void **state) {
    (void)state;
    char *text = pulled_body("hex27");
    expect_says(text, "NumberOfPoints=\"27\" NumberOfCells=\"1\"");
    double *x = vtk_array(text, "position", 81), *u = vtk_array(text, "displacement", 81),
           *node = vtk_array(text, "connectivity", 27), *type = vtk_array(text, "types", 1);
    assert_int_equal(type[0], 29); /* VTK_TRIQUADRATIC_HEXAHEDRON */
    const double *origin = x + 3 * (size_t)node[0];
    for (int a = 0; a < 27; a++)
        for (size_t d = 0; d < 3; d++) { /* x - origin = half the cell's axes times the doubled coordinates */
            double wanted = origin[d];
            for (int k = 0; k < 3; k++)
                wanted += 0.5 * triquadratic[a][k] * (x[3 * (size_t)node[k == 0 ? 1 : k == 1 ? 3 : 4] + d] - origin[d]);
            check_near("node", x[3 * (size_t)node[a] + d], wanted, 1e-11);
        }
    for (size_t i = 0; i < 27; i++) /* 10 kPa on E = 1e5 Pa: a tenth of the depth */
        check_near("displacement, m", u[3 * i + 2], (x[3 * i + 2] - u[3 * i + 2]) / 10, 1e-11);
    free(text), free(x), free(u), free(node), free(type);
}

static void test_quadratic_tetrahedra_have_all_nodes(void **state) {
    (void)state;
    static const int ends[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    char *text = pulled_body("tet10");
    expect_says(text, "NumberOfPoints=\"26\" NumberOfCells=\"5\""); /* 8 corners, 12 edges, 6 diagonals */
    double *x = vtk_array(text, "position", 78), *node = vtk_array(text, "connectivity", 50),
           *type = vtk_array(text, "types", 5);
    for (size_t e = 0; e < 5; e++) {
        const double *of = node + 10 * e, *p[10];
        for (int a = 0; a < 10; a++) p[a] = x + 3 * (size_t)of[a];
        assert_int_equal(type[e], 24); /* VTK_QUADRATIC_TETRA */
        double volume = 0;
        for (int d = 0; d < 3; d++) {
            const int f = (d + 1) % 3, g = (d + 2) % 3;
            volume += (p[3][d] - p[0][d]) *
                      ((p[1][f] - p[0][f]) * (p[2][g] - p[0][g]) - (p[1][g] - p[0][g]) * (p[2][f] - p[0][f]));
            for (int k = 0; k < 6; k++)
                check_near("middle", p[4 + k][d], 0.5 * (p[ends[k][0]][d] + p[ends[k][1]][d]), 1e-11);
        }
        assert_true(volume > 0);
    }
    free(text), free(x), free(node), free(type);
}

/* Regression: gnuplot did not accept a scale without a decimal point, 1e-09, as a number. */
static void test_a_tiny_strain_has_a_sheet(void **state) {
    (void)state;
    char out[PATH_MAX + 400];
    snprintf(out, sizeof out, "--out=%s", in_workplace("tiny"));
    told answer =
        tell("run", "cube_shear", "-m", "fem_linear", "--snapshots", "2", "--strain-scale", "1e-9", out, "--no-store");
    if (!strstr(answer.out, "there is no gnuplot")) expect_code(answer, 0);
    assert_null(strstr(answer.out, "Trailing"));
    forget(&answer);
}

static void test_bad_wishes_are_explained(void **state) {
    (void)state;
    char db[PATH_MAX + 400], out[PATH_MAX + 400];
    snprintf(db, sizeof db, "--db=%s", in_workplace("none.db"));
    snprintf(out, sizeof out, "--out=%s", in_workplace("plots/papers.yaml/below")); /* a path below a file */
    told answer = tell("run", "cube_shear", "-m", "fem_linear", "--snapshots", "2", out, db);
    expect_code(answer, 2);
    expect_says(answer.err, "papers.yaml");
    forget(&answer);
    answer = tell("list", "runs", "--json", db);
    assert_string_equal(answer.out, "[]\n");
    forget(&answer);
    answer = tell("run", "cube_shear", "-m", "fem_linear", "--out=x");
    expect_code(answer, 2);
    expect_says(answer.err, "requires --snapshots");
    forget(&answer);
    answer = tell("run", "cube_shear", "-m", "fem_linear", "--snapshots", "2", "--colour", "stain");
    expect_code(answer, 2);
    expect_says(answer.err, "strain");
    forget(&answer);
    answer = tell("run", "cube_shear", "-m", "fem_linear", "--snapshots", "0");
    expect_code(answer, 2);
    forget(&answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sphere_has_its_size),
        cmocka_unit_test(test_a_cube_has_its_size),
        cmocka_unit_test(test_the_nearer_one_is_seen),
        cmocka_unit_test(test_crossing_triangles_hide_each_other),
        cmocka_unit_test(test_the_scale_reads_in_grey),
        cmocka_unit_test(test_a_sheet_shows_its_face),
        cmocka_unit_test(test_a_body_throws_a_shadow),
        cmocka_unit_test(test_what_is_no_number_is_left_out),
        cmocka_unit_test(test_strain_by_hand),
        cmocka_unit_test(test_strain_of_samples),
        cmocka_unit_test(test_lines_of_colliders),
        cmocka_unit_test(test_lines_are_hidden),
        cmocka_unit_test(test_bodies_are_told_apart),
        cmocka_unit_test(test_states_are_spread_evenly),
        cmocka_unit_test(test_a_static_run_has_a_start_and_an_end),
        cmocka_unit_test(test_quadratic_hexahedra_have_all_nodes),
        cmocka_unit_test(test_quadratic_tetrahedra_have_all_nodes),
        cmocka_unit_test(test_a_tiny_strain_has_a_sheet),
        cmocka_unit_test(test_bad_wishes_are_explained),
    };
    return cmocka_run_group_tests_name("snapshots", tests, NULL, remove_workplace);
}
