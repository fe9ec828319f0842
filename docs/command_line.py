"""Generate the page of the command line from the argument parser."""

import argparse
from collections.abc import Iterator

from gpuarray.__main__ import parser

PAGE = "command-line.md"


def page() -> Iterator[str]:
    """Yield each command with its arguments."""
    whole = parser()
    yield "# Command line"
    yield ""
    yield "Usage: `python -m gpuarray COMMAND`. Settings are environment variables, see"
    yield "[Configuration](configuration.md). The exit status is 0 on success; commands that run a program exit with"
    yield "the status of the program."
    for action in _actions(whole):
        if not isinstance(action, argparse._SubParsersAction):
            continue
        helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, command in action.choices.items():
            yield ""
            yield f"## {name}"
            yield ""
            yield f"{helps.get(name, '')[:1].upper()}{helps.get(name, '')[1:]}."
            arguments = [a for a in _actions(command) if a.help and not isinstance(a, argparse._HelpAction)]
            if arguments:
                yield ""
                yield "| argument | meaning |"
                yield "|---|---|"
            for argument in arguments:
                yield f"| {_name(argument)} | {_help(argument)} |"


def _actions(found: argparse.ArgumentParser) -> list[argparse.Action]:
    return found._actions


def _name(action: argparse.Action) -> str:
    value = action.metavar or action.dest.upper()
    if not action.option_strings:
        return f"`{value}`"
    return f"`{action.option_strings[-1]}{'' if action.nargs == 0 else f' {value}'}`"


def _help(action: argparse.Action) -> str:
    return ((action.help or "") % vars(action)).replace("|", "\\|")
