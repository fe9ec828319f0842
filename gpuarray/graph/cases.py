"""Results for different sizes, found by the conditions under which they hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gpuarray.graph.terms import Division, Question, append_quotients, reply
from gpuarray.graph.varying import Sizes


@dataclass(slots=True)
class _Node:
    """A question, or the result after all questions, and the divisions that it takes."""

    divisions: Sequence[Division]
    question: Question | None
    result: Any = None
    answers: "dict[bool, _Node]" = field(default_factory=dict)


class Cases:
    """Results for different sizes, by the answers to the comparisons of their computations.

    A computation asks the same after the same answers. So one way through a tree of questions leads to what was
    computed for given sizes.

    Attributes
    ----------
    count : int
        How many results were added.
    """

    __slots__ = ("_first", "count")

    def __init__(self) -> None:
        self._first: dict[bool, _Node] = {}
        self.count = 0

    def find(self, values: Sequence[int]) -> tuple[Any, list[int]] | None:
        """Return the result for sizes that have the same answers, and all factors; None if there is none."""
        factors, node = [*values], self._first.get(True)
        while node is not None:
            append_quotients(factors, node.divisions)
            if node.question is None:
                return node.result, factors
            node = node.answers.get(reply(node.question, factors))
        return None

    def add(self, sizes: Sizes, result: Any) -> None:
        """Add the result for some sizes."""
        answers, answer, done = self._first, True, 0
        divisions = [*sizes.divisions]
        for question, (is_true, count) in sizes.answers.items():
            node = answers.get(answer)
            if node is None or node.question != question:
                node = answers[answer] = _Node(divisions[done:count], question)
            answers, answer, done = node.answers, is_true, count
        answers[answer] = _Node(divisions[done:], None, result)
        self.count += 1
