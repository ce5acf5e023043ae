/* Without a branch. The least value stays what it is. */
long labs(long value)
{
    long sign = -(value < 0);
    return (value ^ sign) - sign;
}
