#include "harness/picture/vtk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "harness/files/base64.h"
#include "harness/files/deflate.h"

/* VTK's numbers of cell types. */
static int cell_type(int corners) {
    static const int types[] = {[1] = 1 /* VTK_VERTEX */,
                                [3] = 5 /* VTK_TRIANGLE */,
                                [4] = 10 /* VTK_TETRA */,
                                [8] = 12 /* VTK_HEXAHEDRON */,
                                [10] = 24 /* VTK_QUADRATIC_TETRA */,
                                [27] = 29 /* VTK_TRIQUADRATIC_HEXAHEDRON */};
    return types[corners];
}

static pbd_status cannot_write(const char *path) {
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}

static pbd_status finish(FILE *file, const char *path) {
    const bool bad = ferror(file) != 0;
    return fclose(file) == 0 && !bad ? pbd_ok() : cannot_write(path);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

/* One array, in blocks. The head before them holds numbers of 8 bytes: the number of blocks, the size of a block, the
 * size of the last one if it is smaller (else 0), and the compressed size of each. */
typedef struct vtk_array {
    const char *name, *type;
    bool is_vector;
    size_t blocks;
    uint64_t *head;
    unsigned char *packed; /* all blocks, one after the other */
    size_t bytes;          /* of these */
} vtk_array;

enum { MOST_ARRAYS = 8, BLOCK = 1 << 20 };

typedef struct vtk_arrays {
    size_t count;
    vtk_array item[MOST_ARRAYS];
} vtk_arrays;

static void free_arrays(vtk_arrays *arrays) {
    for (size_t i = 0; i < arrays->count; i++) {
        free(arrays->item[i].packed);
        free(arrays->item[i].head);
    }
}

static pbd_status add_array(vtk_arrays *arrays, const char *name, const char *type, bool is_vector, const void *data,
                            size_t bytes) {
    vtk_array *a = &arrays->item[arrays->count++];
    *a = (vtk_array){name, type, is_vector, (bytes + BLOCK - 1) / BLOCK, NULL, NULL, 0};
    PBD_TRY_NEW(a->head, 3 + a->blocks);
    a->head[0] = a->blocks;
    a->head[1] = BLOCK;
    a->head[2] = bytes % BLOCK;
    for (size_t k = 0; k < a->blocks; k++) {
        unsigned char *block PBD_CLEANUP(pbd_free_memory) = NULL;
        const size_t left = bytes - k * BLOCK;
        size_t packed = 0;
        PBD_TRY(pbd_deflate((const char *)data + k * BLOCK, left < BLOCK ? left : BLOCK, &block, &packed));
        unsigned char *longer = realloc(a->packed, a->bytes + packed);
        if (!longer) return pbd_error(PBD_FAILED, "out of memory for a state");
        a->packed = longer;
        memcpy(a->packed + a->bytes, block, packed);
        a->bytes += packed;
        a->head[3 + k] = packed;
    }
    return pbd_ok();
}

static pbd_status add_vectors(vtk_arrays *arrays, const char *name, const double *rows, const double *minus,
                              size_t count) {
    pbd_arena arena PBD_ARENA;
    double *difference = pbd_new(&arena, double, minus ? 3 * count : 0);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t i = 0; i < 3 * count && minus; i++) difference[i] = rows[i] - minus[i];
    return add_array(arrays, name, "Float64", true, minus ? difference : rows, 3 * count * sizeof *rows);
}

/* The node at a corner in VTK's order. method.h has tetrahedra of the opposite orientation and 27 nodes in
 * lexicographic order; VTK has corners, edge middles, face middles and the centre (vtkTriQuadraticHexahedron). */
static uint32_t corner_of(const pbd_body *body, size_t element, int corner) {
    static const int of27[27] = {0,  2,  8, 6,  18, 20, 26, 24, 1,  5,  7, 3,  19, 23,
                                 25, 21, 9, 11, 17, 15, 12, 14, 10, 16, 4, 22, 13};
    if (!body->node) return (uint32_t)element;
    if (body->corners == 27) corner = of27[corner];
    if (body->corners == 4 && corner < 2) corner = 1 - corner;
    return body->node[element * (size_t)body->corners + (size_t)corner];
}

static pbd_status add_cells(vtk_arrays *arrays, const pbd_body *body, const vtk_state *state) {
    const size_t corners = (size_t)body->corners, elements = body->elements;
    pbd_arena arena PBD_ARENA;
    int64_t *connectivity = pbd_new(&arena, int64_t, elements * corners), *offset = pbd_new(&arena, int64_t, elements);
    unsigned char *type = pbd_new(&arena, unsigned char, elements);
    uint32_t *number = pbd_new(&arena, uint32_t, elements);
    PBD_TRY(pbd_arena_check(&arena));
    for (size_t i = 0; i < elements * corners; i++) connectivity[i] = corner_of(body, i / corners, (int)(i % corners));
    for (size_t e = 0; e < elements; e++) {
        offset[e] = (int64_t)((e + 1) * corners);
        type[e] = (unsigned char)cell_type(body->corners);
        number[e] = state->body[corner_of(body, e, 0)];
    }
    PBD_TRY(add_array(arrays, "connectivity", "Int64", false, connectivity, elements * corners * sizeof *connectivity));
    PBD_TRY(add_array(arrays, "offsets", "Int64", false, offset, elements * sizeof *offset));
    PBD_TRY(add_array(arrays, "types", "UInt8", false, type, elements));
    PBD_TRY(add_array(arrays, "strain", "Float64", false, state->strain, elements * sizeof *state->strain));
    return add_array(arrays, "body", "UInt32", false, number, elements * sizeof *number);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* Writes the next `count` arrays; head and blocks are separate pieces of base64. Inline, not appended: meshio 5 with
 * Python 3.13 cannot read appended arrays. */
static void write_section(FILE *file, const vtk_arrays *arrays, size_t *next, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const vtk_array *a = &arrays->item[(*next)++];
        fprintf(file, "<DataArray type=\"%s\" Name=\"%s\"%s format=\"binary\">\n", a->type, a->name,
                a->is_vector ? " NumberOfComponents=\"3\"" : "");
        pbd_base64_write(file, a->head, (3 + a->blocks) * sizeof *a->head);
        pbd_base64_write(file, a->packed, a->bytes);
        fputs("\n</DataArray>\n", file);
    }
}

static pbd_status write_file(const char *path, const pbd_body *body, const vtk_arrays *arrays, bool has_velocity) {
    size_t next = 0;
    FILE *file = fopen(path, "wb");
    if (!file) return cannot_write(path);
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" "
            "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n"
            "<UnstructuredGrid>\n<Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n<Points>\n",
            body->particles, body->elements);
    write_section(file, arrays, &next, 1);
    fputs("</Points>\n<PointData Vectors=\"displacement\">\n", file);
    write_section(file, arrays, &next, has_velocity ? 2 : 1);
    fputs("</PointData>\n<Cells>\n", file);
    write_section(file, arrays, &next, 3);
    fputs("</Cells>\n<CellData Scalars=\"strain\">\n", file);
    write_section(file, arrays, &next, 2);
    fputs("</CellData>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", file);
    return finish(file, path);
}

pbd_status vtk_write(const char *path, const pbd_body *body, const vtk_state *state) {
    vtk_arrays arrays PBD_CLEANUP(free_arrays) = {0};
    PBD_TRY(add_vectors(&arrays, "position", state->position, NULL, body->particles));
    PBD_TRY(add_vectors(&arrays, "displacement", state->position, state->rest, body->particles));
    if (state->velocity) PBD_TRY(add_vectors(&arrays, "velocity", state->velocity, NULL, body->particles));
    PBD_TRY(add_cells(&arrays, body, state));
    return write_file(path, body, &arrays, state->velocity != NULL);
}

pbd_status vtk_write_series(const char *path, const double *time, size_t count) {
    FILE *file = fopen(path, "w");
    if (!file) return cannot_write(path);
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n", file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "<DataSet timestep=\"%.12g\" file=\"state_%03zu.vtu\"/>\n", time[i], i);
    fputs("</Collection>\n</VTKFile>\n", file);
    return finish(file, path);
}
