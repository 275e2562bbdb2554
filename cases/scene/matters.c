#include "cases/scene/matters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "methods/physics/matter/flow_table.h"
#include "methods/physics/matter/law_table.h"

static const char *const kinds[] = {[PBD_CONTINUUM] = "solid", [PBD_FLUID] = "liquid", [PBD_CLOTH] = "cloth", NULL};

typedef struct matter_keys {
    double law, young, poisson, density, yield_strain, creep, viscosity, thickness, bending;
    const yaml_node_t *kind, *flow, *fibres;
    double flow_value[PBD_MOST_FLOW_VALUES];
} matter_keys;

#define AT(member) offsetof(matter_keys, member)
#define ELASTIC                                                                                                \
    {"kind", KEY_NODE, AT(kind), 0, 0, 0, NULL, NULL}, {"law", KEY_CHOICE, AT(law), 0, 0, 0, NULL, law_names}, \
        {"young", KEY_REAL, AT(young), 0, INFINITY, PBD_OPEN_MIN, "Pa", NULL},                                 \
        {"poisson", KEY_REAL, AT(poisson), -1, 0.5, PBD_OPEN_MIN | PBD_OPEN_MAX, "", NULL}, {                  \
        "density", KEY_REAL, AT(density), 0, 1e9, PBD_OPEN_MIN, "kg/m^3", NULL                                 \
    }
static const scene_key solid_keys[] = {ELASTIC,
                                       {"flow", KEY_NODE, AT(flow), 0, 0, 0, NULL, NULL},
                                       {"fibres", KEY_NODE, AT(fibres), 0, 0, 0, NULL, NULL},
                                       {"yield_strain", KEY_REAL, AT(yield_strain), 0, 1e6, 0, "", NULL},
                                       {"creep", KEY_REAL, AT(creep), 0, 1e15, 0, "1/s", NULL},
                                       {"thickness", KEY_REAL, AT(thickness), 0, 1e3, PBD_OPEN_MIN, "m", NULL},
                                       {0}};
static const scene_key cloth_keys[] = {ELASTIC,
                                       {"thickness", KEY_REAL, AT(thickness), 0, 1e3, PBD_OPEN_MIN, "m", NULL},
                                       {"bending", KEY_REAL, AT(bending), 0, 1e15, 0, "N m", NULL},
                                       {0}};
static const scene_key liquid_keys[] = {{"kind", KEY_NODE, AT(kind), 0, 0, 0, NULL, NULL},
                                        {"density", KEY_REAL, AT(density), 0, 1e9, PBD_OPEN_MIN, "kg/m^3", NULL},
                                        {"viscosity", KEY_REAL, AT(viscosity), 0, 1, 0, "", NULL},
                                        {0}};

/* ---- Flow rules -------------------------------------------------------------------------------------------------- */

/* The keys of solids, and after them those of the rule. */
enum { MOST_SOLID_KEYS = 16 + PBD_MOST_FLOW_VALUES };

static bool is_set(const flow_parameter *p) { return p->role != FLOW_STATE && p->role != FLOW_STEP; }

static void add_flow_keys(const flow_entry *rule, scene_key *table) {
    size_t count = 0;
    while (solid_keys[count].name) table[count] = solid_keys[count], count++;
    for (size_t k = 0; rule && rule->parameter[k].param.name; k++) {
        const pbd_param *p = &rule->parameter[k].param;
        const key_kind kind = p->kind == PBD_CHOICE ? KEY_CHOICE : p->kind == PBD_INTEGER ? KEY_COUNT : KEY_REAL;
        if (!is_set(&rule->parameter[k])) continue;
        table[count++] = (scene_key){p->name, kind,      AT(flow_value) + k * sizeof(double), p->min, p->max, p->open,
                                     p->unit, p->choices};
    }
    table[count] = (scene_key){0};
}

static pbd_status find_rule(pbd_yaml *tree, const yaml_node_t *node, const flow_entry **out) {
    const char *names[64] = {"none"};
    size_t count = 1, which;
    for (; flow_table[count - 1].name; count++) names[count] = flow_table[count - 1].name;
    *out = NULL;
    if (!node) return pbd_ok();
    PBD_TRY(keys_choose(tree, node, "flow", names, &which));
    if (which > 0) *out = &flow_table[which - 1];
    return pbd_ok();
}

/* Parameters that depend on the scale have no default. */
static pbd_status check_asked(pbd_yaml *tree, const yaml_node_t *node, const flow_entry *rule) {
    for (size_t k = 0; rule->parameter[k].param.name; k++) {
        const pbd_param *p = &rule->parameter[k].param;
        if (rule->parameter[k].role == FLOW_ASKED && !keys_find(tree, node, p->name))
            return pbd_yaml_error(tree, node, "flow: %s needs %s, %s%s%s", rule->name, p->name, p->doc,
                                  *p->unit ? "; in " : "", p->unit);
    }
    return pbd_ok();
}

/* ---- Fibres ------------------------------------------------------------------------------------------------------ */

typedef struct fibre {
    double direction[3], stiffness;
} fibre;

static const scene_key fibre_table[] = {
    {"direction", KEY_VECTOR, offsetof(fibre, direction), -INFINITY, INFINITY, 0, "", NULL},
    {"stiffness", KEY_REAL, offsetof(fibre, stiffness), 0, 1e15, PBD_OPEN_MIN, "Pa", NULL},
    {0}};

static pbd_status read_fibres(pbd_yaml *tree, const yaml_node_t *list, pbd_material *m) {
    size_t count;
    PBD_TRY(keys_list(tree, list, "fibres", PBD_MOST_FIBRES, &count));
    for (size_t k = 0; k < count; k++) {
        const yaml_node_t *node = keys_item(tree, list, k);
        fibre f = {0};
        PBD_TRY(keys_read(tree, node, "a fibre", fibre_table, &f));
        if (!(f.stiffness > 0) || !(fabs(f.direction[0]) + fabs(f.direction[1]) + fabs(f.direction[2]) > 0))
            return pbd_yaml_error(tree, node, "a fibre needs a direction that is not 0 and a stiffness");
        memcpy(m->fibre[k], f.direction, sizeof f.direction);
        m->fibre_stiffness[k] = f.stiffness;
    }
    return pbd_ok();
}

/* ---- A matter ---------------------------------------------------------------------------------------------------- */

static size_t law_index(const char *name) {
    size_t k = 0;
    while (law_names[k] && strcmp(law_names[k], name) != 0) k++;
    return k;
}

static pbd_status read_solid(pbd_yaml *tree, const yaml_node_t *node, const char *what, matter_keys *keys,
                             pbd_material *out) {
    const flow_entry *rule;
    scene_key table[MOST_SOLID_KEYS];
    PBD_TRY(find_rule(tree, keys_find(tree, node, "flow"), &rule));
    add_flow_keys(rule, table);
    if (rule) PBD_TRY(flow_preset(out, rule->name));
    memcpy(keys->flow_value, out->flow_value, sizeof keys->flow_value);
    keys->law = (double)law_index("hencky"); /* all methods of solids support it */
    PBD_TRY(keys_read(tree, node, what, table, keys));
    if (rule) PBD_TRY(check_asked(tree, node, rule));
    memcpy(out->flow_value, keys->flow_value, sizeof keys->flow_value);
    out->yield_strain = keys->yield_strain;
    out->creep = keys->creep;
    out->thickness = keys->thickness;
    return read_fibres(tree, keys->fibres, out);
}

static pbd_status read_cloth(pbd_yaml *tree, const yaml_node_t *node, const char *what, matter_keys *keys,
                             pbd_material *out) {
    keys->law = (double)law_index("stvk");
    keys->bending = -1;
    PBD_TRY(keys_read(tree, node, what, cloth_keys, keys));
    if (!(keys->thickness > 0)) return pbd_yaml_error(tree, node, "%s is cloth and needs thickness, in m", what);
    out->thickness = keys->thickness;
    out->bending = keys->bending >= 0 ? keys->bending /* else that of a plate */
                                      : keys->young * pow(keys->thickness, 3) / (12 * (1 - pow(keys->poisson, 2)));
    return pbd_ok();
}

static pbd_status read_matter(pbd_yaml *tree, const yaml_node_t *node, const char *what, pbd_material *out) {
    matter_keys keys = {.poisson = 0.3, .density = 1000, .viscosity = 0.01};
    size_t kind = PBD_CONTINUUM;
    if (keys_find(tree, node, "kind")) PBD_TRY(keys_choose(tree, keys_find(tree, node, "kind"), "kind", kinds, &kind));
    *out = (pbd_material){.matter = (pbd_matter)kind, .convention = PBD_D_STANDARD};
    if (kind == PBD_FLUID) {
        PBD_TRY(keys_read(tree, node, what, liquid_keys, &keys));
        out->density = keys.density;
        out->viscosity = keys.viscosity;
        return pbd_ok();
    }
    PBD_TRY(kind == PBD_CLOTH ? read_cloth(tree, node, what, &keys, out) : read_solid(tree, node, what, &keys, out));
    if (!(keys.young > 0)) return pbd_yaml_error(tree, node, "%s needs young, its Young's modulus in Pa", what);
    out->E = keys.young;
    out->nu = keys.poisson;
    out->density = keys.density;
    out->law = law_names[(size_t)keys.law];
    return pbd_ok();
}

pbd_status matters_read(pbd_yaml *tree, const yaml_node_t *node, scene_matters *out) {
    *out = (scene_matters){0};
    if (node->type != YAML_MAPPING_NODE)
        return pbd_yaml_error(tree, node, "matters: expected a name with `key: value` lines for each matter");
    for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = pbd_yaml_node(tree, pair->key);
        char what[80];
        if (!keys_text(key)) return pbd_yaml_error(tree, key, "expected the name of a matter");
        if (out->count == PBD_MOST_MATERIALS)
            return pbd_yaml_error(tree, key, "more than %d matters", PBD_MOST_MATERIALS);
        for (size_t k = 0; k < out->count; k++)
            if (strcmp(out->name[k], keys_text(key)) == 0)
                return pbd_yaml_error(tree, key, "the matter '%.40s' is given twice", keys_text(key));
        snprintf(what, sizeof what, "matter %.40s", keys_text(key));
        PBD_TRY(read_matter(tree, pbd_yaml_node(tree, pair->value), what, &out->material[out->count]));
        out->name[out->count++] = keys_text(key);
    }
    return out->count > 0 ? pbd_ok() : pbd_yaml_error(tree, node, "matters: expected at least one");
}

void matters_schema_write(FILE *out) {
    size_t solid = 0;
    keys_write(solid_keys, "matters.SOLID.", out);
    keys_write(fibre_table, "matters.SOLID.fibres.", out);
    while (solid_keys[solid].name) solid++;
    for (const flow_entry *rule = flow_table; rule->name; rule++) {
        scene_key all[MOST_SOLID_KEYS];
        char above[80];
        add_flow_keys(rule, all);
        snprintf(above, sizeof above, "matters.%.40s.", rule->name);
        keys_write(all + solid, above, out);
    }
    keys_write(cloth_keys, "matters.CLOTH.", out);
    keys_write(liquid_keys, "matters.LIQUID.", out);
}
