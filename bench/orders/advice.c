/* Two aircraft that come near each other: what the pilot of one is told. The situation is twelve numbers on the command
   line, so nothing is decided before all of them are read: a program of the kind of SCORE's air traffic example. */
#include <stdio.h>
#include <stdlib.h>

#define ARGUMENTS 12
#define SEPARATION_HIGH 540
#define NEAR 600
#define CLIMB_BIAS 100
#define LATE 50

enum advice { NONE, CLIMB, DESCEND, LEVEL_OFF };
enum rules { OTHER_RULES, SAME_RULES };

struct situation {
    int own_height, own_rate;
    int other_height, other_rate;
    int level; /* 0 … 3 */
    int above, below; /* separation after climbing, after descending */
    int report; /* 0: the other says nothing, 1: it can hear, 2: it has an advice itself */
    int intent; /* of the other: 0 none, 1 not to climb, 2 not to descend */
    int confident, inhibited;
    int age; /* of the last report */
};

static const int least_separation[] = {400, 500, 640, 740};

static int least(const struct situation *s)
{
    if (s->level < 0 || s->level > 3)
        return least_separation[3];
    return least_separation[s->level];
}

static int separation_above(const struct situation *s)
{
    return s->inhibited ? s->above + CLIMB_BIAS : s->above;
}

static int is_below(const struct situation *s)
{
    return s->own_height < s->other_height;
}

static int is_above(const struct situation *s)
{
    return s->other_height < s->own_height;
}

static int may_climb(const struct situation *s)
{
    if (separation_above(s) > s->below)
        return !is_below(s) || !(s->below >= least(s));
    return is_above(s) && s->above >= least(s);
}

static int may_descend(const struct situation *s)
{
    if (separation_above(s) > s->below)
        return is_below(s) && s->below >= least(s);
    return !is_above(s) || s->above >= least(s);
}

static enum advice decide(const struct situation *s)
{
    int enabled = s->confident && s->own_rate <= NEAR && s->own_height > SEPARATION_HIGH;
    int equipped = s->report > 0;
    int unknown_intent = s->report == 1 && s->intent == 0;
    enum rules rules = s->report == 2 && s->age < LATE ? SAME_RULES : OTHER_RULES;

    if (!enabled || !((equipped && unknown_intent) || !equipped || rules == SAME_RULES))
        return NONE;
    int climb = may_climb(s) && is_below(s);
    int descend = may_descend(s) && is_above(s);
    if (climb && descend)
        return LEVEL_OFF;
    if (s->intent == 1 && descend)
        return s->other_rate > 0 ? LEVEL_OFF : DESCEND;
    if (s->intent == 2 && climb)
        return s->other_rate < 0 ? LEVEL_OFF : CLIMB;
    if (climb)
        return CLIMB;
    if (descend)
        return DESCEND;
    return NONE;
}

int main(int argc, char **argv)
{
    struct situation s;

    if (argc != ARGUMENTS + 1) {
        puts("twelve numbers, please");
        return 1;
    }
    s.own_height = atoi(argv[1]);
    s.own_rate = atoi(argv[2]);
    s.other_height = atoi(argv[3]);
    s.other_rate = atoi(argv[4]);
    s.level = atoi(argv[5]);
    s.above = atoi(argv[6]);
    s.below = atoi(argv[7]);
    s.report = atoi(argv[8]);
    s.intent = atoi(argv[9]);
    s.confident = atoi(argv[10]);
    s.inhibited = atoi(argv[11]);
    s.age = atoi(argv[12]);
    switch (decide(&s)) {
    case CLIMB: puts("climb"); break;
    case DESCEND: puts("descend"); break;
    case LEVEL_OFF: puts("level off"); break;
    default: puts("nothing"); break;
    }
    return 0;
}
