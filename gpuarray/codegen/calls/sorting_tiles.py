"""Tiles: as many elements as a workgroup holds at once, put in the stable order of one digit of eight bits.

Each invocation has ``each`` elements in registers. The members of a group, a subgroup or 32 neighbours, have
neighbouring elements. The position of an element follows from three numbers: how many of lesser digits there are in
the tile, how many of its digit in the groups before, and its rank among those of its group. The ranks come from masks
with a bit for each member that has the digit: ballots give them where the device has subgroups; elsewhere words of
workgroup memory, in which the members set their bits.
"""

from collections.abc import Sequence
from typing import Final

from gpuarray.codegen.wgsl import WORKGROUP, Kernel
from gpuarray.device import Capabilities

BITS: Final = 8
DIGITS: Final = 1 << BITS
#: Half of the digits: the counts of a digit and of the one so much above it share a word.
_HALF: Final = DIGITS // 2
#: Most elements of an invocation: more would leave registers for fewer workgroups.
_MOST: Final = 16
#: Members of a group that share masks where there are no subgroups.
_MASK_BITS: Final = 32
#: Sizes of subgroups that make groups, if there is room for ``_LEAST`` elements of each invocation.
_SUBGROUPS: Final = (8, 16, 32, 64)
_LEAST: Final = 4


def _room(together: int, memory: int) -> int:
    """Return the number of elements of each invocation that fit workgroup memory, in groups of ``together`` members."""
    groups = WORKGROUP // max(together, 1)
    return (memory // 4 - groups * (_HALF + 1) - 2 * DIGITS) // WORKGROUP


def longest_tile(capabilities: Capabilities) -> int:
    """Return how many elements a tile may have."""
    return WORKGROUP * min(_MOST, _room(_together(capabilities) or _MASK_BITS, capabilities.workgroup_memory))


def _together(capabilities: Capabilities) -> int:
    """Return the size of the subgroups that make groups; 0 if none do."""
    size = capabilities.subgroup_size
    return size if size in _SUBGROUPS and _room(size, capabilities.workgroup_memory) >= _LEAST else 0


class SortingTile:
    """Emits what puts the tiles of a kernel in order; all invocations of a workgroup have to come there.

    Parameters
    ----------
    each : int
        Elements of an invocation.
    capabilities : Capabilities
        Of the device.
    """

    def __init__(self, each: int, capabilities: Capabilities) -> None:
        self.each = range(each)
        self.size = WORKGROUP * each
        self._subgroups = _together(capabilities) > 0
        self._together = _together(capabilities) or _MASK_BITS
        self._groups = WORKGROUP // self._together

    def declare(self, kernel: Kernel) -> None:
        """Emit workgroup memory, functions, and where an invocation's elements begin in the tile: ``first``."""
        pool = self.size if self._subgroups else max(self.size, self._groups * DIGITS)
        kernel.module += [
            # words on their way to another invocation; before that, where there are no subgroups, the masks
            f"var<workgroup> pool: array<{'u32' if self._subgroups else 'atomic<u32>'}, {pool}>;",
            # how often each digit occurs in each group
            f"var<workgroup> digit_counts: array<atomic<u32>, {self._groups * _HALF}>;",
            f"var<workgroup> starts: array<u32, {DIGITS}>;",
            *self._scan_function(),
        ]
        if self._subgroups:
            kernel.module += _match_function(self._together)
        kernel.line(
            f"let lane = local & {self._together - 1}u;",
            f"let mine = local / {self._together}u;",
            f"let own = mine * {_HALF}u;",
            f"let first = mine * {self._together * len(self.each)}u + lane;",
        )

    def index(self, k: int) -> str:
        """Return the position in the tile of element ``k`` of an invocation, before it is put in order."""
        return f"(first + {self._together * k}u)"

    def put_in_order(self, kernel: Kernel) -> None:
        """Emit the positions ``o0``, ``o1``, ... in the ordered tile from the digits ``d0``, ``d1``, ....

        Afterwards ``found`` says how many elements there are of the digit ``local``, and ``start`` how many of lesser
        digits.
        """
        kernel.line(f"for (var i = local; i < {self._groups * _HALF}u; i += {WORKGROUP}u) {{")
        kernel.line("atomicStore(&digit_counts[i], 0u);", "}")
        if not self._subgroups:
            kernel.line(
                "workgroupBarrier();", f"for (var i = local; i < {self._groups * DIGITS}u; i += {WORKGROUP}u) {{"
            )
            kernel.line("atomicStore(&pool[i], 0u);", "}")
        kernel.line("workgroupBarrier();")
        if self._subgroups:
            self._rank_by_ballots(kernel)
        else:
            self._rank_in_memory(kernel)
        digit_count = (
            f"(atomicLoad(&digit_counts[i + (local & {_HALF - 1}u)]) >> ((local >> {BITS - 5}u) & 16u)) & 0xffffu"
        )
        kernel.line(
            "workgroupBarrier();",
            "var found = 0u;",
            f"for (var i = 0u; i < {self._groups * _HALF}u; i += {_HALF}u) {{ found += {digit_count}; }}",
            "let start = before_digit(local, found);",
            "starts[local] = start;",
            "workgroupBarrier();",
            f"if (local < {_HALF}u) {{",
            f"var both = starts[local] | (starts[local + {_HALF}u] << 16u);",
            f"for (var i = local; i < {self._groups * _HALF}u; i += {_HALF}u) {{",
            "let digit_count = atomicLoad(&digit_counts[i]);",
            "atomicStore(&digit_counts[i], both);",
            "both += digit_count;",
            "}",
            "}",
            "workgroupBarrier();",
        )
        for k in self.each:
            before = f"(atomicLoad(&digit_counts[own + (d{k} & {_HALF - 1}u)]) >> s{k}) & 0xffffu"
            kernel.line(f"let o{k} = r{k} + ({before});")

    def exchange(self, kernel: Kernel, words: Sequence[str], indices: Sequence[str], *, again: bool = False) -> None:
        """Emit the moves of elements' words to the invocations that want the elements at ``indices``.

        Of each word is given how the variables are called that hold it, but for the element's number. ``again`` says
        that this is not the first exchange since the tile was put in order, which waits for nobody.
        """
        for number, word in enumerate(words):
            names = [word.format(k) for k in self.each]
            if number or again:
                kernel.line("workgroupBarrier();")
            if self._subgroups:
                stores = [f"pool[o{k}] = {name};" for k, name in zip(self.each, names, strict=True)]
                loads = [f"{name} = pool[{index}];" for name, index in zip(names, indices, strict=True)]
            else:
                stores = [f"atomicStore(&pool[o{k}], {name});" for k, name in zip(self.each, names, strict=True)]
                loads = [f"{name} = atomicLoad(&pool[{index}]);" for name, index in zip(names, indices, strict=True)]
            kernel.line(*stores, "workgroupBarrier();", *loads)

    def _scan_function(self) -> list[str]:
        """Return the function that says how many there are of digits below ``local``, given how many of each."""
        head = "fn before_digit(local: u32, count: u32) -> u32 {"
        if self._subgroups:
            return [
                f"var<workgroup> parts: array<u32, {self._groups}>;",
                head,
                "  let run = subgroupInclusiveAdd(count);",
                f"  let own = local / {self._together}u;",
                f"  if ((local & {self._together - 1}u) == {self._together - 1}u) {{ parts[own] = run; }}",
                "  workgroupBarrier();",
                "  var before = run - count;",
                "  for (var part = 0u; part < own; part++) { before += parts[part]; }",
                "  return before;",
                "}",
            ]
        return [
            head,
            "  starts[local] = count;",
            "  workgroupBarrier();",
            f"  for (var reach = 1u; reach < {DIGITS}u; reach <<= 2u) {{",
            "    var left = 0u;",
            "    for (var k = reach; k < 4u * reach; k += reach) { if (local >= k) { left += starts[local - k]; } }",
            "    workgroupBarrier();",
            "    starts[local] += left;",
            "    workgroupBarrier();",
            "  }",
            "  return starts[local] - count;",
            "}",
        ]

    def _rank_by_ballots(self, kernel: Kernel) -> None:
        """Emit the rank ``r0``, ``r1``, ... of each element among those of its digit and group.

        The last member that has a digit counts for all, and tells the others how many there were before.
        """
        kernel.line("let lower = lower_members(lane);")
        for k in self.each:
            kernel.line(
                f"let m{k} = same_digit(d{k});",
                f"let s{k} = (d{k} >> {BITS - 5}u) & 16u;",
                f"let b{k} = count_members(m{k} & lower);",
                f"let l{k} = last_member(m{k});",
                f"var r{k} = 0u;",
                f"if (lane == l{k}) {{",
                f"r{k} = atomicAdd(&digit_counts[own + (d{k} & {_HALF - 1}u)], (b{k} + 1u) << s{k});",
                "}",
                f"r{k} = b{k} + ((subgroupShuffle(r{k}, l{k}) >> s{k}) & 0xffffu);",
            )

    def _rank_in_memory(self, kernel: Kernel) -> None:
        """Emit the same, by a mask in ``pool`` for each digit and group."""
        kernel.line(f"let masks = mine * {DIGITS}u;")
        for k in self.each:
            shared = f"digit_counts[own + (d{k} & {_HALF - 1}u)]"
            if k:
                # every invocation sets and clears bits of its own only: no other one's order matters
                kernel.line(f"atomicAnd(&pool[masks + d{k - 1}], ~(1u << lane));")
            kernel.line(
                f"atomicOr(&pool[masks + d{k}], 1u << lane);",
                "workgroupBarrier();",
                f"let m{k} = atomicLoad(&pool[masks + d{k}]);",
                f"let s{k} = (d{k} >> {BITS - 5}u) & 16u;",
                f"let r{k} = ((atomicLoad(&{shared}) >> s{k}) & 0xffffu) + countOneBits(m{k} & ((1u << lane) - 1u));",
                "workgroupBarrier();",
                # the last one that has the digit counts it for all
                f"if ((m{k} >> lane) == 1u) {{ atomicAdd(&{shared}, countOneBits(m{k}) << s{k}); }}",
            )


def _match_function(together: int) -> list[str]:
    """Return the functions about masks of a subgroup's members, of which there may be more than a word has bits."""
    if together > 32:
        kind, every, mask = "vec2<u32>", "vec2<u32>(0xffffffffu)", "xy"
        counted = "let ones = countOneBits(members); return ones.x + ones.y;"
        last = "select(firstLeadingBit(members.x), 32u + firstLeadingBit(members.y), members.y != 0u)"
        lower = (
            "let less = (1u << (lane & 31u)) - 1u; "
            "return select(vec2<u32>(less, 0u), vec2<u32>(0xffffffffu, less), lane >= 32u);"
        )
    else:
        kind, every, mask = "u32", f"{(1 << together) - 1:#x}u", "x"
        counted, last = "return countOneBits(members);", "firstLeadingBit(members)"
        lower = "return (1u << lane) - 1u;"
    text = [
        f"fn count_members(members: {kind}) -> u32 {{ {counted} }}",
        f"fn last_member(members: {kind}) -> u32 {{ return {last}; }}",
        f"fn lower_members(lane: u32) -> {kind} {{ {lower} }}",
        f"fn same_digit(digit: u32) -> {kind} {{",
        f"  var same = {every};",
    ]
    for bit in range(BITS):
        text += [
            "  {",
            f"    let has = (digit & {1 << bit}u) != 0u;",
            f"    let others = subgroupBallot(has).{mask};",
            "    same &= select(~others, others, has);",
            "  }",
        ]
    return [*text, "  return same;", "}"]
