"""Typing a line."""

from bisect import bisect_right
from itertools import accumulate
from typing import Any

from signoff.cli.plain import characters


def line(message: str, default: str = "") -> str:
    """What the person types behind a message. Raises KeyboardInterrupt at Ctrl-C, EOFError at Ctrl-D."""
    from prompt_toolkit import PromptSession

    session: PromptSession[str] = PromptSession(output=output(), input_processors=[_writing_out()])
    return session.prompt(message, default=default)


def _writing_out() -> Any:
    """Shows what cannot be seen in a line as it is shown elsewhere; the line itself stays as it is."""
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.formatted_text.utils import fragment_list_to_text
    from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
    from prompt_toolkit.layout.utils import explode_text_fragments

    class WritingOut(Processor):
        def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
            typed = explode_text_fragments(transformation_input.fragments)
            shown = characters(fragment_list_to_text(typed))
            places = [0, *accumulate(map(len, shown))]
            fragments: StyleAndTextTuples = [(style, text) for (style, *_), text in zip(typed, shown, strict=True)]
            return Transformation(fragments, places.__getitem__, lambda place: bisect_right(places, place) - 1)

    return WritingOut()


def output() -> Any:
    """The terminal to draw on. It is not asked where its cursor is, which nothing here needs to know.

    A slow one, or one that cannot say, would be told so in the middle of the question.
    """
    from prompt_toolkit.output import create_output
    from prompt_toolkit.output.vt100 import Vt100_Output

    made = create_output()
    if isinstance(made, Vt100_Output):
        made.enable_cpr = False
    return made
