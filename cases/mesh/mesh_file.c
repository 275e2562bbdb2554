/* Shared by both formats: growing lists, indices for labels, nodes for groups, and the checks of a whole mesh. */
#include "cases/mesh/mesh_file.h"

#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "harness/exec/arena.h"

const int mesh_corners[MESH_SHAPES] = {1, 2, 3, 4, 8};
const char *const mesh_shape_names[MESH_SHAPES] = {"point", "line", "triangle", "tetrahedron", "hexahedron"};

pbd_status mesh_wrong(const mesh_reader *reader, const char *format, ...) {
    char what[240];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return pbd_error(PBD_BAD_INPUT, "%.110s, line %ld: %s", reader->path, reader->line, what);
}

/* Makes room for `capacity` entries of `bytes` each. */
static bool grow(void *list, size_t capacity, size_t bytes) {
    void **at = list, *grown = realloc(*at, capacity * bytes);
    if (grown) *at = grown;
    return grown != NULL;
}

static size_t next_capacity(size_t count) { return count ? 2 * count : 64; }

pbd_status mesh_add_node(mesh_reader *reader, mesh_file *mesh, int64_t label, const double x[3]) {
    for (int d = 0; d < 3; d++)
        if (!isfinite(x[d])) return mesh_wrong(reader, "%c of node %lld is %g", "xyz"[d], (long long)label, x[d]);
    if (mesh->nodes == mesh->capacity) {
        const size_t capacity = next_capacity(mesh->nodes);
        if (!grow(&mesh->position, capacity, 3 * sizeof *mesh->position) ||
            !grow(&mesh->label, capacity, sizeof *mesh->label))
            return pbd_no_memory();
        mesh->capacity = capacity;
    }
    memcpy(mesh->position + 3 * mesh->nodes, x, 3 * sizeof *x);
    mesh->label[mesh->nodes++] = label;
    return mesh->nodes < UINT32_MAX ? pbd_ok() : mesh_wrong(reader, "there are more than 4 thousand million nodes");
}

pbd_status mesh_add_element(mesh_reader *reader, mesh_file *mesh, mesh_shape shape, int64_t label,
                            const int64_t *nodes) {
    mesh_elements *e = &mesh->of[shape];
    const size_t corners = (size_t)mesh_corners[shape];
    if (e->count == e->capacity) {
        const size_t capacity = next_capacity(e->count);
        if (!grow(&e->label, capacity, sizeof *e->label) || !grow(&e->line, capacity, sizeof *e->line) ||
            !grow(&e->node_label, capacity, corners * sizeof *e->node_label))
            return pbd_no_memory();
        e->capacity = capacity;
    }
    e->label[e->count] = label;
    e->line[e->count] = reader->line;
    memcpy(e->node_label + e->count * corners, nodes, corners * sizeof *nodes);
    e->count++;
    return pbd_ok();
}

/* ---- Groups by name ---------------------------------------------------------------------------------------------- */

typedef struct group_name {
    const char *name; /* of the group */
    size_t group;
} group_name;

static int compare_names(const void *a, const void *b) {
    return strcmp(((const group_name *)a)->name, ((const group_name *)b)->name);
}

static int compare_words(const void *a, const void *b) {
    return strcasecmp(((const group_name *)a)->name, ((const group_name *)b)->name);
}

static mesh_group *find_in(const mesh_file *mesh, void *const *tree, const char *name,
                           int (*compare)(const void *, const void *)) {
    const group_name wanted = {name, 0}, *const *found = tfind(&wanted, tree, compare);
    return found ? &mesh->group[(*found)->group] : NULL;
}

/* Of names that differ only in case, the tree that ignores case keeps the first. */
static pbd_status index_group(mesh_file *mesh) {
    group_name *entry = malloc(sizeof *entry);
    if (!entry) return pbd_no_memory();
    *entry = (group_name){mesh->group[mesh->groups].name, mesh->groups};
    if (!tsearch(entry, &mesh->by_name, compare_names)) {
        free(entry);
        return pbd_no_memory();
    }
    return tsearch(entry, &mesh->by_word, compare_words) ? pbd_ok() : pbd_no_memory();
}

pbd_status mesh_get_group(mesh_file *mesh, const char *name, mesh_group **out) {
    *out = find_in(mesh, &mesh->by_name, name, compare_names);
    if (*out) return pbd_ok();
    if (mesh->groups == mesh->group_capacity) {
        const size_t capacity = next_capacity(mesh->groups);
        if (!grow(&mesh->group, capacity, sizeof *mesh->group)) return pbd_no_memory();
        mesh->group_capacity = capacity;
    }
    *out = &mesh->group[mesh->groups];
    **out = (mesh_group){.name = strdup(name)};
    const pbd_status status = (*out)->name ? index_group(mesh) : pbd_no_memory();
    mesh->groups++; /* freed with the others */
    return status;
}

const mesh_group *mesh_find_group(const mesh_file *mesh, const char *name) {
    const mesh_group *exact = find_in(mesh, &mesh->by_name, name, compare_names);
    return exact ? exact : find_in(mesh, &mesh->by_word, name, compare_words);
}

pbd_status mesh_add_range(const mesh_reader *reader, mesh_file *mesh, mesh_group *group, mesh_range range) {
    if (mesh->ranges++ > reader->bytes)
        return mesh_wrong(reader, "the groups have more entries than the file has letters (at '%.60s')", group->name);
    if (group->ranges == group->range_capacity) {
        const size_t capacity = next_capacity(group->ranges);
        if (!grow(&group->range, capacity, sizeof *group->range)) return pbd_no_memory();
        group->range_capacity = capacity;
    }
    group->range[group->ranges++] = range;
    return pbd_ok();
}

static void keep_entry(void *entry) { (void)entry; }

void mesh_file_free(mesh_file *mesh) {
    tdestroy(mesh->by_word, keep_entry);
    tdestroy(mesh->by_name, free);
    free(mesh->position);
    free(mesh->label);
    for (int s = 0; s < MESH_SHAPES; s++) {
        free(mesh->of[s].label);
        free(mesh->of[s].node_label);
        free(mesh->of[s].line);
        free(mesh->of[s].node);
    }
    for (size_t g = 0; g < mesh->groups; g++) {
        free(mesh->group[g].name);
        free(mesh->group[g].range);
        free(mesh->group[g].node);
    }
    free(mesh->group);
    *mesh = (mesh_file){0};
}

/* ---- Labels to numbers ------------------------------------------------------------------------------------------- */

typedef struct label_place {
    int64_t label;
    uint32_t place; /* index of a node; of an element, within its shape */
    mesh_shape shape;
} label_place;

typedef struct label_map {
    label_place *item; /* by ascending label */
    size_t count;
} label_map;

static int compare_labels(const void *a, const void *b) {
    const int64_t x = ((const label_place *)a)->label, y = ((const label_place *)b)->label;
    return (x > y) - (x < y);
}

/* The first entry whose label is not below this one. */
static size_t lower_bound(const label_map *map, int64_t label) {
    size_t low = 0, high = map->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (map->item[middle].label < label)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static pbd_status map_nodes(const mesh_reader *reader, const mesh_file *mesh, label_map *map) {
    if (!(map->item = malloc((mesh->nodes + 1) * sizeof *map->item))) return pbd_no_memory();
    for (size_t i = 0; i < mesh->nodes; i++)
        map->item[map->count++] = (label_place){.label = mesh->label[i], .place = (uint32_t)i};
    qsort(map->item, map->count, sizeof *map->item, compare_labels);
    for (size_t i = 1; i < map->count; i++)
        if (map->item[i].label == map->item[i - 1].label)
            return pbd_error(PBD_BAD_INPUT, "%.110s: node %lld is defined twice", reader->path,
                             (long long)map->item[i].label);
    return pbd_ok();
}

static pbd_status map_elements(const mesh_reader *reader, const mesh_file *mesh, label_map *map) {
    size_t total = 0;
    for (int s = 0; s < MESH_SHAPES; s++) total += mesh->of[s].count;
    if (!(map->item = malloc((total + 1) * sizeof *map->item))) return pbd_no_memory();
    for (int s = 0; s < MESH_SHAPES; s++)
        for (size_t e = 0; e < mesh->of[s].count; e++)
            map->item[map->count++] = (label_place){mesh->of[s].label[e], (uint32_t)e, (mesh_shape)s};
    qsort(map->item, map->count, sizeof *map->item, compare_labels);
    for (size_t i = 1; i < map->count; i++)
        if (map->item[i].label == map->item[i - 1].label)
            return pbd_error(PBD_BAD_INPUT, "%.110s: element %lld is defined twice", reader->path,
                             (long long)map->item[i].label);
    return pbd_ok();
}

static pbd_status number_elements(const mesh_reader *reader, const label_map *nodes, mesh_shape shape,
                                  mesh_elements *e) {
    const size_t corners = (size_t)mesh_corners[shape];
    if (!(e->node = malloc((e->count * corners + 1) * sizeof *e->node))) return pbd_no_memory();
    for (size_t i = 0; i < e->count * corners; i++) {
        const size_t at = lower_bound(nodes, e->node_label[i]);
        if (at == nodes->count || nodes->item[at].label != e->node_label[i])
            return pbd_error(PBD_BAD_INPUT, "%.110s, line %ld: %s %lld has node %lld, which the file does not define",
                             reader->path, e->line[i / corners], mesh_shape_names[shape],
                             (long long)e->label[i / corners], (long long)e->node_label[i]);
        e->node[i] = nodes->item[at].place;
    }
    return pbd_ok();
}

/* ---- Groups to nodes --------------------------------------------------------------------------------------------- */

/* Finds the nodes of one group after the other. */
typedef struct marking {
    const mesh_reader *reader;
    mesh_file *mesh;
    const label_map *map; /* of nodes, of elements */
    uint32_t *last;       /* mesh->nodes: number from 1 of the last group with each */
    uint32_t *node;       /* mesh->nodes: of the present group, in order of discovery */
    size_t nodes, left;   /* left: entries that are still allowed */
} marking;

/* Most group entries per byte of the file: a range of few bytes may name all nodes, any number of times. */
enum { ENTRIES_PER_LETTER = 16 };

static void mark_node(marking *m, size_t group, uint32_t node) {
    if (m->last[node] == group + 1) return;
    m->last[node] = (uint32_t)(group + 1);
    m->node[m->nodes++] = node;
}

static pbd_status mark_label(marking *m, size_t group, const mesh_range *range, const label_place *p) {
    const size_t corners = range->of_elements ? (size_t)mesh_corners[p->shape] : 1;
    if (m->left < corners)
        return pbd_error(PBD_BAD_INPUT, "%.110s, line %ld: the groups have more than %zu entries (at '%.60s')",
                         m->reader->path, range->line, ENTRIES_PER_LETTER * m->reader->bytes,
                         m->mesh->group[group].name);
    m->left -= corners;
    if (!range->of_elements) {
        mark_node(m, group, p->place);
        return pbd_ok();
    }
    const uint32_t *node = m->mesh->of[p->shape].node + p->place * corners;
    for (size_t c = 0; c < corners; c++) mark_node(m, group, node[c]);
    return pbd_ok();
}

/* A single label must exist; labels of a range may be missing. */
static pbd_status mark_range(marking *m, size_t group, const mesh_range *range) {
    const label_map *map = &m->map[range->of_elements];
    size_t found = 0;
    for (size_t i = lower_bound(map, range->first); i < map->count && map->item[i].label <= range->last; i++) {
        const label_place *p = &map->item[i];
        if ((uint64_t)(p->label - range->first) % (uint64_t)range->step != 0) {
            m->left -= m->left > 0; /* skipped labels count, since they take time too */
            continue;
        }
        found++;
        PBD_TRY(mark_label(m, group, range, p));
    }
    if (found > 0 || range->first != range->last) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%.110s, line %ld: group '%.60s' names %s %lld, which the file does not define",
                     m->reader->path, range->line, m->mesh->group[group].name, range->of_elements ? "element" : "node",
                     (long long)range->first);
}

static int compare_nodes(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static pbd_status resolve_group(marking *m, size_t number) {
    mesh_group *group = &m->mesh->group[number];
    m->nodes = 0;
    for (size_t r = 0; r < group->ranges; r++) PBD_TRY(mark_range(m, number, &group->range[r]));
    if (!(group->node = malloc((m->nodes + 1) * sizeof *group->node))) return pbd_no_memory();
    group->nodes = m->nodes;
    memcpy(group->node, m->node, m->nodes * sizeof *group->node);
    qsort(group->node, group->nodes, sizeof *group->node, compare_nodes);
    return pbd_ok();
}

static pbd_status resolve_groups(const mesh_reader *reader, mesh_file *mesh, const label_map map[2]) {
    pbd_arena a PBD_ARENA;
    marking m = {.reader = reader, .mesh = mesh, .map = map, .left = ENTRIES_PER_LETTER * reader->bytes};
    m.last = pbd_new(&a, uint32_t, mesh->nodes);
    m.node = pbd_new(&a, uint32_t, mesh->nodes);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t g = 0; g < mesh->groups; g++) PBD_TRY(resolve_group(&m, g));
    return pbd_ok();
}

static pbd_status number_all(const mesh_reader *reader, mesh_file *mesh, label_map map[2]) {
    PBD_TRY(map_nodes(reader, mesh, &map[0]));
    PBD_TRY(map_elements(reader, mesh, &map[1]));
    for (int s = 0; s < MESH_SHAPES; s++) PBD_TRY(number_elements(reader, &map[0], (mesh_shape)s, &mesh->of[s]));
    return resolve_groups(reader, mesh, map);
}

/* ---- Checks of the whole ----------------------------------------------------------------------------------------- */

/* Volumes and areas below this fraction of the cube or square of the longest edge are rounding. */
static const double FLAT = 1e-12;

typedef struct edge {
    double d[3];
} edge;

static edge between(const mesh_file *mesh, const uint32_t *node, int from, int to) {
    edge e;
    for (uint32_t d = 0; d < 3; d++) e.d[d] = mesh->position[3 * node[to] + d] - mesh->position[3 * node[from] + d];
    return e;
}
static edge cross(edge a, edge b) {
    return (edge){
        {a.d[1] * b.d[2] - a.d[2] * b.d[1], a.d[2] * b.d[0] - a.d[0] * b.d[2], a.d[0] * b.d[1] - a.d[1] * b.d[0]}};
}
static double dot(edge a, edge b) { return a.d[0] * b.d[0] + a.d[1] * b.d[1] + a.d[2] * b.d[2]; }

static double longest(const mesh_file *mesh, const uint32_t *node, int corners) {
    double most = 0;
    for (int a = 0; a < corners; a++)
        for (int b = 0; b < a; b++) {
            const edge e = between(mesh, node, a, b);
            most = fmax(most, sqrt(dot(e, e)));
        }
    return most;
}

/* The least volume of the parallelepipeds at an element's corners (a tetrahedron's are all equal); of a triangle, twice
 * its area. Both formats number corners so that the edges from a corner, in this order, are right-handed. */
static double least_volume(const mesh_file *mesh, mesh_shape shape, const uint32_t *node) {
    static const int at[8][4] = {{0, 1, 3, 4}, {1, 2, 0, 5}, {2, 3, 1, 6}, {3, 0, 2, 7},
                                 {4, 7, 5, 0}, {5, 4, 6, 1}, {6, 5, 7, 2}, {7, 6, 4, 3}};
    static const int tet[4] = {0, 1, 2, 3};
    if (shape == MESH_TRIANGLE) {
        const edge n = cross(between(mesh, node, 0, 1), between(mesh, node, 0, 2));
        return sqrt(dot(n, n));
    }
    double least = INFINITY;
    for (int c = 0; c < (shape == MESH_HEX ? 8 : 1); c++) {
        const int *k = shape == MESH_HEX ? at[c] : tet;
        const edge n = cross(between(mesh, node, k[0], k[1]), between(mesh, node, k[0], k[2]));
        least = fmin(least, dot(n, between(mesh, node, k[0], k[3])));
    }
    return least;
}

static pbd_status check_element(const mesh_reader *reader, const mesh_file *mesh, mesh_shape shape, size_t e) {
    const mesh_elements *of = &mesh->of[shape];
    const uint32_t *node = of->node + e * (size_t)mesh_corners[shape];
    const double edge_length = longest(mesh, node, mesh_corners[shape]), volume = least_volume(mesh, shape, node);
    const double flat = FLAT * pow(edge_length, shape == MESH_TRIANGLE ? 2 : 3);
    if (volume > flat) return pbd_ok();
    const char *what = volume >= -flat ? "has no volume" : "is inverted";
    if (shape == MESH_TRIANGLE) what = "has no area";
    if (shape == MESH_HEX && volume < -flat) what = "is inverted, or not convex at a corner";
    return pbd_error(PBD_BAD_INPUT, "%.110s, line %ld: %s %lld %s", reader->path, of->line[e], mesh_shape_names[shape],
                     (long long)of->label[e], what);
}

/* Points, lines and, in a solid, triangles only name parts of the body. */
static pbd_status check_nodes(const mesh_reader *reader, const mesh_file *mesh) {
    const bool solid = mesh->of[MESH_TET].count + mesh->of[MESH_HEX].count > 0;
    pbd_arena a PBD_ARENA;
    bool *used = pbd_new(&a, bool, mesh->nodes);
    PBD_TRY(pbd_arena_check(&a));
    for (int s = solid ? MESH_TET : MESH_TRIANGLE; s < MESH_SHAPES; s++)
        for (size_t i = 0; i < mesh->of[s].count * (size_t)mesh_corners[s]; i++) used[mesh->of[s].node[i]] = true;
    for (size_t i = 0; i < mesh->nodes; i++)
        if (!used[i])
            return pbd_error(PBD_BAD_INPUT,
                             "%.110s: node %lld belongs to no %s; remove it (Gmsh writes only the contents of physical "
                             "groups, if there are any)",
                             reader->path, (long long)mesh->label[i], solid ? "volume element" : "element");
    return pbd_ok();
}

static pbd_status check_whole(const mesh_reader *reader, const mesh_file *mesh) {
    if (mesh->nodes == 0) return pbd_error(PBD_BAD_INPUT, "%.110s: the mesh is empty: it has no nodes", reader->path);
    if (mesh->of[MESH_TRIANGLE].count + mesh->of[MESH_TET].count + mesh->of[MESH_HEX].count == 0)
        return pbd_error(PBD_BAD_INPUT, "%.110s: the mesh is empty: it has no tetrahedra, hexahedra or triangles",
                         reader->path);
    if (mesh->of[MESH_TET].count > 0 && mesh->of[MESH_HEX].count > 0)
        return pbd_error(PBD_BAD_INPUT, "%.110s has both tetrahedra and hexahedra; methods support one of them",
                         reader->path);
    for (int s = MESH_TRIANGLE; s < MESH_SHAPES; s++)
        for (size_t e = 0; e < mesh->of[s].count; e++) PBD_TRY(check_element(reader, mesh, (mesh_shape)s, e));
    return check_nodes(reader, mesh);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static pbd_status read_format(mesh_reader *reader, mesh_file *out) {
    const char *text = reader->at + strspn(reader->at, " \t\r\n");
    if (strncmp(text, "$MeshFormat", 11) == 0 || strncmp(text, "$Comments", 9) == 0) return mesh_read_gmsh(reader, out);
    if (memchr(reader->at, '\0', reader->bytes)) return mesh_wrong(reader, "this is not text");
    if (*text == '*') return mesh_read_inp(reader, out);
    return mesh_wrong(reader, "neither a Gmsh file ($MeshFormat) nor an Abaqus one (*NODE) starts with '%.20s'", text);
}

static pbd_status read_mesh(mesh_reader *reader, mesh_file *out) {
    label_map map[2] = {{0}};
    PBD_TRY(read_format(reader, out));
    const pbd_status status = number_all(reader, out, map);
    free(map[0].item);
    free(map[1].item);
    PBD_TRY(status);
    return check_whole(reader, out);
}

pbd_status mesh_file_read(const pbd_content *content, mesh_file *out) {
    *out = (mesh_file){0};
    mesh_reader reader = {content->path, content->text, 1, content->bytes};
    const pbd_status status = read_mesh(&reader, out);
    if (status.code != PBD_OK) mesh_file_free(out);
    return status;
}
