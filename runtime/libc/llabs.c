/* Without a branch. The least value stays what it is. */
long long llabs(long long value)
{
    long long sign = -(value < 0);
    return (value ^ sign) - sign;
}
