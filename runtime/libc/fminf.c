/* Of two zeros the second; what is no number counts only if both are. */
float fminf(float x, float y)
{
    return x < y || y != y ? x : y;
}
