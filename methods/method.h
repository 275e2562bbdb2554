/* The contract between the harness and a method.
 *
 *   case->build -> pbd_scene -> create -> state -> step or solve, repeated -> read -> case: metrics and series
 *
 * The harness owns scene and exec; the method copies what it needs in `create` and owns its state. `read` returns
 * fields (positions, velocities, ...) as doubles in the scene's order. `save` and `load` let one state be solved again
 * for warm-ups and timing. `needs` and `takes` declare what a method requires of a scene and supports in it: other
 * scenes are refused before `create`.
 *
 * A method is a folder methods/NAME and one line METHOD(NAME) in methods.def. Its sources are compiled twice, with
 * `real` as float and as double, and those whose name ends in _once.c once. One of them defines `const pbd_method
 * PBD_NAME(NAME)`. Nothing else in the project names a method.
 *
 * Units are SI throughout: m, kg, s, N, Pa. Arrays of vectors are rows of three, x fastest.
 */
#ifndef PBD_METHOD_H
#define PBD_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the interface between the program and plug-ins. It increases with every change except new members at the
 * end of a struct (plugin.h). */
#define PBD_METHOD_ABI 9u

/* ---- Status: a code and a sentence ------------------------------------------------------------------------------
 * Every call that can fail returns one by value; it owns nothing. The sentence says what, where, and what to do.
 */

typedef enum pbd_code {
    PBD_OK = 0,
    PBD_BAD_INPUT,      /* invalid words or numbers from the caller: exit 2 */
    PBD_NOT_SUPPORTED,  /* unsupported by this method, backend or build: exit 2 */
    PBD_FAILED,         /* the machine's fault: memory, disk, a library: exit 5, or 2 for the store */
    PBD_DIVERGED,       /* NaN, inf or runaway motion: a state of a run */
    PBD_NO_EQUILIBRIUM, /* the static problem has no (unique) answer: a state of a run */
    PBD_NOT_SETTLED,    /* the step limit was reached before rest: a state of a run */
    PBD_INTERRUPTED,    /* Ctrl-C: a state of a run */
    PBD_UNPHYSICAL      /* energy from nothing, grains through walls: a state of a run, judged by the harness */
} pbd_code;

typedef struct pbd_status {
    pbd_code code;
    char text[380];
} pbd_status;

/* A status with a printf-formatted sentence, cut at the buffer's end. */
pbd_status pbd_error(pbd_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline pbd_status pbd_ok(void) {
    pbd_status ok;
    ok.code = PBD_OK;
    ok.text[0] = '\0';
    return ok;
}

/* Returns from the calling function when EXPR is not PBD_OK. */
#define PBD_TRY(EXPR)                                 \
    do {                                              \
        pbd_status pbd_try_ = (EXPR);                 \
        if (pbd_try_.code != PBD_OK) return pbd_try_; \
    } while (0)

/* ---- Parameters -------------------------------------------------------------------------------------------------
 * A method or case lists its parameters once; the harness parses, checks, prints --help and hashes from that list. */

/* PBD_TEXT: text from the user, such as the name of a set. PBD_FILE: a path; its value is the path and a hash of the
 * file's contents, `part.msh#1f2e3d4c5b6a7988`, so that the same path with other contents is another run. A PBD_TEXT or
 * PBD_FILE with the preset "" must be given. */
typedef enum pbd_param_kind { PBD_REAL, PBD_INTEGER, PBD_CHOICE, PBD_TEXT, PBD_FILE } pbd_param_kind;

enum { PBD_OPEN_MIN = 1, PBD_OPEN_MAX = 2 }; /* the bound itself is not allowed */

typedef struct pbd_param {
    const char *name;
    const char *unit; /* "" for a pure number */
    pbd_param_kind kind;
    const char *preset; /* the default, as it would be typed. For a method's numbers and choices it may be "auto"
                           (pbd_method.choose) */
    double min, max;    /* range of numbers, closed unless `open` says otherwise */
    unsigned open;
    const char *const *choices; /* NULL-terminated. PBD_CHOICE: names; the value is the index. PBD_TEXT: words that are
                                   always possible, or NULL */
    const char *doc;            /* one line; begins with the condition for reading it, if any (conditions.h) */
} pbd_param;

/* One resolved parameter. Its canonical spelling (what hashes and the store use) is `text`, or `words` for PBD_TEXT and
 * PBD_FILE: pbd_text gives either. */
typedef struct pbd_value {
    const pbd_param *param;
    double number; /* PBD_CHOICE: the index */
    char text[48];
    char *words; /* owned; NULL for the other kinds */
} pbd_value;

typedef struct pbd_values {
    const pbd_value *item;
    size_t count;
} pbd_values;

/* The value of a parameter; NULL: it is not declared. */
static inline const pbd_value *pbd_value_named(const pbd_values *values, const char *name) {
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->item[i].param->name, name) == 0) return &values->item[i];
    return NULL;
}

/* Lookups by name. An undeclared name is a programming error and aborts. */
double pbd_real(const pbd_values *values, const char *name);
long pbd_integer(const pbd_values *values, const char *name);
int pbd_choice(const pbd_values *values, const char *name);
const char *pbd_text(const pbd_values *values, const char *name);

/* Reads the whole file of a PBD_FILE. PBD_BAD_INPUT if it cannot be read or has changed since the run was planned. Both
 * strings end with NUL; the caller frees them with pbd_content_free. */
typedef struct pbd_content {
    char *path, *text;
    size_t bytes; /* of text, without the NUL */
} pbd_content;
pbd_status pbd_read_file(const pbd_values *values, const char *name, pbd_content *out);
void pbd_content_free(pbd_content *content); /* safe on a zeroed one */

/* ---- Scene: what a case hands to a method, in blocks. Owned by the case; a method copies what it keeps. -----------
 */

enum { PBD_MOST_MATERIALS = 8 };    /* of a scene */
enum { PBD_MOST_FLOW_VALUES = 16 }; /* parameters of a flow rule */
enum { PBD_MOST_FIBRES = 3 };       /* directions: one is transversely isotropic, two or three orthotropic (C-8) */

/* The kind of a material, of which a scene may contain several. */
typedef enum pbd_matter {
    PBD_CONTINUUM, /* a body with a law, and perhaps a flow rule */
    PBD_FLUID,     /* a liquid that keeps its density (Macklin and Mueller 2013): no law, no E */
    PBD_CLOTH,     /* a surface of triangles */
    PBD_MATTERS
} pbd_matter;

/* Shear entries of the elasticity matrix D: as printed in rodero2016 Eq. 4, twice the usual with engineering shear
 * or the standard ones. */
typedef enum pbd_convention { PBD_D_PRINTED, PBD_D_STANDARD } pbd_convention;

typedef struct pbd_material {
    pbd_matter matter;
    double E;       /* Young's modulus, Pa */
    double nu;      /* Poisson's ratio */
    double density; /* kg/m^3; 0: every particle weighs 1 kg (rodero2016) */
    pbd_convention convention;
    const char *law; /* elastic law by its name in methods/physics/matter/laws.def; NULL: corotated. Linear methods
                        ignore it */
    double fibre[PBD_MOST_FIBRES][3];        /* directions at rest, any length; each read when its stiffness > 0 */
    double fibre_stiffness[PBD_MOST_FIBRES]; /* Pa, cao2023 section 4.3 (C-7): each adds twice its value to the
                                                modulus along its fibre; 0: no such fibre */
    double yield_strain;                     /* limit of the norm of the elastic Green strain; 0: elastic */
    double creep;                            /* 1/s: rate at which strain beyond yield_strain becomes plastic */
    double thickness;                        /* m, of triangles; 0: 1 */
    double bending;                          /* N m, of triangles: E t^3/(12 (1 - nu^2)) for a plate; 0: none */
    double viscosity; /* of a liquid: c of XSPH, the share of its neighbours' mean velocity that a particle adopts in
                         a step */
    const char *flow; /* flow rule by its name in methods/physics/matter/flow.def; NULL: none.
                         Distinct from yield_strain: for laws in Hencky strain */
    double flow_value[PBD_MOST_FLOW_VALUES]; /* the rule's own parameters, in their order: flow_table.h */
} pbd_material;

/* Whether a material's law or flow is `wanted`. */
static inline bool pbd_named(const char *name, const char *wanted) { return name && strcmp(name, wanted) == 0; }

static inline bool pbd_has_fibres(const pbd_material *material) {
    for (int k = 0; k < PBD_MOST_FIBRES; k++)
        if (material->fibre_stiffness[k] > 0) return true;
    return false;
}

/* Points with mass. The meaning of NULL is given with each pointer that may be NULL. */
typedef struct pbd_particles {
    size_t count;
    double *positions;  /* count x 3, m, at rest */
    double *start;      /* count x 3, m: initial positions, if they are not those at rest; NULL: positions */
    double *velocities; /* count x 3, m/s; NULL: 0 */
    double *masses;     /* count, kg */
    double *volumes;    /* count, m^3, at rest: the part of the body that each represents; NULL: mass / density */
    double spacing;     /* m: the distance of neighbours in a sampled body; 0: particles are not samples */
    uint8_t *material;  /* count: index into the scene's materials; NULL: the first */
    size_t bodies;      /* 0: one */
    uint32_t *body;     /* count: the body of each; NULL: all of one */
    size_t fixed;
    uint32_t *fixed_particle; /* fixed, ascending. Held at their `start`, which may stretch or twist a bar; or moved
                                 and released (pbd_pour) */
} pbd_particles;

/* Elements between particles. */
typedef struct pbd_cells {
    size_t count;
    uint32_t *corner;  /* count x 8, 4 or 3: indices of particles */
    uint8_t *material; /* count: index into the scene's materials; NULL: the first */
} pbd_cells;

/* ---- Colliders, contact, blades ---- */

/* PBD_PLANE, PBD_BOX, PBD_SPHERE and so on. The head of each file describes the shape and its sizes:
 * methods/physics/surface/shapes/box.h for PBD_BOX. */
typedef enum pbd_collider_shape {
#define COLLIDER_SHAPE(NAME, name) PBD_##NAME,
#include "methods/physics/surface/shapes/shapes.def"
#undef COLLIDER_SHAPE
    PBD_COLLIDER_SHAPES
} pbd_collider_shape;

/* A rigid collider with prescribed motion; particles stay outside of it, or inside. */
typedef struct pbd_collider {
    pbd_collider_shape shape;
    bool container;              /* particles are kept inside */
    double centre[3];            /* m, at time 0 */
    double axis[3][3];           /* its frame at time 0: unit vectors x, y, z, each a row */
    double half[3];              /* m */
    double velocity[3], spin[3]; /* m/s; rad/s about its centre */
    double begin, end;           /* s: moves only between these times; end 0: no end */
    double friction;             /* Coulomb's coefficient */
    size_t mesh;                 /* PBD_MESH: index of the scene's collider_mesh */
} pbd_collider;

/* Whether it moves at any time. */
static inline bool pbd_collider_moves(const pbd_collider *c) {
    bool any = false;
    for (int d = 0; d < 3; d++) any |= c->velocity[d] != 0 || c->spin[d] != 0;
    return any;
}

/* A surface of triangles. If every edge joins two triangles it is closed and has an inside, from which particles are
 * kept out (or, by a container, in). Otherwise it is a sheet: each particle stays on its side. */
typedef struct pbd_collider_mesh {
    size_t vertices, triangles;
    double *vertex;     /* vertices x 3, m, in the collider's frame */
    uint32_t *triangle; /* triangles x 3 */
    double thickness;   /* m, the distance that particles keep from it; a sheet needs one */
} pbd_collider_mesh;

/* Contact of particles with each other (cao2023 section 4.2, Eq. 12): a pair nearer than the sum of its radii is
 * separated if it belongs to two bodies, or to one body and was farther apart than self_distance at rest. */
typedef struct pbd_contact {
    double *radius; /* particles, m, for pairs and for colliders; 0: a point, without pairs. NULL: all are points */
    bool between_bodies;
    double self_distance; /* m; 0: not within a body */
    double friction;      /* Coulomb's coefficient */
} pbd_contact;

/* A flat knife: the parallelogram corner + a edge[0] + b edge[1], 0 <= a, b <= 1, that moves with `velocity` and exists
 * only between begin and end. It cuts what it crosses (cao2023 section 4.4). */
typedef struct pbd_blade {
    double corner[3], edge[2][3]; /* m, at `begin` */
    double velocity[3];           /* m/s */
    double begin, end;            /* s */
} pbd_blade;

typedef struct pbd_colliders {
    size_t count, meshes;
    pbd_collider *item;
    pbd_collider_mesh *mesh; /* each owns its arrays */
} pbd_colliders;

typedef struct pbd_blades {
    size_t count;
    pbd_blade *item;
} pbd_blades;

typedef struct pbd_loads {
    double gravity[3]; /* m/s^2, on every particle's mass; a dead load */
    double *forces;    /* particles x 3, N, constant while they act; NULL: none */
    double forces_end; /* s: forces act in steps that begin before this time; 0: always. Gravity always acts */
} pbd_loads;

/* Edges or faces of cells under a dead load. */
typedef struct pbd_loaded {
    size_t count;
    uint32_t *corner; /* count x corners */
    double *density;  /* count x corners x 3: N/m of edges, N/m^2 of faces, per size at rest; interpolated between the
                         corners by their shape functions */
} pbd_loaded;

/* The part of loads.forces that is distributed over edges and faces. loads.forces contains it as consistent forces on
 * the corners: those of edges, and those of quads if the scene has hexahedra, otherwise of triangles. Quads are faces
 * of hexahedra; triangles are faces of tetrahedra, or cloth. A scene with both kinds of cells lists the surface in
 * both. A method with other elements (quadratic ones, or tetrahedra in a scene that also has hexahedra) replaces that
 * part: methods/physics/parts/surface_load.h. */
typedef struct pbd_surface_load {
    pbd_loaded edges, triangles, quads; /* of 2, 3, 4 corners */
} pbd_surface_load;

/* ---- Choices that the papers leave open, for the methods that reproduce them ---- */

/* How a fixed particle is held (rodero2016, R-10): with inverse mass 0, or with its full weight in every projection
 * and put back after each. The second is softer, because an edge to the base then moves both its ends. */
typedef enum pbd_fixing { PBD_FIXED_WEIGHT, PBD_FIXED_RESET } pbd_fixing;

/* Whether a constraint that two elements share counts once or once per element (rodero2016, open choice 8). */
typedef enum pbd_sharing { PBD_SHARED_ONCE, PBD_SHARED_PER_ELEMENT } pbd_sharing;

/* The closed surface of a body as it was given, at rest, counter-clockwise from outside. For pictures, in which it
 * moves with the body's particles. No method reads it. */
typedef struct pbd_skin {
    uint32_t body; /* in particles.body */
    size_t vertices, triangles;
    double *vertex;     /* vertices x 3, m */
    uint32_t *triangle; /* triangles x 3 */
} pbd_skin;

typedef struct pbd_hints {
    pbd_fixing fixing;
    pbd_sharing shared;
} pbd_hints;

/* Held particles that move at a constant velocity and are released one by one, as poured from a nozzle. Colliders do
 * not act on held particles. */
typedef struct pbd_pour {
    double velocity[3]; /* m/s, of every held particle */
    double *until;      /* particles.fixed, s: free, with that velocity, in steps that begin then or later. NULL: held
                           particles never move */
} pbd_pour;

typedef struct pbd_scene {
    uint32_t bytes; /* sizeof(pbd_scene) of the program; set by the harness */
    pbd_particles particles;
    pbd_cells hexes;     /* order of Zienkiewicz: 0..3 the base counter-clockwise from above, 4..7 above them */
    pbd_cells tets;      /* three corners clockwise as seen from the fourth: det D_m > 0, with edges from the fourth */
    pbd_cells triangles; /* cloth: no strain across it, and lambda of plane stress, E nu/(1 - nu^2) */
    pbd_colliders colliders;
    pbd_contact contact;
    pbd_blades blades;
    pbd_loads loads;
    pbd_hints hints;
    double extent;    /* m, the largest edge of the bounding box at rest: the scale of relative thresholds */
    double duration;  /* s; 0: the case needs static equilibrium */
    bool solved;      /* whether by the method's `solve`; otherwise by steps */
    size_t materials; /* 0: one */
    pbd_material material[PBD_MOST_MATERIALS];
    pbd_surface_load surface_load;
    size_t skins;
    pbd_skin *skin; /* each owns its arrays; bodies may have none */
    pbd_pour pour;
} pbd_scene;

/* The material of a particle, and of a cell. */
static inline const pbd_material *pbd_material_of(const pbd_scene *scene, size_t particle) {
    return &scene->material[scene->particles.material ? scene->particles.material[particle] : 0];
}

static inline const pbd_material *pbd_cell_material(const pbd_scene *scene, const pbd_cells *cells, size_t cell) {
    return &scene->material[cells->material ? cells->material[cell] : 0];
}

static inline pbd_matter pbd_matter_of(const pbd_scene *scene, size_t particle) {
    return pbd_material_of(scene, particle)->matter;
}

/* The first material of this matter; NULL: there is none. */
static inline const pbd_material *pbd_first_material(const pbd_scene *scene, pbd_matter matter) {
    for (size_t k = 0; k < (scene->materials > 0 ? scene->materials : 1); k++)
        if (scene->material[k].matter == matter) return &scene->material[k];
    return NULL;
}

/* Whether any particle is of this matter. */
static inline bool pbd_holds(const pbd_scene *scene, pbd_matter matter) {
    const size_t looked = scene->particles.material ? scene->particles.count : 1;
    for (size_t i = 0; i < looked; i++)
        if (pbd_matter_of(scene, i) == matter) return true;
    return false;
}

/* ---- Recorder: what a method reports while it works --------------------------------------------------------------
 * All functions copy their arguments. Names are words of the field, lower case with underscores. */

typedef struct pbd_recorder pbd_recorder;

/* The kind of a metric, by which comparisons, tables and history select metrics, never by names. */
typedef enum pbd_kind {
    PBD_STATE,   /* describes the result; no value is better than another */
    PBD_ERROR,   /* distance from a known answer: lower is better */
    PBD_QUALITY, /* higher is better */
    PBD_COST,    /* time, memory, bytes, operations: lower is better; not part of a comparison of results */
    PBD_COUNT,   /* of pbd_count: exact, and equal in two builds that compute the same */
    PBD_FLAW     /* what should not occur, such as a penetration: lower is better, but 0 does not mean accurate */
} pbd_kind;

/* A number of the run; a second call with the same name replaces it. */
void pbd_metric(pbd_recorder *, const char *name, const char *unit, pbd_kind, double value);
/* A count that adds up over calls (constraint_solves, steps): stored beside the metrics, exact. */
void pbd_count(pbd_recorder *, const char *name, uint64_t add);
/* Appends to one component of a series. A series of vectors has the components "x", "y", "z", a series of numbers
 * "value". */
void pbd_series(pbd_recorder *, const char *name, const char *component, const char *unit, const double *values,
                size_t count, size_t stride);
/* Kept once per name with the number of times it was raised and the first sentence. */
void pbd_warning(pbd_recorder *, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Time of a phase of the method (projection, neighbour_search...); phases of one name add up and do not nest. */
void pbd_phase_begin(pbd_recorder *, const char *name);
void pbd_phase_end(pbd_recorder *);
/* Returns false during warm-ups and timed repetitions of a solve, whose metrics and series are not kept. Skip then
 * whatever is computed only for them. */
bool pbd_records(const pbd_recorder *);
/* Returns true if the positions after each iteration of a step are wanted. An implicit solver then reports them with
 * pbd_iterate, particles x 3, m, in the scene's order; iteration 0: the positions before the first iteration. */
bool pbd_wants_iterates(const pbd_recorder *);
void pbd_iterate(pbd_recorder *, long iteration, const double *positions);
/* Returns true once the user has interrupted the run: return PBD_INTERRUPTED soon, between two steps. */
bool pbd_stop_requested(const pbd_recorder *);

/* ---- Method ------------------------------------------------------------------------------------------------------ */

typedef struct pbd_exec pbd_exec; /* where kernels run: harness/exec/exec.h */

enum {
    PBD_NEEDS_PARTICLES = 1,
    PBD_NEEDS_HEXES = 2,
    PBD_NEEDS_TETS = 4,
    PBD_NEEDS_TRIANGLES = 8,
    PBD_NEEDS_TETS_OR_TRIANGLES = 16, /* of methods only: a case provides one or the other */
    PBD_NEEDS_SAMPLES = 32            /* particles that sample a body: `spacing` is set */
};
enum { PBD_CPU = 1, PBD_EMU = 2, PBD_CUDA = 4 };
enum { PBD_F32 = 1, PBD_F64 = 2 };

/* PBD_TAKES_START, PBD_TAKES_FIBRES and so on: one bit for each row of takes.def. */
enum {
#define TAKES(NAME, sentence, asked) PBD_TAKES_BIT_##NAME,
#include "methods/takes.def"
#undef TAKES
};
enum {
#define TAKES(NAME, sentence, asked) PBD_TAKES_##NAME = 1 << PBD_TAKES_BIT_##NAME,
#include "methods/takes.def"
#undef TAKES
};

typedef enum pbd_field {
    PBD_POSITIONS,             /* particles x 3, m */
    PBD_VELOCITIES,            /* particles x 3, m/s */
    PBD_PREDICTED,             /* particles x 3, m: from which the next projection would start (rodero2016, R-11) */
    PBD_DEFORMATION_GRADIENTS, /* particles x 9, row by row: F at each particle */
    PBD_MEAN_STRESS,           /* 9, Pa: first Piola-Kirchhoff stress, row by row, mean over the volume at rest */
    PBD_PRESSURES,             /* particles, Pa: of liquid, from the last step's multipliers; 0 for other matter */
    PBD_EXCHANGE,              /* particles x 3, N s: impulses exchanged between liquid and continuum */
    PBD_COLLIDER_SUMS,         /* 5, if a collider or held particles of the scene move: work of the colliders on
                                  particles, J; the part of it that contact dissipated, J; three components of their
                                  impulse, N s. Summed from creation or `load` on */
    PBD_INTERNAL_ENERGY, /* 1, J: energy that the method stores in addition to the law's at its deformation gradients:
                            that of an equation of state, or of the control of zero-energy modes */
    PBD_PLASTIC_DISSIPATION, /* 1, J, where matter flows: energy dissipated by return mappings in recorded steps
                                (pbd_records), from creation or `load` on */
    PBD_SPIN                 /* 3, kg m^2/s: angular momentum of particles in addition to x cross m v */
} pbd_field;

/* Elements with more nodes than the scene's particles. The particles are the first nodes, in their order. There is one
 * element for each tetrahedron or hexahedron of the scene. The state owns the arrays; they are valid until it
 * changes. */
typedef struct pbd_mesh {
    size_t nodes, elements; /* 0: the elements have no other nodes than particles */
    int corners;            /* nodes of an element. 10: four corners, oriented as in pbd_scene.tets, and the
                               middles of edges 0-1, 1-2, 2-0, 0-3, 1-3, 2-3. 27: 3 x 3 x 3, first direction
                               fastest */
    const uint32_t *node;   /* elements x corners */
    const double *rest, *displacement, *velocity; /* nodes x 3: m, m, m/s */
} pbd_mesh;

/* The norm of an iterative solver's residual in one step, by the definition in pbd_method.residual. */
typedef struct pbd_residual {
    double first, last; /* before the first iteration, and after the last */
    double rounding;    /* a norm below this is rounding error */
} pbd_residual;

/* The fraction of the residual that is left; 0 if there was none. */
static inline double pbd_residual_left(const pbd_residual *r) {
    return r->first <= r->rounding ? 0 : r->last / r->first;
}

/* What pbd_method.survey measures. Neighbours are particles nearer than `support`; W is Wendland's C2 kernel with that
 * support radius. */
typedef struct pbd_survey {
    double support, spacing; /* m; spacing: the scale of distances, which keeps the digits of their deviation */
    const double *masses;    /* particles, kg; NULL: all 0 */
    bool motion;             /* whether velocities are measured, if the method has any */
    double mu, lambda;       /* Pa, of Hencky's law, for tension; mu 0: none is measured */
    double link;             /* m: particles nearer are connected; at most `support` */
    uint32_t *piece;         /* particles, written: the lowest particle of each one's component; NULL: not wanted */
} pbd_survey;

typedef struct pbd_surveyed {
    double mean, deviation, least; /* m: of the distance to the nearest neighbour; NaN if there is none */
    size_t lone;                   /* particles without a neighbour, which the first three leave out */
    double density;                /* kg/m^3: the largest sum of m W, with the particle itself */
    bool moving;                   /* whether velocities were measured; otherwise the next three are 0 */
    double relative;              /* J: kinetic energy relative to the mean velocity of the neighbours, weighted by W */
    double energy, fastest;       /* J: kinetic energy; m/s: the largest speed */
    bool strained;                /* whether tension was measured; otherwise the next two are 0 */
    double tension, mean_tension; /* Pa: largest and mean of the largest principal Kirchhoff stress where it is a
                                     tension, otherwise of 0 */
} pbd_surveyed;

typedef struct pbd_method {
    uint32_t bytes; /* sizeof(pbd_method) in its source */
    const char *name, *summary, *source;
    unsigned needs;
    unsigned takes;          /* PBD_TAKES_* */
    const pbd_param *params; /* ends with a NULL name */
    /* Builds the solver's state from a scene (which it does not keep). May record (fitted stiffnesses...). Sets *state
     * as soon as `destroy` can free it: it is destroyed also after an error. Called by pbd_method_create. */
    pbd_status (*create)(const pbd_scene *, const pbd_values *, pbd_exec *, pbd_recorder *, void **state);
    unsigned backends, precisions;              /* masks: what it can run on */
    pbd_status (*step)(void *state, double dt); /* advances exactly dt seconds; NULL for static methods */
    pbd_status (*solve)(void *state);           /* static equilibrium; NULL where there is none */
    pbd_status (*read)(const void *state, pbd_field, double *out); /* PBD_NOT_SUPPORTED for other fields */
    /* blob == NULL: only reports *bytes. For timing from the same state. */
    pbd_status (*save)(const void *state, void *blob, size_t *bytes);
    pbd_status (*load)(void *state, const void *blob, size_t bytes);
    void (*destroy)(void *state); /* NULL-safe */
    const char *law; /* the only elastic law that it supports, by its name in laws.def: replaces a case's default.
                        NULL: it supports all laws, or reads none */
    /* The mesh that is written to files of states instead of the scene's cells; NULL: the cells are written. */
    void (*mesh)(const void *state, pbd_mesh *out);
    /* For iterative solvers: the norm of the residual, in words. NULL: the method is explicit or direct. */
    const char *residual;
    /* Asks the next step or solve to measure its residual into *out, if it iterates; NULL withdraws the request.
     * Results do not depend on it. */
    void (*watch)(void *state, pbd_residual *out);
    /* Why a residual above the limit causes no warning: the published form stops after a few iterations, a fixed
     * number. Begins with the condition for that, if any (conditions.h). NULL: it causes a warning. */
    const char *unconverged;
    /* Returns the number, or the index of a PBD_CHOICE, that `auto` stands for in this scene; NAN: none is suitable.
     * Parameters are chosen in their order: reals not yet chosen are NAN. A scene that could not be built is empty.
     * NULL: no parameter may be `auto`. */
    double (*choose)(const pbd_scene *, const pbd_values *, const char *parameter);
    /* Waits for steps that `step` has only started, so that their time counts as that of the solve and not as that of a
     * later read. Functions that read the state wait by themselves. NULL: steps are complete when `step` returns. */
    pbd_status (*wait)(void *state);
    /* Measures particles and their neighbours where the state is, without reading it back. NULL, or PBD_NOT_SUPPORTED:
     * the harness measures what `read` returns. */
    pbd_status (*survey)(const void *state, const pbd_survey *asked, pbd_surveyed *out);
} pbd_method;

/* method->create. After an error *state is NULL, and the partial state is destroyed. */
static inline pbd_status pbd_method_create(const pbd_method *method, const pbd_scene *scene, const pbd_values *values,
                                           pbd_exec *exec, pbd_recorder *recorder, void **state) {
    *state = NULL;
    const pbd_status status = method->create(scene, values, exec, recorder, state);
    if (status.code != PBD_OK && *state) {
        method->destroy(*state);
        *state = NULL;
    }
    return status;
}

#ifdef __cplusplus
}
#endif
#endif
