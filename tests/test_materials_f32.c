/* Elastic laws in f32: materials_checks.h. */
#define REAL float
#include "tests/materials_checks.h"

int main(void) {
    (void)join_name;
    const struct CMUnitTest tests[] = {COMMON_MATERIAL_TESTS};
    return cmocka_run_group_tests_name("materials f32", tests, NULL, NULL);
}
