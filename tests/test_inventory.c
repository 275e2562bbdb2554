/* `list figures` names every figure and table of the four papers, and every folder of the project's own figures; and
 * its messages when the inventory, plots/papers.yaml, is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <jansson.h>

#include "tests/program.h"

/* Counted by hand in the papers: each has figures 1 .. figures and tables 1 .. tables, without gaps. */
static const struct {
    const char *key;
    int figures, tables;
} papers[] = {{"rodero2016", 10, 0}, {"cao2023", 13, 3}, {"yu2024", 20, 2}, {"desbrun1996", 7, 0}};
enum { PAPERS = sizeof papers / sizeof *papers };

static json_t *list_figures(void) {
    told answer = tell("list", "figures", "--json");
    expect_code(answer, 0);
    assert_string_equal(answer.err, "");
    json_t *all = json_loads(answer.out, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_array(all));
    forget(&answer);
    return all;
}

static const char *string_of(const json_t *object, const char *key) {
    const char *value = json_string_value(json_object_get(object, key));
    if (!value) fail_msg("no string '%s'", key);
    return value;
}

/* Returns how often an id is listed; *entry is the last entry found. */
static size_t times_listed(const json_t *all, const char *id, json_t **entry) {
    size_t index, times = 0;
    json_t *one;
    json_array_foreach(all, index, one) {
        if (strcmp(string_of(one, "name"), id) != 0) continue;
        times++;
        *entry = one;
    }
    return times;
}

static bool has_folder(const char *id) {
    char name[64];
    snprintf(name, sizeof name, "plots/%.40s/figure.yaml", id);
    return access(in_workplace(name), F_OK) == 0;
}

/* Checks that an entry is listed once, under its paper, with what it shows; that it is available if it has a folder,
 * and otherwise has a reason. */
static void check_listed(const json_t *all, const char *paper, const char *kind, int number) {
    char id[64];
    json_t *entry = NULL;
    snprintf(id, sizeof id, "%s-%s%d", paper, kind, number);
    if (times_listed(all, id, &entry) != 1) fail_msg("%s is listed %zu times", id, times_listed(all, id, &entry));
    assert_string_equal(string_of(entry, "source"), paper);
    assert_true(strlen(string_of(entry, "summary")) > 10);
    assert_int_equal(json_is_true(json_object_get(entry, "available")), has_folder(id));
    assert_true((*string_of(entry, "reason") == '\0') == has_folder(id));
}

static void test_every_figure_of_the_papers_is_listed(void **state) {
    (void)state;
    json_t *all = list_figures();
    size_t ids = 0;
    for (int p = 0; p < PAPERS; p++) {
        for (int n = 1; n <= papers[p].figures; n++) check_listed(all, papers[p].key, "fig", n);
        for (int n = 1; n <= papers[p].tables; n++) check_listed(all, papers[p].key, "table", n);
        ids += (size_t)(papers[p].figures + papers[p].tables);
    }
    assert_int_equal(ids, 10 + 16 + 22 + 7);
    assert_true(json_array_size(all) >= ids);
    json_decref(all);
}

/* Every entry that is not from a paper has a folder, and every folder is listed. */
static void test_every_folder_is_listed(void **state) {
    (void)state;
    json_t *all = list_figures(), *entry = NULL;
    size_t available = 0, folders = 0, index;
    DIR *plots = opendir(in_workplace("plots"));
    assert_non_null(plots);
    for (struct dirent *d; (d = readdir(plots));) {
        if (d->d_name[0] == '.' || !has_folder(d->d_name)) continue;
        folders++;
        assert_int_equal(times_listed(all, d->d_name, &entry), 1);
    }
    closedir(plots);
    json_array_foreach(all, index, entry) available += json_is_true(json_object_get(entry, "available"));
    assert_int_equal(available, folders);
    assert_true(folders >= 10);
    json_decref(all);
}

/* ---- An inventory that is wrong. From here on the workplace has plots of its own. -------------------------------- */

static void write_papers(const char *text) {
    FILE *file = fopen(in_workplace("plots/papers.yaml"), "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write papers.yaml");
}

static void expect_refused(const char *text, const char *where, const char *what) {
    if (text) write_papers(text);
    told answer = tell("list", "figures", "--json");
    printf("[          ] %s", answer.err);
    expect_code(answer, 2);
    assert_string_equal(answer.out, "");
    expect_says(answer.err, "plots/papers.yaml");
    expect_says(answer.err, where);
    expect_says(answer.err, what);
    forget(&answer);
}

static void test_bad_inventories_are_explained(void **state) {
    (void)state;
    assert_int_equal(unlink(in_workplace("plots")), 0); /* the link to the checkout's */
    assert_int_equal(mkdir(in_workplace("plots"), 0777), 0);
    expect_refused(NULL, "PBDBENCH_ROOT=", "no plots/papers.yaml");
    expect_refused("", "line 1, column 1", "empty");
    expect_refused("papers: []\n", "line 1, column 9", "the list is empty");
    expect_refused("papers:\n  - key: a\n", "line 2, column 5", "is missing here (in papers[0])");
    expect_refused("papers:\n\t- key: a\n", "line 2, column 1", "a tab");
    expect_refused("papers:\n  - {key: a, kind: misc, title: A, venue: B, yaer: 1999}\n", "line 2, column 46",
                   "'year'");
    expect_refused("papers:\n  - {key: a, kind: misc, title: A, venue: B, year: MCM}\n", "line 2, column 52",
                   "whole number");
    expect_refused("papers:\n  - {key: a, kind: misc, title: A, venue: B, figures: [{id: a-fig1}]}\n",
                   "line 2, column 56", "'shows' is missing here (in papers[0].figures[0])");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_figure_of_the_papers_is_listed),
        cmocka_unit_test(test_every_folder_is_listed),
        cmocka_unit_test(test_bad_inventories_are_explained),
    };
    return cmocka_run_group_tests_name("inventory", tests, NULL, remove_workplace);
}
