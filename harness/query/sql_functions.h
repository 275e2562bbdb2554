/* SQL functions for figure files, in addition to SQLite's own:
 *
 *   median(x)               median of the values that are not NULL
 *   polyfit(x, y, degree)   least squares over all rows: JSON array of the coefficients, highest power first
 *   polyval(json, x)        the polynomial of such an array at x
 *   digits(x, n)            text: x to n significant digits, 330 where printf('%.2g') has 3.3e+02
 */
#ifndef PBD_SQL_FUNCTIONS_H
#define PBD_SQL_FUNCTIONS_H

#include <sqlite3.h>

#include "methods/method.h"

/* Registers the functions with a connection; calling it again changes nothing. */
pbd_status pbd_sql_functions(sqlite3 *sql);

#endif
