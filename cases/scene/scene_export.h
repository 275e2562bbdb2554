/* A built scene of any case as a scene file with its points and meshes. */
#ifndef PBD_SCENE_EXPORT_H
#define PBD_SCENE_EXPORT_H

#include "cases/case.h"

/* PBD_BAD_INPUT where the scene holds what a scene file cannot say, with what that is. */
pbd_status scene_export_check(const pbd_setup *setup);

/* Writes FOLDER/scene.yaml, a body0.ply ... for each body and a collider0.ply ... for each collider that is a mesh; the
 * folder must exist, and the scene be checked. `about`: lines of comments for the head of scene.yaml. Numbers keep all
 * their digits, but for the vertices of colliders, which are read again in 32 bits (triangle_file.h). */
pbd_status scene_export(const pbd_setup *setup, const char *folder, const char *about);

#endif
