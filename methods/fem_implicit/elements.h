/* Finite elements: meshes with mid-side nodes made from a scene's corners, shape functions and quadrature.
 *
 *   tet4    linear, 1 point              hex8    trilinear, 2x2x2 Gauss points
 *   tet10   quadratic, 4 points          hex27   triquadratic, 3x3x3 Gauss points
 *
 * Quadratic nodes sit at the means of corners, so that elements keep straight sides. Mass has a finer rule, which
 * integrates products of shape functions. Sources: Zienkiewicz, Taylor and Zhu, The Finite Element Method,
 * 7th ed., chapter 6 (shape functions, Gauss rules); Keast 1986 (4 points of degree 2 on the tetrahedron). All f64, SI.
 */
#ifndef PBD_ELEMENTS_H
#define PBD_ELEMENTS_H

#include "methods/method.h"

typedef enum element_kind { ELEMENT_TET4, ELEMENT_TET10, ELEMENT_HEX8, ELEMENT_HEX27, ELEMENT_KINDS } element_kind;

enum { ELEMENT_MOST_NODES = 27, ELEMENT_MOST_POINTS = 64 };

/* A quadrature rule on the reference element: its points, with the shape functions and their gradients by reference
 * coordinates there. */
typedef struct element_rule {
    int points, nodes;
    double weight[ELEMENT_MOST_POINTS];
    double at[ELEMENT_MOST_POINTS][3];
    double shape[ELEMENT_MOST_POINTS][ELEMENT_MOST_NODES];
    double gradient[ELEMENT_MOST_POINTS][ELEMENT_MOST_NODES][3];
} element_rule;

int element_nodes(element_kind kind);
/* The rule for stiffness, and the one for mass (64 points: exact for polynomials up to at least degree 5). */
void element_stiffness_rule(element_kind kind, element_rule *out);
void element_mass_rule(element_kind kind, element_rule *out);
/* A rule of zero weights at the element's nodes, where deformation is largest. */
void element_nodal_rule(element_kind kind, element_rule *out);

typedef struct element_mesh {
    element_kind kind;
    int corners;             /* nodes of one element */
    size_t nodes, particles; /* the scene's particles come first, in their order */
    size_t elements;
    double *position;  /* nodes x 3, m, at rest */
    uint32_t *element; /* elements x corners */
    bool *held;        /* nodes x 3; a mid-side node is held if all its corners are */
    uint32_t *parent;  /* (nodes - particles) x 8: corners whose mean is the node, ascending, padded with UINT32_MAX;
                          rows are sorted */
} element_mesh;

/* Makes the mesh of `kind` from the scene's tetrahedra or hexahedra. PBD_NOT_SUPPORTED when the scene has none,
 * PBD_BAD_INPUT with the element's number when one is flat or inside out. Freed by element_mesh_free (safe on a zeroed
 * one). */
pbd_status element_mesh_create(element_kind kind, const pbd_scene *scene, element_mesh *out);
void element_mesh_free(element_mesh *mesh);

/* Adds the consistent forces of the scene's loads on edges and faces (pbd_surface_load) to load, nodes x 3, N.
 * PBD_BAD_INPUT when one of them is no edge or face of an element. */
pbd_status element_surface_load(const element_mesh *mesh, const pbd_scene *scene, double *load);

/* Writes the gradients of the shape functions by rest position at point q of a rule, 1/m. Returns the volume of the
 * point (weight times Jacobian determinant, m^3); for a rule with zero weights, the determinant itself. */
double element_gradients(const element_mesh *mesh, size_t element, const element_rule *rule, int q,
                         double gradient[ELEMENT_MOST_NODES][3]);

#endif
