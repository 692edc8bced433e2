"""The demo: a question, an answer with the arrow keys, and the run goes on."""

from cli.terminal import CTRL_C, DOWN, ENTER, golden


def test_a_person_answers_with_the_arrow_keys_and_the_run_goes_on(terminal):
    screen = terminal("demo")
    screen.until("rejected")
    golden("demo-question", screen.text)
    screen.press(DOWN, ENTER)
    assert screen.end() == 0
    golden("demo-done", screen.text)


def test_without_a_terminal_it_ends_by_itself_and_shows_the_same_stages(signoff):
    done = signoff("demo")
    assert done.code == 0
    for stage in ("1. A harmless", "2. A refund", "May we refund this?", "3. Later", "4. The answer is stored"):
        assert stage in done.out
    assert 'to the customer: "Dear customer: approved, if the lamp comes back."' in done.out


def test_leaving_the_demo_is_no_error(terminal):
    screen = terminal("demo")
    screen.until("rejected")
    screen.press(CTRL_C)
    assert screen.end() == 0
    assert "The question stays open." in screen.text
