/* The linear BVH in f32: mesh_tree_checks.h. */
#define REAL float
#include "tests/mesh_tree_checks.h"
