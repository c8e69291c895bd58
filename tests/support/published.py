"""Leaderboards as papers print them."""

from __future__ import annotations

VIDEO_ARENA = {
    "GPT-4o": (1505.69, 89.19, 82.55),
    "GPT-4o-mini": (1323.25, 76.90, 70.98),
    "Gemini-1.5-Pro": (1187.01, 65.11, 55.49),
    "Gemini-1.5-Flash": (1149.52, 62.07, 54.61),
    "Aria": (1119.99, 59.54, 48.33),
    "Qwen2-VL-72B": (886.52, 35.61, 39.32),
    "Qwen2-VL-7B": (875.56, 34.90, 35.98),
    "LLaVA-Video-72B": (836.62, 30.25, 31.77),
    "LLaVA-Video-7B": (765.61, 23.52, 25.98),
    "LLaVA-OneVision-72B": (763.71, 23.11, 28.14),
    "LLaVA-OneVision-7B": (586.52, 9.86, 17.26),
}
"""VideoAutoArena: rating and win rate in percent (main table), average of its bench in percent."""

VIDEO_ARENA_BY_DURATION = {
    "GPT-4o": (1447.86, 1449.59, 1575.34, 1552.23),
    "GPT-4o-mini": (1293.27, 1343.28, 1327.75, 1349.29),
    "Gemini-1.5-Pro": (1247.65, 1171.82, 1263.58, 1291.64),
    "Gemini-1.5-Flash": (1081.58, 1131.27, 1140.07, 1260.36),
    "Aria": (1147.45, 1273.77, 1110.67, 1111.40),
    "Qwen2-VL-72B": (985.46, 928.23, 829.65, 826.56),
    "Qwen2-VL-7B": (969.28, 859.33, 850.30, 829.21),
    "LLaVA-Video-72B": (796.90, 850.12, 827.88, 782.55),
    "LLaVA-Video-7B": (672.35, 736.14, 759.15, 721.78),
    "LLaVA-OneVision-72B": (731.50, 710.64, 759.29, 741.80),
    "LLaVA-OneVision-7B": (626.70, 545.82, 556.31, 533.18),
}
"""Its ratings by length of the video: (8, 15], (15, 60], (180, 600] and (900, 3600] seconds."""


def _bounds(text: str) -> dict[str, tuple[float, float, float]]:
    """Rating, low and high from lines of: model, score, how far down, how far up."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {
        name: (float(score), float(score) - float(down), float(score) + float(up))
        for name, score, down, up in rows
    }


BENCH_GPT = _bounds("""
    gpt-4o-2024-05-13              67.7 1.7 1.8
    gemini-1.5-pro-exp-0827        66.2 1.8 1.5
    gemini-1.5-flash-exp-0827      60.3 1.9 1.9
    claude-3.5-sonnet-20240620     54.5 2.1 1.9
    gpt-4-turbo-2024-04-09         50.0 0.0 0.0
    gemini-1.5-pro-001             45.5 1.8 2.0
    gpt-4o-mini-2024-07-18         40.0 2.3 1.9
    gemini-1.5-flash-8b-exp-0827   30.6 2.3 1.8
    internvl2-26b                  23.3 2.1 1.1
    gemini-1.5-flash-001           23.0 1.1 1.6
    claude-3-opus-20240229         18.9 1.9 1.7
    claude-3-sonnet-20240229       18.4 1.4 1.3
    reka-core-20240501             15.6 1.3 1.4
    llama-3.2-11b-vision-instruct  11.2 1.3 1.1
    claude-3-haiku-20240307         9.6 1.1 1.0
    internvl2-4b                    6.8 0.9 0.8
""")
"""VisionArena-Bench, VisionArena's table 7: baseline gpt-4-turbo-2024-04-09."""

BENCH_CLAUDE = _bounds("""
    gemini-1.5-pro-exp-0827        87.6 1.1 1.1
    gpt-4o-2024-05-13              86.8 1.1 1.3
    claude-3.5-sonnet-20240620     86.3 1.3 1.2
    gemini-1.5-flash-exp-0827      83.5 1.7 1.1
    gpt-4-turbo-2024-04-09         80.7 1.0 1.6
    gemini-1.5-pro-001             75.3 1.7 1.4
    gpt-4o-mini-2024-07-18         73.0 1.3 1.4
    gemini-1.5-flash-8b-exp-0827   64.7 1.5 2.4
    gemini-1.5-flash-001           58.4 1.9 1.5
    internvl2-26b                  54.2 1.7 1.7
    claude-3-opus-20240229         52.0 2.0 1.7
    claude-3-sonnet-20240229       50.0 0.0 0.0
    reka-core-20240501             37.9 1.9 1.7
    llama-3.2-11b-vision-instruct  32.6 1.7 1.8
    claude-3-haiku-20240307        30.7 2.3 1.6
    internvl2-4b                   19.6 1.9 1.3
""")
"""Table 8: baseline claude-3-sonnet-20240229; it spells the fourth of table 7 claude-3-5-sonnet."""

ARENA_ORDER = {
    "gpt-4o-2024-05-13": 2,
    "claude-3.5-sonnet-20240620": 3,
    "gemini-1.5-pro-001": 4,
    "gpt-4-turbo-2024-04-09": 5,
    "gpt-4o-mini-2024-07-18": 6,
    "gemini-1.5-flash-001": 7,
    "claude-3-opus-20240229": 8,
    "internvl2-26b": 9,
    "claude-3-sonnet-20240229": 10,
    "claude-3-haiku-20240307": 12,
    "reka-core-20240501": 13,
}
"""VisionArena's figure 7, overall places of models that are in both tables in the same version."""
