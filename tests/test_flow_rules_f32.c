/* Flow rules in f32: flow_rules_checks.h. */
#define REAL float
#include "tests/flow_rules_checks.h"

int main(void) {
    const struct CMUnitTest tests[] = {COMMON_FLOW_TESTS};
    return cmocka_run_group_tests_name("flow rules f32", tests, NULL, NULL);
}
