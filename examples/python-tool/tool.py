from fractions import Fraction
from statistics import mean, median, multimode

from wit_world.exports.guest import Effects
from wit_world.imports.types import FailureKind

from ringfence import Failure, Guest, tool  # `Guest` is what componentize-py looks for here.


@tool(
    parameters={
        "type": "object",
        "properties": {
            "values": {"type": "array", "items": {"type": "number"}, "description": "The numbers, in any order."},
        },
        "required": ["values"],
        "additionalProperties": False,
    },
    effects=Effects.READ_ONLY | Effects.PURE,
)
def describe(values):
    """Describes numbers: how many they are, their sum, mean, median and most frequent values. Integers stay exact."""
    if not values:
        raise Failure(FailureKind.INVALID_PARAMS, "`values` is empty. Give at least one number.")
    exact = [Fraction(value) for value in values]
    return {
        "count": len(exact),
        "sum": _number(sum(exact)),
        "mean": _number(mean(exact)),
        "median": _number(median(exact)),
        "modes": [_number(value) for value in multimode(exact)],
    }


def _number(exact):
    return exact.numerator if exact.denominator == 1 else float(exact)
