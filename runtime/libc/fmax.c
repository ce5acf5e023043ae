/* Of two zeros the second; what is no number counts only if both are. */
double fmax(double x, double y)
{
    return x > y || y != y ? x : y;
}
