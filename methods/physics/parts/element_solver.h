/* Solver with one constraint per tetrahedron or triangle (strain_energy, strain_based, cloth), based on
 * position_solver.h.
 *
 * On creation a scene's elements get rest shapes (element_shape.h) and colours (colouring.h) and are stored on the
 * device colour by colour. The method supplies a function that launches its kernel over a range of elements; the gather
 * pass of Jacobi is here. With `clusters`, tetrahedra are swept by clusters instead of colours (clusters.h). */
#ifndef PBD_ELEMENT_SOLVER_H
#define PBD_ELEMENT_SOLVER_H

#include "methods/physics/parts/element_solver_kernels.h"
#include "methods/physics/parts/position_solver.h"
#include "methods/physics/space/cluster_view.h"
#include "methods/physics/space/colouring.h"

PBD_PRECISE(element_solver_create, element_solver_free, element_solver_destroy, element_solver_upload,
            element_solver_sweep, element_solver_strain_rounding)

/* Parameters of every such method, between its `form` and CONTACT_PARAMS. */
#define ELEMENT_SOLVER_PARAMS(REAL, INTEGER, CHOICE) ELEMENT_SOLVER_PARAMS_WITH(POSITION_PARAMS, REAL, INTEGER, CHOICE)
#define ELEMENT_SOLVER_PARAMS_WITH(POSITION, REAL, INTEGER, CHOICE)                                                   \
    CHOICE(solver, "coloured_gs", (coloured_gs, jacobi), "order of projection")                                       \
    CHOICE(clusters, "off", (auto, off, on),                                                                          \
           "solver=coloured_gs: a launch sweeps clusters of some twenty tetrahedra; auto: on a GPU, of 4096 or more") \
    POSITION(REAL, INTEGER, CHOICE)                                                                                   \
    REAL(relaxation, "", "1", 0, 64, PBD_OPEN_MIN, "solver=jacobi: factor of the share at which sums cannot overshoot")
PBD_SETTINGS(element_settings, ELEMENT_SOLVER_PARAMS)

/* Elements of one colour and one material, projected by one launch. */
typedef struct element_batch {
    size_t first, count;
    int material;             /* index into the scene's materials */
    size_t cluster, clusters; /* first cluster; number of clusters, 0: elements of one colour */
    size_t rows;              /* particles of the clusters */
} element_batch;

typedef struct element_solver {
    position_solver position; /* first: the nodes */
    size_t elements;
    int corners; /* 4: tetrahedra, 3: triangles */
    bool jacobi;
    int colours; /* 1 with Jacobi */
    double edge; /* m: edge of an element of the mean size */
    /* Host. */
    uint32_t *order;             /* place -> element of the scene */
    element_batch *batch, *span; /* batches of a sweep; for other passes, consecutive batches of one material joined */
    size_t batches, spans;
    /* Device. */
    uint32_t *corner;                     /* elements x corners */
    real *inverse, *size, *share;         /* as in element_view */
    real *impulse;                        /* Jacobi */
    uint32_t *gather_first, *gather_slot; /* Jacobi */
    /* Clusters, NULL without: as in cluster_view. */
    size_t clusters, parts, rows;
    uint32_t *first_part, *part, *first_row, *row, *own;
} element_solver;

/* All members of pbd_method except name, summary, source, takes, params and create. The state begins with an
 * element_solver. */
#define ELEMENT_SOLVER_SLOTS POSITION_SLOTS, .needs = PBD_NEEDS_TETS_OR_TRIANGLES, .destroy = element_solver_destroy

/* Launches the method's kernel over a batch. */
typedef pbd_status (*element_projection)(void *method, const element_batch *batch);

/* Uses tetrahedra if the scene has any, otherwise triangles. *s may be freed also after an error. */
pbd_status element_solver_create(element_solver *s, const char *name, const step_part *own, const pbd_scene *scene,
                                 element_settings set, contact_settings touch, pbd_exec *exec, pbd_recorder *recorder);
void element_solver_free(element_solver *s);
/* For a state from malloc that begins with an element_solver; NULL-safe. */
void element_solver_destroy(void *state);

/* Allocates *device, of `bytes`, and copies `host` to it. The caller frees it. */
pbd_status element_solver_upload(element_solver *s, const void *host, size_t bytes, void *device);

/* Elements from `first` on. Inline: small scenes launch a hundred thousand batches a second. */
static inline element_view element_solver_view(const element_solver *s, size_t first) {
    return (element_view){.corner = s->corner + first * (size_t)s->corners,
                          .inverse = s->inverse + first,
                          .size = s->size + first,
                          .share = s->share ? s->share + first : NULL,
                          .p = s->position.p,
                          .impulse = s->impulse ? s->impulse + 4 * (size_t)s->corners * first : NULL,
                          .stride = s->elements,
                          .left = s->elements - first};
}

static inline cluster_view element_solver_clusters(const element_solver *s, const element_batch *batch) {
    return (cluster_view){.first_part = s->first_part + batch->cluster,
                          .part = s->part,
                          .first_particle = s->first_row + batch->cluster,
                          .particle = s->row,
                          .own = s->own};
}

/* Returns the error in the strain of an element that is due to rounding of positions. */
double element_solver_strain_rounding(const element_solver *s);

/* Projects all constraints once. */
pbd_status element_solver_sweep(element_solver *s, element_projection project, void *method);

#endif
