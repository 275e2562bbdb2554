#include "harness/picture/colours.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases/geometry/near_pairs.h"
#include "harness/exec/arena.h"
#include "harness/picture/sample_strain.h"
#include "methods/physics/matter/flow_table.h"

#define REAL double
#include "methods/physics/matter/law_material.h"
#include "methods/physics/space/sph_kernel.h"

static const struct {
    const char *name, *label; /* label NULL: no scale */
    bool from_zero;
} colours[PBD_COLOURS] = {[PBD_COLOUR_AUTO] = {"auto", NULL, false},
                          [PBD_COLOUR_STRAIN] = {"strain", "strain, ‖(F^TF - I)/2‖", true},
                          [PBD_COLOUR_MATTER] = {"matter", NULL, false},
                          [PBD_COLOUR_BODY] = {"body", NULL, false},
                          [PBD_COLOUR_SPEED] = {"speed", "speed, m/s", true},
                          [PBD_COLOUR_DENSITY] = {"density", "density, kg/m^3", false},
                          [PBD_COLOUR_PRESSURE] = {"pressure", "pressure, Pa", false},
                          [PBD_COLOUR_STRESS] = {"stress", "von Mises stress, Pa", true},
                          [PBD_COLOUR_DAMAGE] = {"damage", "damage, share of neighbours parted", true}};

int pbd_colour_named(const char *name) {
    for (int i = 0; i < PBD_COLOURS; i++)
        if (strcmp(name, colours[i].name) == 0) return i;
    return -1;
}

const char *pbd_colour_name(pbd_colour colour) { return colours[colour].name; }
bool pbd_colour_has_scale(pbd_colour colour) { return colours[colour].label != NULL; }
const char *pbd_colour_label(pbd_colour colour) { return colours[colour].label; }
bool pbd_colour_from_zero(pbd_colour colour) { return colours[colour].from_zero; }

unsigned pbd_colour_fields(pbd_colour colour) {
    switch (colour) {
        case PBD_COLOUR_SPEED:
            return 1u << PBD_VELOCITIES;
        case PBD_COLOUR_DENSITY:
        case PBD_COLOUR_STRESS:
            return 1u << PBD_DEFORMATION_GRADIENTS;
        case PBD_COLOUR_PRESSURE:
            return 1u << PBD_DEFORMATION_GRADIENTS | 1u << PBD_PRESSURES;
        default:
            return 0;
    }
}

uint32_t pbd_colour_of_material(const pbd_material *m) {
    static const uint32_t LIQUID = 0x4a90d0, CLOTH = 0xb56576, ELASTIC = 0xe58f65;
    const int rule = flow_number(m->flow);
    return m->matter == PBD_FLUID   ? LIQUID
           : m->matter == PBD_CLOTH ? CLOTH
           : rule >= 0              ? flow_table[rule].colour
                                    : ELASTIC;
}

/* ---- Which colours are available --------------------------------------------------------------------------------- */

static bool is_sampled(const pbd_scene *scene, const pbd_body *body) {
    return !body->node && scene->particles.spacing > 0;
}

static bool is_solid(const pbd_body *body) { return body->node && body->corners != 3; }

/* Whether F determines the stress: not if the moduli change as the matter flows. */
static bool has_law(const pbd_material *m) {
    const int rule = flow_number(m->flow);
    return m->matter == PBD_CONTINUUM && !(m->yield_strain > 0) && !(rule >= 0 && flow_table[rule].hardens);
}

static bool any_law(const pbd_scene *scene) {
    for (size_t m = 0; m < (scene->materials ? scene->materials : 1); m++)
        if (has_law(&scene->material[m])) return true;
    return false;
}

bool pbd_has_matter(const pbd_scene *scene) {
    for (size_t m = 0; m < (scene->materials ? scene->materials : 1); m++)
        if (scene->material[m].flow || scene->material[m].matter != PBD_CONTINUUM) return true;
    return false;
}

static bool can_tell(const pbd_scene *scene, const pbd_body *body, pbd_colour colour, const pbd_seen_state *s) {
    switch (colour) {
        case PBD_COLOUR_STRAIN:
            return body->node || is_sampled(scene, body);
        case PBD_COLOUR_SPEED:
            return s->velocity != NULL;
        case PBD_COLOUR_DENSITY:
            return is_solid(body) ? scene->material->density > 0 : is_sampled(scene, body);
        case PBD_COLOUR_PRESSURE:
            return s->pressure || ((is_solid(body) || s->gradient) && any_law(scene));
        case PBD_COLOUR_STRESS:
            return (is_solid(body) || s->gradient) && any_law(scene);
        case PBD_COLOUR_DAMAGE:
            return is_sampled(scene, body);
        default:
            return true;
    }
}

pbd_status pbd_colour_choose(const pbd_scene *scene, const pbd_body *body, pbd_colour wanted,
                             const pbd_seen_state *first, pbd_colour *out) {
    char names[200] = "";
    *out = wanted;
    if (wanted == PBD_COLOUR_AUTO)
        *out = pbd_has_matter(scene)                   ? PBD_COLOUR_MATTER
               : body->node || is_sampled(scene, body) ? PBD_COLOUR_STRAIN
                                                       : PBD_COLOUR_BODY;
    if (can_tell(scene, body, *out, first)) return pbd_ok();
    for (int c = 0, n = 0; c < PBD_COLOURS; c++)
        if (can_tell(scene, body, (pbd_colour)c, first))
            n += snprintf(names + n, sizeof names - (size_t)n, "%s%s", n ? ", " : "", colours[c].name);
    return pbd_error(PBD_NOT_SUPPORTED, "this method has no %s of this scene's particles; --colour may be: %s",
                     colours[wanted].name, names);
}

/* ---- Stress ------------------------------------------------------------------------------------------------------ */

typedef struct told {
    double mises, pressure; /* Pa */
} told;

/* sigma = P F'/J. */
static told stress_at(const pbd_material *m, const double *f) {
    const mat3 F = mat3_make(vec3_make(f[0], f[3], f[6]), vec3_make(f[1], f[4], f[7]), vec3_make(f[2], f[5], f[8]));
    if (!has_law(m)) return (told){NAN, NAN};
    fibre_set fibre;
    stressed s = stress(law_plain(m), F);
    if (fibres_make(m, 1, &fibre).code == PBD_OK) add_fibres(&s, F, &fibre);
    const mat3 t = mat3_mul_transposed(s.p, F);
    const double j = mat3_det(F), mean = mat3_trace(t) / 3;
    const double xx = t.x.x - mean, yy = t.y.y - mean, zz = t.z.z - mean;
    const double xy = 0.5 * (t.x.y + t.y.x), yz = 0.5 * (t.y.z + t.z.y), zx = 0.5 * (t.z.x + t.x.z);
    const double square = xx * xx + yy * yy + zz * zz + 2 * (xy * xy + yz * yz + zx * zx);
    return (told){sqrt(1.5 * square) / fabs(j), -mean / j};
}

static const pbd_material *element_material(const pbd_scene *scene, const pbd_body *body, size_t e) {
    return pbd_cell_material(scene, body->corners == 8 ? &scene->hexes : &scene->tets, e);
}

static double of_gradient(pbd_colour colour, const pbd_material *m, const double *f) {
    const told t = colour == PBD_COLOUR_DENSITY ? (told){0} : stress_at(m, f);
    if (colour != PBD_COLOUR_DENSITY) return colour == PBD_COLOUR_STRESS ? t.mises : t.pressure;
    return m->density / (f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) +
                         f[2] * (f[3] * f[7] - f[4] * f[6]));
}

static pbd_status values_of_elements(const pbd_scene *scene, const pbd_body *body, pbd_colour colour, const double *x,
                                     double *value) {
    pbd_arena a PBD_ARENA;
    double *of = pbd_new(&a, double, body->elements);
    PBD_TRY(pbd_arena_check(&a));
    for (size_t e = 0; e < body->elements; e++) {
        double F[3][3];
        pbd_gradient(body, e, scene->particles.positions, x, F);
        of[e] = of_gradient(colour, element_material(scene, body, e), F[0]);
    }
    return pbd_to_particles(body, of, value);
}

/* ---- Density ----------------------------------------------------------------------------------------------------- */

typedef struct density_sum {
    const double *mass;
    double support, *density;
} density_sum;

static void add_pair(void *to, size_t i, size_t j, double square) {
    density_sum *s = to;
    const double w = sph_kernel_at(SPH_WENDLAND_C2, square, s->support).w;
    s->density[i] += s->mass[j] * w;
    s->density[j] += s->mass[i] * w;
}

static pbd_status sum_density(const pbd_scene *scene, const double *x, double *value) {
    density_sum s = {scene->particles.masses, 2 * scene->particles.spacing, value};
    const double self = sph_kernel_at(SPH_WENDLAND_C2, 0, s.support).w;
    for (size_t i = 0; i < scene->particles.count; i++) value[i] = s.mass[i] * self;
    return near_pairs_visit(x, scene->particles.count, s.support, add_pair, &s);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static bool is_elastic(const pbd_material *m) { return has_law(m) && !m->flow; }

static void take_gradients(const pbd_scene *scene, pbd_colour colour, const double *gradient, double *value) {
    for (size_t i = 0; i < scene->particles.count; i++) {
        const pbd_material *m = pbd_material_of(scene, i);
        if (colour == PBD_COLOUR_DENSITY ? is_elastic(m) : m->matter == PBD_CONTINUUM)
            value[i] = of_gradient(colour, m, gradient + 9 * i);
    }
}

static pbd_status pressures(const pbd_scene *scene, const pbd_seen_state *state, double *value) {
    for (size_t i = 0; i < scene->particles.count; i++)
        value[i] = state->pressure && pbd_matter_of(scene, i) == PBD_FLUID ? state->pressure[i] : NAN;
    return pbd_ok();
}

static pbd_status values_of_particles(const pbd_scene *scene, pbd_colour colour, const pbd_seen_state *state,
                                      double *value) {
    for (size_t i = 0; i < scene->particles.count; i++) value[i] = NAN;
    if (colour == PBD_COLOUR_DENSITY) PBD_TRY(sum_density(scene, state->position, value));
    if (colour == PBD_COLOUR_PRESSURE) PBD_TRY(pressures(scene, state, value));
    if (state->gradient) take_gradients(scene, colour, state->gradient, value);
    return pbd_ok();
}

pbd_status pbd_colour_values(const pbd_scene *scene, const pbd_body *body, pbd_colour colour,
                             const pbd_seen_state *state, double *value) {
    if (colour == PBD_COLOUR_DAMAGE) return pbd_sample_damage(scene, state->position, value);
    if (colour == PBD_COLOUR_SPEED) {
        for (size_t i = 0; i < scene->particles.count; i++) {
            const double *v = state->velocity + 3 * i;
            value[i] = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        }
        return pbd_ok();
    }
    return is_solid(body) ? values_of_elements(scene, body, colour, state->position, value)
                          : values_of_particles(scene, colour, state, value);
}
