"""Figures of documents with matplotlib: a line per curve, bytes per second against the parameter."""

from __future__ import annotations

import math
import statistics
from typing import Any

from ._documents import Document, Evaluation, Point, ValidationPoint

_PARAMETERS = {"size_mean": "mean request size (bytes)", "read_frac": "share of reads", "seq_frac": "share of sequential requests",
               "process_num": "processes"}


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot as pyplot

    return pyplot.subplots()[1]


def _evaluation(document: Document) -> Evaluation:
    if document.evaluation is None:
        raise ValueError("the document holds no evaluation")
    return document.evaluation


def _median(point: Point) -> float:
    return statistics.median(point.rounds or [point.measurement.throughput_bytes_per_s])


def _measured(point: ValidationPoint) -> float:
    rounds = sorted(point.rounds_bytes_per_s or [point.measurement.throughput_bytes_per_s])
    return math.sqrt(rounds[(len(rounds) - 1) // 2] * rounds[len(rounds) // 2])


def _ends(point: Point) -> list[float]:
    rounds = point.rounds or []
    return [min(rounds), max(rounds)] if len(rounds) > 1 else point.measurement.throughput_ci95


def _line(axes: Any, points: list[Point], label: str) -> None:
    values = [point.value for point in points]
    rates = [_median(point) for point in points]
    ends = [_ends(point) for point in points]
    spread = [[max(rate - low, 0.0) for rate, (low, _) in zip(rates, ends)],
              [max(high - rate, 0.0) for rate, (_, high) in zip(rates, ends)]]
    axes.errorbar(values, rates, yerr=spread, marker="o", markersize=3, capsize=2, label=label)


def landscape(document: Document, axes: Any = None) -> Any:
    """Throughput (bytes per second) against the size of the set (bytes), both logarithmic; dashed lines are borders, dotted ones within memory.

    Of a point that was measured in rounds it is the median; bars reach from the slowest to the fastest round, and are the 95 % interval of a
    single one. How sure a border is, the page of the document tells, but not this figure. Draws on `axes` of matplotlib, or on new ones,
    and gives them. Raises `ValueError` where the document holds no evaluation.
    """
    evaluation, axes = _evaluation(document), _axes(axes)
    curves = {"mixed": evaluation.unique_bytes_curve, "reads": evaluation.unique_bytes_read_curve,
              "writes": evaluation.unique_bytes_write_curve}
    for label, points in curves.items():
        if points:
            _line(axes, points, label)
    for border in evaluation.borders or []:
        axes.axvline(border.unique_bytes, linestyle=":" if border.in_memory else "--", linewidth=0.8, color="grey")
    axes.set(xscale="log", yscale="log", xlabel="size of the set (bytes)", ylabel="throughput (bytes/s)", title=evaluation.target)
    axes.legend()
    return axes


def curves(document: Document, parameter: str, axes: Any = None) -> Any:
    """Throughput (bytes per second) against `parameter`, one line per region, with bars as of `landscape`.

    `parameter` is one of size_mean (bytes), read_frac, seq_frac (shares from 0 to 1) and process_num. Raises `ValueError` for any other, and
    where the document holds no evaluation.
    """
    if parameter not in _PARAMETERS:
        raise ValueError(f"{parameter!r} is not one of {', '.join(_PARAMETERS)}")
    evaluation, axes = _evaluation(document), _axes(axes)
    for region in evaluation.regions or []:
        points = getattr(region.curves, parameter)
        if points:
            _line(axes, points, region.name)
    axes.set(xlabel=_PARAMETERS[parameter], ylabel="throughput (bytes/s)", title=evaluation.target)
    axes.legend()
    return axes


def validation(document: Document, axes: Any = None) -> Any:
    """Measured against predicted throughput (bytes per second) of a validation, both logarithmic; on the line they are equal.

    Of a workload that was measured in rounds it is the median, with which its prediction is compared: of an even number the geometric mean
    of the middle two. Raises `ValueError` where the document holds no validation.
    """
    if document.validation is None:
        raise ValueError("the document holds no validation")
    axes = _axes(axes)
    points = document.validation.points or []
    predicted = [point.prediction.throughput_bytes_per_s for point in points]
    measured = [_measured(point) for point in points]
    axes.scatter(predicted, measured, s=12)
    if points:
        ends = [min(predicted + measured), max(predicted + measured)]
        axes.plot(ends, ends, linewidth=0.8, color="grey")
    axes.set(xscale="log", yscale="log", xlabel="predicted throughput (bytes/s)", ylabel="measured throughput (bytes/s)",
             title=f"median error {document.validation.median_error:.0%}")
    return axes


def miss_ratio(document: Document, axes: Any = None) -> Any:
    """Miss ratio (0 to 1) of an LRU cache against its size (bytes, logarithmic); where it is sampled, with 90 % bounds.

    Raises `ValueError` where the document holds no miss ratios.
    """
    found = document.trace_summary.miss_ratio if document.trace_summary is not None else None
    if found is None:
        raise ValueError("the document holds no miss ratios")
    axes = _axes(axes)
    for curve in found.curves:
        sizes = [size for size, _ in curve.points]
        label = "exact" if curve.one_in == 1 else f"one block in {curve.one_in}"
        axes.plot(sizes, [ratio for _, ratio in curve.points], label=label)
        if curve.interval90:
            axes.fill_between(sizes, [low for low, _ in curve.interval90], [high for _, high in curve.interval90], alpha=0.2)
    axes.set(xscale="log", xlabel="size of the cache (bytes)", ylabel="miss ratio", ylim=(0, 1))
    axes.legend()
    return axes


def runs(document: Document, axes: Any = None) -> Any:
    """Throughput (bytes per second) of single runs with their 95 % intervals.

    Raises `ValueError` where the document holds no measurements.
    """
    if not document.measurements:
        raise ValueError("the document holds no measurements")
    measured, axes = document.measurements, _axes(axes)
    names = [one.name or str(number) for number, one in enumerate(measured, 1)]
    rates = [one.throughput_bytes_per_s for one in measured]
    spread = [[max(one.throughput_bytes_per_s - one.throughput_ci95[0], 0.0) for one in measured],
              [max(one.throughput_ci95[1] - one.throughput_bytes_per_s, 0.0) for one in measured]]
    axes.barh(names, rates, xerr=spread)
    axes.set(xlabel="throughput (bytes/s)")
    return axes
