#include "cases/geometry/points_file.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/files/numbers.h"

typedef enum range { ANY, ABOVE_0, AT_LEAST_0, FLAG } range;
static const char *const range_words[] = {"finite", "above 0", "at least 0", "0 or 1"};

static const struct {
    const char *name[3]; /* of its properties */
    bool required;
    range range;
} fields[POINTS_FIELDS] = {[POINTS_POSITION] = {{"x", "y", "z"}, true, ANY},
                           [POINTS_VOLUME] = {{"volume"}, true, ABOVE_0},
                           [POINTS_MASS] = {{"mass"}, false, ABOVE_0},
                           [POINTS_VELOCITY] = {{"vx", "vy", "vz"}, false, ANY},
                           [POINTS_START] = {{"start_x", "start_y", "start_z"}, false, ANY},
                           [POINTS_FORCE] = {{"fx", "fy", "fz"}, false, ANY},
                           [POINTS_RADIUS] = {{"radius"}, false, AT_LEAST_0},
                           [POINTS_HELD] = {{"held"}, false, FLAG}};

static const struct {
    const char *name;
    size_t corners;
} cells[POINTS_CELLS] = {[POINTS_HEX] = {"hex", 8}, [POINTS_TET] = {"tet", 4}, [POINTS_FACE] = {"face", 3}};

size_t points_width(points_field field) { return fields[field].name[1] ? 3 : 1; }
size_t points_corners(points_cell cell) { return cells[cell].corners; }

/* ---- Header ------------------------------------------------------------------------------------------------------ */

/* Types: two names and the C type of each. Binary values are in this machine's byte order, little-endian. */
#define TYPES(T)                \
    T(char, int8, int8_t)       \
    T(uchar, uint8, uint8_t)    \
    T(short, int16, int16_t)    \
    T(ushort, uint16, uint16_t) \
    T(int, int32, int32_t)      \
    T(uint, uint32, uint32_t)   \
    T(float, float32, float)    \
    T(double, float64, double)
typedef enum ply_type {
#define MEMBER(name, other, c) TYPE_##name,
    TYPES(MEMBER)
#undef MEMBER
        NO_TYPE
} ply_type;
enum { WORD = 64, MOST_PROPERTIES = 64, MOST_ELEMENTS = 16 };

typedef struct property {
    char name[WORD];
    ply_type type, counted_by; /* counted_by: type of a list's length; NO_TYPE: no list */
} property;

typedef struct element {
    char name[WORD];
    size_t count, properties;
    property property[MOST_PROPERTIES];
} element;

typedef struct reader {
    const char *path, *at, *end;
    size_t bytes;
    bool ascii;
    size_t elements;
    element element[MOST_ELEMENTS];
    const element *reads; /* current kind of element, at number `row` */
    size_t row;
} reader;

static ply_type find_type(const char *name) {
    static const char *const names[NO_TYPE][2] = {
#define NAMES(name, other, c) {#name, #other},
        TYPES(NAMES)
#undef NAMES
    };
    int t = 0;
    while (t < NO_TYPE && strcmp(names[t][0], name) != 0 && strcmp(names[t][1], name) != 0) t++;
    return (ply_type)t;
}

/* The next line of the header, without its line break. */
static bool take_line(reader *r, char *line, size_t size) {
    const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (!stop) return false;
    const size_t length = (size_t)(stop - r->at);
    snprintf(line, size, "%.*s", (int)(length < size ? length : size), r->at);
    line[strcspn(line, "\r")] = '\0';
    r->at = stop + 1;
    return true;
}

static pbd_status add_element(reader *r, const char *name, const char *count) {
    char *end;
    const double number = pbd_decimal(count, &end);
    if (r->elements == MOST_ELEMENTS)
        return pbd_error(PBD_BAD_INPUT, "%.110s: more than %d kinds of elements", r->path, MOST_ELEMENTS);
    if (*end || !(number >= 0 && number <= (double)r->bytes && number == floor(number)))
        return pbd_error(PBD_BAD_INPUT, "%.110s: '%.30s' cannot be the number of its elements %.40s: it has %zu bytes",
                         r->path, count, name, r->bytes);
    for (size_t k = 0; k < r->elements; k++)
        if (strcmp(r->element[k].name, name) == 0)
            return pbd_error(PBD_BAD_INPUT, "%.110s: its header has the element %.40s twice", r->path, name);
    element *e = &r->element[r->elements++];
    e->count = (size_t)number;
    snprintf(e->name, sizeof e->name, "%s", name);
    return pbd_ok();
}

static pbd_status add_property(reader *r, const char *count, const char *type, const char *name) {
    if (r->elements == 0) return pbd_error(PBD_BAD_INPUT, "%.110s: the property %.40s is of no element", r->path, name);
    element *e = &r->element[r->elements - 1];
    if (e->properties == MOST_PROPERTIES)
        return pbd_error(PBD_BAD_INPUT, "%.110s: more than %d properties of an element", r->path, MOST_PROPERTIES);
    property *p = &e->property[e->properties++];
    *p = (property){.type = find_type(type), .counted_by = count ? find_type(count) : NO_TYPE};
    snprintf(p->name, sizeof p->name, "%s", name);
    if (p->type != NO_TYPE && (!count || p->counted_by != NO_TYPE)) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%.110s: '%.40s' is no type of a PLY file", r->path,
                     p->type == NO_TYPE ? type : count);
}

static pbd_status read_header(reader *r) {
    char line[300] = "", word[5][WORD];
    bool formatted = false, ended = false;
    if (!take_line(r, line, sizeof line) || strcmp(line, "ply") != 0)
        return pbd_error(PBD_BAD_INPUT, "%.110s: no PLY file: its first line is not `ply`", r->path);
    while (!ended && take_line(r, line, sizeof line)) {
        const int words = sscanf(line, "%63s %63s %63s %63s %63s", word[0], word[1], word[2], word[3], word[4]);
        const char *is = words > 0 ? word[0] : "";
        ended = strcmp(is, "end_header") == 0;
        if (ended || words < 1 || strcmp(is, "comment") == 0 || strcmp(is, "obj_info") == 0) continue;
        if (strcmp(is, "format") == 0 && words == 3) {
            r->ascii = strcmp(word[1], "ascii") == 0;
            formatted = r->ascii || strcmp(word[1], "binary_little_endian") == 0;
            if (!formatted)
                return pbd_error(PBD_BAD_INPUT,
                                 "%.110s: its format is '%.40s': write it as ascii or binary_little_endian", r->path,
                                 word[1]);
        } else if (strcmp(is, "element") == 0 && words == 3) {
            PBD_TRY(add_element(r, word[1], word[2]));
        } else if (strcmp(is, "property") == 0 && words == 3) {
            PBD_TRY(add_property(r, NULL, word[1], word[2]));
        } else if (strcmp(is, "property") == 0 && words == 5 && strcmp(word[1], "list") == 0) {
            PBD_TRY(add_property(r, word[2], word[3], word[4]));
        } else {
            return pbd_error(PBD_BAD_INPUT, "%.110s: its header has the line '%.60s'", r->path, line);
        }
    }
    if (formatted && ended) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%.110s: its header has no line format, or no end", r->path);
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static pbd_status refuse_row(const reader *r, const char *why) {
    return pbd_error(PBD_BAD_INPUT, "%.110s: %.40s %zu: %s", r->path, r->reads->name, r->row, why);
}

static pbd_status take_text(reader *r, double *out) {
    char *end;
    while (r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
    *out = pbd_decimal(r->at, &end);
    if (end == r->at) return refuse_row(r, r->at < r->end ? "expected a number" : "the file ends before it");
    r->at = end;
    return pbd_ok();
}

static pbd_status take_number(reader *r, ply_type type, double *out) {
    if (r->ascii) return take_text(r, out);
    switch (type) {
#define TAKE(name, other, c)                                                                            \
    case TYPE_##name: {                                                                                 \
        c x;                                                                                            \
        if (r->end - r->at < (ptrdiff_t)sizeof x) return refuse_row(r, "the file ends before its end"); \
        memcpy(&x, r->at, sizeof x);                                                                    \
        r->at += sizeof x;                                                                              \
        *out = (double)x;                                                                               \
        return pbd_ok();                                                                                \
    }
        TYPES(TAKE)
#undef TAKE
        case NO_TYPE:
            break;
    }
    return pbd_ok();
}

static pbd_status take_length(reader *r, const property *p, double *out) {
    PBD_TRY(take_number(r, p->counted_by, out));
    return *out >= 0 && *out == floor(*out) ? pbd_ok() : refuse_row(r, "the length of its list is no whole number");
}

static pbd_status skip(reader *r, const property *p) {
    double length = 1, unused;
    if (p->counted_by != NO_TYPE) PBD_TRY(take_length(r, p, &length));
    for (; length > 0; length--) PBD_TRY(take_number(r, p->type, &unused));
    return pbd_ok();
}

/* ---- Points ------------------------------------------------------------------------------------------------------ */

typedef struct column {
    double *to; /* NULL: the property is skipped */
    points_field field;
} column;

/* Allocates the fields that the file has. Refuses incomplete vectors and missing required fields. */
static pbd_status find_columns(const reader *r, const element *e, pbd_arena *arena, column *columns, points_file *out) {
    for (int f = 0; f < POINTS_FIELDS; f++) {
        const size_t width = points_width((points_field)f);
        size_t found = 0;
        for (size_t d = 0; d < width; d++)
            for (size_t k = 0; k < e->properties; k++) {
                if (strcmp(e->property[k].name, fields[f].name[d]) != 0 || e->property[k].counted_by != NO_TYPE)
                    continue;
                if (!out->field[f]) out->field[f] = pbd_new(arena, double, width * e->count);
                PBD_TRY(pbd_arena_check(arena));
                columns[k] = (column){out->field[f] + d, (points_field)f};
                found++;
                break;
            }
        if (found < width && (found > 0 || fields[f].required))
            return pbd_error(PBD_BAD_INPUT, "%.110s: its vertices need the %s %s%s%s%s%s", r->path,
                             width == 1 ? "property" : "properties", fields[f].name[0], width == 1 ? "" : ", ",
                             width == 1 ? "" : fields[f].name[1], width == 1 ? "" : ", ",
                             width == 1 ? "" : fields[f].name[2]);
    }
    return pbd_ok();
}

static bool in_range(range of, double x) {
    if (!isfinite(x)) return false;
    return of == ANY || (of == FLAG ? x == 0 || x == 1 : of == ABOVE_0 ? x > 0 : x >= 0);
}

static pbd_status read_points(reader *r, const element *e, pbd_arena *arena, points_file *out) {
    column columns[MOST_PROPERTIES] = {0};
    out->count = e->count;
    PBD_TRY(find_columns(r, e, arena, columns, out));
    for (r->row = 0; r->row < e->count; r->row++)
        for (size_t k = 0; k < e->properties; k++) {
            const column *to = &columns[k];
            const points_field f = to->field;
            double x;
            if (!to->to) {
                PBD_TRY(skip(r, &e->property[k]));
                continue;
            }
            PBD_TRY(take_number(r, e->property[k].type, &x));
            if (!in_range(fields[f].range, x))
                return pbd_error(PBD_BAD_INPUT, "%.110s: vertex %zu: %s is %g: it must be %s", r->path, r->row,
                                 e->property[k].name, x, range_words[fields[f].range]);
            to->to[points_width(f) * r->row] = x;
        }
    return pbd_ok();
}

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static bool is_corners(const property *p) {
    return p->counted_by != NO_TYPE && (strcmp(p->name, "vertex_indices") == 0 || strcmp(p->name, "vertex_index") == 0);
}

static pbd_status read_cells(reader *r, const element *e, points_cell kind, pbd_arena *arena, points_file *out) {
    const size_t corners = points_corners(kind);
    uint32_t *to = out->corner[kind] = pbd_new(arena, uint32_t, corners * e->count);
    PBD_TRY(pbd_arena_check(arena));
    out->cells[kind] = e->count;
    for (r->row = 0; r->row < e->count; r->row++) {
        size_t read = 0;
        for (size_t k = 0; k < e->properties; k++) {
            double length, x;
            if (read > 0 || !is_corners(&e->property[k])) {
                PBD_TRY(skip(r, &e->property[k]));
                continue;
            }
            PBD_TRY(take_length(r, &e->property[k], &length));
            if (length != (double)corners)
                return pbd_error(PBD_BAD_INPUT, "%.110s: %s %zu has %g corners: it must have %zu", r->path, e->name,
                                 r->row, length, corners);
            for (; read < corners; read++) {
                PBD_TRY(take_number(r, e->property[k].type, &x));
                if (!(x >= 0 && x <= UINT32_MAX && x == floor(x))) return refuse_row(r, "a corner is no vertex");
                to[corners * r->row + read] = (uint32_t)x;
            }
        }
        if (read == 0) return refuse_row(r, "it has no list vertex_indices");
    }
    return pbd_ok();
}

static pbd_status check_cells(const reader *r, const points_file *p) {
    for (int kind = 0; kind < POINTS_CELLS; kind++) {
        const size_t corners = points_corners((points_cell)kind);
        for (size_t k = 0; k < corners * p->cells[kind]; k++)
            if (p->corner[kind][k] >= p->count)
                return pbd_error(PBD_BAD_INPUT, "%.110s: %s %zu has the corner %u, and there are %zu vertices", r->path,
                                 cells[kind].name, k / corners, (unsigned)p->corner[kind][k], p->count);
    }
    return pbd_ok();
}

/* ---- A file ------------------------------------------------------------------------------------------------------ */

static pbd_status read_element(reader *r, const element *e, pbd_arena *arena, points_file *out) {
    r->reads = e;
    if (strcmp(e->name, "vertex") == 0) return read_points(r, e, arena, out);
    for (int kind = 0; kind < POINTS_CELLS; kind++)
        if (strcmp(e->name, cells[kind].name) == 0) return read_cells(r, e, (points_cell)kind, arena, out);
    for (r->row = 0; r->row < e->count; r->row++)
        for (size_t k = 0; k < e->properties; k++) PBD_TRY(skip(r, &e->property[k]));
    return pbd_ok();
}

pbd_status points_file_read(const pbd_content *content, pbd_arena *arena, points_file *out) {
    reader *r = pbd_new(arena, reader, 1);
    *out = (points_file){0};
    PBD_TRY(pbd_arena_check(arena));
    *r = (reader){
        .path = content->path, .at = content->text, .end = content->text + content->bytes, .bytes = content->bytes};
    PBD_TRY(read_header(r));
    for (size_t k = 0; k < r->elements; k++) PBD_TRY(read_element(r, &r->element[k], arena, out));
    while (r->ascii && r->at < r->end && isspace((unsigned char)*r->at)) r->at++;
    if (r->at < r->end)
        return pbd_error(PBD_BAD_INPUT, "%.110s: %td bytes follow its last element: its numbers of elements are wrong",
                         r->path, r->end - r->at);
    if (out->count == 0) return pbd_error(PBD_BAD_INPUT, "%.110s: it has no vertices", r->path);
    return check_cells(r, out);
}

pbd_status points_file_write(const char *path, const points_file *points) {
    FILE *file = fopen(path, "wb");
    if (!file) return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
    fprintf(file, "ply\nformat binary_little_endian 1.0\ncomment written by pbdbench; SI units\nelement vertex %zu\n",
            points->count);
    for (int f = 0; f < POINTS_FIELDS; f++)
        for (size_t d = 0; points->field[f] && d < points_width((points_field)f); d++)
            fprintf(file, "property double %s\n", fields[f].name[d]);
    for (int kind = 0; kind < POINTS_CELLS; kind++)
        if (points->cells[kind] > 0)
            fprintf(file, "element %s %zu\nproperty list uchar int vertex_indices\n", cells[kind].name,
                    points->cells[kind]);
    fputs("end_header\n", file);
    for (size_t i = 0; i < points->count; i++)
        for (int f = 0; f < POINTS_FIELDS; f++) {
            const size_t width = points_width((points_field)f);
            if (points->field[f]) fwrite(points->field[f] + width * i, sizeof(double), width, file);
        }
    for (int kind = 0; kind < POINTS_CELLS; kind++) {
        const size_t corners = points_corners((points_cell)kind);
        for (size_t k = 0; k < points->cells[kind]; k++) {
            fputc((int)corners, file);
            fwrite(points->corner[kind] + corners * k, sizeof(uint32_t), corners, file);
        }
    }
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}
