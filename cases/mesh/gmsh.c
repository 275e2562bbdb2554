/* Gmsh MSH 4.1, text: https://gmsh.info/doc/texinfo/gmsh.html#MSH-file-format. Sections may come in any order, except
 * that entities come before elements; unused sections are skipped. A physical group becomes a group of the mesh, called
 * by its name or, without one, by its dimension and number: "surface_7". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

#include "cases/mesh/mesh_file.h"
#include "harness/files/numbers.h"

/* Key of an entity or of a physical group. order: of its row in the file. */
typedef struct place {
    int64_t dimension, number;
    size_t order;
} place;

typedef struct membership {
    place at; /* an entity */
    int64_t group;
} membership;

typedef struct physical_name {
    place at; /* a group */
    char name[128];
} physical_name;

typedef struct gmsh {
    mesh_reader *reader;
    mesh_file *mesh;
    physical_name *name;
    size_t names;
    membership *member;
    size_t members;
    bool has_nodes, has_elements;
} gmsh;

/* ---- Words and numbers ------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Advances to the next word; counts lines. */
static void skip_blanks(mesh_reader *r) {
    for (; is_blank(*r->at); r->at++) r->line += *r->at == '\n';
}

static int word_length(const mesh_reader *r) {
    int n = 0;
    while (r->at[n] && !is_blank(r->at[n])) n++;
    return n;
}

static pbd_status not_number(const mesh_reader *r, const char *what) {
    const int n = word_length(r);
    if (n == 0) return mesh_wrong(r, "the file ends where %s is expected", what);
    return mesh_wrong(r, "'%.*s' found where %s is expected", n < 40 ? n : 40, r->at, what);
}

static pbd_status read_whole_number(mesh_reader *r, const char *what, int64_t *out) {
    char *end;
    *out = 0;
    skip_blanks(r);
    errno = 0;
    const long long x = strtoll(r->at, &end, 10);
    if (end == r->at || (*end && !is_blank(*end)) || errno) return not_number(r, what);
    *out = x;
    r->at = end;
    return pbd_ok();
}

static pbd_status read_real(mesh_reader *r, const char *what, double *out) {
    char *end;
    skip_blanks(r);
    *out = pbd_decimal(r->at, &end);
    if (end == r->at || (*end && !is_blank(*end))) return not_number(r, what);
    r->at = end;
    return pbd_ok();
}

/* Reads the number of items that follow, each of which takes at least `least` bytes. */
static pbd_status read_count(mesh_reader *r, const char *what, size_t least, size_t *out) {
    int64_t n = 0;
    *out = 0;
    PBD_TRY(read_whole_number(r, what, &n));
    if (n < 0 || (uint64_t)n > r->bytes / least)
        return mesh_wrong(r, "%lld cannot be %s in a file of %zu bytes", (long long)n, what, r->bytes);
    *out = (size_t)n;
    return pbd_ok();
}

static pbd_status expect_end(mesh_reader *r, const char *section) {
    skip_blanks(r);
    const int n = word_length(r);
    if (n == (int)strlen(section) + 3 && strncmp(r->at, "$End", 4) == 0 &&
        strncmp(r->at + 4, section + 1, strlen(section) - 1) == 0) {
        r->at += n;
        return pbd_ok();
    }
    return mesh_wrong(r, "$End%s expected here, not '%.*s'", section + 1, n < 40 ? n : 40, r->at);
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

static pbd_status read_format(gmsh *g) {
    double version = 0;
    int64_t binary = 0, size = 0;
    PBD_TRY(read_real(g->reader, "the format's version", &version));
    PBD_TRY(read_whole_number(g->reader, "0 (text) or 1 (binary)", &binary));
    PBD_TRY(read_whole_number(g->reader, "the size of numbers", &size));
    if (!(version > 4.09 && version < 4.11))
        return mesh_wrong(g->reader,
                          "this is MSH %g; only MSH 4.1 is supported: `gmsh -save -format msh41 -o NEW FILE`", version);
    if (binary != 0)
        return mesh_wrong(g->reader,
                          "this is a binary MSH; only text is supported: `gmsh -save -format msh41 -o NEW FILE`");
    return expect_end(g->reader, "$MeshFormat");
}

static pbd_status read_names(gmsh *g) {
    mesh_reader *r = g->reader;
    size_t count = 0;
    PBD_TRY(read_count(r, "the number of names", 5, &count));
    physical_name *grown = realloc(g->name, (g->names + count + 1) * sizeof *grown);
    if (!grown) return pbd_no_memory();
    g->name = grown;
    for (size_t i = 0; i < count; i++) {
        physical_name *p = &g->name[g->names];
        p->at.order = g->names;
        PBD_TRY(read_whole_number(r, "a dimension", &p->at.dimension));
        PBD_TRY(read_whole_number(r, "a group's number", &p->at.number));
        skip_blanks(r);
        const size_t length = *r->at == '"' ? strcspn(r->at + 1, "\"\n") : 0;
        if (length == 0 || r->at[1 + length] != '"' || length >= sizeof p->name)
            return mesh_wrong(r, "a name in double quotes of at most %zu letters expected here", sizeof p->name - 1);
        snprintf(p->name, sizeof p->name, "%.*s", (int)length, r->at + 1);
        r->at += length + 2;
        g->names++;
    }
    return expect_end(r, "$PhysicalNames");
}

static pbd_status read_membership(gmsh *g, int64_t dimension, int64_t entity) {
    size_t count = 0;
    int64_t group = 0;
    PBD_TRY(read_count(g->reader, "the number of an entity's groups", 2, &count));
    membership *grown = realloc(g->member, (g->members + count + 1) * sizeof *grown);
    if (!grown) return pbd_no_memory();
    g->member = grown;
    for (size_t i = 0; i < count; i++) {
        PBD_TRY(read_whole_number(g->reader, "a group's number", &group));
        const place at = {dimension, entity, g->members};
        g->member[g->members++] = (membership){at, (int64_t)(group < 0 ? 0 - (uint64_t)group : (uint64_t)group)};
    }
    return pbd_ok();
}

static pbd_status read_entities(gmsh *g) {
    mesh_reader *r = g->reader;
    size_t count[4] = {0}, bounds = 0;
    int64_t entity = 0, bound;
    double box;
    for (int d = 0; d < 4; d++) PBD_TRY(read_count(r, "a number of entities", 2, &count[d]));
    for (int d = 0; d < 4; d++)
        for (size_t i = 0; i < count[d]; i++) {
            PBD_TRY(read_whole_number(r, "an entity's number", &entity));
            for (int b = 0; b < (d == 0 ? 3 : 6); b++) PBD_TRY(read_real(r, "an entity's bounds", &box));
            PBD_TRY(read_membership(g, d, entity));
            if (d == 0) continue;
            PBD_TRY(read_count(r, "the number of bounding entities", 2, &bounds));
            for (size_t b = 0; b < bounds; b++) PBD_TRY(read_whole_number(r, "a bounding entity", &bound));
        }
    return expect_end(r, "$Entities");
}

static pbd_status read_node_block(gmsh *g, int64_t *label) {
    mesh_reader *r = g->reader;
    int64_t dimension = 0, entity = 0, parametric = 0;
    size_t count = 0;
    double x[3] = {0}, parameter;
    PBD_TRY(read_whole_number(r, "an entity's dimension", &dimension));
    PBD_TRY(read_whole_number(r, "an entity's number", &entity));
    PBD_TRY(read_whole_number(r, "0 or 1 (parametric)", &parametric));
    PBD_TRY(read_count(r, "a number of nodes", 2, &count));
    if (dimension < 0 || dimension > 3) return mesh_wrong(r, "%lld is not a dimension", (long long)dimension);
    int64_t *labels = label + g->mesh->nodes; /* of this block, within the section's */
    for (size_t i = 0; i < count; i++) PBD_TRY(read_whole_number(r, "a node's number", &labels[i]));
    for (size_t i = 0; i < count; i++) {
        for (int d = 0; d < 3; d++) PBD_TRY(read_real(r, "a coordinate", &x[d]));
        for (int64_t p = 0; parametric && p < dimension; p++)
            PBD_TRY(read_real(r, "a parameter of a node", &parameter));
        PBD_TRY(mesh_add_node(r, g->mesh, labels[i], x));
    }
    return pbd_ok();
}

static pbd_status read_nodes(gmsh *g) {
    mesh_reader *r = g->reader;
    size_t blocks = 0, nodes = 0;
    int64_t least, most;
    if (g->has_nodes) return mesh_wrong(r, "$Nodes is given twice");
    g->has_nodes = true;
    PBD_TRY(read_count(r, "a number of blocks", 2, &blocks));
    PBD_TRY(read_count(r, "a number of nodes", 8, &nodes));
    PBD_TRY(read_whole_number(r, "the least number of a node", &least));
    PBD_TRY(read_whole_number(r, "the largest number of a node", &most));
    /* Blocks may declare wrong sizes: there is room for the most nodes that the file can hold. */
    pbd_arena a PBD_ARENA;
    int64_t *label = pbd_new(&a, int64_t, r->bytes / 2 + 2);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t b = 0; b < blocks; b++) PBD_TRY(read_node_block(g, label));
    if (g->mesh->nodes != nodes)
        return mesh_wrong(r, "%zu nodes were declared, but there are %zu", nodes, g->mesh->nodes);
    return expect_end(r, "$Nodes");
}

/* MSH's element types; those of higher order are reported by name. */
static const struct {
    int type;
    mesh_shape shape;
} shapes[] = {{15, MESH_POINT}, {1, MESH_LINE}, {2, MESH_TRIANGLE}, {4, MESH_TET}, {5, MESH_HEX}};

static pbd_status find_shape(const mesh_reader *r, int64_t type, mesh_shape *out) {
    *out = MESH_POINT;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].type == type) {
            *out = shapes[i].shape;
            return pbd_ok();
        }
    return mesh_wrong(r,
                      "elements of type %lld are not read; tetrahedra (4), hexahedra (5), triangles (2), lines (1) and "
                      "points (15) are, all of first order",
                      (long long)type);
}

/* Rows of names and of memberships begin with their place. */
static int compare_places(const void *a, const void *b) {
    const place *p = a, *q = b;
    if (p->dimension != q->dimension) return p->dimension < q->dimension ? -1 : 1;
    if (p->number != q->number) return p->number < q->number ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

/* The first of these rows that is not below (dimension, number). */
static size_t first_at(const void *rows, size_t count, size_t bytes, int64_t dimension, int64_t number) {
    const place wanted = {dimension, number, 0};
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_places((const char *)rows + middle * bytes, &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *name_of(const gmsh *g, int64_t dimension, int64_t group, char spelt[40]) {
    static const char *const kinds[] = {"point", "curve", "surface", "volume"};
    const size_t i = first_at(g->name, g->names, sizeof *g->name, dimension, group);
    if (i < g->names && g->name[i].at.dimension == dimension && g->name[i].at.number == group) return g->name[i].name;
    snprintf(spelt, 40, "%s_%lld", kinds[dimension], (long long)group);
    return spelt;
}

/* Consecutive labels are one range. */
static pbd_status add_labels(const gmsh *g, mesh_group *group, const int64_t *label, size_t count) {
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && label[end] > label[end - 1] && label[end] - 1 == label[end - 1];) end++;
        const mesh_range range = {label[i], label[end - 1], 1, true, g->reader->line};
        PBD_TRY(mesh_add_range(g->reader, g->mesh, group, range));
    }
    return pbd_ok();
}

/* Puts elements of an entity (their labels, as they were added) into its groups. */
static pbd_status join_groups(gmsh *g, int64_t dimension, int64_t entity, const int64_t *label, size_t count) {
    for (size_t m = first_at(g->member, g->members, sizeof *g->member, dimension, entity); m < g->members; m++) {
        if (g->member[m].at.dimension != dimension || g->member[m].at.number != entity) break;
        char spelt[40];
        mesh_group *group;
        PBD_TRY(mesh_get_group(g->mesh, name_of(g, dimension, g->member[m].group, spelt), &group));
        PBD_TRY(add_labels(g, group, label, count));
    }
    return pbd_ok();
}

static pbd_status read_element_block(gmsh *g) {
    mesh_reader *r = g->reader;
    int64_t dimension = 0, entity = 0, type = 0, label = 0, node[8] = {0};
    size_t count = 0;
    mesh_shape shape = MESH_POINT;
    PBD_TRY(read_whole_number(r, "an entity's dimension", &dimension));
    PBD_TRY(read_whole_number(r, "an entity's number", &entity));
    PBD_TRY(read_whole_number(r, "a type of elements", &type));
    PBD_TRY(read_count(r, "a number of elements", 4, &count));
    if (dimension < 0 || dimension > 3) return mesh_wrong(r, "%lld is not a dimension", (long long)dimension);
    PBD_TRY(find_shape(r, type, &shape));
    for (size_t i = 0; i < count; i++) {
        PBD_TRY(read_whole_number(r, "an element's number", &label));
        for (int c = 0; c < mesh_corners[shape]; c++) PBD_TRY(read_whole_number(r, "a node's number", &node[c]));
        PBD_TRY(mesh_add_element(r, g->mesh, shape, label, node));
    }
    const mesh_elements *all = &g->mesh->of[shape];
    return count ? join_groups(g, dimension, entity, all->label + all->count - count, count) : pbd_ok();
}

static pbd_status read_elements(gmsh *g) {
    mesh_reader *r = g->reader;
    size_t blocks = 0, elements = 0, found = 0;
    int64_t least, most;
    if (g->has_elements) return mesh_wrong(r, "$Elements is given twice");
    g->has_elements = true;
    PBD_TRY(read_count(r, "a number of blocks", 2, &blocks));
    PBD_TRY(read_count(r, "a number of elements", 4, &elements));
    PBD_TRY(read_whole_number(r, "the least number of an element", &least));
    PBD_TRY(read_whole_number(r, "the largest number of an element", &most));
    if (g->names > 0) qsort(g->name, g->names, sizeof *g->name, compare_places);
    if (g->members > 0) qsort(g->member, g->members, sizeof *g->member, compare_places);
    for (size_t b = 0; b < blocks; b++) PBD_TRY(read_element_block(g));
    for (int s = 0; s < MESH_SHAPES; s++) found += g->mesh->of[s].count;
    if (found != elements) return mesh_wrong(r, "%zu elements were declared, but there are %zu", elements, found);
    return expect_end(r, "$Elements");
}

/* Skips a section without mesh data: views, periodicity, comments. */
static pbd_status skip_section(mesh_reader *r, const char *section, int length) {
    char end[80];
    snprintf(end, sizeof end, "\n$End%.*s", length - 1, section + 1);
    const char *found = strstr(r->at, end);
    if (!found) return mesh_wrong(r, "section %.*s has no end", length, section);
    for (const char *c = r->at; c <= found; c++) r->line += *c == '\n';
    r->at = found + strlen(end);
    return pbd_ok();
}

static pbd_status read_section(gmsh *g) {
    static const struct {
        const char *name;
        pbd_status (*read)(gmsh *);
    } sections[] = {{"$MeshFormat", read_format},
                    {"$PhysicalNames", read_names},
                    {"$Entities", read_entities},
                    {"$Nodes", read_nodes},
                    {"$Elements", read_elements}};
    mesh_reader *r = g->reader;
    const char *section = r->at;
    const int length = word_length(r);
    if (*section != '$' || length > 60)
        return mesh_wrong(r, "a section ($Nodes, ...) expected here, not '%.*s'", length < 40 ? length : 40, section);
    r->at += length;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (length == (int)strlen(sections[i].name) && strncmp(section, sections[i].name, (size_t)length) == 0)
            return sections[i].read(g);
    if (strncmp(section, "$PartitionedEntities", (size_t)length) == 0 && length == 20)
        return mesh_wrong(r, "partitioned meshes are unsupported: save it without partitions");
    return skip_section(r, section, length);
}

static void free_groups(gmsh *g) {
    free(g->name);
    free(g->member);
}

pbd_status mesh_read_gmsh(mesh_reader *reader, mesh_file *out) {
    gmsh g PBD_CLEANUP(free_groups) = {.reader = reader, .mesh = out};
    for (skip_blanks(reader); *reader->at; skip_blanks(reader)) PBD_TRY(read_section(&g));
    if (!g.has_nodes) return mesh_wrong(reader, "the file has no $Nodes");
    return g.has_elements ? pbd_ok() : mesh_wrong(reader, "the file has no $Elements");
}
