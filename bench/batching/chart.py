#!/usr/bin/env python3
"""Draws what batching_frontier and batching_models measured, as SVG.

    chart.py POINTS.json… CHART.svg [--pattern bursty]

Above: mean latency at the load offered, without an objective, as far as nearly everything is answered.
Below: answers within the objective at the load offered. One column a device or model.
"""

import argparse
import json
import math

STYLE = {  # policy: colour, width, dashes
    "none": ("#888888", 1.6, ""),
    "latency": ("#4e79a7", 1.6, "6 3"),
    "throughput": ("#b07aa1", 1.6, ""),
    "fixed:8:5": ("#f28e2b", 1.6, ""),
    "fixed:32:20": ("#59a14f", 1.6, ""),
    "fixed:128:50": ("#9c755f", 1.6, ""),
    "auto": ("#d62728", 3.0, ""),
}
OTHERS = ["#76b7b2", "#edc948", "#ff9da7", "#bab0ac"]  # policies that STYLE does not know, in turn
WIDTH, HEIGHT, LEFT, TOP, GAP_X, GAP_Y = 440, 270, 80, 96, 100, 96


class Panel:
    """A plot with logarithmic x, and y either way, in the rectangle whose corner is (left, top)."""

    def __init__(self, left, top, x_range, y_range, log_y):
        self.left, self.top, self.log_y = left, top, log_y
        self.x_range, self.y_range = x_range, y_range

    def x(self, value):
        low, high = map(math.log10, self.x_range)
        return self.left + WIDTH * (math.log10(value) - low) / (high - low)

    def y(self, value):
        low, high = self.y_range
        value = min(max(value, low), high)
        if self.log_y:
            low, high, value = map(math.log10, (low, high, value))
        return self.top + HEIGHT * (1 - (value - low) / (high - low))

    def axes(self, title, x_ticks, y_ticks, y_label):
        right, bottom = self.left + WIDTH, self.top + HEIGHT
        yield f'<text x="{self.left}" y="{self.top - 12}" font-size="15" font-weight="bold">{title}</text>'
        for value, text in x_ticks:
            at = self.x(value)
            yield f'<path d="M{at:.1f} {self.top} V{bottom}" stroke="#e4e4e4"/>'
            yield f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{text}</text>'
        for value, text in y_ticks:
            at = self.y(value)
            yield f'<path d="M{self.left} {at:.1f} H{right}" stroke="#e4e4e4"/>'
            yield f'<text x="{self.left - 8}" y="{at + 4:.1f}" text-anchor="end">{text}</text>'
        yield (f'<rect x="{self.left}" y="{self.top}" width="{WIDTH}" height="{HEIGHT}" fill="none" '
               f'stroke="#555"/>')
        yield (f'<text x="{self.left + WIDTH / 2}" y="{bottom + 38}" text-anchor="middle">'
               f'requests offered, share of what the device can do</text>')
        middle = self.top + HEIGHT / 2
        yield (f'<text transform="translate({self.left - 54} {middle}) rotate(-90)" '
               f'text-anchor="middle">{y_label}</text>')

    def line(self, style, points):
        colour, width, dashes = style
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in points)
        yield (f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}" '
               f'stroke-dasharray="{dashes}" stroke-linejoin="round"/>')
        for x, y in points:
            yield f'<circle cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="{width}" fill="{colour}"/>'


def percent(value):
    return f"{100 * value:g} %"


def styles(points):
    """Policy: style, for those that were measured; drawn in this order, `auto` above all."""
    measured = dict.fromkeys(p["policy"] for p in points)
    strange = [policy for policy in measured if policy not in STYLE]
    drawn = {policy: (OTHERS[i % len(OTHERS)], 1.6, "") for i, policy in enumerate(strange)}
    return drawn | {policy: style for policy, style in STYLE.items() if policy in measured}


def round_numbers(low, high):
    """Round numbers within a range, a few of them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1,) if high / low > 200 else (1, 2, 5)
    every = [d * 10.0**i for i in decades for d in digits]
    return [v for v in every if low * 0.999 <= v <= high * 1.001]


def range_around(values):
    low, high = min(values), max(values)
    return (max(v for v in round_numbers(low / 20, low)), min(round_numbers(high, high * 20)))


def draw(points, pattern):
    points = [p for p in points if p["pattern"] == pattern]
    devices = list(dict.fromkeys(p["device"] for p in points))
    capacity = {p["device"]: p["rate"] / p["load"] for p in points}
    drawn = styles(points)
    legend = sum(58 + 7.5 * len(policy) for policy in drawn)
    width = LEFT + max(len(devices) * (WIDTH + GAP_X), legend)
    height = TOP + 2 * (HEIGHT + GAP_Y)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="13">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="28" font-size="18">Batching policies, {pattern} arrivals</text>',
    ]
    at = LEFT
    for policy, (colour, thick, dashes) in drawn.items():
        out.append(f'<path d="M{at} 50 h26" stroke="{colour}" stroke-width="{thick}" '
                   f'stroke-dasharray="{dashes}"/><text x="{at + 32}" y="54">{policy}</text>')
        at += 58 + 7.5 * len(policy)
    loads = sorted({p["load"] for p in points})
    x_range = (loads[0] * 0.9, loads[-1] * 1.15)
    x_ticks = [(v, percent(v)) for v in round_numbers(*x_range)]
    for column, device in enumerate(devices):
        left = LEFT + column * (WIDTH + GAP_X)
        of_device = [p for p in points if p["device"] == device]
        slo = max(p["objective_ms"] for p in of_device)
        answered = [p for p in of_device if p["objective_ms"] == 0 and p["in_time"] >= 0.99]
        y_range = range_around([p["mean_ms"] for p in answered])
        upper = Panel(left, TOP, x_range, y_range, True)
        out += upper.axes(f'{device}: latency, without an SLO', x_ticks,
                          [(v, f"{v:g}") for v in round_numbers(*y_range)], "mean latency, ms")
        lower = Panel(left, TOP + HEIGHT + GAP_Y, x_range, (0, 1.05), False)
        out += lower.axes(f'{device}: answers within an SLO of {slo:g} ms', x_ticks,
                          [(v / 4, percent(v / 4)) for v in range(5)], "in time, share of capacity")
        for policy, style in drawn.items():
            of_policy = sorted((p for p in of_device if p["policy"] == policy),
                               key=lambda p: p["load"])
            out += upper.line(style, [(p["load"], p["mean_ms"]) for p in of_policy if p in answered])
            out += lower.line(style, [(p["load"], p["goodput"] / capacity[device]) for p in of_policy
                                      if p["objective_ms"] > 0])
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("points", nargs="+", metavar="POINTS.json")
    parser.add_argument("chart", metavar="CHART.svg")
    parser.add_argument("--pattern", default="poisson", choices=("poisson", "bursty"))
    arguments = parser.parse_args()
    points = []
    for name in arguments.points:
        with open(name, encoding="utf-8") as file:
            points += json.load(file)
    with open(arguments.chart, "w", encoding="utf-8") as file:
        file.write(draw(points, arguments.pattern))


if __name__ == "__main__":
    main()
