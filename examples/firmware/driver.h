/* The driver library, which comes as an archive. */
void sample_start(void); /* raises the sample interrupt */
int sample_value(int raw);
