/* Revisions built in separate work trees: found by git, built once, completed after an interruption, without changing
 * the checkout. The checkout here is a small one whose program is a script. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "harness/compare/revisions.h"
#include "harness/process/child.h"
#include "program.h"
#include "store_sample.h"

/* ---- A checkout -------------------------------------------------------------------------------------------------- */

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(in_workplace(name), "w");
    if (!file) fail_msg("%s: %s", name, strerror(errno));
    fputs(text, file);
    fclose(file);
}

static pbd_child git_says(const char *const *words) {
    const char *all[32] = {"git", "-C", in_workplace("checkout"), "-c", "user.name=t", "-c", "user.email=t@t"};
    pbd_child git;
    for (size_t i = 0; words[i]; i++) all[7 + i] = words[i];
    assert_fine(pbd_child_run(all, NULL, -1, &git));
    if (git.code != 0) fail_msg("git %s: %s", words[0], git.err);
    return git;
}

#define GIT(...)                                                             \
    do {                                                                     \
        pbd_child git_ = git_says((const char *const[]){__VA_ARGS__, NULL}); \
        pbd_child_free(&git_);                                               \
    } while (0)

static const char presets[] =
    "{\"version\": 6, \"configurePresets\": [{\"name\": \"release\", \"generator\": \"Ninja\", \"binaryDir\": "
    "\"${sourceDir}/build/release\"}]}\n";
static const char cmake_lists[] =
    "cmake_minimum_required(VERSION 3.25)\nproject(tiny LANGUAGES NONE)\n"
    "add_custom_target(pbdbench COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_SOURCE_DIR}/program pbdbench)\n";

/* The program of tag `one` prints 1, that of `two` 2; `broken` does not build. */
static int make_checkout(void **state) {
    (void)state;
    if (mkdir(in_workplace("checkout"), 0777) != 0) return -1;
    GIT("init", "-q");
    write_file("checkout/.gitignore", "/build/\n");
    write_file("checkout/CMakePresets.json", presets);
    write_file("checkout/CMakeLists.txt", cmake_lists);
    write_file("checkout/program", "#!/bin/sh\necho 1\n");
    chmod(in_workplace("checkout/program"), 0755);
    GIT("add", ".");
    GIT("commit", "-q", "-m", "one");
    GIT("tag", "one");
    write_file("checkout/program", "#!/bin/sh\necho 2\n");
    GIT("commit", "-q", "-a", "-m", "two");
    GIT("tag", "two");
    write_file("checkout/CMakeLists.txt", "this is no CMake (\n");
    GIT("commit", "-q", "-a", "-m", "broken");
    GIT("tag", "broken");
    write_file("checkout/program", "changed, and not committed\n");
    return 0;
}

static pbd_revision find(const char *name) {
    pbd_revision revision;
    assert_fine(pbd_revision_find(in_workplace("checkout"), name, &revision));
    return revision;
}

static void expect_program(const pbd_revision *r, const char *says) {
    const char *const words[] = {r->program, NULL};
    pbd_child child;
    assert_fine(pbd_child_run(words, NULL, -1, &child));
    assert_int_equal(child.code, 0);
    assert_string_equal(child.out, says);
    pbd_child_free(&child);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void names_are_found(void **state) {
    (void)state;
    pbd_revision one = find("one"), again = find("HEAD~2");
    assert_string_equal(one.sha, again.sha);
    assert_int_equal(strlen(one.sha), 40);
    assert_false(one.built);
    pbd_revision_free(&one);
    pbd_revision_free(&again);
}

static void unknown_names_are_refused(void **state) {
    (void)state;
    pbd_revision r;
    for (const char *const *name = (const char *const[]){"nothing", "", "--help", "one:program", NULL}; *name; name++) {
        const pbd_status status = pbd_revision_find(in_workplace("checkout"), *name, &r);
        assert_int_equal(status.code, PBD_BAD_INPUT);
        expect_says(status.text, "is not a revision of the checkout");
    }
}

static void a_folder_without_git_is_refused(void **state) {
    (void)state;
    pbd_revision r;
    const pbd_status status = pbd_revision_find(workplace(), "HEAD", &r);
    assert_int_equal(status.code, PBD_BAD_INPUT);
    expect_says(status.text, "not a git repository");
}

static void each_is_built_once(void **state) {
    (void)state;
    const char *root = in_workplace("checkout");
    pbd_revision one = find("one"), two = find("two");
    assert_fine(pbd_revision_build(root, false, &one));
    assert_fine(pbd_revision_build(root, false, &two));
    expect_program(&one, "1\n");
    expect_program(&two, "2\n");
    pbd_revision_free(&one);
    /* Found as built, and not built again. */
    one = find("one");
    assert_true(one.built);
    FILE *program = fopen(one.program, "w");
    fputs("#!/bin/sh\necho kept\n", program);
    fclose(program);
    assert_fine(pbd_revision_build(root, false, &one));
    expect_program(&one, "kept\n");
    pbd_revision_free(&one);
    pbd_revision_free(&two);
}

static void a_work_tree_left_half_way_is_completed(void **state) {
    (void)state;
    pbd_revision two = find("two");
    char path[200];
    assert_true(two.built);
    assert_int_equal(unlink(two.program), 0);
    snprintf(path, sizeof path, "checkout/build/revisions/%s/CMakeLists.txt", two.sha);
    assert_int_equal(unlink(in_workplace(path)), 0);
    pbd_revision_free(&two);
    two = find("two");
    assert_false(two.built);
    assert_fine(pbd_revision_build(in_workplace("checkout"), false, &two));
    expect_program(&two, "2\n");
    pbd_revision_free(&two);
}

static void a_build_that_fails_names_its_log(void **state) {
    (void)state;
    pbd_revision broken = find("broken");
    const pbd_status status = pbd_revision_build(in_workplace("checkout"), false, &broken);
    assert_int_equal(status.code, PBD_FAILED);
    expect_says(status.text, "configuring revision");
    const char *name = strstr(status.text, "the full output is in '");
    assert_non_null(name);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", name + strlen("the full output is in '"));
    path[strcspn(path, "'")] = '\0';
    file_bytes log = read_bytes(path);
    assert_non_null(log.byte);
    expect_says((const char *)log.byte, "Parse error");
    free(log.byte);
    pbd_revision_free(&broken);
}

/* As in a git hook: git's environment variables must not redirect its commands to the checkout. */
static void variables_of_git_lead_nowhere(void **state) {
    (void)state;
    pbd_revision one = find("one");
    assert_int_equal(unlink(one.program), 0);
    pbd_revision_free(&one);
    setenv("GIT_DIR", in_workplace("checkout/.git"), 1);
    setenv("GIT_WORK_TREE", in_workplace("checkout"), 1);
    one = find("one");
    assert_fine(pbd_revision_build(in_workplace("checkout"), false, &one));
    unsetenv("GIT_DIR");
    unsetenv("GIT_WORK_TREE");
    expect_program(&one, "1\n");
    pbd_revision_free(&one);
}

static void the_checkout_is_as_it_was(void **state) {
    (void)state;
    pbd_child status = git_says((const char *const[]){"status", "--porcelain", NULL});
    assert_string_equal(status.out, " M program\n");
    pbd_child_free(&status);
    file_bytes program = read_bytes(in_workplace("checkout/program"));
    assert_string_equal((const char *)program.byte, "changed, and not committed\n");
    free(program.byte);
    pbd_revision head = find("HEAD"), broken = find("broken");
    assert_string_equal(head.sha, broken.sha);
    pbd_revision_free(&head);
    pbd_revision_free(&broken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_found),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(a_folder_without_git_is_refused),
        cmocka_unit_test(each_is_built_once),
        cmocka_unit_test(a_work_tree_left_half_way_is_completed),
        cmocka_unit_test(a_build_that_fails_names_its_log),
        cmocka_unit_test(variables_of_git_lead_nowhere),
        cmocka_unit_test(the_checkout_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, make_checkout, remove_workplace);
}
