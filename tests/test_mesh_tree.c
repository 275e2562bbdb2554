/* The linear BVH in f64: mesh_tree_checks.h. */
#define REAL double
#include "tests/mesh_tree_checks.h"
