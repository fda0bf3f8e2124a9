"""What distances are worth: probabilities learnt from readings on trial."""

import numpy as np

from .patches import Flags, Floats, Rows

NEAR = 0.02
"""Distances below this are as good as none."""

FAR = 100.0

RIDGE = 0.1
"""Keeps trust from being boundless where all trials were right."""


def describe_choice(by_face: Floats, spots: Floats) -> Floats:
    """Features of readings: how far the second face is against the first, how near the first.

    And how much the cut-out differs from the first in its worst spot.
    """
    first, second = np.partition(by_face, 1, axis=1)[:, :2].T.clip(max=FAR)
    near = np.log(first + NEAR)
    return np.stack([np.ones_like(first), np.log(second + NEAR) - near, near, spots], axis=1)


def describe_nearest(shape: Floats) -> Floats:
    """Features of sites on a strange board: how far the nearest shape is."""
    near = np.log(shape.clip(0, FAR) + NEAR)
    return np.stack([np.ones_like(near), near], axis=1)


def compare_nearness(bare: Floats, piece: Floats) -> Floats:
    """Features of a site: how much nearer it is to the taught pieces than to the bare board."""
    ratio = np.log(bare.clip(max=FAR) + NEAR) - np.log(piece.clip(max=FAR) + NEAR)
    return np.stack([np.ones_like(ratio), ratio], axis=1)


def measure_margin(by_face: Floats, truth: Rows) -> float:
    """How much nearer the true face is than the nearest other one, on average."""
    rows = np.arange(len(truth))
    mine = by_face[rows, truth].clip(max=FAR)
    others = by_face.copy()
    others[rows, truth] = np.inf
    ratio = np.log(others.min(axis=1).clip(max=FAR) + NEAR) - np.log(mine + NEAR)
    return float(np.clip(ratio, -1, 1).mean())


def fit_logistic(features: Floats, right: Flags, worth: Floats) -> Floats:
    """Weights of the features by which the right ones are told from the wrong ones."""
    weights = np.zeros(features.shape[1])
    ridge = RIDGE * np.eye(len(weights))
    for _ in range(40):
        p = sigmoid(features @ weights)
        slope = features.T @ (worth * (p - right)) + ridge @ weights
        curve = (features * (worth * p * (1 - p))[:, None]).T @ features + ridge
        weights -= np.linalg.solve(curve, slope)
    return weights


def sigmoid(x: Floats) -> Floats:
    """From a weighted sum to a probability."""
    found: Floats = 1 / (1 + np.exp(-np.clip(x, -30, 30)))
    return found
