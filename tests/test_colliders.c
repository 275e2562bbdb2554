/* Colliders in f64: collider_checks.h. */
#define REAL double
#include "tests/collider_checks.h"
