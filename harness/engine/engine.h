/* An engine as a method: a pbd_method whose functions send requests to another program, written in any language.
 *
 *   engine.yaml -> start -> hello -> parameters, masks, version -> pbd_method -> create, step, read ... by messages
 *
 * The protocol is in examples/engines/README.md. The registry treats the method like those of plug-ins
 * (harness/catalog/plugin.h). Each state has a process of its own. */
#ifndef PBD_ENGINE_H
#define PBD_ENGINE_H

#include "methods/method.h"

typedef struct pbd_engine pbd_engine;

/* Reads the file, starts the engine and requests its hello. PBD_BAD_INPUT: the file or the hello is invalid, or the
 * engine crashed or did not answer; PBD_NOT_SUPPORTED: it is not installed. The caller checks its method like those of
 * plug-ins. Free with pbd_engine_close. */
pbd_status pbd_engine_open(const char *path, pbd_engine **out);
void pbd_engine_close(pbd_engine *engine); /* NULL-safe; also frees its method */

const pbd_method *pbd_engine_method(const pbd_engine *engine);
const char *pbd_engine_label(const pbd_engine *engine); /* "mujoco 4.0.0 on cpu", stored with each run */
const char *pbd_engine_hash(
    const pbd_engine *engine); /* of its file, its hello and the files of its command: 32 hex digits */

/* Whether its hello has an empty list of laws: the engine does not map E and nu. */
bool pbd_engine_has_no_law(const pbd_engine *engine);

/* Texts for lists, owned by the engine. */
typedef struct pbd_engine_about {
    const char *engine, *version, *device, *precision, *masses, *integrator, *licence, *what, *source;
} pbd_engine_about;
pbd_engine_about pbd_engine_says(const pbd_engine *engine);

#endif
