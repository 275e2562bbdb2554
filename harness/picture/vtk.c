#include "harness/picture/vtk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

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

static pbd_status finish(FILE *file, const char *path) {
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}

static pbd_status begin(const char *path, FILE **out) {
    *out = fopen(path, "w");
    return *out ? pbd_ok() : pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}

/* Twelve digits: more than any picture shows. NaN and infinity are spelt as VTK reads them. */
static void write_vectors(FILE *file, const char *name, const double *rows, const double *minus, size_t count) {
    fprintf(file, "<DataArray type=\"Float64\" Name=\"%s\" NumberOfComponents=\"3\" format=\"ascii\">\n", name);
    for (size_t i = 0; i < 3 * count; i++)
        fprintf(file, "%.12g%c", rows[i] - (minus ? minus[i] : 0), i % 3 == 2 ? '\n' : ' ');
    fputs("</DataArray>\n", file);
}

static void write_points(FILE *file, const pbd_body *body, const vtk_state *state) {
    fputs("<Points>\n", file);
    write_vectors(file, "position", state->position, NULL, body->particles);
    fputs("</Points>\n<PointData Vectors=\"displacement\">\n", file);
    write_vectors(file, "displacement", state->position, state->rest, body->particles);
    if (state->velocity) write_vectors(file, "velocity", state->velocity, NULL, body->particles);
    fputs("</PointData>\n", file);
}

/* In VTK's order. method.h turns a tetrahedron the other way; 27 nodes run lexicographically there, while VTK has
 * corners, middles of edges, of faces, and the centre (vtkTriQuadraticHexahedron). */
static uint32_t corner_of(const pbd_body *body, size_t element, int corner) {
    static const int of27[27] = {0,  2,  8, 6,  18, 20, 26, 24, 1,  5,  7, 3,  19, 23,
                                 25, 21, 9, 11, 17, 15, 12, 14, 10, 16, 4, 22, 13};
    if (!body->node) return (uint32_t)element;
    if (body->corners == 27) corner = of27[corner];
    if (body->corners == 4 && corner < 2) corner = 1 - corner;
    return body->node[element * (size_t)body->corners + (size_t)corner];
}

static void write_cells(FILE *file, const pbd_body *body, const vtk_state *state) {
    fputs("<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n", file);
    for (size_t e = 0; e < body->elements; e++)
        for (int c = 0; c < body->corners; c++)
            fprintf(file, "%u%c", corner_of(body, e, c), c + 1 == body->corners ? '\n' : ' ');
    fputs("</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n", file);
    for (size_t e = 1; e <= body->elements; e++) fprintf(file, "%zu\n", e * (size_t)body->corners);
    fputs("</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n", file);
    for (size_t e = 0; e < body->elements; e++) fprintf(file, "%d\n", cell_type(body->corners));
    fputs("</DataArray>\n</Cells>\n<CellData Scalars=\"strain\">\n", file);
    fputs("<DataArray type=\"Float64\" Name=\"strain\" format=\"ascii\">\n", file);
    for (size_t e = 0; e < body->elements; e++) fprintf(file, "%.9g\n", state->strain[e]);
    fputs("</DataArray>\n<DataArray type=\"UInt32\" Name=\"body\" format=\"ascii\">\n", file);
    for (size_t e = 0; e < body->elements; e++) fprintf(file, "%u\n", state->body[corner_of(body, e, 0)]);
    fputs("</DataArray>\n</CellData>\n", file);
}

pbd_status vtk_write(const char *path, const pbd_body *body, const vtk_state *state) {
    FILE *file;
    PBD_TRY(begin(path, &file));
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n"
            "<UnstructuredGrid>\n<Piece NumberOfPoints=\"%zu\" NumberOfCells=\"%zu\">\n",
            body->particles, body->elements);
    write_points(file, body, state);
    write_cells(file, body, state);
    fputs("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n", file);
    return finish(file, path);
}

pbd_status vtk_write_series(const char *path, const double *time, size_t count) {
    FILE *file;
    PBD_TRY(begin(path, &file));
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n", file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "<DataSet timestep=\"%.12g\" file=\"state_%03zu.vtu\"/>\n", time[i], i);
    fputs("</Collection>\n</VTKFile>\n", file);
    return finish(file, path);
}
