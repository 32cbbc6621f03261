"""Draws curves as an SVG: what a call costs, over how many call paths there are."""
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 60, 110, 20, 45
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")


def nice_top(value):
    """The smallest of 1, 2, 5, 10, 20 … that is at least this."""
    unit = 10 ** math.floor(math.log10(value))
    return next(n * unit for n in (1, 2, 5, 10) if n * unit >= value)


def draw(curves, across, up):
    """`curves`: name → [(x, y)], x on a logarithmic axis; `across`, `up`: the titles of the axes."""
    points = [p for curve in curves.values() for p in curve]
    low, high = (math.log10(f(x for x, _ in points)) for f in (min, max))
    top = nice_top(max(y for _, y in points))

    def place(x, y):
        far = (math.log10(x) - low) / max(high - low, 1e-9)
        return (LEFT + far * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for i in range(6):
        _, y = place(10 ** low, top * i / 5)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{top * i / 5:g}</text>')
    for x in sorted({x for x, _ in points}):
        at, _ = place(x, 0)
        out.append(f'<text x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:,}</text>')
    for (name, curve), colour in zip(curves.items(), COLOURS):
        places = [place(x, y) for x, y in sorted(curve)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        out.append(f'<text x="{places[-1][0] + 8:.1f}" y="{places[-1][1] + 4:.1f}" fill="{colour}">{name}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{across}</text>')
    out.append(f'<text transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{up}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"
