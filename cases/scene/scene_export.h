/* A built scene of any case as a scene file with its points and meshes. */
#ifndef PBD_SCENE_EXPORT_H
#define PBD_SCENE_EXPORT_H

#include "cases/case.h"

/* PBD_BAD_INPUT if the scene has something that a scene file cannot express; the message names it. */
pbd_status scene_export_check(const pbd_setup *setup);

/* Writes FOLDER/scene.yaml, a body0.ply ... for each body and a collider0.ply ... for each collider that is a mesh; the
 * folder must exist, and the scene must have passed the check. `about`: comment lines for the head of scene.yaml.
 * Numbers keep all their digits, except vertices of colliders, which are read back in 32 bits (triangle_file.h). */
pbd_status scene_export(const pbd_setup *setup, const char *folder, const char *about);

#endif
