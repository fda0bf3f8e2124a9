"""Trains the two dice nets on drawn and on permitted photographed dice, and writes them as ONNX.

    python -m vision.dice.train --minutes 60 --photos dice_nellbyler --photos dice_matteop65

needs torch and onnx, which nothing else here needs. Half of the time goes to the locator, which
then shows the reader what it takes for dice wrongly. ``--hold-out 0`` (or 1) leaves every second
block of ten photos of each set out, to measure on them; ``--go-on`` starts from saved states.
The seed is fixed, but the number of steps depends on the machine, so two runs differ a little.
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ..frame import Numbers, Pixels, read_picture
from .find import CROP_PX, CROP_SIZE_PX, STRIDE_PX, USUAL_PX, WEIGHTS, scale_values
from .render import Drawn, Scene, draw_scene

SEED = 20_261
PATCH_PX = 160
BATCH_PATCHES = 16
BATCH_CROPS = 96
NO_COLOUR = (0.0, 0.0, 0.0)


@dataclass(eq=False)
class Lesson:
    """A scene, how hard each of its dice is, and places that were taken for a die wrongly."""

    scene: Scene
    photo: bool
    hard: Numbers = field(init=False)
    ghosts: list[tuple[float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hard = np.ones(len(self.scene.dice))
        sizes = [d.size_px for d in self.scene.dice]
        usual = float(np.median(sizes)) if sizes else USUAL_PX
        self.ghosts.extend((x, y, usual) for x, y in self.scene.sides_px)


def read_photos(folder: Path, hold_out: int | None) -> list[Lesson]:
    """The photos of one set; box sizes become sizes of the top face as well as they can."""
    truth = json.loads((folder / "truth.json").read_text("utf-8"))
    pips_only = "pips" in truth.get("box", "")
    lessons = []
    for number, photo in enumerate(truth["photos"]):
        if hold_out is not None and number // 10 % 2 == hold_out:
            continue
        boxes = [(d["value"], *d["box_px"]) for d in photo["dice"]]
        sizes = [_guess_size(pips_only, *box) for box in boxes]
        known = [s for s in sizes if s is not None]
        usual = float(np.median(known)) if known else 56.0
        dice = tuple(
            Drawn(value, (x0 + x1) / 2, (y0 + y1) / 2, size or usual, NO_COLOUR)
            for (value, x0, y0, x1, y1), size in zip(boxes, sizes, strict=True)
        )
        bgr = read_picture(folder / photo["image"]).bgr
        lessons.append(Lesson(Scene(bgr, dice, ()), photo=True))
    return lessons


def _guess_size(
    pips_only: bool, value: int, x0: float, y0: float, x1: float, y1: float
) -> float | None:
    """Edge of the top face; none where the box of a single pip tells nothing."""
    if not pips_only:
        return 0.82 * math.sqrt((x1 - x0) * (y1 - y0))
    if value == 1:
        return None
    return math.hypot(x1 - x0, y1 - y0) / (0.95 if value < 4 else 1.1)


def _turn(
    rng: np.random.Generator, x: float, y: float, scale: float, to: tuple[float, float]
) -> Numbers:
    """The matrix that brings a place of the picture to a place of the patch, turned at random."""
    angle = rng.uniform(0, 2 * np.pi)
    matrix = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    if rng.random() < 0.5:
        matrix[:, 0] *= -1
    return np.hstack([matrix, (np.array(to) - matrix @ [x, y])[:, None]])


def _cut(rng: np.random.Generator, bgr: Pixels, matrix: Numbers, side: int) -> Pixels:
    border = cv2.BORDER_REPLICATE if rng.random() < 0.5 else cv2.BORDER_CONSTANT
    grey = (float(rng.uniform(0, 255)),) * 3
    patch = cv2.warpAffine(bgr, matrix, (side, side), flags=cv2.INTER_LINEAR,
                           borderMode=border, borderValue=grey)  # fmt: skip
    return _change_light(rng, np.asarray(patch, np.uint8))


def _change_light(rng: np.random.Generator, bgr: Pixels) -> Pixels:
    light = bgr.astype(np.float32)
    if rng.random() < 0.05:
        light = 255 - light
    if rng.random() < 0.08:
        light = light[..., rng.permutation(3)]
    if rng.random() < 0.06:
        light = np.repeat(light.mean(axis=2, keepdims=True), 3, axis=2)
    gain = np.exp(rng.normal(0, 0.09, 3) + rng.normal(-0.05, 0.28))
    light = 255 * np.clip(light * gain / 255, 0, 1) ** np.exp(rng.normal(0, 0.2))
    if rng.random() < 0.25:
        light = cv2.GaussianBlur(light, (0, 0), rng.uniform(0.4, 1.2))
    if rng.random() < 0.4:
        light = light + rng.normal(0, rng.uniform(1, 7), light.shape)
    return np.asarray(np.clip(light, 0, 255), np.uint8)


def _choose_die(rng: np.random.Generator, lesson: Lesson) -> int:
    return int(rng.choice(len(lesson.hard), p=lesson.hard / lesson.hard.sum()))


def _draw_lesson(rng: np.random.Generator, lessons: Sequence[Lesson], photos: Numbers) -> Lesson:
    return lessons[int(rng.choice(len(lessons), p=photos))]


def weigh(lessons: Sequence[Lesson]) -> Numbers:
    """How often a lesson is drawn: photos as often as drawings, full ones more than empty ones."""
    weights = np.array([1.0 + len(lesson.scene.dice) ** 0.7 for lesson in lessons])
    photos = np.array([lesson.photo for lesson in lessons])
    for kind, share in ((photos, 0.6), (~photos, 0.4)):
        if kind.any():
            weights[kind] *= share / weights[kind].sum()
    return np.asarray(weights / weights.sum(), np.float64)


def draw_patch(rng: np.random.Generator, lesson: Lesson) -> tuple[Pixels, Numbers]:
    """A patch for the locator and its target: centre, value, log size, weight per cell."""
    dice = lesson.scene.dice
    height, width = lesson.scene.bgr.shape[:2]
    wanted = float(np.clip(np.exp(rng.normal(math.log(38), 0.45)), 14, 110))
    if dice and rng.random() < 0.85:
        die = dice[_choose_die(rng, lesson)]
        x, y, scale = die.x_px, die.y_px, wanted / die.size_px
        to = tuple(rng.uniform(-8, PATCH_PX + 8, 2).tolist())
    else:
        usual = float(np.median([d.size_px for d in dice])) if dice else USUAL_PX
        x, y, scale = rng.uniform(0, width), rng.uniform(0, height), wanted / usual
        to = (PATCH_PX / 2, PATCH_PX / 2)
    matrix = _turn(rng, x, y, scale, to)
    cells = PATCH_PX // STRIDE_PX
    target = np.zeros((4, cells, cells))
    rows, columns = np.mgrid[:cells, :cells]
    for die in dice:
        u, v = matrix @ [die.x_px, die.y_px, 1] / STRIDE_PX - 0.5
        size = die.size_px * scale
        sigma = max(0.8, 0.13 * size / STRIDE_PX)
        near = np.exp(-((columns - u) ** 2 + (rows - v) ** 2) / (2 * sigma**2))
        i, j = round(float(v)), round(float(u))
        if 0 <= i < cells and 0 <= j < cells:
            near[i, j] = 1.0
        mine = near > np.maximum(target[0], 0.45)
        target[0] = np.maximum(target[0], near)
        target[1][mine] = die.value - 1
        target[2][mine] = math.log(size / USUAL_PX)
        target[3][mine] = near[mine]
    return _cut(rng, lesson.scene.bgr, matrix, PATCH_PX), target


def draw_crop(rng: np.random.Generator, lesson: Lesson) -> tuple[Pixels, int, int]:
    """A crop for the reader, what it shows (0: no top face) and which die of the lesson it is."""
    dice, ghosts = lesson.scene.dice, lesson.ghosts
    height, width = lesson.scene.bgr.shape[:2]
    value, which = 0, -1
    if dice and rng.random() < 0.68:
        which = _choose_die(rng, lesson)
        die = dice[which]
        value, size = die.value, die.size_px * float(np.exp(rng.normal(0, 0.16)))
        x, y = np.array([die.x_px, die.y_px]) + rng.normal(0, 0.07, 2) * die.size_px
    elif ghosts and rng.random() < 0.6:
        x, y, size = ghosts[int(rng.integers(len(ghosts)))]
        x, y = np.array([x, y]) + rng.normal(0, 0.08, 2) * size
        size *= float(np.exp(rng.normal(0, 0.2)))
    elif dice and rng.random() < 0.6:
        die = dice[int(rng.integers(len(dice)))]
        size = die.size_px * float(np.exp(rng.normal(0, 0.25)))
        angle, far = rng.uniform(0, 2 * np.pi), die.size_px * rng.uniform(0.5, 1.1)
        x, y = die.x_px + far * np.cos(angle), die.y_px + far * np.sin(angle)
    else:
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        size = float(np.exp(rng.uniform(math.log(16), math.log(90))))
    if value == 0 and any(math.hypot(d.x_px - x, d.y_px - y) < 0.42 * d.size_px for d in dice):
        return draw_crop(rng, lesson)
    matrix = _turn(rng, x, y, CROP_SIZE_PX / size, (CROP_PX / 2, CROP_PX / 2))
    return _cut(rng, lesson.scene.bgr, matrix, CROP_PX), value, which


def build_locator() -> Any:
    """Fully convolutional, one cell per ``STRIDE_PX``: centre, six values, log size."""
    import torch
    from torch import nn

    def layer(channels: int, out: int, stride: int = 1, dilation: int = 1) -> Any:
        conv = nn.Conv2d(channels, out, 3, stride, dilation, dilation, bias=False)
        return nn.Sequential(conv, nn.BatchNorm2d(out), nn.ReLU())

    class Locator(nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.fine = nn.Sequential(layer(3, 16, 2), layer(16, 32, 2), layer(32, 32))
            self.down = layer(32, 64, 2)
            self.first = nn.Sequential(layer(64, 64, 1, 2), layer(64, 64))
            self.second = nn.Sequential(layer(64, 64, 1, 2), layer(64, 64))
            self.up = nn.ConvTranspose2d(64, 32, 2, 2)
            self.last = layer(32, 48)
            self.out = nn.Conv2d(48, 8, 1)
            with torch.no_grad():
                self.out.bias[0] = -4.0

        def forward(self, x: Any) -> Any:
            fine = self.fine(x)
            deep = self.down(fine)
            deep = deep + self.first(deep)
            deep = deep + self.second(deep)
            return self.out(self.last(fine + self.up(deep)))

    return Locator()


def build_reader() -> Any:
    """A crop with the die in the middle: no top face, or its value."""
    from torch import nn

    def layer(channels: int, out: int, kernel: int = 3, stride: int = 1) -> list[Any]:
        conv = nn.Conv2d(channels, out, kernel, stride, kernel // 2, bias=False)
        return [conv, nn.BatchNorm2d(out), nn.ReLU()]

    return nn.Sequential(
        *layer(3, 32, 5, 2), *layer(32, 48), nn.MaxPool2d(2),
        *layer(48, 72), *layer(72, 72), nn.MaxPool2d(2),
        *layer(72, 96), *layer(96, 96), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.15), nn.Linear(96 * 16, 64), nn.ReLU(), nn.Linear(64, 7),
    )  # fmt: skip


def _tensor(pictures: Sequence[Pixels]) -> Any:
    import torch

    values = scale_values(np.stack(pictures)).transpose(0, 3, 1, 2)
    return torch.from_numpy(values).contiguous(memory_format=torch.channels_last)


def _loss_of_patches(out: Any, target: Any) -> Any:
    """Penalty-reduced focal loss for centres, cross entropy for values, L1 for sizes."""
    from torch.nn import functional

    heat, value, size, weight = target[:, 0], target[:, 1].long(), target[:, 2], target[:, 3]
    centre = out[:, 0].sigmoid().clamp(1e-5, 1 - 1e-5)
    positive = heat >= 1
    hit = ((1 - centre) ** 2 * centre.log())[positive].sum()
    miss = ((1 - heat) ** 4 * centre**2 * (1 - centre).log())[~positive].sum()
    found = positive.sum().clamp(min=1)
    total = weight.sum().clamp(min=1)
    named = functional.cross_entropy(out[:, 1:7], value, reduction="none", label_smoothing=0.02)
    sized = (out[:, 7] - size).abs()
    return -(hit + miss) / found + ((1.5 * named + 0.3 * sized) * weight).sum() / total


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


def fit_locator(model: Any, lessons: Sequence[Lesson], minutes: float, seed: int) -> None:
    """Train the locator on patches."""
    import torch

    rng, weights = np.random.default_rng(seed), weigh(lessons)

    def step() -> Any:
        drawn = [draw_patch(rng, _draw_lesson(rng, lessons, weights)) for _ in range(BATCH_PATCHES)]
        target = torch.from_numpy(np.stack([t for _, t in drawn]).astype(np.float32))
        with torch.autocast("cpu", torch.bfloat16):
            out = model(_tensor([p for p, _ in drawn]))
        return _loss_of_patches(out.float(), target)

    _fit(model, step, minutes, 2.5e-3)


def fit_reader(model: Any, lessons: Sequence[Lesson], minutes: float, seed: int) -> None:
    """Train the reader on crops; dice that it reads badly come more often."""
    import torch
    from torch.nn import functional

    rng, weights = np.random.default_rng(seed + 1), weigh(lessons)

    def step() -> Any:
        chosen = [_draw_lesson(rng, lessons, weights) for _ in range(BATCH_CROPS)]
        drawn = [draw_crop(rng, lesson) for lesson in chosen]
        values = torch.tensor([value for _, value, _ in drawn])
        with torch.autocast("cpu", torch.bfloat16):
            out = model(_tensor([crop for crop, _, _ in drawn]))
        out = out.float()
        right = out.detach().softmax(1)[torch.arange(len(drawn)), values].numpy()
        for lesson, (_, _, which), belief in zip(chosen, drawn, right, strict=True):
            if which >= 0:
                lesson.hard[which] = 0.6 * lesson.hard[which] + 0.4 * (1 + 4 * (1 - belief))
        return functional.cross_entropy(out, values, label_smoothing=0.02)

    _fit(model, step, minutes, 3e-3)


def find_ghosts(model: Any, lessons: Sequence[Lesson]) -> int:
    """Let the locator say where it sees dice that are none; the reader learns to refuse them."""
    import torch

    count = 0
    for lesson in lessons:
        height, width = (side // 8 * 8 for side in lesson.scene.bgr.shape[:2])
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            out = model(_tensor([lesson.scene.bgr[:height, :width]]))[0].float().numpy()
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


def write_onnx(model: Any, side_px: int, path: Path) -> None:
    """The net as OpenCV reads it."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    example = torch.zeros(1, 3, side_px, side_px)
    model = model.float().eval().to(memory_format=torch.contiguous_format)
    torch.onnx.export(model, (example,), str(path), opset_version=13, dynamo=False,
                      input_names=["picture"], output_names=["beliefs"],
                      dynamic_axes={"picture": {0: "n"}, "beliefs": {0: "n"}})  # fmt: skip


def main() -> None:
    """Draw, read, train, write."""
    import torch

    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--photos", type=Path, action="append", default=[])
    parser.add_argument("--scenes", type=int, default=1600)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--hold-out", type=int, choices=(0, 1))
    parser.add_argument("--go-on", type=Path, help="folder with the states of an earlier run")
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--states", type=Path, help="folder to keep the states in")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    lessons: list[Lesson] = []
    for folder in options.photos:
        lessons.extend(read_photos(folder, options.hold_out))
    print(f"{len(lessons)} photos, drawing {options.scenes} scenes", flush=True)
    for number in range(options.scenes):
        scene = draw_scene(np.random.default_rng((options.seed, number)))
        lessons.append(Lesson(scene, photo=False))
    models = {"locator": build_locator(), "reader": build_reader()}
    for name, model in models.items():
        model.to(memory_format=torch.channels_last)
        if options.go_on:
            model.load_state_dict(torch.load(options.go_on / f"{name}.pt"))
    half = options.minutes / 2
    fit_locator(models["locator"], lessons, half, options.seed)
    print(f"{find_ghosts(models['locator'], lessons)} ghosts", flush=True)
    fit_reader(models["reader"], lessons, half, options.seed)
    for name, model in models.items():
        if options.states:
            options.states.mkdir(parents=True, exist_ok=True)
            torch.save(model.state_dict(), options.states / f"{name}.pt")
        write_onnx(model, CROP_PX if name == "reader" else 640, options.out / f"{name}.onnx")


if __name__ == "__main__":
    main()
