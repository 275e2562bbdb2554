/* Surveys in f32: particle_survey_checks.h. */
#define REAL float
#include "tests/particle_survey_checks.h"
