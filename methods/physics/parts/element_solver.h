/* The solver of methods with one constraint per tetrahedron or triangle (strain_energy, strain_based).
 *
 * Creation: a scene's elements get rest shapes (element_shape.h) and colours (colouring.h) and are stored colour by
 * colour on the device. A substep predicts positions, projects all elements `iterations` times, followed by contact,
 * and computes velocities. The method supplies one function that launches its kernel over a range of elements; Jacobi's
 * gather, saving, loading and reading are here. */
#ifndef PBD_ELEMENT_SOLVER_H
#define PBD_ELEMENT_SOLVER_H

#include "methods/physics/parts/contact.h"
#include "methods/physics/parts/element_solver_kernels.h"
#include "methods/physics/space/colouring.h"

PBD_PRECISE(element_solver_create, element_solver_free, element_solver_upload, element_solver_view,
            element_solver_predict, element_solver_sweep, element_solver_advance, element_solver_read,
            element_solver_bytes, element_solver_save, element_solver_load)

/* Parameters that every method of this kind has, after its `form`. */
static const char *const element_solver_orders[] = {"coloured_gs", "jacobi", NULL};
#define ELEMENT_SOLVER_PARAMS                                                                                      \
    {"solver", "", PBD_CHOICE, "coloured_gs", 0, 0, 0, element_solver_orders, "order of projection"},              \
        {"iterations", "", PBD_INTEGER, "10", 1, 100000, 0, NULL, "projections of every constraint in a substep"}, \
        {"substeps", "", PBD_INTEGER, "1", 1, 10000, 0, NULL, "of a step"},                                        \
        {"dt", "s", PBD_REAL, "0.005", 0, 1e3, PBD_OPEN_MIN, NULL, "time step"},                                   \
        {"damping", "1/s", PBD_REAL, "0", 0, 1e6, 0, NULL, "of velocities: exp(-damping dt) each step"},           \
        {"relaxation", "",   PBD_REAL,                                                                             \
         "1",          0,    64,                                                                                   \
         PBD_OPEN_MIN, NULL, "solver=jacobi: factor of the share at which sums cannot overshoot"},                 \
        PBD_ROWS(CONTACT_PARAMS)

typedef struct element_solver {
    pbd_exec *exec;
    pbd_recorder *recorder;
    size_t particles, elements;
    double time, forces_end; /* s */
    int corners;             /* 4: tetrahedra, 3: triangles */
    bool jacobi;
    int colours; /* 1 with Jacobi */
    size_t first[PBD_MOST_COLOURS + 1];
    uint32_t *order; /* host: place -> element of the scene */
    /* Device. */
    uint32_t *corner;                     /* elements x corners */
    real *inverse, *size, *share;         /* as in element_view */
    real *x, *v, *a, *p;                  /* particles x 4 */
    real *later;                          /* accelerations once the forces have ended; NULL: they act throughout */
    real *impulse;                        /* Jacobi */
    uint32_t *gather_first, *gather_slot; /* Jacobi */
    contact contact;                      /* nodes are its particles */
    pbd_repeat *repeat;                   /* the launches of a step */
} element_solver;

/* Launches the method's kernel over `count` elements from `first` on. */
typedef pbd_status (*element_projection)(void *method, size_t first, size_t count);
void element_solver_free(element_solver *s);

/* A copy on the device. */
pbd_status element_solver_upload(element_solver *s, const void *host, size_t bytes, void *device);

/* Elements from `first` on. */
element_view element_solver_view(const element_solver *s, size_t first);

/* Tetrahedra where the scene has some, else triangles. *s may be freed whatever comes back. */
pbd_status element_solver_create(element_solver *s, const pbd_scene *scene, bool jacobi, double relaxation,
                                 contact_settings set, pbd_exec *exec, pbd_recorder *recorder);
pbd_status element_solver_predict(element_solver *s, double dt);
pbd_status element_solver_sweep(element_solver *s, element_projection project, void *method);

/* Velocities from what moved; damping 1/s. */
pbd_status element_solver_advance(element_solver *s, double dt, double damping);
pbd_status element_solver_read(const element_solver *s, const char *method, pbd_field field, double *out);

/* x, then v, then the time: all that a step starts from; the method's own may follow. */
size_t element_solver_bytes(const element_solver *s);
pbd_status element_solver_save(const element_solver *s, void *blob);
pbd_status element_solver_load(element_solver *s, const void *blob);

#endif
