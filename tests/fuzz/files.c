/* Files that a person writes: meshes, points, YAML, CSV, rows of `eval`. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/geometry/points_file.h"
#include "cases/geometry/triangle_file.h"
#include "cases/mesh/mesh_file.h"
#include "harness/catalog/registry.h"
#include "harness/catalog/resolve.h"
#include "harness/catalog/scene_check.h"
#include "harness/compare/gate.h"
#include "harness/figure/figure_file.h"
#include "harness/figure/papers.h"
#include "harness/files/csv_file.h"
#include "harness/files/csv_rows.h"
#include "harness/files/yaml_tree.h"
#include "harness/rank/problems.h"
#include "tests/fuzz/fuzz.h"

/* ---- Meshes ------------------------------------------------------------------------------------------------------ */

static void read_mesh(const uint8_t *data, size_t size) {
    char path[] = "mesh";
    mesh_file mesh;
    const pbd_content content = {path, text_of(data, size), size};
    if (judge(mesh_file_read(&content, &mesh))) {
        for (size_t g = 0; g < mesh.groups; g++)
            if (!mesh_find_group(&mesh, mesh.group[g].name)) abort();
        mesh_file_free(&mesh);
    }
    free(content.text);
}

static void read_triangles(const uint8_t *data, size_t size, const char *name) {
    triangle_mesh mesh;
    char path[20];
    snprintf(path, sizeof path, "%s", name);
    const pbd_content content = {path, text_of(data, size), size};
    if (judge(triangle_mesh_read(&content, 1, &mesh))) triangle_mesh_free(&mesh);
    free(content.text);
}

void fuzz_msh(const uint8_t *data, size_t size) { read_mesh(data, size); }
void fuzz_inp(const uint8_t *data, size_t size) { read_mesh(data, size); }
void fuzz_obj(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.obj"); }
void fuzz_off(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.off"); }
void fuzz_ply(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.ply"); }
void fuzz_stl(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.stl"); }

void fuzz_points(const uint8_t *data, size_t size) {
    pbd_arena arena PBD_ARENA;
    points_file points;
    char path[] = "points.ply";
    const pbd_content content = {path, text_of(data, size), size};
    if (judge(points_file_read(&content, &arena, &points)))
        for (int kind = 0; kind < POINTS_CELLS; kind++)
            for (size_t k = 0; k < points_corners((points_cell)kind) * points.cells[kind]; k++)
                if (points.corner[kind][k] >= points.count) abort();
    free(content.text);
}

/* What is made of triangles, without a file: a byte tells how many vertices, three each follow, then corners. */
void fuzz_triangles(const uint8_t *data, size_t size) {
    enum { MOST = 255 };
    double position[3 * MOST];
    uint32_t corner[3 * 4 * MOST];
    const size_t vertices = size > 0 ? data[0] : 0;
    if (vertices == 0 || size < 1 + 3 * vertices) return;
    for (size_t i = 0; i < 3 * vertices; i++) position[i] = (double)(int8_t)data[1 + i] / 8;
    size_t corners = size - 1 - 3 * vertices;
    if (corners > sizeof corner / sizeof *corner) corners = sizeof corner / sizeof *corner;
    corners -= corners % 3;
    for (size_t i = 0; i < corners; i++) corner[i] = (uint32_t)(data[1 + 3 * vertices + i] % vertices);
    triangle_mesh mesh;
    if (!judge(triangle_mesh_make("triangles", vertices, position, corners / 3, corner, &mesh))) return;
    const solid body = triangle_mesh_solid(&mesh);
    const double x[3] = {0.0625, 0.1, -0.3};
    if (!(body.volume > 0) || body.distance(&body, x) != body.distance(&body, x)) abort();
    triangle_mesh_free(&mesh);
}

/* ---- YAML -------------------------------------------------------------------------------------------------------- */

/* Plans of more runs than this only take time. */
static void plan(pbd_figure_file *file) {
    size_t values = 0;
    for (unsigned i = 0; i < file->runs_count; i++)
        for (unsigned k = 0; k < file->runs[i].axes_count; k++) {
            pbd_axis axis;
            if (pbd_axis_parse(file->runs[i].axes[k], &axis).code != PBD_OK) continue;
            values += axis.count;
            pbd_axis_free(&axis);
        }
    pbd_plan made = {0};
    if (values < 20) judge(pbd_figure_plan(file, false, 0, &made));
    pbd_plan_free(&made);
}

void fuzz_figure(const uint8_t *data, size_t size) {
    pbd_figure_file *file;
    write_file("plots/fuzz-fig1/figure.yaml", data, size);
    if (!judge(pbd_figure_load("fuzz-fig1", &file))) return;
    plan(file);
    pbd_figure_file_free(file);
}

void fuzz_sweep(const uint8_t *data, size_t size) {
    pbd_figure_file *file;
    if (!judge(pbd_sweep_load(write_file("sweep.yaml", data, size), &file))) return;
    plan(file);
    pbd_figure_file_free(file);
}

void fuzz_gate(const uint8_t *data, size_t size) {
    pbd_gate_suite *suite;
    if (judge(pbd_gate_suite_load(write_file("gate.yaml", data, size), &suite))) pbd_gate_suite_free(suite);
}

void fuzz_papers(const uint8_t *data, size_t size) {
    pbd_papers *papers;
    write_file("plots/papers.yaml", data, size);
    if (judge(pbd_papers_load(&papers))) pbd_papers_free(papers);
}

void fuzz_problems(const uint8_t *data, size_t size) {
    pbd_problems *all;
    write_file("cases/problems.yaml", data, size);
    if (!judge(pbd_problems_load(&all))) return;
    for (unsigned i = 0; i < all->problems_count && all->trials < 20; i++)
        for (unsigned k = 0; k < all->problems[i].methods_count; k++) {
            pbd_plan made = {0};
            judge(pbd_problem_plan(all, &all->problems[i], &all->problems[i].methods[k], NULL, 1, false, 0, &made));
            pbd_plan_free(&made);
        }
    pbd_problems_free(all);
}

/* The numbers of a scene that decide how many particles and squares it has. */
typedef struct sizes {
    double longest, scale, least, most; /* m, 1, m, 1 */
} sizes;

static void note_number(const char *key, const yaml_node_t *node, sizes *s) {
    static const char *const lengths[] = {"size", "radius", "top_radius", "tube", "length", "extent"};
    const double x = node->type == YAML_SCALAR_NODE ? strtod((const char *)node->data.scalar.value, NULL) : 0;
    if (!(x > 0 && x <= 1e9)) return; /* refused */
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        if (strcmp(key, lengths[i]) == 0) s->longest = fmax(s->longest, x);
    if (strcmp(key, "scale") == 0 || strcmp(key, "unit") == 0) s->scale *= fmax(x, 1);
    if (strcmp(key, "spacing") == 0 || strcmp(key, "width") == 0) s->least = fmin(s->least, x);
    if (strcmp(key, "particles") == 0 || strcmp(key, "cells") == 0) s->most = fmax(s->most, x);
}

/* Scenes of many particles only take time: all methods look at each. */
static bool is_large_scene(const char *text, size_t size) {
    sizes s = {.longest = 1, .scale = 1, .least = 1}; /* an animal's, a file's */
    pbd_yaml tree PBD_CLEANUP(pbd_yaml_close) = {0};
    if (pbd_yaml_open("scene", text, size, &tree).code != PBD_OK) return false;
    const yaml_node_t *map;
    for (int id = 1; (map = pbd_yaml_node(&tree, id)) != NULL; id++) {
        if (map->type != YAML_MAPPING_NODE) continue;
        for (const yaml_node_pair_t *p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top; p++) {
            const yaml_node_t *key = pbd_yaml_node(&tree, p->key), *value = pbd_yaml_node(&tree, p->value);
            if (key->type != YAML_SCALAR_NODE) continue;
            const char *name = (const char *)key->data.scalar.value;
            if (value->type != YAML_SEQUENCE_NODE)
                note_number(name, value, &s);
            else
                for (int *i = value->data.sequence.items.start; i < value->data.sequence.items.top; i++)
                    note_number(name, pbd_yaml_node(&tree, *i), &s);
        }
    }
    return s.most > 100 || s.longest * s.scale > 5 * s.least;
}

void fuzz_scene(const uint8_t *data, size_t size) {
    static const char tetrahedron[] = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
    static const char points[] =
        "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n"
        "property float volume\nproperty float vz\nproperty float vx\nproperty float vy\nproperty uchar held\n"
        "element face 2\nproperty list uchar int vertex_indices\nend_header\n0 0 0 1 0 0 0 1\n1 0 0 1 0 0 0 0\n"
        "0 1 0 1 0 0 0 0\n0 0 1 1 2 0 0 0\n3 0 1 2\n3 0 2 3\n";
    char word[PATH_MAX + 80];
    pbd_setting setting;
    const pbd_case *c;
    pbd_values of_case, of_method;
    pbd_setup setup = {0};
    char *text = text_of(data, size);
    const bool large = is_large_scene(text, size);
    free(text);
    if (large || !judge(pbd_find_case("scene", &c))) return;
    static bool has_body; /* a mesh and points that scenes name */
    if (!has_body) write_file("body.off", tetrahedron, sizeof tetrahedron - 1);
    if (!has_body) write_file("points.ply", points, sizeof points - 1);
    has_body = true;
    snprintf(word, sizeof word, "file=%s", write_file("scene.yaml", data, size));
    if (!judge(pbd_setting_parse(word, &setting))) return;
    const pbd_method *m = pbd_method_at(0)->by_precision[PBD_PRECISION_F64];
    if (judge(pbd_resolve(c, m, &setting, 1, &of_case, &of_method))) {
        if (judge(pbd_case_build(c, &of_case, &setup))) {
            for (size_t i = 0; i < pbd_method_count(); i++)
                judge(pbd_check_scene(&setup.scene, pbd_method_at(i)->by_precision[PBD_PRECISION_F64]));
            pbd_case_free(c, &setup);
        }
        pbd_values_free(&of_case);
        pbd_values_free(&of_method);
    }
    pbd_setting_free(&setting);
}

/* ---- CSV, rows --------------------------------------------------------------------------------------------------- */

void fuzz_csv(const uint8_t *data, size_t size) {
    pbd_csv csv;
    char *text = text_of(data, size);
    if (judge(pbd_csv_parse(text, "a file", &csv))) pbd_csv_free(&csv);
    free(text);
}

/* The first byte tells how many numbers a row has. */
void fuzz_rows(const uint8_t *data, size_t size) {
    if (size < 2) return;
    double values[9];
    const size_t count = 1 + data[0] % 9;
    FILE *file = fmemopen((void *)(uintptr_t)(data + 1), size - 1, "r");
    pbd_rows *rows;
    if (!file) give_up("a stream");
    if (judge(pbd_rows_open(file, "rows", &rows))) {
        bool more = true;
        while (more && judge(pbd_rows_next(rows, count, values, &more))) continue;
        pbd_rows_close(rows);
    }
    fclose(file);
}
