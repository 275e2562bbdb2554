/* Meshes as colliders in f32: mesh_collider_checks.h. */
#define REAL float
#include "tests/mesh_collider_checks.h"
