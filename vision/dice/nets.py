"""The two dice nets as torch trains them, their losses, and how they are written as ONNX."""

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from ..frame import Pixels
from .find import scale_values


def build_locator() -> Any:
    """Fully convolutional, one cell per ``STRIDE_PX``: centre, six values, log size.

    Nearly all of it is plain 3 x 3 layers, pooling and copying upwards: OpenCV computes those many
    times faster than strided, dilated or transposed ones of the same size.
    """
    import torch
    from torch import nn

    def layer(channels: int, out: int, kernel: int = 3, stride: int = 1) -> Any:
        conv = nn.Conv2d(channels, out, kernel, stride, kernel % 2, bias=False)
        return nn.Sequential(conv, nn.BatchNorm2d(out), nn.ReLU())

    class Locator(nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.fine = nn.Sequential(layer(3, 16, 3, 2), layer(16, 32, 2, 2), layer(32, 32))
            self.pool = nn.MaxPool2d(2)
            self.middle = layer(32, 64)
            self.more = nn.Sequential(layer(64, 64), layer(64, 64))
            self.deep = layer(64, 96)
            self.deeper = nn.Sequential(layer(96, 96), layer(96, 96))
            self.rise = nn.Conv2d(96, 64, 1)
            self.lift = nn.Conv2d(64, 32, 1)
            self.copy = nn.Upsample(scale_factor=2, mode="nearest")
            self.last = layer(32, 32)
            self.out = nn.Conv2d(32, 8, 1)
            with torch.no_grad():
                self.out.bias[0] = -4.0

        def forward(self, x: Any) -> Any:
            fine = self.fine(x)
            middle = self.middle(self.pool(fine))
            middle = middle + self.more(middle)
            deep = self.deep(self.pool(middle))
            deep = deep + self.deeper(deep)
            middle = middle + self.copy(self.rise(deep))
            return self.out(self.last(fine + self.copy(self.lift(middle))))

    return Locator()


def build_reader() -> Any:
    """A crop with the die in the middle: no top face, or its value."""
    from torch import nn

    def layer(channels: int, out: int, stride: int = 1) -> list[Any]:
        conv = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        return [conv, nn.BatchNorm2d(out), nn.ReLU()]

    return nn.Sequential(
        *layer(3, 32, 2), *layer(32, 32), *layer(32, 48), nn.MaxPool2d(2),
        *layer(48, 72), *layer(72, 72), nn.MaxPool2d(2),
        *layer(72, 96), *layer(96, 96), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.15), nn.Linear(96 * 16, 64), nn.ReLU(), nn.Linear(64, 7),
    )  # fmt: skip


def make_tensor(pictures: Sequence[Pixels]) -> Any:
    """Pictures of one size as the nets take them."""
    import torch

    values = scale_values(np.stack(pictures)).transpose(0, 3, 1, 2)
    return torch.from_numpy(values).contiguous(memory_format=torch.channels_last)


def weigh_mistakes(out: Any, target: Any) -> Any:
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


def write_onnx(model: Any, side_px: int, path: Path) -> None:
    """The net as OpenCV reads it."""
    import torch

    path.parent.mkdir(parents=True, exist_ok=True)
    example = torch.zeros(1, 3, side_px, side_px)
    model = deepcopy(model).float().eval().to(memory_format=torch.contiguous_format)
    torch.onnx.export(model, (example,), str(path), opset_version=13, dynamo=False,
                      input_names=["picture"], output_names=["beliefs"],
                      dynamic_axes={"picture": {0: "n"}, "beliefs": {0: "n"}})  # fmt: skip
