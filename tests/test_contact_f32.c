/* Contact in f32: contact_checks.h. */
#define REAL float
#include "tests/contact_checks.h"
