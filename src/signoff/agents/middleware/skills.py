"""A name that deepagents has: whoever imports it is told what there is instead."""

from signoff._elsewhere import tell_of_module
from signoff.agents.elsewhere import PAGE, SKILLS

tell_of_module(__name__, SKILLS, PAGE)
