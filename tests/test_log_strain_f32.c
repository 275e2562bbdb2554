/* Strains by series in f32: log_strain_checks.h. */
#define REAL float
#include "tests/log_strain_checks.h"
