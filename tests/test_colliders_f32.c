/* Colliders in f32: collider_checks.h. */
#define REAL float
#include "tests/collider_checks.h"
