/* A mesh as read from a file: nodes, elements and named groups, identified by the file's own numbers ("labels").
 *
 * Two text formats: Gmsh MSH 4.1 and Abaqus/CalculiX INP. The readers are strict: they refuse what they do not
 * understand, with file, line and reason. Sizes that a file declares are checked against its length before memory is
 * allocated. */
#ifndef PBD_MESH_FILE_H
#define PBD_MESH_FILE_H

#include "methods/method.h"

typedef enum mesh_shape { MESH_POINT, MESH_LINE, MESH_TRIANGLE, MESH_TET, MESH_HEX, MESH_SHAPES } mesh_shape;

extern const int mesh_corners[MESH_SHAPES];
extern const char *const mesh_shape_names[MESH_SHAPES]; /* "tetrahedron" */

typedef struct mesh_elements {
    size_t count, capacity;
    int64_t *label;
    int64_t *node_label; /* count x corners */
    long *line;          /* of the file */
    uint32_t *node;      /* count x corners: node indices from 0, set once the file is read */
} mesh_elements;

/* Labels first, first + step, ..., last of nodes or of elements. */
typedef struct mesh_range {
    int64_t first, last, step;
    bool of_elements;
    long line;
} mesh_range;

typedef struct mesh_group {
    char *name;
    mesh_range *range;
    size_t ranges, range_capacity;
    uint32_t *node; /* ascending, set once the file is read; includes those of its elements */
    size_t nodes;
} mesh_group;

typedef struct mesh_file {
    size_t nodes, capacity;
    double *position; /* nodes x 3, in the file's unit */
    int64_t *label;
    mesh_elements of[MESH_SHAPES];
    mesh_group *group;
    size_t groups, group_capacity;
    size_t ranges;           /* of all groups */
    void *by_name, *by_word; /* groups in trees of <search.h>: by exact name, and ignoring case */
} mesh_file;

/* Reads and checks a mesh: elements of three or more corners have a positive volume or area, every node belongs to one
 * of them, all coordinates are finite. Otherwise PBD_BAD_INPUT with file, line and reason; *out is then empty. Free
 * with mesh_file_free (safe on a zeroed one). */
pbd_status mesh_file_read(const pbd_content *content, mesh_file *out);
void mesh_file_free(mesh_file *mesh);

/* Finds a group by exact name, otherwise ignoring case; NULL if there is none. */
const mesh_group *mesh_find_group(const mesh_file *mesh, const char *name);

/* ---- For the readers --------------------------------------------------------------------------------------------- */

typedef struct mesh_reader {
    const char *path, *at; /* at: what comes next; the text ends with NUL */
    long line;             /* of `at`, from 1 */
    size_t bytes;
} mesh_reader;

pbd_status mesh_read_gmsh(mesh_reader *reader, mesh_file *out);
pbd_status mesh_read_inp(mesh_reader *reader, mesh_file *out);

/* PBD_BAD_INPUT with the message «part.msh, line 12: ...» */
pbd_status mesh_wrong(const mesh_reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));

pbd_status mesh_add_node(mesh_reader *reader, mesh_file *mesh, int64_t label, const double x[3]);
pbd_status mesh_add_element(mesh_reader *reader, mesh_file *mesh, mesh_shape shape, int64_t label,
                            const int64_t *nodes);
/* Finds or adds the group of that name. The pointer is valid until the next call. */
pbd_status mesh_get_group(mesh_file *mesh, const char *name, mesh_group **out);
/* Refuses more ranges than the file has bytes: sets of sets may double at every line. */
pbd_status mesh_add_range(const mesh_reader *reader, mesh_file *mesh, mesh_group *group, mesh_range range);

#endif
