
/* --- how a test is run: in a process of its own where there are processes (so that each begins with fresh memory and
 * survives a crash), else here: then variables keep their values from test to test, unless SCORE_RESET() says how to
 * reset them. ------------------------------------------------------------------------------------------------- */
#if (defined(__unix__) || defined(__APPLE__)) && !defined(SCORE_NO_FORK)
#define SCORE_FORK 1
/* Headers of hosts are named by macros: Ceedling writes each that is named literally into its runner as well, also
 * where there is none, and <sys/wait.h> without its folder. */
#define SCORE_SIGNAL <signal.h>
#define SCORE_WAIT <sys/wait.h>
#define SCORE_PROCESS <unistd.h>
#include SCORE_SIGNAL
#include SCORE_WAIT
#include SCORE_PROCESS
#else
#include <setjmp.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unity.h"

void exit(int status); /* the program may have seen stdlib.h while exit had another name */

#ifndef SCORE_SECONDS
#define SCORE_SECONDS 10 /* a test that takes longer has failed */
#endif
#ifndef SCORE_RESET
#define SCORE_RESET() ((void)0)
#endif

enum { SCORE_ENDED, SCORE_ASSERTION, SCORE_ASSUMPTION, SCORE_CRASH, SCORE_TOO_LONG };
static const char *const score_ends[] = {
    "it ended", "a SCORE_ASSERT failed", "a SCORE_ASSUME is false", "it crashed", "it took too long"};

struct score_outcome {
    int how, code; /* code: what it returned or gave to exit(), or a signal */
};

static const unsigned char *score_data;
static size_t score_size;
static char score_output[4096]; /* the beginning of what the program printed */

#ifdef SCORE_FORK
static int score_report;

static void score_finish(int how, int code)
{
    struct score_outcome outcome;
    outcome.how = how;
    outcome.code = code;
    if (write(score_report, &outcome, sizeof outcome) != (ssize_t)sizeof outcome) _exit(2);
    exit(code); /* so that what was printed is written, and atexit() handlers run */
}

static struct score_outcome score_run(int (*call)(void))
{
    struct score_outcome outcome = {SCORE_CRASH, 0};
    int report[2], printed[2], status = 0;
    size_t fill = 0;
    ssize_t n;
    pid_t child;
    fflush(NULL);
    if (pipe(report) || pipe(printed) || (child = fork()) < 0) TEST_FAIL_MESSAGE("no process for the test");
    if (child == 0) {
        close(report[0]);
        close(printed[0]);
        score_report = report[1];
        dup2(printed[1], 1);
        dup2(printed[1], 2);
        close(printed[1]);
        alarm(SCORE_SECONDS);
        score_finish(SCORE_ENDED, call());
    }
    close(report[1]);
    close(printed[1]);
    for (;;) {
        char rest[512];
        size_t room = sizeof score_output - 1 - fill;
        n = read(printed[0], room ? score_output + fill : rest, room ? room : sizeof rest);
        if (n <= 0) break;
        if (room) fill += (size_t)n;
    }
    score_output[fill] = 0;
    n = read(report[0], &outcome, sizeof outcome);
    close(report[0]);
    close(printed[0]);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        outcome.code = WTERMSIG(status);
        outcome.how = outcome.code == SIGALRM ? SCORE_TOO_LONG : SCORE_CRASH;
    } else if (n != (ssize_t)sizeof outcome) { /* exit() in another file */
        outcome.how = SCORE_ENDED;
        outcome.code = WEXITSTATUS(status);
    }
    return outcome;
}
#else
static jmp_buf score_back;
static struct score_outcome score_last;

static void score_finish(int how, int code)
{
    score_last.how = how;
    score_last.code = code;
    longjmp(score_back, 1);
}

static struct score_outcome score_run(int (*call)(void))
{
    SCORE_RESET();
    if (!setjmp(score_back)) score_finish(SCORE_ENDED, call());
    return score_last;
}
#endif

void score_exit(int status)
{
    score_finish(SCORE_ENDED, status);
    abort(); /* not reached */
}

unsigned char __score_next(void)
{
    if (!score_size) return 0;
    score_size--;
    return *score_data++;
}

void __score_assume_fail(void)
{
    score_finish(SCORE_ASSUMPTION, 0);
    abort();
}

void __score_assert_fail(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: SCORE_ASSERT failed: %s\n", file, line, condition);
    score_finish(SCORE_ASSERTION, 0);
    abort();
}

static void score_check_end(struct score_outcome outcome)
{
    char text[64];
    if (outcome.how == SCORE_ENDED) return;
    fputs(score_output, stderr);
    sprintf(text, outcome.code ? "%s (signal %d)" : "%s", score_ends[outcome.how], outcome.code);
    TEST_FAIL_MESSAGE(text);
}

/* It must end by itself with this code, having printed this. */
__attribute__((unused)) static void score_expect(int (*call)(void), int code, const char *printed)
{
    struct score_outcome outcome = score_run(call);
    score_check_end(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(code, outcome.code, "what it returned or gave to exit()");
#ifdef SCORE_FORK
    if (!strstr(score_output, printed)) {
        fputs(score_output, stderr);
        TEST_FAIL_MESSAGE("it did not print what it used to");
    }
#else
    (void)printed;
#endif
}

/* A bug was found with this input: it must end by itself, however. */
__attribute__((unused)) static void score_expect_end(int (*call)(void))
{
    score_check_end(score_run(call));
}

void setUp(void);
void tearDown(void);
void setUp(void) {}
void tearDown(void) {}

