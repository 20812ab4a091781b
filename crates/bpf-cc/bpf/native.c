// A law's core as a program of the machine: reads its parameters (one line of integers), the first window, and one
// event per line; writes window and threshold after each. `LAW` is the law's header.
#include LAW
#include <stdio.h>
#include <stdlib.h>

static struct parameters parameters;
static struct law law;

int main(void)
{
	u64 *field = (u64 *)&parameters, initial, now, a, b, c, d, e, f, g, h;
	u64 count = sizeof(parameters) / sizeof(u64);
	char event;
	while (count--)
		if (scanf("%llu", field++) != 1)
			return EXIT_FAILURE;
	if (scanf("%llu", &initial) != 1)
		return EXIT_FAILURE;
	law_begin(&law, initial);
	while (scanf(" %c %llu", &event, &now) == 2) {
		switch (event) {
		case 'A':
			if (scanf("%llu%llu%llu%llu%llu%llu%llu%llu", &a, &b, &c, &d, &e, &f, &g, &h) != 8)
				return EXIT_FAILURE;
			struct ack ack = { now, a, b, c, d, e, f, g, h };
#ifdef LAW_MEASURES
			law_measure(&law, &ack);
#endif
			law_grow(&law, &parameters, &ack);
			break;
		case 'C':
		case 'T':
			if (scanf("%llu", &a) != 1)
				return EXIT_FAILURE;
			if (event == 'C')
				law_on_congestion(&law, &parameters, now, a);
			else
				law_on_timeout(&law, &parameters, now, a);
			break;
		case 'L':
			if (scanf("%llu", &a) != 1)
				return EXIT_FAILURE;
#ifdef LAW_DRAWS
			law_on_lost(&law, &parameters, a);
#endif
			break;
		case 'R':
#ifdef LAW_DRAWS
			law_on_recovered(&law);
#endif
			break;
		case 'S':
			law_on_spurious(&law, &parameters);
			break;
		default:
			return EXIT_FAILURE;
		}
		printf("%llu %llu\n", law.window.size, law.window.threshold);
	}
	return feof(stdin) ? EXIT_SUCCESS : EXIT_FAILURE;
}
