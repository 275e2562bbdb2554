#include "cases/geometry/surface.h"

#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

enum { MOST_CORNERS = 4 };

/* Outward faces of method.h's elements. */
static const int tet_face[4][MOST_CORNERS] = {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}};
static const int hex_face[6][MOST_CORNERS] = {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                              {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}};

typedef struct element_shape {
    size_t elements;
    const uint32_t *node;
    int nodes, faces, corners; /* per element, per element, per face */
    const int (*face)[MOST_CORNERS];
} element_shape;

/* A face, identified by its sorted corners: they are the same from both sides. */
typedef struct face_key {
    uint32_t corner[MOST_CORNERS];
    uint32_t element;
    int face;
} face_key;

static int compare_keys(const void *a, const void *b) {
    const face_key *x = a, *y = b;
    for (int i = 0; i < MOST_CORNERS; i++)
        if (x->corner[i] != y->corner[i]) return x->corner[i] < y->corner[i] ? -1 : 1;
    if (x->element != y->element) return x->element < y->element ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

static int compare_places(const void *a, const void *b) {
    const face_key *x = a, *y = b;
    if (x->element != y->element) return x->element < y->element ? -1 : 1;
    return (x->face > y->face) - (x->face < y->face);
}

static face_key key_of(const element_shape *s, size_t element, int face) {
    face_key key = {.element = (uint32_t)element, .face = face};
    for (int c = 0; c < MOST_CORNERS; c++) {
        const uint32_t corner =
            c < s->corners ? s->node[element * (size_t)s->nodes + (size_t)s->face[face][c]] : UINT32_MAX;
        int at = c;
        for (; at > 0 && key.corner[at - 1] > corner; at--) key.corner[at] = key.corner[at - 1];
        key.corner[at] = corner;
    }
    return key;
}

/* Moves the keys of boundary faces to the front, in the order of their elements. Returns their number. */
static size_t keep_outside(face_key *key, size_t count) {
    size_t kept = 0;
    qsort(key, count, sizeof *key, compare_keys);
    for (size_t i = 0, next; i < count; i = next) {
        next = i + 1;
        while (next < count && memcmp(key[next].corner, key[i].corner, sizeof key[i].corner) == 0) next++;
        if (next == i + 1) key[kept++] = key[i];
    }
    qsort(key, kept, sizeof *key, compare_places);
    return kept;
}

static pbd_status allocate(size_t triangles, surface *out) {
    out->triangle = malloc((3 * triangles + 1) * sizeof *out->triangle);
    out->element = malloc((triangles + 1) * sizeof *out->element);
    if (out->triangle && out->element) return pbd_ok();
    surface_free(out);
    return pbd_no_memory();
}

static void add_triangle(const uint32_t *node, const int *corner, uint32_t element, surface *out) {
    for (int c = 0; c < 3; c++) out->triangle[3 * out->triangles + (size_t)c] = node[corner[c]];
    out->element[out->triangles++] = element;
}

static pbd_status outside_of(const element_shape *s, surface *out) {
    const size_t faces = s->elements * (size_t)s->faces;
    pbd_arena a PBD_ARENA;
    face_key *key = pbd_new(&a, face_key, faces);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < faces; i++) key[i] = key_of(s, i / (size_t)s->faces, (int)(i % (size_t)s->faces));
    const size_t kept = keep_outside(key, faces);
    PBD_TRY(allocate(2 * kept, out));
    for (size_t i = 0; i < kept; i++) {
        const uint32_t *node = s->node + key[i].element * (size_t)s->nodes;
        const int *c = s->face[key[i].face];
        add_triangle(node, (const int[]){c[0], c[1], c[2]}, key[i].element, out);
        if (s->corners == 4) add_triangle(node, (const int[]){c[0], c[2], c[3]}, key[i].element, out);
    }
    return pbd_ok();
}

pbd_status surface_of(const pbd_scene *scene, surface *out) {
    *out = (surface){0};
    const element_shape hexes = {scene->hexes.count, scene->hexes.corner, 8, 6, 4, hex_face};
    const element_shape tets = {scene->tets.count, scene->tets.corner, 4, 4, 3, tet_face};
    if (hexes.elements > 0) return outside_of(&hexes, out);
    if (tets.elements > 0) return outside_of(&tets, out);
    PBD_TRY(allocate(scene->triangles.count, out));
    for (size_t t = 0; t < scene->triangles.count; t++)
        add_triangle(scene->triangles.corner + 3 * t, (const int[]){0, 1, 2}, (uint32_t)t, out);
    return pbd_ok();
}

void surface_free(surface *s) {
    free(s->triangle);
    free(s->element);
    *s = (surface){0};
}
