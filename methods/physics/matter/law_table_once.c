#include "methods/physics/matter/law_table.h"

#include <string.h>

#include "methods/params.h"

const char *const law_names[] = {
#define LAW(name, form, domain) #name,
#include "methods/physics/matter/laws.def"
#undef LAW
    NULL};

const char *const join_names[] = {PBD_STRINGS(LAW_JOINS) NULL};

pbd_status law_find(const char *name, int *out) {
    if (!name) name = "corotated";
    for (*out = 0; law_names[*out]; ++*out)
        if (strcmp(law_names[*out], name) == 0) return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "no elastic law is named '%.60s'", name);
}
