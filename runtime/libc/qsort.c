/* Shell's sort; up to nine elements are sorted by insertion, so that no comparison's outcome follows from others. */
void qsort(void *base, __SIZE_TYPE__ count, __SIZE_TYPE__ size, int (*compare)(const void *, const void *))
{
    char *first = base;
    __SIZE_TYPE__ gap = 1, i, at, k;
    while (gap < count / 9) gap = 3 * gap + 1;
    for (; gap; gap /= 3)
        for (i = gap; i < count; i++)
            for (at = i; at >= gap; at -= gap) {
                char *right = first + at * size, *left = right - gap * size;
                if (compare(left, right) <= 0) break;
                for (k = 0; k < size; k++) {
                    char byte = left[k];
                    left[k] = right[k];
                    right[k] = byte;
                }
            }
}
