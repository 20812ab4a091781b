// An algorithm's core as a native program: reads its parameters (one line of integers), the initial window, and one
// event per line; writes window and threshold after each event. `ALGORITHM` is the algorithm's header.
#include ALGORITHM
#include <stdio.h>
#include <stdlib.h>

static struct parameters parameters;
static struct cc cc;

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
	cc_begin(&cc, initial);
	while (scanf(" %c %llu", &event, &now) == 2) {
		switch (event) {
		case 'A':
			if (scanf("%llu%llu%llu%llu%llu%llu%llu%llu", &a, &b, &c, &d, &e, &f, &g, &h) != 8)
				return EXIT_FAILURE;
			struct ack ack = { now, a, b, c, d, e, f, g, h };
#ifdef CC_MEASURES
			cc_measure(&cc, &ack);
#endif
			cc_grow(&cc, &parameters, &ack);
			break;
		case 'C':
		case 'T':
			if (scanf("%llu", &a) != 1)
				return EXIT_FAILURE;
			if (event == 'C')
				cc_on_congestion(&cc, &parameters, now, a);
			else
				cc_on_timeout(&cc, &parameters, now, a);
			break;
		case 'L':
			if (scanf("%llu", &a) != 1)
				return EXIT_FAILURE;
#ifdef CC_DRAWS
			cc_on_lost(&cc, &parameters, a);
#endif
			break;
		case 'R':
#ifdef CC_RECOVERS
			cc_on_recovered(&cc, now);
#endif
			break;
		case 'S':
			cc_on_spurious(&cc, &parameters);
			break;
		default:
			return EXIT_FAILURE;
		}
		printf("%llu %llu\n", cc.window.size, cc.window.threshold);
	}
	return feof(stdin) ? EXIT_SUCCESS : EXIT_FAILURE;
}
