/* Reads what the program prints with --json. Include after tests/program.h. */
#ifndef PBD_TESTS_RUN_JSON_H
#define PBD_TESTS_RUN_JSON_H

#include <jansson.h>

static json_t *parse(const char *text) {
    json_error_t error;
    json_t *all = json_loads(text, 0, &error);
    if (!all) fail_msg("no JSON: %s\n%s", error.text, text);
    return all;
}

/* The value of a metric in an object of `run --json`. */
static double metric(const json_t *run, const char *name) {
    const json_t *value = json_object_get(json_object_get(json_object_get(run, "metrics"), name), "value");
    if (!json_is_number(value)) fail_msg("no metric %s", name);
    return json_number_value(value);
}

#endif
