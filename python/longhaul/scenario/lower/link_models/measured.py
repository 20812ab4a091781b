"""Delay and rate models from measurements, for both directions of a link."""

from collections.abc import Mapping

from longhaul.scenario.inputs import Inputs
from longhaul.scenario.lower.link_models import series
from longhaul.scenario.model.delay import Delay, DelayTrace
from longhaul.scenario.model.link import LinkModel
from longhaul.scenario.model.measured import Measured
from longhaul.scenario.model.rate import ConstantRate, RateTrace
from longhaul.scenario.syntax.csv_file import RATE, TIME, Units
from longhaul.scenario.syntax.value_errors import within
from longhaul.units.quantities import Rate, Span


def traced_models(measured: Measured, ends: tuple[str, str], inputs: Inputs) -> Mapping[str, LinkModel]:
    """Delay and rate by direction, of a link whose endpoints are called ``ends``.

    What the trace lacks, a rate for example, is left to the link's own models. Raises
    :class:`ScenarioValueError` from ``measured`` on, and :class:`FileError`.
    """
    source, destination = measured.source or ends[0], measured.to or ends[1]
    with within("measured"):
        return {
            "forward": _direction(measured, source, destination, inputs),
            "reverse": _direction(measured, destination, source, inputs),
        }


def _direction(measured: Measured, source: str, destination: str, inputs: Inputs) -> LinkModel:
    table = inputs.table(measured.file, at="trace" if measured.trace else "kind")
    several = table.places() is not None
    of_link = {"from": source, "to": destination} if several else {}
    common = {"trace": measured.file, "at_end": measured.at_end, **of_link}
    found: dict[str, object] = {}
    time = table.first(TIME, at="time")
    if table.fitting(TIME, but=time):
        delay = DelayTrace.model_validate({**common, "interpolate": measured.interpolate})
        found["delay"] = _or_mean(measured, delay, inputs, TIME, Span.limit)
    if table.fitting(RATE):
        found["rate"] = _or_mean(measured, RateTrace.model_validate(common), inputs, RATE, Rate.limit)
    return LinkModel.model_construct(_fields_set=set(found), **found)  # type: ignore[arg-type]


def _or_mean(
    measured: Measured, model: DelayTrace | RateTrace, inputs: Inputs, units: Units, most: int
) -> DelayTrace | RateTrace | Delay | ConstantRate:
    """``model``, or the constant model with its mean where that is asked for, or all there is."""
    read = series.read_points(model, inputs, units=units, most=most)
    if measured.kind != "constant" and len(read.points) > 1:
        return model
    mean = series.mean(read.points)
    if units is RATE:
        return ConstantRate(rate=Rate(max(1, mean)))
    delay = Delay(base=Span(mean))
    if read.is_round_trip:
        inputs.round_trips.append((delay, read.column))
    return delay
