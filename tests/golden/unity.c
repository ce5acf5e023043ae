/* Regression tests of my prog, made by score-embed 0.1.0 from what it
 * ran on the board native. They need Unity, and the sources of the program as they are built otherwise:
 *
 *     cc -I UNITY test_x.c ../lib/b.c UNITY/unity.c -o tests && ./tests
 *
 * and the -I, -D ... of the program, -I for score.h if it includes that. Do not name the source that is included below.
 * A test runs the program with a recorded input and expects what it did then: the value it returned or gave to
 * exit(), and, where tests run in processes of their own, the first line that it printed. A test called _bug_ has an
 * input with which the program crashed, failed an assertion or did not end: it passes when the program ends by itself.
 * With SCORE_NO_MAIN the file has no main: for a runner that finds the tests by their names. */
#ifndef SCORE_PROGRAM
#define SCORE_PROGRAM "../src/a b.c"
#endif
void score_exit(int status) __attribute__((noreturn));
void __score_assume_fail(void) __attribute__((noreturn));
void __score_assert_fail(const char *condition, const char *file, int line) __attribute__((noreturn));
unsigned char __score_next(void);

/* The program, with its main and its exit() under other names. */
#define SCORE_DRIVER
#define main score_program
#define exit score_exit
#include SCORE_PROGRAM
#undef main
#undef exit

void tearDown(void) {}


static int score_call(void)
{
    return score_program();
}

/* x = 5 */
void test_my_prog_000001(void);
void test_my_prog_000001(void)
{
    static const unsigned char input[] = {0x05, 0x00, 0x00, 0x00};
    score_data = input;
    score_size = 4;
    score_expect(score_call, 0, "plain");
}

/* x = -1 */
void test_my_prog_000002(void);
void test_my_prog_000002(void)
{
    static const unsigned char input[] = {0xff, 0xff, 0xff, 0xff};
    score_data = input;
    score_size = 4;
    score_expect(score_call, 3, "tab\011esc\033[31m \007\357\277\276 \303\274]]>");
}

/* x = 0 */
void test_my_prog_000003_bug_division_by_zero(void);
void test_my_prog_000003_bug_division_by_zero(void)
{
    static const unsigned char input[] = {0x00, 0x00, 0x00, 0x00};
    score_data = input;
    score_size = 4;
    score_expect_end(score_call); /* was: division-by-zero at src/a b.c:3 */
}

/* x = 1 */
void test_my_prog_000004(void);
void test_my_prog_000004(void)
{
    static const unsigned char input[] = {0x01, 0x00, 0x00, 0x00};
    score_data = input;
    score_size = 4;
    score_expect(score_call, 0, "");
}

#ifndef SCORE_NO_MAIN
int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(test_my_prog_000001);
    RUN_TEST(test_my_prog_000002);
    RUN_TEST(test_my_prog_000003_bug_division_by_zero);
    RUN_TEST(test_my_prog_000004);
    return UNITY_END();
}
#endif
