"""Which operands of an operator are temporary results, whose memory its result can take.

In ``x * y + z`` nothing but the interpreter's stack refers to ``x * y``. NumPy reuses the memory of such results by
their counts of references and by the C functions that are on the stack. The counts of arrays of this package say less:
newer interpreters borrow references from variables, and extension modules borrow them from attributes. Here the code of
the caller says it: an operand is temporary if one instruction of the caller has made it, another one takes it from the
stack, all instructions between are executed one after the other and leave it there, and nothing else refers to it, as a
cache would that has called a function.
"""

import dis
from functools import lru_cache
from types import CodeType
from typing import Final

#: The results of :func:`taken`.
NOT_TAKEN: Final = 0
LEFT: Final = 1
RIGHT: Final = 2

#: The number of values of the stack that an instruction replaces by one; the second table adds its argument.
_TAKING: Final = {
    "BINARY_OP": 2,
    "BINARY_SLICE": 3,
    "BINARY_SUBSCR": 2,
    "COMPARE_OP": 2,
    "UNARY_INVERT": 1,
    "UNARY_NEGATIVE": 1,
}
_TAKING_MORE: Final = {"BUILD_LIST": 0, "BUILD_SLICE": 0, "BUILD_TUPLE": 0, "CALL": 2, "CALL_KW": 3}
#: Instructions whose result can be a new array.
_MAKING: Final = ("BINARY_OP", "CALL", "CALL_FUNCTION_EX", "CALL_KW", "COMPARE_OP", "UNARY_INVERT", "UNARY_NEGATIVE")
#: Operators of two values and of one.
_BINARY: Final = "BINARY_OP"
_UNARY: Final = ("UNARY_INVERT", "UNARY_NEGATIVE")
#: Instructions that look for an attribute of the last value.
_LOOKING: Final = ("LOAD_ATTR", "LOAD_METHOD")
#: How the names of instructions begin that only add to the stack, and those that do nothing to it.
_ADDING: Final = ("LOAD_CONST", "LOAD_DEREF", "LOAD_FAST", "LOAD_GLOBAL", "LOAD_NAME", "LOAD_SMALL_INT", "PUSH_NULL")
_IDLE: Final = ("EXTENDED_ARG", "KW_NAMES", "NOP", "PRECALL")


@lru_cache(1 << 12)
def taken(code: CodeType, maker: int, used: int) -> int:
    """Return which operand of an operator is the value that an earlier instruction has made.

    Parameters
    ----------
    code : code
        The code of both.
    maker, used : int
        The offsets of the instruction that makes a value, and of the operator.

    Returns
    -------
    int
        NOT_TAKEN if the value is another one, or if that is not certain.
    """
    above = 0  # values on the stack above that of the first instruction
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if instruction.offset <= maker:
            if instruction.offset == maker and name not in _MAKING:
                return NOT_TAKEN
            continue
        if instruction.is_jump_target:
            return NOT_TAKEN
        if instruction.offset == used:
            if name in _UNARY:
                return NOT_TAKEN if above else LEFT
            return (RIGHT, LEFT)[above] if name == _BINARY and above < 2 else NOT_TAKEN
        if name in _IDLE:
            continue
        if name.startswith(_ADDING) or name in _LOOKING:
            pops = int(name in _LOOKING)
            pushes = pops + dis.stack_effect(instruction.opcode, instruction.arg, jump=False)
        elif name in _TAKING or name in _TAKING_MORE:
            pops = _TAKING[name] if name in _TAKING else _TAKING_MORE[name] + (instruction.arg or 0)
            pushes = 1
        else:
            return NOT_TAKEN
        if pops > above:
            return NOT_TAKEN
        above += pushes - pops
    return NOT_TAKEN
