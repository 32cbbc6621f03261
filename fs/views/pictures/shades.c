/* Shades of differences. */
#include "fs/views/pictures/shades.h"

#include <math.h>

/* The palest and the strongest of a colour, by channel. */
struct range {
	int pale[3], strong[3];
};

static const struct range red = {{250, 222, 214}, {234, 104, 80}};
static const struct range blue = {{214, 229, 250}, {104, 156, 232}};

#define GREY 0xdedad5

uint8_t pmfs_shade_of(double difference, double most)
{
	if (!(most > 0) || !(fabs(difference) > 0))
		return PMFS_SHADE_NONE;
	double size = sqrt(fmin(fabs(difference) / most, 1));
	int step = (int)ceil(size * PMFS_SHADE_STEPS);
	if (step < 1)
		step = 1;
	return (uint8_t)(difference > 0 ? step : PMFS_SHADE_STEPS + step);
}

uint32_t pmfs_shade_colour(uint8_t shade)
{
	if (shade == PMFS_SHADE_NONE || shade >= PMFS_N_SHADES_ALL)
		return GREY;
	const struct range *r = shade <= PMFS_SHADE_STEPS ? &red : &blue;
	int step = (shade - 1) % PMFS_SHADE_STEPS;
	uint32_t colour = 0;
	for (unsigned i = 0; i < 3; i++) {
		int c = r->pale[i] + (r->strong[i] - r->pale[i]) * step / (PMFS_SHADE_STEPS - 1);
		colour = colour << 8 | (uint32_t)c;
	}
	return colour;
}
