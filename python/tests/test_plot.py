"""Figures hold the numbers of their documents."""

import statistics
from pathlib import Path

import pytest

import ioscape
from ioscape import _documents

pytest.importorskip("matplotlib", reason="matplotlib is not installed, so no figure was drawn: pip install matplotlib").use("Agg")
import matplotlib.pyplot as pyplot

from ioscape import plot

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "crates/cli/tests/command/data/small.ioscape.json"


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


@pytest.fixture
def evaluated():
    return ioscape.load(SMALL)


def lines_of(axes):
    """The points of every curve, by its label."""
    return {one.get_label(): [list(map(float, axis)) for axis in one.lines[0].get_data()] for one in axes.containers}


def test_a_landscape_holds_every_curve_and_border(evaluated):
    axes = plot.landscape(evaluated)
    found = lines_of(axes)
    assert list(found) == ["mixed", "reads", "writes"]
    points = evaluated.evaluation.unique_bytes_read_curve
    rates = [statistics.median(point.rounds or [point.measurement.throughput_bytes_per_s]) for point in points]
    assert found["reads"] == [[point.value for point in points], rates]
    dashed = [line.get_xdata()[0] for line in axes.lines if line.get_linestyle() == "--"]
    assert dashed == [border.unique_bytes for border in evaluated.evaluation.borders or [] if not border.in_memory]
    assert axes.get_xscale() == axes.get_yscale() == "log" and "bytes/s" in axes.get_ylabel()


def test_borders_within_memory_are_dotted(evaluated):
    places = {1e6: True, 1e8: None}
    evaluated.evaluation.borders = [_documents.Border(low=at / 2, high=at * 2, operation="read", unique_bytes=at, in_memory=inside)
                                    for at, inside in places.items()]
    axes = plot.landscape(evaluated)
    drawn = {line.get_xdata()[0]: line.get_linestyle() for line in axes.lines if line.get_linestyle() in ("--", ":")}
    assert drawn == {1e6: ":", 1e8: "--"}


def test_a_point_in_rounds_is_their_median_with_the_slowest_and_the_fastest(evaluated):
    point, alone = evaluated.evaluation.unique_bytes_curve[:2]
    point.rounds, alone.rounds = [1e9, 3e9], None
    evaluated.evaluation.unique_bytes_curve = [point, alone]
    drawn = plot.landscape(evaluated).containers[0]
    assert list(drawn.lines[0].get_ydata()) == [2e9, alone.measurement.throughput_bytes_per_s]
    ends = [segment[:, 1].tolist() for segment in drawn.lines[2][0].get_segments()]
    assert ends == [pytest.approx([1e9, 3e9]), pytest.approx(alone.measurement.throughput_ci95)]


def test_curves_have_a_line_for_each_region(evaluated):
    found = lines_of(plot.curves(evaluated, "size_mean"))
    assert list(found) == [region.name for region in evaluated.evaluation.regions]
    first = evaluated.evaluation.regions[0]
    assert found[first.name][0] == [point.value for point in first.curves.size_mean]
    with pytest.raises(ValueError, match="size_mean"):
        plot.curves(evaluated, "size")


def test_runs_are_bars_with_their_intervals(evaluated):
    measured = [point.measurement for point in evaluated.evaluation.unique_bytes_curve[:3]]
    evaluated.measurements, evaluated.evaluation = measured, None
    axes = plot.runs(evaluated)
    bars, errors = axes.containers[1], axes.containers[0]
    assert [bar.get_width() for bar in bars] == [one.throughput_bytes_per_s for one in measured]
    ends = [segment[:, 0].tolist() for segment in errors[2][0].get_segments()]
    assert ends == [pytest.approx(one.throughput_ci95) for one in measured]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "2", "3"]


def validated(evaluated):
    """A validation of three workloads: one measured once, one in rounds."""
    points = evaluated.evaluation.unique_bytes_curve[:2]
    predicted = ioscape.predict(SMALL, read_frac=1.0, unique_bytes="8M").predictions[0]
    made = [_documents.ValidationPoint(measurement=point.measurement, near_border=False, prediction=predicted) for point in points]
    made[1].rounds_bytes_per_s = [3e6, 1e6, 2e6]
    evaluated.validation = _documents.Validation(median_error=0.25, p75_error=0.5, p90_error=0.75, workloads=2, points=made)
    evaluated.evaluation = None
    return evaluated


def test_a_validation_is_measured_against_predicted(evaluated):
    document = validated(evaluated)
    points = document.validation.points
    axes = plot.validation(document)
    predicted = points[0].prediction.throughput_bytes_per_s
    # Where a workload was measured in rounds, predictions are compared with their median.
    assert axes.collections[0].get_offsets().tolist() == [[predicted, points[0].measurement.throughput_bytes_per_s], [predicted, 2e6]]
    xs, ys = axes.lines[0].get_data()
    assert list(xs) == list(ys) == [min(predicted, 2e6, points[0].measurement.throughput_bytes_per_s),
                                    max(predicted, 2e6, points[0].measurement.throughput_bytes_per_s)]
    assert axes.get_title() == "median error 25%" and axes.get_xscale() == axes.get_yscale() == "log"


def test_between_two_rounds_of_a_validation_is_their_geometric_mean(evaluated):
    document = validated(evaluated)
    document.validation.points[1].rounds_bytes_per_s = [4e6, 1e6]
    assert plot.validation(document).collections[0].get_offsets().tolist()[1][1] == pytest.approx(2e6)


def test_a_validation_without_points_is_an_empty_figure(evaluated):
    document = validated(evaluated)
    document.validation.points = None
    axes = plot.validation(document)
    assert not axes.lines and axes.get_title() == "median error 25%"


def test_a_figure_can_share_its_axes(evaluated):
    _, (left, right) = pyplot.subplots(1, 2)
    assert plot.landscape(evaluated, left) is left and plot.curves(evaluated, "read_frac", right) is right
    assert left.containers and right.containers


def test_what_a_document_lacks_is_said(evaluated):
    empty = ioscape.load(SMALL)
    empty.evaluation = None
    for draw, what in ((plot.landscape, "no evaluation"), (plot.validation, "no validation"), (plot.miss_ratio, "no miss ratios"),
                       (plot.runs, "no measurements")):
        with pytest.raises(ValueError, match=what):
            draw(empty)
    assert pyplot.get_fignums() == []


def test_a_miss_ratio_falls_with_the_size(tmp_path):
    lines = [f"{at * 5} 0 {at * 977 % 5_000} {8 + at % 8} {at % 2}" for at in range(400)]
    (tmp_path / "small.trace").write_text("\n".join(lines) + "\n")
    document = ioscape.trace.analyze(tmp_path / "small.trace", format="disksim")
    axes = plot.miss_ratio(document)
    curves = document.trace_summary.miss_ratio.curves
    assert len(axes.lines) == len(curves) > 0
    sizes, ratios = axes.lines[0].get_data()
    assert [[size, ratio] for size, ratio in zip(sizes, ratios)] == curves[0].points
    assert list(ratios) == sorted(ratios, reverse=True) and axes.get_ylabel() == "miss ratio" and axes.get_ylim() == (0, 1)
    assert [text.get_text() for text in axes.get_legend().get_texts()][0] == "exact"
