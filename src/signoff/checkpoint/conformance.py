"""A name that LangGraph has: whoever imports it is told what there is instead."""

from signoff._elsewhere import tell_of_module

tell_of_module(__name__)
