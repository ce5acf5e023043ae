/* The few names of Unity that exported tests use, for builds where Unity itself is not at hand (e2e/test_unity.py has
 * it). */
#ifndef UNITY_H
#define UNITY_H
#include <setjmp.h>
#include <stdio.h>
static jmp_buf unity_back;
static int unity_failures, unity_tests;
void setUp(void);
void tearDown(void);
#define UNITY_BEGIN() (unity_failures = unity_tests = 0)
#define UNITY_END() (printf("%d Tests %d Failures 0 Ignored\n", unity_tests, unity_failures), unity_failures)
#define TEST_FAIL_MESSAGE(text) (printf("%s:%d:FAIL: %s\n", __FILE__, __LINE__, text), longjmp(unity_back, 1))
#define TEST_ASSERT_EQUAL_INT_MESSAGE(a, b, text) \
    do { if ((a) != (b)) { printf("Expected %d Was %d. ", (int)(a), (int)(b)); TEST_FAIL_MESSAGE(text); } } while (0)
#define RUN_TEST(test)                                    \
    do {                                                  \
        unity_tests++;                                    \
        if (!setjmp(unity_back)) { setUp(); test(); printf("%s:PASS\n", #test); } \
        else { printf("%s:FAIL\n", #test); unity_failures++; } \
        tearDown();                                       \
    } while (0)
#endif
