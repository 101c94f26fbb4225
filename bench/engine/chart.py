"""Draws the ratios as bars with their spread, as SVG."""

import html

COLOURS = {"onnxruntime": "#4e79a7", "openvino": "#f28e2b"}
LABELS = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO"}


def draw(rows, threads):
    """rows: [{"case": name, "ratios": {peer: {"median", "low", "high"}}}]"""
    peers = [p for p in COLOURS if any(p in row["ratios"] for row in rows)]
    left, bar, gap, width = 130, 16, 16, 760
    top, step = 74, bar * len(peers) + gap
    highest = max([r["high"] for row in rows for r in row["ratios"].values()] + [1.2])
    height = top + step * len(rows) + 46
    x = lambda ratio: left + width * ratio / highest

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 110} {height}" '
        f'width="{left + width + 110}" height="{height}" font-family="sans-serif" font-size="14">',
        f'<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{left}" y="26" font-size="18">Time of a peer / time of Troupe, float32, '
        f'{threads} thread{"s" if threads > 1 else ""} (above 1: Troupe is faster)</text>',
    ]
    legend = left
    for peer in peers:
        out.append(
            f'<rect x="{legend}" y="42" width="14" height="14" fill="{COLOURS[peer]}"/>'
            f'<text x="{legend + 20}" y="54">{LABELS[peer]}</text>'
        )
        legend += 150
    tick = 0.0
    bottom = height - 40
    while tick <= highest:
        out.append(
            f'<path d="M{x(tick):.1f} {top - 8} V{bottom}" '
            f'stroke="{"#333" if tick == 1 else "#ddd"}" stroke-width="{1.5 if tick == 1 else 1}"/>'
            f'<text x="{x(tick):.1f}" y="{bottom + 20}" text-anchor="middle">{tick:g}</text>'
        )
        tick += 0.5 if highest < 6 else 1.0
    for index, row in enumerate(rows):
        y = top + step * index
        out.append(
            f'<text x="{left - 10}" y="{y + bar * len(peers) / 2 + 5}" text-anchor="end">'
            f'{html.escape(row["case"])}</text>'
        )
        for place, peer in enumerate(peers):
            if peer not in row["ratios"]:
                continue
            ratio = row["ratios"][peer]
            at = y + bar * place
            out.append(
                f'<rect x="{left}" y="{at}" width="{x(ratio["median"]) - left:.1f}" height="{bar - 2}" '
                f'fill="{COLOURS[peer]}"/>'
                f'<path d="M{x(ratio["low"]):.1f} {at + bar / 2 - 1} H{x(ratio["high"]):.1f}" '
                f'stroke="#222" stroke-width="1.5"/>'
                f'<text x="{x(ratio["high"]) + 6:.1f}" y="{at + bar - 4}">{ratio["median"]:.2f}</text>'
            )
    out.append("</svg>")
    return "\n".join(out) + "\n"
