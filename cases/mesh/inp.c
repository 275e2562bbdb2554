/* The mesh of Abaqus and CalculiX input files: *NODE, *ELEMENT, *NSET, *ELSET. Keyword lines begin with one asterisk,
 * comments with two. Case is ignored. A comma at the end of a line continues it on the next. Materials, steps and
 * output are skipped. Keywords that generate or move nodes are refused, since the mesh would differ from the one
 * written in the file. Sets become groups of the mesh; a node set and an element set of one name are one group. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cases/mesh/mesh_file.h"
#include "harness/exec/arena.h"
#include "harness/files/numbers.h"

enum { LONGEST_LINE = 4096, MOST_FIELDS = 64, LONGEST_NAME = 128 };

/* One line, split at its commas. */
typedef struct inp_line {
    char text[LONGEST_LINE];
    char *field[MOST_FIELDS];
    int fields;
    bool goes_on; /* ends with a comma */
} inp_line;

typedef struct inp {
    mesh_reader *reader;
    mesh_file *mesh;
    inp_line line;
    int parts;
} inp;

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static char *trimmed(char *text) {
    while (isspace((unsigned char)*text)) text++;
    for (size_t n = strlen(text); n > 0 && isspace((unsigned char)text[n - 1]); n--) text[n - 1] = '\0';
    return text;
}

/* Whether another line follows; skips comments and empty lines. */
static bool find_line(mesh_reader *r) {
    while (*r->at) {
        const size_t length = strcspn(r->at, "\n"), blank = strspn(r->at, " \t\r");
        if (blank < length && strncmp(r->at + blank, "**", 2) != 0) return true;
        r->at += length;
        if (*r->at == '\n') r->at++, r->line++;
    }
    return false;
}

static bool at_keyword(mesh_reader *r) { return find_line(r) && r->at[strspn(r->at, " \t")] == '*'; }
static bool at_data(mesh_reader *r) { return find_line(r) && r->at[strspn(r->at, " \t")] != '*'; }

/* Takes the line that find_line found. Its number stays the reader's until the next find_line. */
static pbd_status take_line(mesh_reader *r, inp_line *out) {
    const size_t length = strcspn(r->at, "\n");
    if (length >= sizeof out->text) return mesh_wrong(r, "this line has %zu letters", length);
    memcpy(out->text, r->at, length);
    out->text[length] = '\0';
    r->at += length;
    out->fields = 0;
    char *rest = trimmed(out->text), *word;
    out->goes_on = *rest && rest[strlen(rest) - 1] == ',';
    if (out->goes_on) rest[strlen(rest) - 1] = '\0';
    while ((word = strsep(&rest, ",")) != NULL) {
        if (out->fields == MOST_FIELDS) return mesh_wrong(r, "this line has more than %d entries", MOST_FIELDS);
        out->field[out->fields++] = trimmed(word);
    }
    return pbd_ok();
}

static pbd_status whole_number(const mesh_reader *r, const char *text, const char *what, int64_t *out) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (end == text || *end || errno) return mesh_wrong(r, "'%.40s' found where %s is expected", text, what);
    return pbd_ok();
}

static pbd_status real(const mesh_reader *r, const char *text, double *out) {
    char *end;
    *out = 0; /* an empty field is 0 */
    if (!*text) return pbd_ok();
    *out = pbd_decimal(text, &end);
    if (*end) return mesh_wrong(r, "'%.40s' found where a coordinate is expected", text);
    return pbd_ok();
}

/* The value of NAME=VALUE in a keyword's line: "" for NAME alone, NULL if it is absent. */
static const char *option_of(const inp_line *line, const char *name) {
    const size_t length = strlen(name);
    for (int i = 1; i < line->fields; i++) {
        if (strncasecmp(line->field[i], name, length) != 0) continue;
        char *rest = trimmed(line->field[i] + length);
        if (!*rest) return rest;
        if (*rest == '=') return trimmed(rest + 1);
    }
    return NULL;
}

/* Names ignore case; a group keeps its first spelling. */
static pbd_status group_named(inp *in, const char *name, mesh_group **out) {
    char plain[LONGEST_NAME];
    const size_t length = strlen(name);
    const bool quoted = length > 1 && name[0] == '"' && name[length - 1] == '"';
    if (length >= sizeof plain) return mesh_wrong(in->reader, "the name '%.40s...' has %zu letters", name, length);
    snprintf(plain, sizeof plain, "%.*s", (int)(length - (quoted ? 2 : 0)), name + quoted);
    if (!*plain) return mesh_wrong(in->reader, "a set without a name");
    const mesh_group *known = mesh_find_group(in->mesh, plain);
    return mesh_get_group(in->mesh, known ? known->name : plain, out);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static pbd_status read_nodes(inp *in) {
    mesh_reader *r = in->reader;
    const char *set = option_of(&in->line, "NSET"), *system = option_of(&in->line, "SYSTEM");
    if (system && strcasecmp(system, "R") != 0)
        return mesh_wrong(r, "nodes in cylindrical or spherical coordinates (SYSTEM=%.10s) are unsupported", system);
    mesh_group *group = NULL;
    if (set) PBD_TRY(group_named(in, set, &group));
    while (at_data(r)) {
        int64_t label = 0;
        double x[3] = {0};
        PBD_TRY(take_line(r, &in->line));
        if (in->line.fields > 4)
            return mesh_wrong(r, "a node has a number and three coordinates, not %d entries", in->line.fields);
        PBD_TRY(whole_number(r, in->line.field[0], "a node's number", &label));
        for (int d = 0; d + 1 < in->line.fields; d++) PBD_TRY(real(r, in->line.field[d + 1], &x[d]));
        PBD_TRY(mesh_add_node(r, in->mesh, label, x));
        if (group) PBD_TRY(mesh_add_range(r, in->mesh, group, (mesh_range){label, label, 1, false, r->line}));
    }
    return pbd_ok();
}

static const struct {
    const char *type;
    mesh_shape shape;
} types[] = {{"C3D4", MESH_TET},      {"C3D8", MESH_HEX},       {"C3D8R", MESH_HEX},     {"C3D8I", MESH_HEX},
             {"S3", MESH_TRIANGLE},   {"S3R", MESH_TRIANGLE},   {"CPS3", MESH_TRIANGLE}, {"CPE3", MESH_TRIANGLE},
             {"M3D3", MESH_TRIANGLE}, {"STRI3", MESH_TRIANGLE}, {"T3D2", MESH_LINE},     {"B31", MESH_LINE}};

static pbd_status find_shape(const mesh_reader *r, const char *type, mesh_shape *out) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcasecmp(type, types[i].type) == 0) {
            *out = types[i].shape;
            return pbd_ok();
        }
    return mesh_wrong(r,
                      "elements of type '%.20s' are not read; C3D4, C3D8, S3, CPS3, CPE3, M3D3, T3D2 and B31 are, all "
                      "of first order",
                      type);
}

/* Reads a label and its nodes, which may take several lines. */
static pbd_status read_element(inp *in, mesh_shape shape, int64_t *label) {
    mesh_reader *r = in->reader;
    int64_t entry[9] = {0};
    const int wanted = 1 + mesh_corners[shape];
    int count = 0;
    while (true) {
        PBD_TRY(take_line(r, &in->line));
        if (count + in->line.fields > wanted)
            return mesh_wrong(r, "a %s has a number and %d nodes, not %d entries", mesh_shape_names[shape], wanted - 1,
                              count + in->line.fields);
        for (int i = 0; i < in->line.fields; i++, count++)
            PBD_TRY(whole_number(r, in->line.field[i], count == 0 ? "an element's number" : "a node's number",
                                 &entry[count]));
        if (count == wanted) break;
        if (!in->line.goes_on || !at_data(r))
            return mesh_wrong(r, "a %s has a number and %d nodes, not %d entries", mesh_shape_names[shape], wanted - 1,
                              count);
    }
    *label = entry[0];
    return mesh_add_element(r, in->mesh, shape, entry[0], entry + 1);
}

static pbd_status read_elements(inp *in) {
    const char *type = option_of(&in->line, "TYPE"), *set = option_of(&in->line, "ELSET");
    mesh_shape shape = MESH_POINT;
    mesh_group *group = NULL;
    if (!type) return mesh_wrong(in->reader, "*ELEMENT without a TYPE");
    PBD_TRY(find_shape(in->reader, type, &shape));
    if (set) PBD_TRY(group_named(in, set, &group));
    while (at_data(in->reader)) {
        int64_t label = 0;
        PBD_TRY(read_element(in, shape, &label));
        if (group)
            PBD_TRY(mesh_add_range(in->reader, in->mesh, group, (mesh_range){label, label, 1, true, in->reader->line}));
    }
    return pbd_ok();
}

/* first, last, step */
static pbd_status take_generated(inp *in, bool of_elements, mesh_group *group) {
    mesh_reader *r = in->reader;
    mesh_range range = {.step = 1, .of_elements = of_elements, .line = r->line};
    if (in->line.fields < 2 || in->line.fields > 3) return mesh_wrong(r, "GENERATE takes: first, last, step");
    PBD_TRY(whole_number(r, in->line.field[0], "the first number", &range.first));
    PBD_TRY(whole_number(r, in->line.field[1], "the last number", &range.last));
    if (in->line.fields == 3) PBD_TRY(whole_number(r, in->line.field[2], "the step", &range.step));
    if (range.first < 0 || range.last < range.first || range.step < 1)
        return mesh_wrong(r, "first, last, step: 0 <= first <= last and step >= 1, not %lld, %lld, %lld",
                          (long long)range.first, (long long)range.last, (long long)range.step);
    return mesh_add_range(r, in->mesh, group, range);
}

/* A label, or the name of a set defined above. */
static pbd_status take_member(inp *in, const char *word, bool of_elements, const char *set) {
    mesh_group *group = NULL;
    int64_t label = 0;
    const mesh_reader *r = in->reader;
    PBD_TRY(group_named(in, set, &group));
    if (isdigit((unsigned char)*word) || *word == '-' || *word == '+') {
        PBD_TRY(whole_number(r, word, of_elements ? "an element's number" : "a node's number", &label));
        return mesh_add_range(r, in->mesh, group, (mesh_range){label, label, 1, of_elements, r->line});
    }
    const mesh_group *other = mesh_find_group(in->mesh, word);
    if (!other || other == group) return mesh_wrong(r, "'%.40s' is neither a number nor a set above", word);
    for (size_t i = 0; i < other->ranges; i++) PBD_TRY(mesh_add_range(r, in->mesh, group, other->range[i]));
    return pbd_ok();
}

static pbd_status read_set(inp *in, bool of_elements) {
    mesh_reader *r = in->reader;
    const char *given = option_of(&in->line, of_elements ? "ELSET" : "NSET");
    const bool generate = option_of(&in->line, "GENERATE") != NULL;
    if (!given || !*given) return mesh_wrong(r, "a set without a name");
    char set[LONGEST_LINE];
    snprintf(set, sizeof set, "%s", given); /* the line is overwritten */
    mesh_group *group = NULL;
    PBD_TRY(group_named(in, set, &group));
    while (at_data(r)) {
        PBD_TRY(take_line(r, &in->line));
        if (generate) {
            PBD_TRY(take_generated(in, of_elements, group));
            continue;
        }
        for (int i = 0; i < in->line.fields; i++)
            if (*in->line.field[i]) PBD_TRY(take_member(in, in->line.field[i], of_elements, set));
    }
    return pbd_ok();
}

/* ---- Keywords ---------------------------------------------------------------------------------------------------- */

static pbd_status read_part(inp *in) {
    if (++in->parts > 1) return mesh_wrong(in->reader, "there is more than one part; only one part is supported");
    return pbd_ok();
}

/* Its data lines, if any, move the part. */
static pbd_status read_instance(inp *in) {
    if (at_data(in->reader)) return mesh_wrong(in->reader, "a moved instance is unsupported");
    return pbd_ok();
}

static pbd_status refuse(inp *in) {
    return mesh_wrong(in->reader, "%.30s is unsupported: write the mesh out in full", in->line.field[0]);
}

static pbd_status read_node_set(inp *in) { return read_set(in, false); }
static pbd_status read_element_set(inp *in) { return read_set(in, true); }

static pbd_status read_block(inp *in) {
    static const struct {
        const char *keyword;
        pbd_status (*read)(inp *);
    } blocks[] = {{"*NODE", read_nodes},    {"*ELEMENT", read_elements},
                  {"*NSET", read_node_set}, {"*ELSET", read_element_set},
                  {"*PART", read_part},     {"*INSTANCE", read_instance},
                  {"*INCLUDE", refuse},     {"*NCOPY", refuse},
                  {"*NFILL", refuse},       {"*NGEN", refuse},
                  {"*NMAP", refuse},        {"*ELGEN", refuse},
                  {"*ELCOPY", refuse},      {"*SYSTEM", refuse},
                  {"*UEL", refuse}};
    PBD_TRY(take_line(in->reader, &in->line));
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (strcasecmp(in->line.field[0], blocks[i].keyword) == 0) {
            if (in->line.goes_on) return mesh_wrong(in->reader, "a keyword's options on two lines are unsupported");
            return blocks[i].read(in);
        }
    while (at_data(in->reader)) { /* data of other keywords */
        in->reader->at += strcspn(in->reader->at, "\n");
    }
    return pbd_ok();
}

pbd_status mesh_read_inp(mesh_reader *reader, mesh_file *out) {
    pbd_arena a PBD_ARENA;
    inp *in = pbd_new(&a, inp, 1);
    PBD_TRY(pbd_arena_check(&a));
    in->reader = reader;
    in->mesh = out;
    while (find_line(reader))
        PBD_TRY(at_keyword(reader) ? read_block(in) : mesh_wrong(reader, "numbers without a keyword above them"));
    return pbd_ok();
}
