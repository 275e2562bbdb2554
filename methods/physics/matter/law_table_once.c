#include "methods/physics/matter/law_table.h"

#include <string.h>

const char *const law_names[] = {
#define LAW(name, form, domain) #name,
#include "methods/physics/matter/laws.def"
#undef LAW
    NULL};

const char *const join_names[] = {"none", "printed", "continuous", "shifted", "clamp", NULL};

pbd_status law_find(const char *name, int *out) {
    *out = 0;
    while (name && law_names[*out] && strcmp(law_names[*out], name) != 0) ++*out;
    return law_names[*out] ? pbd_ok() : pbd_error(PBD_BAD_INPUT, "no elastic law is named '%.60s'", name);
}
