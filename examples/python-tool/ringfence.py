"""What every tool in Python needs of the contract `ringfence:tool@0.1.0`. Copy this file beside tools of your own."""

import json
import traceback

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.guest import Approval, Definition, Effects
from wit_world.imports import log
from wit_world.imports.types import Content_Json, Content_Text, Failure as WireFailure, FailureKind, Output

_TOOLS = {}


class Failure(Exception):
    """A failure that the caller is told."""

    def __init__(self, kind: FailureKind, message: str, code: str | None = None, retry_after_ms: int | None = None):
        super().__init__(message)
        self.wire = WireFailure(kind, code or kind.name.lower(), message, retry_after_ms)


def tool(parameters: dict, effects: Effects = Effects(0)):
    """Makes a tool of a function: it gets the parameters by name, and its docstring is what the model reads."""

    def register(function):
        definition = Definition(
            name=function.__name__,
            title=None,
            description=function.__doc__,
            parameters=_json(parameters),
            output_schema=None,
            effects=effects,
            approval=Approval.NEVER,
            rules=[],
            rate_limit=None,
            deferrable=False,
            categories=[],
            short_doc=None,
            long_doc=None,
            examples=[],
        )
        _TOOLS[function.__name__] = (definition, function)
        return function

    return register


class Guest(exports.Guest):
    """What the component exports. componentize-py finds it by its name."""

    def definitions(self):
        return [definition for definition, _ in _TOOLS.values()]

    def call(self, name, parameters, info):
        try:
            if name not in _TOOLS:
                raise Failure(FailureKind.NOT_FOUND, f"This component has no tool `{name}`.")
            return _output(_TOOLS[name][1](**json.loads(parameters)))
        except Failure as failure:
            raise Err(failure.wire) from None
        except BaseException:
            # An exception that nobody expected ends the call, and the host says why.
            log.panicked(traceback.format_exc())
            raise


def _output(value):
    """A text is for the model as it is; anything else is a structured result."""
    if isinstance(value, str):
        return Output([Content_Text(value)], None, None, None, None)
    text = _json(value)
    return Output([Content_Json(text)], None, text, None, None)


def _json(value):
    return json.dumps(value, ensure_ascii=False)
