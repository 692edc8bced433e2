"""A name that LangChain has: whoever imports it is told what there is instead."""

from signoff._elsewhere import tell_of_module
from signoff.agents.middleware.elsewhere import PAGE, RISKS

tell_of_module(__name__, RISKS, PAGE)
