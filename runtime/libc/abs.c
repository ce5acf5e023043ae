/* Without a branch. The least value stays what it is. */
int abs(int value)
{
    int sign = -(value < 0);
    return (value ^ sign) - sign;
}
