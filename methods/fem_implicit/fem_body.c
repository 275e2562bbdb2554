#include "methods/fem_implicit/fem_body.h"

#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"
#include "methods/physics/parts/surface_load.h"

static pbd_status allocate(fem_implicit *fem) {
    const size_t points = fem->mesh.elements * (size_t)fem->rule.points, n = fem->dofs + 1;
    double **wanted[] = {&fem->load,     &fem->u,      &fem->v,     &fem->target,
                         &fem->residual, &fem->step,   &fem->trial, &fem->trial_residual,
                         &fem->work,     &fem->packed, &fem->middle};
    bool fine = true;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        fine = (*wanted[i] = calloc(n, sizeof(double))) != NULL && fine;
    fem->gradient = malloc((3 * points * (size_t)fem->mesh.corners + 1) * sizeof *fem->gradient);
    fem->volume = malloc((points + 1) * sizeof *fem->volume);
    fem->pull = calloc(points + 1, sizeof *fem->pull);
    if (fem->forces_end > 0) fine = (fem->later = calloc(n, sizeof *fem->later)) != NULL && fine;
    if (fem->yield > 0) fine = (fem->plastic = calloc(fem_plastic_entries(fem), sizeof *fem->plastic)) != NULL && fine;
    if (fine && fem->gradient && fem->volume && fem->pull) return pbd_ok();
    return pbd_error(PBD_FAILED, "out of memory for %zu elements", fem->mesh.elements);
}

static void keep_gradients(fem_implicit *fem) {
    double gradient[ELEMENT_MOST_NODES][3];
    for (size_t e = 0; e < fem->mesh.elements; e++)
        for (int q = 0; q < fem->rule.points; q++) {
            const size_t point = e * (size_t)fem->rule.points + (size_t)q;
            fem->volume[point] = element_gradients(&fem->mesh, e, &fem->rule, q, gradient);
            fem->pull[point] = fem_norm(gradient[0], 3 * (size_t)fem->mesh.corners);
            memcpy(fem_gradients_at(fem, e, q), gradient, 3 * (size_t)fem->mesh.corners * sizeof(double));
        }
}

/* Adds the entry of an element's mass matrix for its nodes a and b. mass: at each point of the rule, kg. */
static void add_pair_mass(fem_implicit *fem, const element_rule *rule, const double *mass, const uint32_t *node, int a,
                          int b) {
    for (size_t d = 0; d < 3; d++) {
        const int row = fem->matrix.unknown[3 * node[a] + d], column = fem->matrix.unknown[3 * node[b] + d];
        if (row < 0 || column < 0) continue;
        double *entry = &fem->mass[pbd_sparse_at(&fem->matrix, row, column) - fem->matrix.value];
        for (int q = 0; q < rule->points; q++) *entry += mass[q] * rule->shape[q][a] * rule->shape[q][b];
    }
}

/* Makes the consistent mass matrix and the dead load of gravity, M g with the columns of held nodes included. */
static pbd_status add_mass_and_gravity(fem_implicit *fem, const pbd_scene *scene) {
    element_rule rule;
    double gradient[ELEMENT_MOST_NODES][3], mass[ELEMENT_MOST_POINTS];
    element_mass_rule(fem->mesh.kind, &rule);
    fem->mass = calloc((size_t)fem->matrix.column[fem->matrix.n] + 1, sizeof *fem->mass);
    if (!fem->mass) return pbd_error(PBD_FAILED, "out of memory for the mass of %zu nodes", fem->mesh.nodes);
    for (size_t e = 0; e < fem->mesh.elements; e++) {
        const uint32_t *node = fem->mesh.element + e * (size_t)fem->mesh.corners;
        for (int q = 0; q < rule.points; q++)
            mass[q] = scene->material->density * element_gradients(&fem->mesh, e, &rule, q, gradient);
        for (int a = 0; a < rule.nodes; a++) {
            for (size_t d = 0; d < 3; d++)
                for (int q = 0; q < rule.points; q++)
                    fem->load[3 * node[a] + d] += mass[q] * rule.shape[q][a] * scene->loads.gravity[d];
            for (int b = 0; b < rule.nodes; b++) add_pair_mass(fem, &rule, mass, node, a, b);
        }
    }
    return pbd_ok();
}

/* The same with lumped mass: the masses of the scene's particles, as in particle methods. */
static pbd_status add_lumped_mass_and_gravity(fem_implicit *fem, const pbd_scene *scene) {
    if (fem->mesh.nodes != fem->particles)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "mass=lumped needs elements whose nodes are the scene's particles: set element=tet4 or hex8");
    fem->mass = calloc((size_t)fem->matrix.column[fem->matrix.n] + 1, sizeof *fem->mass);
    if (!fem->mass) return pbd_error(PBD_FAILED, "out of memory for the mass of %zu nodes", fem->mesh.nodes);
    for (size_t i = 0; i < fem->dofs; i++) {
        const int unknown = fem->matrix.unknown[i];
        fem->load[i] += scene->particles.masses[i / 3] * scene->loads.gravity[i % 3];
        if (unknown < 0) continue;
        fem->mass[pbd_sparse_at(&fem->matrix, unknown, unknown) - fem->matrix.value] = scene->particles.masses[i / 3];
    }
    return pbd_ok();
}

/* Adds forces on particles, and loads on edges and faces. The scene's forces already include the latter, distributed to
 * the corners of its cells: of hexahedra, or of tetrahedra if it has no hexahedra. If the mesh has these same cells as
 * hex8 or tet4, that distribution is used. */
static pbd_status add_forces(fem_implicit *fem, const pbd_scene *scene) {
    const bool tet4 = fem->mesh.kind == ELEMENT_TET4, linear = tet4 || fem->mesh.kind == ELEMENT_HEX8;
    const size_t n = 3 * scene->particles.count;
    if (!surface_load_any(scene) || (linear && surface_load_faces(scene) == (tet4 ? 3 : 4))) {
        for (size_t i = 0; i < n; i++) fem->load[i] += scene->loads.forces[i];
        return pbd_ok();
    }
    pbd_arena a PBD_ARENA;
    double *forces = pbd_new(&a, double, n);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(surface_load_remove(scene, forces));
    for (size_t i = 0; i < n; i++) fem->load[i] += forces[i];
    return element_surface_load(&fem->mesh, scene, fem->load);
}

/* Initial displacements and velocities of the scene; nodes between corners start with the mean of their corners. */
static void take_start(fem_implicit *fem, const pbd_scene *scene) {
    for (size_t i = 0; i < 3 * scene->particles.count; i++) {
        if (scene->particles.start) fem->u[i] = scene->particles.start[i] - scene->particles.positions[i];
        if (scene->particles.velocities) fem->v[i] = scene->particles.velocities[i];
    }
    for (size_t node = scene->particles.count; node < fem->mesh.nodes; node++) {
        const uint32_t *parent = fem->mesh.parent + 8 * (node - scene->particles.count);
        int count = 0;
        while (count < 8 && parent[count] != UINT32_MAX) count++;
        for (size_t d = 0; d < 3; d++)
            for (int p = 0; p < count; p++) {
                fem->u[3 * node + d] += fem->u[3 * parent[p] + d] / count;
                fem->v[3 * node + d] += fem->v[3 * parent[p] + d] / count;
            }
    }
}

pbd_status fem_body_create(fem_implicit *fem, const pbd_scene *scene) {
    const element_kind kind = (element_kind)fem->set.element;
    fem->particles = scene->particles.count;
    if (fem->set.residual == residual_last) fem->watched = scene->duration;
    fem->yield = scene->material->yield_strain;
    fem->creep = scene->material->creep;
    fem->forces_end = scene->loads.forces_end;
    PBD_TRY(material_make(scene->material, &fem->material));
    if (fem->yield > 0 && scene->solved)
        return pbd_error(PBD_NOT_SUPPORTED, "plastic flow takes time, and this scene is static: set mode=dynamic");
    PBD_TRY(element_mesh_create(kind, scene, &fem->mesh));
    element_stiffness_rule(kind, &fem->rule);
    fem->dofs = 3 * fem->mesh.nodes;
    PBD_TRY(allocate(fem));
    keep_gradients(fem);
    PBD_TRY(pbd_sparse_create(fem->mesh.nodes, fem->mesh.element, fem->mesh.elements, fem->mesh.corners, fem->mesh.held,
                              &fem->matrix));
    PBD_TRY(
        pbd_sparse_find_places(&fem->matrix, fem->mesh.element, fem->mesh.elements, fem->mesh.corners, &fem->place));
    PBD_TRY(fem->set.mass == mass_lumped ? add_lumped_mass_and_gravity(fem, scene) : add_mass_and_gravity(fem, scene));
    if (fem->later) memcpy(fem->later, fem->load, fem->dofs * sizeof *fem->later);
    PBD_TRY(add_forces(fem, scene));
    fem->acting = fem->load;
    take_start(fem, scene);
    pbd_metric(fem->recorder, "unknowns", "1", PBD_STATE, fem->matrix.n);
    pbd_count(fem->recorder, "elements", fem->mesh.elements);
    return pbd_ok();
}

void fem_body_free(fem_implicit *fem) {
    element_mesh_free(&fem->mesh);
    pbd_sparse_free(&fem->matrix);
    pbd_factors_free(fem->factors);
    free(fem->place);
    double *owned[] = {fem->gradient, fem->volume, fem->pull,     fem->mass,  fem->load,   fem->u,
                       fem->v,        fem->target, fem->residual, fem->step,  fem->trial,  fem->trial_residual,
                       fem->work,     fem->packed, fem->middle,   fem->later, fem->plastic};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
