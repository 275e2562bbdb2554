/* median, polyfit, polyval and digits for SQLite. */
#include "harness/query/sql_functions.h"

#include <jansson.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/exec/arena.h"

enum { HIGHEST_DEGREE = 12 }; /* beyond this a power basis is too ill-conditioned for doubles */

/* The points of one aggregate call. SQLite keeps this block and passes it to each step. */
typedef struct points {
    double *x, *y;
    size_t count, capacity;
    int degree;
} points;

static bool add_point(points *p, double x, double y) {
    if (p->count == p->capacity) {
        size_t wanted = p->capacity ? 2 * p->capacity : 64;
        double *more_x = realloc(p->x, wanted * sizeof *more_x);
        if (more_x) p->x = more_x;
        double *more_y = realloc(p->y, wanted * sizeof *more_y);
        if (more_y) p->y = more_y;
        if (!more_x || !more_y) return false;
        p->capacity = wanted;
    }
    p->x[p->count] = x;
    p->y[p->count++] = y;
    return true;
}

static void free_points(points *p) {
    free(p->x);
    free(p->y);
    *p = (points){0};
}

/* NULL is ignored. Text that is not a number is an error, since it would silently count as 0. */
static bool take_number(sqlite3_context *context, sqlite3_value *value, double *out) {
    switch (sqlite3_value_numeric_type(value)) {
        case SQLITE_INTEGER:
        case SQLITE_FLOAT:
            *out = sqlite3_value_double(value);
            return true;
        case SQLITE_NULL:
            return false;
        default:
            sqlite3_result_error(context, "median and polyfit take numbers; a value is text", -1);
            return false;
    }
}

/* ---- median ------------------------------------------------------------------------------------------------------ */

static void median_step(sqlite3_context *context, int count, sqlite3_value **argument) {
    points *p = sqlite3_aggregate_context(context, sizeof *p);
    (void)count;
    double x;
    if (!take_number(context, argument[0], &x)) return;
    if (!p || !add_point(p, x, 0)) sqlite3_result_error_nomem(context);
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void median_final(sqlite3_context *context) {
    points *p = sqlite3_aggregate_context(context, 0);
    if (!p || p->count == 0) {
        sqlite3_result_null(context);
        return;
    }
    qsort(p->x, p->count, sizeof *p->x, ascending);
    size_t half = p->count / 2;
    sqlite3_result_double(context, p->count % 2 ? p->x[half] : 0.5 * (p->x[half - 1] + p->x[half]));
    free_points(p);
}

/* ---- polyfit ----------------------------------------------------------------------------------------------------- */

static void polyfit_step(sqlite3_context *context, int count, sqlite3_value **argument) {
    points *p = sqlite3_aggregate_context(context, sizeof *p);
    (void)count;
    if (!p) {
        sqlite3_result_error_nomem(context);
        return;
    }
    /* NULL and 1.5 would be taken for 0 and 1. They become -1, which polyfit_final refuses. */
    p->degree = sqlite3_value_type(argument[2]) == SQLITE_INTEGER ? sqlite3_value_int(argument[2]) : -1;
    double x, y;
    if (!take_number(context, argument[0], &x) || !take_number(context, argument[1], &y)) return;
    if (!add_point(p, x, y)) sqlite3_result_error_nomem(context);
}

static bool all_finite(const points *p) {
    for (size_t i = 0; i < p->count; i++)
        if (!isfinite(p->x[i]) || !isfinite(p->y[i])) return false;
    return true;
}

/* The power of two next above the largest |x|. Scaled by it, the columns of V are of size one for any unit of x, so
 * that a lack of rank can be detected; and division by it is exact. */
static double scale_of(const points *p) {
    double largest = 0;
    int exponent;
    for (size_t i = 0; i < p->count; i++) largest = fmax(largest, fabs(p->x[i]));
    frexp(largest, &exponent);
    return largest > 0 ? ldexp(1, exponent) : 1;
}

/* Whether column k of R, from V = Q R, is almost 0 on the diagonal, so that it depends on the columns before it. dgels
 * detects only an exact 0 there, which rounding prevents. */
static bool is_dependent(const double *r, lapack_int columns, lapack_int k) {
    double sum = 0;
    for (lapack_int i = 0; i <= k; i++) sum += r[i * columns + k] * r[i * columns + k];
    return fabs(r[k * columns + k]) <= 1e-13 * sqrt(sum);
}

/* Solves min |V c - y| by QR, V the Vandermonde matrix, highest power first. False without memory, or if the points
 * are too few or too close to determine the coefficients. c: degree + 1 numbers. */
static bool least_squares(const points *p, double *c) {
    lapack_int rows = (lapack_int)p->count, columns = p->degree + 1;
    if (rows < columns) return false;
    const double scale = scale_of(p);
    pbd_arena a PBD_ARENA;
    double *v = pbd_new(&a, double, (size_t)rows *(size_t)columns), *y = pbd_new(&a, double, (size_t)rows);
    if (!v || !y) return false;
    for (lapack_int i = 0; i < rows; i++) {
        double power = 1;
        for (lapack_int k = columns; k-- > 0; power *= p->x[i] / scale) v[i * columns + k] = power;
        y[i] = p->y[i];
    }
    bool solved = LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', rows, columns, 1, v, columns, y, 1) == 0;
    for (lapack_int k = 0; k < columns && solved; k++) {
        c[k] = y[k] / pow(scale, p->degree - k);
        solved = isfinite(c[k]) && !is_dependent(v, columns, k);
    }
    return solved;
}

static void polyfit_final(sqlite3_context *context) {
    points *p = sqlite3_aggregate_context(context, 0);
    if (!p || p->count == 0) {
        sqlite3_result_null(context);
        return;
    }
    double c[HIGHEST_DEGREE + 1];
    if (p->degree < 0 || p->degree > HIGHEST_DEGREE) {
        sqlite3_result_error(context, "polyfit: the degree must lie in 0 to 12", -1);
    } else if (!all_finite(p)) {
        sqlite3_result_error(context, "polyfit: a point is infinite; exclude such rows with WHERE", -1);
    } else if (!least_squares(p, c)) {
        sqlite3_result_error(context, "polyfit: too few different x for this degree", -1);
    } else {
        json_t *array = json_array();
        for (int k = 0; k <= p->degree; k++) json_array_append_new(array, json_real(c[k]));
        char *text = json_dumps(array, JSON_COMPACT | JSON_REAL_PRECISION(17));
        json_decref(array);
        if (text)
            sqlite3_result_text(context, text, -1, free);
        else
            sqlite3_result_error_nomem(context);
    }
    free_points(p);
}

/* ---- polyval ----------------------------------------------------------------------------------------------------- */

static void polyval(sqlite3_context *context, int count, sqlite3_value **argument) {
    (void)count;
    const char *text = (const char *)sqlite3_value_text(argument[0]);
    if (!text || sqlite3_value_type(argument[1]) == SQLITE_NULL) {
        sqlite3_result_null(context);
        return;
    }
    json_t *array = json_loads(text, 0, NULL);
    double x = sqlite3_value_double(argument[1]), sum = 0;
    bool good = json_is_array(array);
    for (size_t k = 0; good && k < json_array_size(array); k++) {
        const json_t *c = json_array_get(array, k);
        good = json_is_number(c);
        sum = sum * x + json_number_value(c);
    }
    if (good)
        sqlite3_result_double(context, sum);
    else
        sqlite3_result_error(context, "polyval: the first argument is not a JSON array of numbers", -1);
    json_decref(array);
}

/* ---- digits ------------------------------------------------------------------------------------------------------ */

/* %.2g writes an exponent from 100 on, so the rounded number is printed once more with all digits of a double. */
static void digits(sqlite3_context *context, int count, sqlite3_value **argument) {
    (void)count;
    const int kept = sqlite3_value_int(argument[1]);
    char text[40];
    if (sqlite3_value_type(argument[0]) == SQLITE_NULL) return; /* a result that is not set is NULL */
    if (kept < 1 || kept > 15) {
        sqlite3_result_error(context, "digits: the second argument must lie in 1 to 15", -1);
        return;
    }
    snprintf(text, sizeof text, "%.*g", kept, sqlite3_value_double(argument[0]));
    snprintf(text, sizeof text, "%.15g", strtod(text, NULL));
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

pbd_status pbd_sql_functions(sqlite3 *sql) {
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    if (sqlite3_create_function(sql, "median", 1, flags, NULL, NULL, median_step, median_final) != SQLITE_OK ||
        sqlite3_create_function(sql, "polyfit", 3, flags, NULL, NULL, polyfit_step, polyfit_final) != SQLITE_OK ||
        sqlite3_create_function(sql, "polyval", 2, flags, NULL, polyval, NULL, NULL) != SQLITE_OK ||
        sqlite3_create_function(sql, "digits", 2, flags, NULL, digits, NULL, NULL) != SQLITE_OK)
        return pbd_error(PBD_FAILED, "cannot register SQL functions: %s", sqlite3_errmsg(sql));
    return pbd_ok();
}
