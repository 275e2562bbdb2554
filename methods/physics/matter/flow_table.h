/* The flow rules by name, their parameters, and reading them into a scene's material. */
#ifndef PBD_FLOW_TABLE_H
#define PBD_FLOW_TABLE_H

#include "methods/method.h"

/* Meaning: flow/stretches.h. */
typedef enum flow_role { FLOW_SET, FLOW_ASKED, FLOW_START, FLOW_STATE, FLOW_STEP } flow_role;

typedef struct flow_parameter {
    flow_role role;
    pbd_param param;
} flow_parameter;

/* How pictures show such matter: as spheres, or as a surface that is matt, wet, or has the dull gloss of metal. */
typedef enum flow_look { FLOW_GRAINS, FLOW_MATT, FLOW_GLOSSY, FLOW_METAL } flow_look;

typedef struct flow_entry {
    const char *name;
    const flow_parameter *parameter; /* ends with a NULL name; in the order of a material's flow_value */
    uint32_t colour;                 /* in pictures, 0xRRGGBB */
    flow_look look;
    bool hardens; /* scales the moduli by flow_hardening of flow.h */
} flow_entry;

extern const flow_entry flow_table[]; /* in the order of flow.def, ends with a NULL name */

/* For `shared` of a case whose material flows: `flow` and the parameters of all rules, each once. The description of a
 * parameter begins with the rules that read it, as its condition. flow_read reads the values. The first call is not
 * thread-safe. */
const pbd_param *flow_params(void);
void flow_read(const pbd_values *values, pbd_material *material);

/* Sets the material's rule and the presets of its parameters. PBD_BAD_INPUT for a name that is not in the list. */
pbd_status flow_preset(pbd_material *material, const char *rule);
/* Index in flow_value; -1: the rule has no such parameter. */
int flow_place(const char *rule, const char *parameter);

/* FLOW_name of flow.h, or -1 for NULL and unknown names. */
int flow_number(const char *rule);
bool flow_has_state(int rule);
/* The state of a particle at the start; 0 without a flow rule. */
double flow_first_state(const pbd_material *material);

#endif
