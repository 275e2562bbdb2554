/* Batches in f64: batch_checks.h. */
#define REAL double
#include "tests/batch_checks.h"
