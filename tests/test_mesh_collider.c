/* Meshes as colliders in f64: mesh_collider_checks.h. */
#define REAL double
#include "tests/mesh_collider_checks.h"
