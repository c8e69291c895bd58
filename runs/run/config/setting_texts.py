"""What each setting of a run means, in the words of `simulate --help` and of `RunRequest`.

Without pydantic, so that `--help` waits for no record.
"""

from __future__ import annotations

SETTINGS = {
    "videos": "Folder of videos, searched recursively.",
    "out": "Folder of the run; an existing run is continued.",
    "rounds": "Number of battles in each lineage.  [default: 3, or the run's]",
    "limit": "Use so many of the videos, sampled with the seed. A run keeps its number.",
    "seed": "Random seed.  [default: 0]",
    "models": "Contestants, each as provider:model or by its name in arena.toml.  "
    "[default: arena.toml, else the offline cast]",
    "examiner": "Model that watches the videos, invents personas, and asks, evolves and grades "
    "questions. It never competes.",
    "judge": "One or more judges; a panel decides by plurality.  [default: the examiner]",
    "config": "Configuration file: models, roles and settings.  "
    "[default: ./arena.toml if it exists]",
    "max_usd": "Stop before the whole run costs more than this, in US dollars. Stays in force "
    "until changed.",
    "max_tokens": "Stop before the whole run uses more than this many tokens, input and output. "
    "Stays in force until changed.",
    "until": "Stop early: when all models are separated, when confidence intervals average POINTS "
    "wide (ci=POINTS), or after N decided battles (battles=N). Stays in force until changed; "
    "'rounds' removes it.",
    "max_void": "Exit with code 3 if a larger share of slots is void.  [default: 0.05]",
    "concurrency": "Maximum number of concurrent model calls.  [default: 16]",
    "patience": "Minutes to wait for a server that has become unreachable; at most half a minute "
    "for one that never answered.  [default: 15]",
    "policy": "How frames are sampled from a video.  [default: uniform]",
    "fps": "Frames per second, with the policy fps.  [default: 1]",
    "frames": "Maximum number of frames per video.  [default: 128]",
    "size_px": "Longer side of a frame, in pixels.  [default: 512]",
    "fit": "Keep the aspect ratio, stretch to a square, or pad to a square.  [default: keep]",
    "quality": "JPEG quality, 1 to 95.  [default: 85]",
    "decoder": "Video decoder.  [default: av]",
    "subtitles": "Send the .srt or .vtt file beside a video together with its frames.  "
    "[default: send]",
    "preset": "Play by the VideoAutoArena paper wherever the defaults differ.",
    "pairing": "How pairs of contestants are drawn.  [default: mix, or the run's]",
    "swap": "Share of battles judged again with the answers in swapped order, as an audit. With "
    "'all', both orders count.  [default: 0.1]",
    "prompts": "Folder of prompt files, such as judge.txt, that replace the built-in ones.",
    "languages": "Languages that the simulated users ask in, as codes such as en,de,zh; each is "
    "drawn for equally many lineages.  [default: none is named]",
    "personas": "JSON lines of users of your own: text and, where you like, video, language, "
    "index, name. They take the place of invented ones.",
    "diverse": "Invent the users of a video anew, twice at most, where they are near-duplicates.  "
    "[default: no]",
    "facts": "CSV file with a row for each video: path, title, category, language, licence and own "
    "columns.  [default: videos.csv beside the videos]",
    "block": "Approximate number of videos started together.  [default: 21]",
    "allow_self_judging": "Allow a judge or the examiner to compete; the run is marked.",
    "allow_offline_judge": "Allow the offline judge to judge real models; the run is marked.",
    "allow_blind_referee": "Allow an examiner or judge that is sent no frames (max_frames = 0); "
    "the run is marked.",
    "retry_failed": "Play battles again that ended void or forfeit because a call failed.",
    "fsync": "Flush every commit to disk, so that it survives a power failure; slower.",
    "trust": "Agree to where a run that was begun elsewhere leads. The refusal lists it, with its "
    "DIGEST.",
    "freeze": "Freeze the questions into a set in this folder once all is played, as arena freeze "
    "does.",
}
