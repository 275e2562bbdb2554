/* Contact in f64: contact_checks.h. */
#define REAL double
#include "tests/contact_checks.h"
