/* Surveys in f64: particle_survey_checks.h. */
#define REAL double
#include "tests/particle_survey_checks.h"
