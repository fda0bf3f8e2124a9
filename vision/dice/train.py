"""Trains the two dice nets on drawn and on permitted photographed dice, and writes them as ONNX.

    python -m vision.dice.train --minutes 60 --photos dice_nellbyler --photos dice_matteop65

needs torch and onnx, which nothing else here needs. Half of the time goes to the locator, which
then shows the reader what it takes for dice wrongly. ``--hold-out 0`` (or 1) leaves every second
block of ten photos of each set out, to measure on them; ``--go-on`` starts from saved states.
The seed is fixed, but the number of steps depends on the machine, so two runs differ a little.
"""

import argparse
import math
import pickle
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ..frame import Numbers, Pixels, read_picture
from .find import CROP_PX, STRIDE_PX, USUAL_PX, WEIGHTS
from .lessons import Lesson, draw_crop, draw_lessons, draw_patch, read_photos, recall, weigh
from .nets import build_locator, build_reader, make_tensor, weigh_mistakes, write_onnx

SEED = 20_261
BATCH_PATCHES = 16
BATCH_CROPS = 96
LOCATOR_PX = 640
MOST_HAUNTED = 700
"""Lessons in which ghosts are looked for at a time."""


def _choose(rng: np.random.Generator, lessons: Sequence[Lesson], chances: Numbers) -> Lesson:
    return lessons[int(rng.choice(len(lessons), p=chances))]


def _fit(model: Any, step: Callable[[], Any], minutes: float, peak: float) -> None:
    """Steps of AdamW under a cosine rate until the time is up."""
    import torch

    optimiser = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=0.02)
    start, steps, shown, losses = time.monotonic(), 0, 0.0, []
    model.train()
    while (done := (time.monotonic() - start) / (60 * minutes)) < 1:
        rate = peak * min(1.0, done / 0.04 + 0.02) * 0.5 * (1 + math.cos(math.pi * done))
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss = step()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimiser.step()
        losses.append(float(loss.detach()))
        steps += 1
        if done - shown > 0.1:
            print(f"{100 * done:3.0f} %  {steps} steps, loss {np.mean(losses):.3f}", flush=True)
            shown, losses = done, []
    model.eval()
    print(f"trained {minutes:g} minutes, {steps} steps", flush=True)


def fit_locator(
    model: Any, lessons: Sequence[Lesson], minutes: float, seed: int, part: float
) -> None:
    """Train the locator on patches."""
    import torch

    rng, weights = np.random.default_rng(seed), weigh(lessons)

    def step() -> Any:
        drawn = [draw_patch(rng, _choose(rng, lessons, weights)) for _ in range(BATCH_PATCHES)]
        target = torch.from_numpy(np.stack([t for _, t in drawn]).astype(np.float32))
        with torch.autocast("cpu", torch.bfloat16):
            out = model(make_tensor([p for p, _ in drawn]))
        return weigh_mistakes(out.float(), target)

    _fit(model, step, minutes, 2.5e-3 * part)


def fit_reader(
    model: Any, lessons: Sequence[Lesson], minutes: float, seed: int, part: float
) -> None:
    """Train the reader on crops; dice that it reads badly come more often."""
    import torch
    from torch.nn import functional

    rng, weights = np.random.default_rng(seed + 1), weigh(lessons)

    def step() -> Any:
        chosen = [_choose(rng, lessons, weights) for _ in range(BATCH_CROPS)]
        drawn = [draw_crop(rng, lesson) for lesson in chosen]
        values = torch.tensor([value for _, value, _ in drawn])
        with torch.autocast("cpu", torch.bfloat16):
            out = model(make_tensor([crop for crop, _, _ in drawn]))
        out = out.float()
        right = out.detach().softmax(1)[torch.arange(len(drawn)), values].numpy()
        for lesson, (_, _, which), belief in zip(chosen, drawn, right, strict=True):
            if which >= 0:
                lesson.hard[which] = 0.6 * lesson.hard[which] + 0.4 * (1 + 4 * (1 - belief))
        return functional.cross_entropy(out, values, label_smoothing=0.02)

    _fit(model, step, minutes, 3e-3 * part)


def find_ghosts(model: Any, lessons: Sequence[Lesson]) -> int:
    """Let the locator say where it sees dice that are none; both nets learn to refuse them."""
    import torch

    count = 0
    model.eval()
    chosen = np.random.default_rng(len(lessons)).permutation(len(lessons))[:MOST_HAUNTED]
    for lesson in (lessons[number] for number in chosen):
        height, width = (side // 16 * 16 for side in lesson.scene.bgr.shape[:2])
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            out = model(make_tensor([lesson.scene.bgr[:height, :width]]))[0].float().numpy()
        heat = 1 / (1 + np.exp(-out[0]))
        peaks = (heat == cv2.dilate(heat, np.ones((5, 5), np.uint8))) & (heat > 0.1)
        for row, column in np.argwhere(peaks)[:60]:
            x, y = (column + 0.5) * STRIDE_PX, (row + 0.5) * STRIDE_PX
            dice = lesson.scene.dice
            if all(math.hypot(d.x_px - x, d.y_px - y) > 0.5 * d.size_px for d in dice):
                size = USUAL_PX * float(np.exp(out[7, row, column]))
                lesson.ghosts.append((float(x), float(y), size))
                count += 1
    return count


def _read_surfaces(folder: Path | None) -> list[Pixels]:
    paths = sorted(p for p in folder.rglob("*") if p.suffix in (".jpg", ".png")) if folder else []
    return [read_picture(path).bgr for path in paths]


def _draw_or_recall(options: argparse.Namespace) -> list[Lesson]:
    """Drawing takes minutes, so that several runs may share what was drawn."""
    if options.drawn and options.drawn.exists():
        scenes = pickle.loads(options.drawn.read_bytes())
        return [recall(scene) for scene in scenes[: options.scenes]]
    surfaces = _read_surfaces(options.surfaces)
    lessons = draw_lessons(options.seed, options.scenes, surfaces, options.cores)
    if options.drawn:
        options.drawn.write_bytes(pickle.dumps([lesson.scene for lesson in lessons]))
    return lessons


def main() -> None:
    """Draw, read, train, write."""
    import torch

    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--photos", type=Path, action="append", default=[])
    parser.add_argument("--rolled", type=Path, action="append", default=[],
                        help="photos of a camera that was held anyhow")  # fmt: skip
    parser.add_argument("--without", type=Path, help="file with names of photos to leave out")
    parser.add_argument("--surfaces", type=Path, help="folder with pictures of surfaces")
    parser.add_argument("--scenes", type=int, default=2400)
    parser.add_argument("--drawn", type=Path, help="file that keeps the drawn scenes")
    parser.add_argument("--cores", type=int, default=1, help="for drawing")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--hold-out", type=int, choices=(0, 1))
    parser.add_argument("--go-on", type=Path, help="folder with the states of an earlier run")
    parser.add_argument("--peak", type=float, default=1.0, help="part of the usual learning rate")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--states", type=Path, help="folder to keep the states in")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    left_out = frozenset(options.without.read_text().split() if options.without else ())
    lessons = _draw_or_recall(options)
    print(f"{len(lessons)} drawn scenes", flush=True)
    for folder in (*options.photos, *options.rolled):
        photos = read_photos(folder, options.hold_out, left_out, folder in options.photos)
        print(f"{len(photos)} photos of {folder.name}", flush=True)
        lessons.extend(photos)
    models = {"locator": build_locator(), "reader": build_reader()}
    for name, model in models.items():
        model.to(memory_format=torch.channels_last)
        if options.go_on:
            model.load_state_dict(torch.load(options.go_on / f"{name}.pt"))
    if options.go_on:
        print(f"{find_ghosts(models['locator'], lessons)} ghosts", flush=True)
    half = options.minutes / 2
    fit_locator(models["locator"], lessons, half, options.seed, options.peak)
    _keep(models, options)
    print(f"{find_ghosts(models['locator'], lessons)} ghosts", flush=True)
    fit_reader(models["reader"], lessons, half, options.seed, options.peak)
    _keep(models, options)


def _keep(models: dict[str, Any], options: argparse.Namespace) -> None:
    import torch

    for name, model in models.items():
        if options.states:
            options.states.mkdir(parents=True, exist_ok=True)
            torch.save(model.state_dict(), options.states / f"{name}.pt")
        write_onnx(model, CROP_PX if name == "reader" else LOCATOR_PX, options.out / f"{name}.onnx")


if __name__ == "__main__":
    main()
