/* Inputs from outside, one function for each format: libFuzzer's entry calls the one that FUZZ_FORMAT names. Without
 * libFuzzer (FUZZ_FORMAT undefined) this is a test that replays the kept corpus: fuzz_corpus FOLDER [FORMAT]. README.md
 * tells how a campaign is run.
 *
 * Whatever comes in, a function ends with PBD_OK or with a sentence of bad input; sanitizers see the rest. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "cases/geometry/points_file.h"
#include "cases/geometry/triangle_file.h"
#include "cases/mesh/mesh_file.h"
#include "harness/catalog/registry.h"
#include "harness/catalog/resolve.h"
#include "harness/catalog/scene_check.h"
#include "harness/catalog/values.h"
#include "harness/compare/gate.h"
#include "harness/engine/engine_process.h"
#include "harness/figure/figure_file.h"
#include "harness/figure/papers.h"
#include "harness/files/csv_file.h"
#include "harness/files/csv_rows.h"
#include "harness/files/yaml_tree.h"
#include "harness/plan/record.h"
#include "harness/query/import.h"
#include "harness/rank/problems.h"
#include "harness/store/rows.h"
#include "harness/sweep/manifest.h"

/* ---- Surroundings ------------------------------------------------------------------------------------------------ */

_Noreturn static void give_up(const char *what) {
    fprintf(stderr, "fuzz: %s: %s\n", what, strerror(errno));
    abort();
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *walk) {
    (void)about, (void)type, (void)walk;
    return remove(path);
}

static char place[PATH_MAX]; /* a folder of this process, PBDBENCH_ROOT */

static void remove_place(void) { nftw(place, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

/* place/name; two at a time. */
static const char *in_place(const char *name) {
    static char path[2][PATH_MAX + 64];
    static unsigned next;
    char *mine = path[next++ % 2];
    snprintf(mine, sizeof path[0], "%s/%s", place, name);
    return mine;
}

static void make_place(void) {
    if (*place) return;
    const char *parent = getenv("TMPDIR");
    if (!parent) parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* each input is a file: in memory */
    snprintf(place, sizeof place, "%s/pbdbench-fuzz-XXXXXX", parent);
    if (!mkdtemp(place)) give_up(place);
    atexit(remove_place);
    setenv("PBDBENCH_ROOT", place, 1);
    const char *const folders[] = {"plots", "plots/fuzz-fig1", "sweep", "cases"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(in_place(folders[i]), 0777) != 0) give_up(folders[i]);
}

static const char *write_file(const char *name, const void *bytes, size_t size) {
    const char *path = in_place(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) give_up(path);
    return path;
}

/* No failure but that of the input, said in words. */
static bool judge(pbd_status status) {
    if (status.code == PBD_OK) return true;
    const bool expected = status.code == PBD_BAD_INPUT || status.code == PBD_NOT_SUPPORTED;
    if ((expected && *status.text) || strstr(status.text, "out of memory")) return false;
    fprintf(stderr, "fuzz: code %d: '%s'\n", (int)status.code, status.text);
    abort();
}

/* The input as text of its own size, with a NUL behind it. */
static char *text_of(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) give_up("memory");
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

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

static void fuzz_msh(const uint8_t *data, size_t size) { read_mesh(data, size); }
static void fuzz_inp(const uint8_t *data, size_t size) { read_mesh(data, size); }
static void fuzz_obj(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.obj"); }
static void fuzz_off(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.off"); }
static void fuzz_ply(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.ply"); }
static void fuzz_stl(const uint8_t *data, size_t size) { read_triangles(data, size, "mesh.stl"); }

static void fuzz_points(const uint8_t *data, size_t size) {
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
static void fuzz_triangles(const uint8_t *data, size_t size) {
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

static void fuzz_figure(const uint8_t *data, size_t size) {
    pbd_figure_file *file;
    write_file("plots/fuzz-fig1/figure.yaml", data, size);
    if (!judge(pbd_figure_load("fuzz-fig1", &file))) return;
    plan(file);
    pbd_figure_file_free(file);
}

static void fuzz_sweep(const uint8_t *data, size_t size) {
    pbd_figure_file *file;
    if (!judge(pbd_sweep_load(write_file("sweep.yaml", data, size), &file))) return;
    plan(file);
    pbd_figure_file_free(file);
}

static void fuzz_gate(const uint8_t *data, size_t size) {
    pbd_gate_suite *suite;
    if (judge(pbd_gate_suite_load(write_file("gate.yaml", data, size), &suite))) pbd_gate_suite_free(suite);
}

static void fuzz_papers(const uint8_t *data, size_t size) {
    pbd_papers *papers;
    write_file("plots/papers.yaml", data, size);
    if (judge(pbd_papers_load(&papers))) pbd_papers_free(papers);
}

static void fuzz_problems(const uint8_t *data, size_t size) {
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

static void fuzz_scene(const uint8_t *data, size_t size) {
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

static void fuzz_csv(const uint8_t *data, size_t size) {
    pbd_csv csv;
    char *text = text_of(data, size);
    if (judge(pbd_csv_parse(text, "a file", &csv))) pbd_csv_free(&csv);
    free(text);
}

/* The first byte tells how many numbers a row has. */
static void fuzz_rows(const uint8_t *data, size_t size) {
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

/* ---- Words ------------------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 16, MOST_CASES = 128 };

/* A case of few particles, kept for the whole process. */
typedef struct small_case {
    bool made, built;
    pbd_setting setting[8];
    size_t settings;
    pbd_values of_case, of_method;
    pbd_setup setup;
} small_case;

static bool has_parameter(const pbd_param *params, const char *name) {
    for (const pbd_param *p = params; p && p->name; p++)
        if (strcmp(p->name, name) == 0) return true;
    return false;
}

static small_case *small_case_at(size_t number) {
    static small_case all[MOST_CASES];
    static const pbd_setting few[] = {{"particles", "60"}, {"particles_each", "60"},
                                      {"cells", "2"},      {"across", "4"},
                                      {"tori", "1"},       {"nx", "3"},
                                      {"ny", "3"},         {"nz", "3"}};
    small_case *s = &all[number];
    const pbd_case *c = pbd_case_at(number);
    const pbd_method *m = pbd_method_at(0)->by_precision[PBD_PRECISION_F64];
    if (s->made) return s;
    s->made = true;
    for (size_t i = 0; i < sizeof few / sizeof *few; i++)
        if (has_parameter(c->params, few[i].key)) s->setting[s->settings++] = few[i];
    const pbd_scene none = {0};
    s->built = judge(pbd_resolve_in(&none, c, m, s->setting, s->settings, &s->of_case, &s->of_method)) &&
               judge(pbd_case_build(c, &s->of_case, &s->setup));
    return s;
}

/* Whether a body of these values has about as few particles as the small one: no more along an edge, no edge of
 * another length. */
static bool is_small(const small_case *s, const pbd_values *values) {
    for (size_t i = 0; i < values->count; i++) {
        const pbd_value *v = &values->item[i];
        const double x = v->number, least = s->of_case.item[i].number;
        if (v->param->kind == PBD_FILE && strcmp(v->words, s->of_case.item[i].words) != 0) return false;
        if (v->param->kind == PBD_INTEGER && x > least) return false;
        if (v->param->kind == PBD_REAL && strcmp(v->param->unit, "m") == 0 && !(x >= least / 2 && x <= 2 * least))
            return false;
    }
    return true;
}

/* Whether a body of these values was built before in this process: it would be the same. */
static bool was_built(size_t number, const pbd_values *values) {
    static XXH64_hash_t built[1 << 14]; /* by the last bits; one takes the place of another */
    XXH64_hash_t hash = number;
    for (size_t i = 0; i < values->count; i++) {
        const pbd_value *v = &values->item[i];
        const char *text = v->words ? v->words : v->text;
        hash = XXH3_64bits_withSeed(text, strlen(text) + 1, hash);
    }
    XXH64_hash_t *at = &built[hash % (sizeof built / sizeof *built)];
    const bool known = *at == hash;
    *at = hash;
    return known;
}

/* Words are resolved in a small scene of the case, since `auto` would build that of the words, which may take seconds;
 * their own is built where it is small. */
static void take_words(size_t number, const pbd_method *m, const pbd_setting *setting, size_t settings) {
    const pbd_case *c = pbd_case_at(number);
    small_case *s = small_case_at(number);
    pbd_setting all[MOST_WORDS + 8];
    pbd_values of_case, of_method;
    pbd_setup setup = {0};
    memcpy(all, s->setting, s->settings * sizeof *all);
    memcpy(all + s->settings, setting, settings * sizeof *all);
    if (!judge(pbd_resolve_in(&s->setup.scene, c, m, all, s->settings + settings, &of_case, &of_method))) return;
    if (s->built && is_small(s, &of_case) && !was_built(number, &of_case) && judge(pbd_case_build(c, &of_case, &setup)))
        pbd_case_free(c, &setup);
    pbd_values_free(&of_case);
    pbd_values_free(&of_method);
}

/* Two bytes choose case and method; then words of `-s`, or of `-a` (they begin with +), a line each. */
static void fuzz_words(const uint8_t *data, size_t size) {
    if (size < 2) return;
    const pbd_method *m = pbd_method_at(data[1] % pbd_method_count())->by_precision[PBD_PRECISION_F64];
    pbd_setting setting[MOST_WORDS];
    size_t settings = 0;
    char *text = text_of(data + 2, size - 2), *rest = text;
    for (char *word; (word = strsep(&rest, "\n")) != NULL && settings < MOST_WORDS;) {
        pbd_axis axis;
        if (*word == '+') {
            if (judge(pbd_axis_parse(word + 1, &axis))) pbd_axis_free(&axis);
        } else if (judge(pbd_setting_parse(word, &setting[settings]))) {
            settings++;
        }
    }
    take_words(data[0] % pbd_case_count() % MOST_CASES, m, setting, settings);
    for (size_t i = 0; i < settings; i++) pbd_setting_free(&setting[i]);
    free(text);
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void fuzz_import(const uint8_t *data, size_t size) {
    pbd_import *import;
    if (judge(pbd_import_load(write_file("bench.json", data, size), NULL, &import))) pbd_import_free(import);
}

/* A store of this process; nothing that is put into it stays. */
static pbd_store *empty_store(void) {
    static pbd_store *store;
    if (!store && !judge(pbd_store_open(in_place("records.db"), PBD_STORE_WRITE, &store))) give_up("a store");
    return store;
}

static void put_record(json_t *record) {
    char run_id[33];
    bool added;
    pbd_store *store = empty_store();
    if (!judge(pbd_record_close(record)) || !judge(pbd_record_identify(record, run_id))) return;
    judge(pbd_store_start(store, "fuzzing"));
    judge(pbd_record_insert(store, record, &added));
    pbd_store_end(store, pbd_error(PBD_BAD_INPUT, "taken back"), "fuzzing");
}

/* A line of an export, with the id that its content has; and what a child process answers. */
static void fuzz_records(const uint8_t *data, size_t size) {
    json_t *record = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (!record) return;
    pbd_result result = {0};
    pbd_reported_read(record, &result);
    pbd_result_free(&result);
    judge(pbd_record_verify(record, NULL));
    if (json_object_get(record, "comparison"))
        judge(pbd_comparison_verify(record));
    else
        put_record(record);
    json_decref(record);
}

/* The lines of a manifest above its hash. */
static void fuzz_manifest(const uint8_t *data, size_t size) {
    pbd_manifest *m;
    const XXH128_hash_t hash = XXH3_128bits(data, size);
    FILE *out = fopen(in_place("sweep/manifest.jsonl"), "wb");
    if (!out || fwrite(data, 1, size, out) != size) give_up("a manifest");
    fprintf(out, "{\"hash\":\"%016llx%016llx\"}\n", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    if (fclose(out) != 0) give_up("a manifest");
    if (!judge(pbd_manifest_open(in_place("sweep"), &m))) return;
    for (size_t shard = 0; shard < m->shards && shard < 4; shard++) {
        pbd_plan made = {0};
        judge(pbd_manifest_plan(m, shard, &made));
        pbd_plan_free(&made);
    }
    pbd_manifest_free(m);
}

/* ---- Engines ----------------------------------------------------------------------------------------------------- */

/* What an engine says wrongly is a failure of its run, or refuses it. */
static bool judge_engine(pbd_status status) {
    if (status.code == PBD_OK) return true;
    if (*status.text) return false;
    fprintf(stderr, "fuzz: code %d without a sentence\n", (int)status.code);
    abort();
}

/* What an engine answers, byte by byte, taken as each kind of answer. */
static void judge_answer(const json_t *answer, uint64_t bytes) {
    pbd_arena a PBD_ARENA;
    pbd_engine_hello hello;
    pbd_engine_times times;
    pbd_result result = {0};
    bool single;
    size_t size;
    pbd_recorder *recorder = pbd_recorder_create(&result, NULL);
    if (!recorder) give_up("a recorder");
    judge_engine(pbd_engine_hello_read(answer, &a, &hello));
    judge_engine(pbd_engine_times_read(answer, 1e-3, false, &times));
    judge_engine(pbd_engine_report(answer, recorder));
    judge_engine(pbd_engine_array_check(answer, "positions", 2, 3, bytes, &single));
    judge_engine(pbd_engine_blob_check(answer, bytes, &size));
    pbd_recorder_destroy(recorder);
    pbd_result_free(&result);
}

static void fuzz_engine(const uint8_t *data, size_t size) {
    int ends[2];
    json_t *answer = NULL;
    char numbers[48];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("a socket");
    const size_t sent = size < 65536 ? size : 65536;
    if (send(ends[1], data, sent, MSG_DONTWAIT) < 0 && sent > 0) give_up("a message");
    shutdown(ends[1], SHUT_WR);
    pbd_engine_process p = {.talk = ends[0], .log = -1, .patience = 5};
    const bool fine = judge_engine(pbd_engine_ask(&p, json_pack("{s:s}", "op", "read"), NULL, 0, &answer));
    if (answer) judge_answer(answer, p.pending);
    if (fine && p.pending > 0)
        judge_engine(pbd_engine_take(&p, numbers, p.pending < sizeof numbers ? p.pending : sizeof numbers));
    json_decref(answer);
    pbd_engine_process_end(&p);
    close(ends[1]);
}

/* ---- The store --------------------------------------------------------------------------------------------------- */

enum { UNCHECKED = 260 << 10 }; /* larger stores are not looked through when they are opened */
static const char kept_run[] = "d18691ad29fb81de527df6558101ab07";

/* One run of the store that 5e3bc93 wrote, in a store of small pages: few bytes, each of which matters. */
static void make_small_store(const char *path) {
    pbd_store *from, *to;
    json_t *record;
    bool added;
    if (!judge(pbd_store_open(PBD_TEST_FOLDER "/data/store-5e3bc93.db", PBD_STORE_READ, &from)) ||
        !judge(pbd_record_load(from, kept_run, &record)) || !judge(pbd_store_open(path, PBD_STORE_WRITE, &to)))
        give_up("the kept store");
    if (!judge(pbd_store_start(to, "copying")) || !judge(pbd_record_insert(to, record, &added)) ||
        !judge(pbd_store_end(to, pbd_ok(), "copying")) ||
        sqlite3_exec(pbd_store_sql(to), "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM", NULL, NULL,
                     NULL) != SQLITE_OK)
        give_up("a small store");
    json_decref(record);
    pbd_store_close(to);
    pbd_store_close(from);
}

static size_t read_small_store(char *to) {
    const char *path = in_place("good.db");
    make_small_store(path);
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(to, 1, UNCHECKED, file) : 0;
    if (bytes == 0 || bytes == UNCHECKED) give_up(path);
    fclose(file);
    return bytes;
}

/* SQLite takes small memory from a block of each connection and locks nothing: the sanitizer's allocator takes half of
 * the time otherwise, and looks into nothing here, where SQLite is not instrumented. */
static void quicken_sqlite(void) {
    sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1200, 2000);
}

/* A file of this process that is changed in memory: writing it anew for each input takes longer than reading it. */
static char *map_file(const char *name, size_t bytes) {
    const char *path = in_place(name);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    char *at = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)bytes) == 0)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) give_up(path);
    close(file);
    return at;
}

/* Damage: rows of four bytes, three of a place in the store and one that stands there then. Zeros behind the store,
 * which SQLite does not look at, keep it from being looked through as it is opened, unless a byte is left over. */
static void fuzz_store(const uint8_t *data, size_t size) {
    static const char *const names[2] = {"damaged.db", "checked.db"};
    static char good[UNCHECKED], *bad[2];
    static size_t bytes;
    static FILE *none;
    if (bytes == 0) {
        quicken_sqlite();
        bytes = read_small_store(good);
        bad[0] = map_file(names[0], UNCHECKED + 1);
        bad[1] = map_file(names[1], bytes);
    }
    if (!none && !(none = fopen("/dev/null", "w"))) give_up("/dev/null");
    const int checked = size % 4 == 1;
    memcpy(bad[checked], good, bytes);
    for (size_t i = 0; i + 3 < size; i += 4)
        bad[checked][((size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2]) % bytes] = (char)data[i + 3];
    pbd_store *store;
    size_t problems;
    pbd_result result;
    const char *const run[] = {kept_run};
    if (!judge(pbd_store_open(in_place(names[checked]), PBD_STORE_READ, &store))) return;
    judge(pbd_store_check(store, none, &problems));
    judge(pbd_store_export_runs(store, run, 1, none));
    if (judge(pbd_store_get(store, run[0], &result))) pbd_result_free(&result);
    pbd_store_close(store);
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

#define FORMATS(F) \
    F(msh)         \
    F(inp)         \
    F(obj)         \
    F(off)         \
    F(ply)         \
    F(stl)         \
    F(points)      \
    F(triangles)   \
    F(figure)      \
    F(sweep)       \
    F(gate) F(papers) F(problems) F(scene) F(csv) F(rows) F(words) F(import) F(records) F(manifest) F(engine) F(store)

typedef struct format {
    const char *name;
    void (*take)(const uint8_t *data, size_t size);
} format;
#define ROW(NAME) {#NAME, fuzz_##NAME},
static const format formats[] = {FORMATS(ROW)};
enum { FORMATS_COUNT = sizeof formats / sizeof *formats };

static const format *find_format(const char *name) {
    for (size_t i = 0; i < FORMATS_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    fprintf(stderr, "fuzz: there is no format '%s'\n", name);
    exit(2);
}

#ifdef FUZZ_FORMAT
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const format *mine;
    if (!mine) mine = find_format(FUZZ_FORMAT);
    make_place();
    mine->take(data, size);
    return 0;
}
#else
enum { PATIENCE = 60 }; /* s for one input */

static void replay(const format *f, const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0) give_up(path);
    uint8_t *data = malloc((size_t)about.st_size + 1);
    if (!data || fread(data, 1, (size_t)about.st_size, file) != (size_t)about.st_size) give_up(path);
    fclose(file);
    printf("%s\n", path); /* the last one is the one that crashes */
    fflush(stdout);
    alarm(PATIENCE);
    f->take(data, (size_t)about.st_size);
    alarm(0);
    free(data);
}

/* Of one format's folder; how many. */
static size_t replay_all(const char *corpus, const format *f) {
    char folder[PATH_MAX];
    struct dirent **entry;
    snprintf(folder, sizeof folder, "%s/%s", corpus, f->name);
    const int count = scandir(folder, &entry, NULL, alphasort);
    size_t inputs = 0;
    if (count < 0) give_up(folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.') {
            replay(f, path);
            inputs++;
        }
        free(entry[i]);
    }
    free(entry);
    return inputs;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: fuzz_corpus FOLDER [FORMAT]\n");
        return 2;
    }
    make_place();
    size_t inputs = 0;
    for (size_t i = 0; i < FORMATS_COUNT; i++)
        if (argc < 3 || &formats[i] == find_format(argv[2])) inputs += replay_all(argv[1], &formats[i]);
    printf("%zu inputs of %s\n", inputs, argc < 3 ? "all formats" : argv[2]);
    return inputs > 0 ? 0 : 1;
}
#endif
