/* Strains by series in f64: log_strain_checks.h. */
#define REAL double
#include "tests/log_strain_checks.h"
