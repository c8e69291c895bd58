"""What users, models and judges say, made by dice: as long and as unlike as real texts are."""

from __future__ import annotations

from random import Random

_WHO = """the woman in the yellow raincoat|a boy with a red kite|the older of the two chefs
the narrator|the cyclist in front|a street vendor|the second goalkeeper|the man behind the counter
the potter|the guide with the umbrella|the host|the nurse|a passer-by in a grey suit|the drummer
the girl at the blackboard|the tailor|the ferry's captain|the driver of the blue van|the referee
the archaeologist|the violinist on the left|the presenter|the mechanic|one of the climbers"""
_DOES = """lifts the lid|folds the map twice|points at the counter|turns to the camera|waits
pours the batter|writes a number on the board|puts down the tool|tightens the last screw|laughs
shows the ticket|wipes the table|counts the coins aloud|crosses the bridge|opens the window
hands over a parcel|measures the plank|leaves the frame|tastes the sauce|ties the rope
reads the label|draws an arrow|adds salt|changes gear|moves the third piece|signs the form"""
_WHERE = """beside the fountain|under the striped awning|in the narrow kitchen|on the left platform
behind the glass wall|at the far end of the hall|near the second exit|on the wooden pier
in front of the blackboard|next to the red lorry|between the two pillars|at the foot of the stairs
by the open furnace|in the back row|above the harbour|on the roof terrace|at the market stall"""
_WHEN = """before the cut to the night scene|while the caption reads “Day 3”|as the music stops
right after the close-up|in the last ten seconds|when the light turns green|at about {} s
between {} and {} s|just before the second title card|once the rain has begun|from {} s on
during the slow-motion replay|after the interview|twice within {} seconds|when nobody looks"""
_WEAK = """counts objects that leave the frame and return|mixes up left and right
reads small text in the picture wrongly|gives no time for what it claims
describes what is usual instead of what is seen|misses what happens between its frames
confuses two people in similar clothes|overlooks short events|invents dialogue without sound
answers a simpler question than the one asked|ignores the user's purpose|order of events
colours under artificial light|misreads dials and clocks|long answer without the point
states a guess as a fact|cannot tell cause from sequence|loses count above five|spatial relations"""
_USERS = """plans lessons for a class of ten-year-olds|repairs old bicycles at weekends
wants to cook this for eight guests|checks insurance claims|writes a travel guide
learns the language and watches without sound|trains volunteers for a museum
collects recordings of street music|is afraid of heights and plans a visit"""
_ASKS = """What does {} do, and how often|How can one tell that {} has finished
In which order do these happen: {}, {}, and {}|Why does the shot change when {}
Which object is nearest to the camera when {}|How many people can be seen while {}
What would I have to prepare if I wanted to repeat what is shown when {}"""


def _pieces(text: str) -> list[str]:
    return [piece.strip() for line in text.splitlines() for piece in line.split("|")]


class Speaker:
    """Says things; the same dice say the same."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        parts = (_WHO, _DOES, _WHERE, _WHEN, _WEAK, _USERS, _ASKS)
        self._who, self._does, self._where, self._when, self._weak, self._users, self._asks = map(
            _pieces, parts
        )

    def _clause(self) -> str:
        when = self._rng.choice(self._when)
        seconds = sorted(self._rng.randrange(1, 900) for _ in range(when.count("{}")))
        return (
            f"{self._rng.choice(self._who)} {self._rng.choice(self._does)} {when.format(*seconds)}"
        )

    def _sentence(self) -> str:
        text = f"{self._clause()}, {self._rng.choice(self._where)}, and {self._clause()}."
        return text[0].upper() + text[1:]

    def user(self) -> str:
        """Who asks."""
        return f"Somebody who {self._rng.choice(self._users)} and knows that {self._clause()}."

    def question(self) -> str:
        """What is asked."""
        ask = self._rng.choice(self._asks)
        return ask.format(*(self._clause() for _ in range(ask.count("{}")))) + "?"

    def answer(self) -> str:
        """What a model says: paragraphs, a list, at times a table or code."""
        few = self._rng.randrange(1, 4)
        body = [" ".join(self._sentence() for _ in range(self._rng.randrange(1, 4)))]
        body += [
            "\n".join(
                f"- **{self._rng.choice(self._who)}**: {self._sentence()}" for _ in range(few)
            )
        ]
        if self._rng.random() < 0.1:
            rows = "\n".join(f"| {n} s | {self._rng.choice(self._does)} |" for n in range(few))
            body += [f"| time | what |\n|---|---|\n{rows}"]
        if self._rng.random() < 0.05:
            body += [f"```\n{self._clause()}\n```"]
        return "\n\n".join([*body, self._sentence()])

    def reason(self) -> str:
        """What a judge says of a standard."""
        return f"A says that {self._clause()}; B has it that {self._clause()}."

    def faults(self) -> tuple[str, ...]:
        """What was wrong with an answer."""
        return tuple(f"says that {self._clause()}" for _ in range(self._rng.randrange(0, 3)))

    def weaknesses(self) -> tuple[str, ...]:
        """What is behind it, in the grader's free words."""
        weak = (self._rng.choice(self._weak) for _ in range(self._rng.randrange(0, 3)))
        return tuple(f"{one}, as {self._rng.choice(self._where)}" for one in weak)
