"""An agent with a real folder: it wants to edit a file there, twice."""

from pathlib import Path

from prebuilt.models import call, calls, scripted
from signoff.agents.backends import FolderBackend
from signoff.agents.deep_agent import create_deep_agent

FIRST = call("edit_file", "c1", file_path="/shapes.py", old_string="3 * r * r", new_string="pi * r * r")
SECOND = call("edit_file", "c2", file_path="/shapes.py", old_string="def area", new_string="def disc_area")

agent = create_deep_agent(
    scripted(calls(FIRST, text="I will correct the area."), calls(SECOND), "The area is right now."),
    backend=FolderBackend(Path(__file__).parent),
    name="editor",
)
