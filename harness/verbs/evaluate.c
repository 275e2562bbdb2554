#include "harness/verbs/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/catalog/values.h"
#include "harness/exec/arena.h"
#include "harness/files/csv_rows.h"
#include "harness/files/nearest.h"
#include "harness/files/texts.h"

enum { MOST_PARAMETERS = 32 };

static pbd_status take_setting(const pbd_param *params, const char *word, const char *where, double *value,
                               bool *given) {
    const char *names[MOST_PARAMETERS];
    char kind[80];
    size_t count = 0, key = 0;
    for (; params[count].name; count++) names[count] = params[count].name;
    pbd_setting setting PBD_CLEANUP(pbd_setting_free) = {0};
    PBD_TRY(pbd_setting_parse(word, &setting));
    while (key < count && strcmp(setting.key, names[key]) != 0) key++;
    pbd_value parsed;
    snprintf(kind, sizeof kind, "parameter of %s", where);
    if (key == count) return pbd_unknown(kind, setting.key, names, count, "pbdbench eval --help");
    PBD_TRY(pbd_parse_value(&params[key], setting.value, where, &parsed));
    value[key] = parsed.number;
    given[key] = true;
    return pbd_ok();
}

pbd_status pbd_eval_settings(const pbd_param *params, const pbd_texts *sets, const char *where, double *value,
                             bool *given) {
    for (size_t k = 0; params[k].name; k++) {
        pbd_value preset = {0};
        if (*params[k].preset) PBD_TRY(pbd_parse_value(&params[k], params[k].preset, where, &preset));
        value[k] = preset.number;
        given[k] = false;
    }
    for (size_t i = 0; i < sets->count; i++) PBD_TRY(take_setting(params, sets->item[i], where, value, given));
    return pbd_ok();
}

void pbd_eval_print_row(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            printf("%snan", i ? "," : "");
        else
            printf("%s%.17g", i ? "," : "", values[i]);
    }
    putchar('\n');
}

pbd_status pbd_eval_rows(size_t columns, void (*print)(const void *with, const double *row), const void *with) {
    pbd_rows *rows = NULL;
    PBD_TRY(pbd_rows_open(stdin, "standard input", &rows));
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* each result can be read before the next row is written */
    pbd_status status = pbd_ok();
    bool more = true;
    while (more && status.code == PBD_OK && !ferror(stdout)) {
        double row[9];
        status = pbd_rows_next(rows, columns, row, &more);
        if (more && status.code == PBD_OK) print(with, row);
    }
    pbd_rows_close(rows);
    return status;
}
