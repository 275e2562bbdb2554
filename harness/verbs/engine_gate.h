/* The admission gate of engines: four small problems with known answers, on which a wrong mapping of E and nu, of
 * masses or of loads shows before anything is compared. */
#ifndef PBD_ENGINE_GATE_H
#define PBD_ENGINE_GATE_H

#include "harness/catalog/values.h"
#include "harness/verbs/plugin_check.h"

/* Free fall; E and nu of one tetrahedron; the mean deflection and the first frequency of a cantilever against
 * fem_implicit on the same mesh with the same masses. `settings` are the engine's, beside dt. *failed counts. */
pbd_status pbd_engine_gate(const pbd_method_entry *entry, const pbd_settings *settings, pbd_check_observer observer,
                           void *context, size_t *failed);

#endif
