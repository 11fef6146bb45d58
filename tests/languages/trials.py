"""The guest `trials` in Python."""

import os

from componentize_py_types import Err
from wit_world.imports import http, log
from wit_world.imports.types import FailureKind

from ringfence import Failure, Guest, tool


def count(text, **_):
    words = {}
    for word in text.split(" "):
        words[word] = words.get(word, 0) + 1
    return {"words": list(words.items())}


def add(a, b, **_):
    return {"sum": a + b}


def fail(a, **_):
    raise Failure(FailureKind.UNAVAILABLE, "Come back later.", "later", a)


def crash(**_):
    raise ValueError("a lemon")


def loop(**_):
    while True:
        pass


def allocate(**_):
    taken = []
    while True:
        taken.append(b"1" * (1 << 20))


def flood(**_):
    while True:
        log.log(log.Level.INFO, "All is well.")


def result(a, **_):
    return "a" * a


def variable(text, **_):
    return {"value": os.environ.get(text)}


def get(text, **_):
    try:
        return {"status": http.send(http.Request("GET", text, [], None, None)).status}
    except Err as error:
        raise Failure(FailureKind.FAILED, error.value.message, f"http.{error.value.kind.name.lower()}")


TRIALS = {
    "count": count,
    "add": add,
    "fail": fail,
    "crash": crash,
    "loop": loop,
    "allocate": allocate,
    "log": flood,
    "result": result,
    "environment": variable,
    "get": get,
}


@tool(
    parameters={
        "type": "object",
        "properties": {
            "what": {"type": "string"},
            "text": {"type": "string"},
            "a": {"type": "integer"},
            "b": {"type": "integer"},
        },
        "required": ["what"],
    }
)
def run(what, **arguments):
    """Does what it is told."""
    return TRIALS[what](**arguments)
