/* Batches in f32: batch_checks.h. */
#define REAL float
#include "tests/batch_checks.h"
