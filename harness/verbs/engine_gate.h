/* The admission gate of engines: four small problems with known answers, which reveal a wrong mapping of E and nu, of
 * masses or of loads before anything is compared. */
#ifndef PBD_ENGINE_GATE_H
#define PBD_ENGINE_GATE_H

#include "harness/catalog/values.h"
#include "harness/verbs/plugin_check.h"

/* Runs free fall; E and nu of one tetrahedron; the mean deflection and the first frequency of a cantilever against
 * fem_implicit on the same mesh with the same masses; and still water, for engines that take liquids. `settings` are
 * those of the engine other than dt. Sets *failed to the number of failures. */
pbd_status pbd_engine_gate(const pbd_method_entry *entry, const pbd_settings *settings, pbd_check_observer observer,
                           void *context, size_t *failed);

#endif
