"""What a provider's error means: whether another try can help, and what would have to change.

Goes by status, machine words and, where servers give no word, by their sentences. Those are other
people's text: all they decide is in which class a failed call is put.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple

Nature = Literal["transient", "permanent", "quota", "content-filter", "too-large"]
"""What helps: patience; nothing; money or another day; other content; a smaller request."""

PATIENCE_S = 900.0
"""Pauses, added up, after which a server that still has no room for a call is given up."""
UNREACHED = "unreachable"
"""Kind of fault of a call for which no connection could be made."""
STOPPED = "stopped"
"""Kind of fault of a try that was cut off since this machine or process stood still."""
REFUSALS = frozenset({"http-429", "http-503", "http-529"})
"""Kinds of fault that say: too much at once."""


class GarbledAnswer(Exception):
    """An answer that the provider's client could not read."""

    def __init__(self, message: str, body: object = None) -> None:
        super().__init__(message)
        self.body = body
        """The error that it was instead, as far as one was found in it."""


@dataclass(frozen=True, slots=True)
class CallFault:
    """What went wrong in one try."""

    kind: str
    """`http-429`, `unreachable`, `timeout`, `stopped`, `connection`, `malformed`, `no-images`,
    `frames`, `provider`, or its nature."""
    reason: str
    """Short, printable, and without any key."""
    nature: Nature = "permanent"
    hint_s: float | None = None
    """Seconds that the server said to wait."""
    most_images: int | None = None
    """How many images a request may hold, where the server said so."""
    excess: float | None = None
    """The request's tokens over those allowed; None unless the server stated both."""
    is_local: bool = False
    """Whether nothing was sent."""
    refused_fields: tuple[str, ...] = ()
    """Names of a limit of tokens that the server says it does not know."""
    refused_system: bool = False
    """The server takes no system or developer message from this model."""
    demands_stream: bool = False
    """The server answers in pieces alone."""
    refused_format: bool = False
    """The server does not know the form in which the reply was to come."""
    most_tries: int | None = None
    """Most tries of a call that meets such faults; None: as many as usual."""

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later."""
        return self.nature == "transient"

    @property
    def is_refusal(self) -> bool:
        """Whether the server had no room for the call."""
        return self.is_transient and self.kind in REFUSALS


_TRANSIENT = frozenset({408, 409, 425, 429})
_REFUSED_FOR_MONEY = frozenset({400, 402, 403, 412, 429})
_REFUSED_FOR_CONTENT = frozenset({400, 403, 422, 451})
_NEVER_OF_SHAPE = frozenset({401, 402, 408, 429})
"""Statuses under which nothing is said of how a request is built."""
# Patterns with gaps take long on a text that repeats itself, so no more of one is read.
_LONGEST_TEXT = 10_000

_TOKEN_FIELD = re.compile(r"(?<!\w)(max_tokens|max_completion_tokens)(?!\w)")
_UNKNOWN_FIELD = re.compile(
    r"""(?ix)
    unsupported(?!.value) | un(?:known|recognized|expected)
    | not\ (?:supported|permitted|allowed|recognized) | additional\ propert
    | extra(?:_forbidden|\ inputs?|\ fields?) | (?:does\ not|doesn't)\ support(?!\ more)
    """
)
_LOCATED = re.compile(r"""['"]loc['"]:\s*['"]?[\[(]([^\])]*)""")
"""Where pydantic says a mistake is; what it was given follows, and may be the whole request."""
_WRONG_VALUE = re.compile(
    r"""(?ix)
    too\ (?:large|high|big|long|small|low) | at\ (?:most|least) | maximum | exceed | must\ be
    | (?:less|greater|more)\ than | out\ of\ range | between
    """
)

_MONEY = re.compile(
    r"""(?ix)
    insufficient[_ ](?:[^\W_]{1,20}[_ ]){0,2}(?:quota|credits?|balance|funds)
    | billing_hard_limit_reached | billing_not_active | billing\ hard\ limit\ has\ been\ reached
    | exceeded_current_quota
    | exceeded\ your\ monthly\ included\ credits
    | credits?\ balance\ is\ too\ low
    | (?<!for\ )(?:out\ of|not\ enough|no\ more|more|enough)\ (?:\w+\ )?credits?\b
    | \bno\ credits?\ (?:left|remaining|available) | \bout\ of\b.{0,20}\bquota\b
    | credits?\b.{0,30}\b(?:exhausted|depleted|used\ up|exceeded|insufficient|ran\ out)
    | (?:exhausted|depleted|used\ up|exceeded|run\ out\ of).{0,20}\bcredits?\b
    | \bquota\b.{0,20}\b(?:exhausted|used\ up|depleted|spent|not\ enough)\b
    | used\ up\b.{0,20}\bquota
    | balance\b.{0,30}\b(?:insufficient|too\ low|empty|exhausted|not\ enough|negative)
    | cross(?:ed|es)\ budget | over\ budget | budget[_ ]?exceeded | exceeded\w{0,12}[_ ]?budget
    | (?<!token\ )\bbudget\b.{0,30}\b(?:exceeded|exhausted|reached|used\ up)
    | exceed(?:ed|s)?\b.{0,30}\bbudget\b
    | (?:spend(?:ing)?|usage|key|credit)\ (?:limit|cap)s?\b.{0,30}\b(?:reached|exceeded|hit)
    | (?:reached|exceeded|hit)\b.{0,40}\b(?:spend(?:ing)?|usage)\ (?:limit|cap)
    | account\b.{0,40}\b(?:suspended|overdue|arrears) | \barrearage | overdue[- ]?payment
    | free\ (?:tier|quota|allocation|credits?|trial)\b.{0,40}\b(?:exhausted|used\ up|expired|ended)
    | 余额不足 | 额度不足 | 欠费
    """
)
"""Money or what stands for it is used up."""
_LONG_SPAN = re.compile(
    r"""(?ix)
    \bper[-_ ]?(?:day|week|month)\b | _per_(?:day|week|month) | /\s?(?:day|week|month)\b
    | \b(?:daily|weekly|monthly)\b | \b(?:TPD|RPD)\b
    | \b(?:per|every|in|within|last|past)\ (?:a\ |the\ )?24[-\ ]?h | \bper\ 86[,.]?400\b
    | \b(?:for|limit|quota|allowance|requests|messages|tokens)\ today\b
    """
)
"""A limit over a day or longer."""
_SHORT_SPAN = re.compile(
    r"(?i)\bper[-_ ]?(?:minute|second|hour)|/\s?(?:min|minute|sec|second|hour)\b"
)
_OVER_QUOTA = re.compile(
    r"(?i)\bquota\b.{0,20}\bexceeded\b|\bexceeded\b.{0,20}\bquota\b"
    r"|pre_consume_token_quota_failed"
)
_PER_DAY_OF_GEMINI = re.compile(r"PerDayPer\w*")
"""GenerateRequestsPerDayPerProjectPer..; the seconds that Gemini names with it help nobody."""
_FILTER = re.compile(
    r"""(?ix)
    ['"]content_filter['"] | content_policy_violation | ResponsibleAIPolicyViolation
    | content\ management\ policy | \bPROHIBITED_CONTENT\b
    | (?:rejected|blocked|flagged)\ (?:by|as\ a\ result\ of)\ (?:our|the)\ (?:safety|content)
    | data_?inspection_?failed | (?:blocked|stopped)\ by\ (?:content\ filter|(?:a\ )?guardrail)
    | \b(?:input|prompt|content)\ (?:was|is|has\ been)\ flagged | inappropriate\ content
    | violat\w+\b.{0,30}\b(?:usage|content|safety)\ (?:polic|guideline)
    | considered\ high\ risk | content\ exists\ risk
    | \bour\ safety\ system | \bflagged\ (?:for|as)\b
    | new_sensitive | \bsensitive\ (?:content|words?|information) | 敏感
    """
)
_NUMBER_WORDS = {
    "a single": 1, "single": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "sixteen": 16, "twenty": 20,
}  # fmt: skip
_DIGITS = r"\d{1,5}(?![\d.,]?\d)"
_WORDS = "|".join(word.replace(" ", r"\ ") for word in _NUMBER_WORDS)
_PICTURES = r"(?:images?|pictures?|photos?|frames?|media)"
_OF_ONE_PICTURE = (
    r"pixel|\bpx\b|width|height|dimension|\bsize|resolution|bytes?\b|\b[MK]i?B\b|\bside"
    r"|edge|animat|aspect|ratio|token|length|format|second|generat"
)
"""Words that make a complaint one about each picture and not about their number."""
_MEASURE = r"(?!\s?(?:px|pixels?|[MKG]i?B\b|mega|bytes?|[x×*]\s?\d|tokens?|%|s\b|sec|min|:))"
_BOUND = (
    r"(?:at\ most | up\ to | exactly | (?:no|not)\ more\ than | less\ than\ or\ equal\ to"
    r"| (?:cannot|can't|must\ not|may\ not|should\ not)\ (?:exceed | be\ (?:more|greater)\ than)"
    r"| max(?:imum|\.)? | limit(?:ed)? | only | allow(?:ed|s)? | exceed(?:s|ed|ing)?"
    r"| support(?:s|ed)? | (?:more|greater)\ than | [<>]=? )"
)
_MOST_IMAGES = re.compile(
    rf"""(?ix)
    \b{_BOUND}
      (?:\ (?:is|of|to|the|a|number|count|total|maximum|limit|supports?|accepts?|allows?|takes?
        |handles?|include|attach|send|upload|use|process|contain|have|hold|carry|provide|pass)){{0,4}}
      [\s:=(]{{1,3}} (?P<before>{_DIGITS} | (?:{_WORDS}|no|zero)\b) [)]?
    (?:[\s-](?!{_OF_ONE_PICTURE})[a-z]+){{0,2}} [\s-]{_PICTURES}\b (?!\s(?:{_OF_ONE_PICTURE}))
    | (?<!than\ )\b(?P<first>{_DIGITS}|(?:{_WORDS}))\ (?:[a-z]+\ )?{_PICTURES}
      (?:\ per\ [a-z]+)?\ (?:at\ most|max(?:imum)?\b|only\b)
    | (?:fewer|less)\ than\ (?P<below>{_DIGITS})\ (?:[a-z]+\ )?{_PICTURES}\b
    | \b(?:{_PICTURES}|images?_count|num_images|image_url)\b
      (?:(?!{_OF_ONE_PICTURE})[^.;]){{0,80}}?
      (?:\b{_BOUND}|[<>]=?|[.;,]\ (?:the\ )?(?:max(?:imum)?|limit|allowed)\b)
      (?:(?!{_OF_ONE_PICTURE})[^.;\d]){{0,40}}?
      (?<![\w.])(?P<behind>{_DIGITS} | (?:{_WORDS})\b
        (?=\s*(?:{_PICTURES}\b|per\b|in\b|at\b|[.,;)]|$))) {_MEASURE} (?!\s(?:{_OF_ONE_PICTURE}))
    | \b(?:max(?:imum)?|limit)\ (?:(?:allowed|number|count|amount)\ ){{0,3}}(?:of\ )?(?:input\ )?
      {_PICTURES}\b
      (?:(?!{_OF_ONE_PICTURE})[^.;\d]){{0,40}}? (?P<named>{_DIGITS}) {_MEASURE}
    | \brange\ of\ (?:[a-z]+\ )?{_PICTURES}\b.{{0,20}}[\[(]\d{{1,5}},\s?(?P<range>\d{{1,5}})[\])]
    | (?:图片|图像)[^。]{{0,20}}(?:超过|超出|最多|上限)[^\d。]{{0,10}}(?P<chinese>\d{{1,5}})
    """
)
_SET_IMAGES = re.compile(
    rf"""(?ix)
    \bimage['"]?\s?[:=]\s?(?P<set>{_DIGITS}) [^.;]{{0,60}} \blimit[-_]mm
    | \b{_PICTURES}\b (?:(?!{_OF_ONE_PICTURE})[^.;\d]){{0,60}}
      (?<!\d)\d{{1,5}} \s?>=?\s? (?P<over>{_DIGITS}) {_MEASURE}
    """
)
"""Beats all that `_MOST_IMAGES` finds: a setting, or two numbers that are compared."""
_ONE_IMAGE = re.compile(
    rf"""(?ix)
    (?:does\ not|doesn't|do\ not|cannot|can't|not)\ (?:yet\ )?(?:support|accept|handle|take|process)
    \ (?:multiple|more\ than\ one)\ {_PICTURES}
    | single-image\ (?:model|input) | multi-?image\b.{{0,40}}\bnot\ (?:yet\ )?(?:supported|allowed)
    | (?:multiple|several)\ {_PICTURES}\b.{{0,40}}\b(?:not\ (?:yet\ )?(?:supported|allowed)
      |unsupported)
    """
)
_TOO_MANY_IMAGES = re.compile(
    rf"""(?ix)
    too\ (?:many|much)\ (?:\w+\ )?(?:{_PICTURES} | multi-?modal\ (?:items|inputs))
    | maximum\ (?:number|count)\ of\ (?:\w+\ )?{_PICTURES}
    | (?:number|count|amount)\ of\ (?:\w+\ )?{_PICTURES}\b.{{0,60}}
      \b(?:exceed\w*|limit|too\ (?:large|high|many)|maximum)
    | 图片(?:数量)?(?:过多|超过|超出)
    """
)
_NO_IMAGES = re.compile(
    r"""(?ix)
    (?<!\d\ )(?<!multiple\ )(?<!several\ )(?<!many\ )(?<!one\ )(?<!multi-)
    \b(?:images?|vision|multi-?modal|image_url|picture)s?
      (?:[_\ -](?:inputs?|contents?(?:\ types?)?|parts?|messages?|modality|data|understanding
        |capabilit\w+)){0,2}
      \ (?:is|are)\ (?:currently\ )?(?:unsupported\b | (?:not|n't)\ (?:currently\ )?
      (?:supported|enabled|available|allowed|accepted|permitted))
      (?!\ for\ (?:this|the)\ (?:format|type))
    | \b(?:image|vision|multi-?modal)(?:\ (?:input|content|data|modality))?s?
      \ (?:not\ supported|unsupported|not\ enabled)\b
    | (?:does\ not|doesn't|do\ not|don't|not)\ (?:\w+\ )?support(?:s|ing)?
      \ (?!more\b|multiple\b|several\b|over\b)(?:(?:the|any|an?|this|processing|multi-?modal)\ )?
      ['"`]?(?:images?|vision|pictures?|multi-?modal|image_url)\b['"`]?
      (?![/]|\ (?:generation|formats?|sizes?|details?|outputs?|edit\w*|dimensions?|types?
        |resolution|larger
      |over|above|with|in|of)\b)
    | (?:does\ not|doesn't)\ have\ (?:\w+\ )?(?:vision|image)
    | (?:does\ not|doesn't|do\ not|don't|cannot|can't|not\ able\ to|unable\ to)\ (?:\w+\ )?
      (?:accept|handle|take|process|understand|see|read)\ (?:any\ )?
      (?:images|pictures|image\ (?:input|content|data)s?|vision|multi-?modal)\b
      (?!\ (?:larger|over|above|with|in|of)\b)
    | \bnot\ an?\ (?:multi-?modal|vision|visual|VLM|VL\b)
    | \b(?:is|as)\ (?:an?\ )?text[- ]only | text-only\ model
    | (?:only\ (?:supports?|accepts?|takes?)|supports?\ only
      |accepts?\ only)\ (?:plain\ )?['"`]?text\b
      (?!\ (?:and|with|or|,))
    | only\ ['"`]?text['"`]?\ (?:content|inputs?|type|parts?)\b.{0,20}\b(?:supported|allowed
      |accepted)
    | no\ endpoints?\ found\ that\ support\ image
    | missing\ data\ required\ for\ image
    | \bmmproj\b | multi-?modal\ projector | not\ compiled\ for\ multi-?modal
    | image_url\ is\ only\ supported\ by
    | unknown\ variant\ .{0,3}image_url | unsupported\ content\S{0,3}\ ?\.?type
    | \bonly\b.{0,30}\bsupports?\ images?\b
    | content['"`\])]*\s*:?\ (?:value\ )?must\ be\ a\ string
    | \bmessages\.\d{1,4}\.content(?:\.str)?:\ input\ should\ be\ a\ valid\ string
      (?!.{0,2000}\bcontent\.list)
    | without\ (?:vision|image)\ (?:support|capabilit)
    | (?:no|lacks?)\ (?:vision|image)\ (?:support|capabilit|encoder|input)
    | 不支持.{0,6}(?:图片|图像|视觉|多模态)
    """
)
_PLAINLY_TOO_LONG = re.compile(
    r"""(?ix)
    context_length_exceeded | exceed_context_size_error | context_?window_?exceeded
    | model_max_prompt_tokens_exceeded | context_window_overflow | prompt_too_long | input_too_long
    | context\ (?:length|size|window|limit)\b.{0,30}\b(?:exceed\w*|overflow\w*|reached)
    | (?:exceed\w*|overflow\w*|longer\ than|larger\ than|beyond|greater\ than)\b.{0,40}
      \b(?:context\ ?(?:length|size|window|limit) | n_ctx | (?:model(?:'s)?|available
        |maximum)\ context)\b
    | context\b.{0,12}\boverflow | context\ is\ full
    | \b(?:total|message|input|prompt)\b.{0,20}\btokens?\b.{0,20}\bexceed
    | input_length_error | 超长 | 长度超过
    | token\ limit\ (?:was\ |has\ been\ )?(?:exceeded|reached) | exceed\w*\b.{0,30}\btoken\ limit
    | \bcontent\b.{0,40}\b(?:list|array)\b.{0,60}\b(?:at\ most|too\ long|maximum)
    | context\ (?:length|size|window)\ of\ only
    | maximum\ context\ (?:length|size|window) | longer\ than\ the\ maximum\ model\ length
    | (?<!image\ )\b(?:prompt|input|conversation|messages?)\ (?:(?:is|are|was)\ )?
      too\ (?:long|large)
    | \b(?:prompt|input|request)\b.{0,20}\blonger\ than
      (?!\ [\d.]{1,8}\ ?(?:ms|s|sec|min))
    | (?:not|n't)\ fit\ (?:in|into|within)?\ ?(?:the\ )?(?:\w+\ )?context
    | (?:prompt|input)\ (?:\w+\ )?(?:length|token\ count|tokens)\b.{0,40}\bexceed
    | input\ token\ count\b.{0,40}\bexceeds
    | range\ of\ input\ length | max(?:imum)?[_ ](?:input|prompt)[_ ](?:length|tokens)
    | (?:prompt|input)\ (?:tokens|length)\ (?:(?:is|are)\ )?too\ (?:long|large|many|high)
    | (?:your|the)\ request\ is\ too\ long
    | \b(?:prompt|conversation|input|messages?)\ exceeds?\ (?:the\ |its\ )?
      (?:model|max|length|limit)
    | expected\ maxLength:\ \d{4,9},\ actual
    | too\ many\ (?:input\ |prompt\ )?tokens | too\ many\ total\ text
    | (?:reduce|shorten)\ (?:the\ (?:length|size)\ of\ )?(?:the|your)\ (?:messages|prompt|input)
    | (?:reduce\ the\ number\ of|fewer)\ (?:images|frames|pictures)
    """
)
_BODY_TOO_LARGE = re.compile(
    r"""(?ix)
    (?:request\ payload\ size|content\ length|request\ body|request\ entity|total\ (?:payload
      |request)?
      \ ?size|request\ size)\b.{0,40}(?:exceed|too\ large|limit|larger)
    | (?:payload|entity|request|body)\ (?:is\ )?too\ large | request_too_large | body_too_large
    | length\ limit\ exceeded | exceed\w*\b.{0,40}\brequest\ body
    """
)
_STRING_TOO_LONG = re.compile(
    r"(?is)string_above_max_length.{0,200}(?:messages|content|input|prompt)"
    r"|(?:messages|content|input|prompt)\S{0,40}.{0,60}string_above_max_length"
)
_OUTPUT = (
    r"max_(?:new_|completion_|output_)?tokens|maxOutputTokens|max_?gen_?len|n_predict"
    r"|(?:completion|output|generated|response|reply|new)(?:\ |_)?tokens?|(?:in"
    r"|for)\ the\ completion"
    r"|requested\ output"
    r"|\bgenerate\ (?:at\ most|up\ to|(?:no\ )?more\ than)|(?:response|completion|reply)\ length"
    r"|output\ (?:limit|length)"
)
_OF_OUTPUT = re.compile(rf"(?i){_OUTPUT}|budget_tokens|thinking.?budget")
_OF_INPUT = re.compile(
    r"(?i)\b(?:context|prompts?|inputs?|messages|n_ctx|n_keep|n_prompt_tokens)\b"
    r"|\btokens? in your\b"
    r"|\brequest (?:contains|has|is|of)\b|\brequested a total of ~?\d"
)
_BOUND_OF_OUTPUT = re.compile(
    rf"(?i)(?:{_OUTPUT})['\"`\])]{{0,3}}\s?[:,]?\s?"
    r"(?:input should be|must be|should be|has to be) (?:<|less than|at most|no more than|between)"
)
_OF_WHAT_IS_SENT = re.compile(
    r"(?i)prompt|messages|\binputs?\W{0,2} (?:tokens|length)|\+|\btotal\b"
)
_OF_ELSE = re.compile(
    r"(?i)\W{0,3}(?:(?:the|each|every|too many|number of|invalid|error:) ){0,3}\W?"
    r"(?:stop\b|stop_|(?:tools?|functions?)\b(?! calls)|logit_bias|logprobs|metadata"
    r"|truncate_prompt_tokens)"
)
"""Beginning of a complaint about another field."""
_UNKNOWN_NAME = re.compile(
    r"(?i)\b(?:unrecognized|unknown|unexpected)\b.{0,20}\b(?:argument|parameter|field|key|propert"
    r"|option)"
)
_OF_OTHERS = re.compile(
    r"(?i)^[,;:\s]{0,3}used\W{0,3}$|\bcurrent usage\b|\busage (?:is|was|of)\b|\b(?:last|past|this)"
    r" (?:minute|hour|day)\b|\bso far\b"
)
"""Words before a number that counts earlier requests as well."""
_BOTH_ADDED = re.compile(r"(?i)\b(?:input|prompt)\b.{0,20}(?:\band\b|\bplus\b|\+).{0,20}\boutput\b")
_ELSEWHERE = re.compile(
    r"(?i)\btools?\b|\bfunctions?\b|\bstop\b|stop_sequences|logit_bias|logprobs|\bpixels?\b|\bpx\b"
    r"|dimension|\bmetadata\b"
)
_OF_TOKENS = re.compile(
    r"(?i)token|context|prompt|input length|\b(?:current|sequence) length|\bn_ctx\b"
)
_OF_WHOLE = re.compile(r"(?i)context|prompt|input|total|messages|n_ctx")
_NUMBER = re.compile(r"(?<![\w.])~?(\d{1,3}(?:[, ]\d{3})+|\d+)(?![\w]|\.\d)")
_PAIRED = re.compile(
    r"(?<![\w.])(\d{3,9})\s*(?:(?:input |prompt )?tokens?)?\s*\)?\s*(?:>=?|\bvs\b\.?|\bversus\b)"
    r"\s*(?:n_ctx\s*[:(=]?\s*)?(\d{3,9})(?!\d"
    r"|\s*[-+]\s*\d)"
)
_SHARE = re.compile(r"(?<![\w./])(\d{3,9})\s?/\s?(\d{3,9})(?![\w./])")
_SUMMED = re.compile(r"(?<![\w.])(\d{1,9})\s*\+\s*(\d{1,9})\s*(?:tokens?\s*)?>=?\s*(\d{3,9})")
_LEFT_OVER = re.compile(r"(?<![\w.])(\d{1,9})\s*>=?\s*(\d{3,9})\s*-\s*(\d{1,9})")
_SAYS_LIMIT = re.compile(
    r"(?i)max(?:imum)?|limit|at most|up to|\bonly\b|allowed|less than|\bexceed(?:s|ed|ing)?\b"
    r"|(?:longer|larger|greater|more) than|n_ctx|<=?|>=?|available|\bcapacity\b"
    r"|context (?:length|size|window)|\bsupports?\b|\bwindow\b"
    r"|(?<!your )(?<!current )\bcontext is\b"
)
_SAYS_ASKED = re.compile(
    r"(?i)requested|resulted|contains|given|\bgot\b|received|provided|passed|\bha(?:s|ve|d)\b"
    r"|n_keep|n_prompt_tokens|\bcurrent\b|actual|\bsent\b"
)
_MAY_BE_ASKED = re.compile(
    r"(?i)prompt|input|messages|tokens|\blength\b|\bis\b|\bwas\b|\byour\b|total|request|\bkeep\b|size|long"
)
_BEHIND_LIMIT = re.compile(
    r"(?i)[ )'\"`-]{0,3}(?:tokens? )?[('\"`]?(?:maximum|max\b|limit|available|allowed|context)"
)
_BEHIND_ASKED = re.compile(
    r"(?i)[ )'\"`-]{0,3}(?:tokens? )?[('\"`]?(?:requested|inputs?\b|prompt|were|in (?:the|your) )"
)
_BEHIND_OUTPUT = re.compile(
    rf"(?i)[ )'\"`-]{{0,3}}(?:tokens? )?(?:of |for |from |in )?(?:the )?[('\"`]?(?:{_OUTPUT}"
    rf"|completion\b"
    rf"|output\b)"
)
_UNLIKE_TOKENS = re.compile(
    r"(?i)\W?(?:px|pixels?|[kmg]i?b\b|bytes?|characters?|chars?|images?|seconds?|tools?|ms\b)"
)
_OF_CODE = re.compile(r"(?i)(?:code|status)['\"]?\s?[:=]?\s?['\"]?$")
"""Words before a number that is the answer's status and counts nothing."""
_LEAST_TOKENS = 100
"""A context is never smaller: what is less counts something else."""
_MOST_NUMBERS = 40

_SYSTEM = re.compile(
    r"""(?ix)
    \b(?:developer|system)['"`]?\ (?:instruction|message|prompt|role|content)s?\b.{0,50}
      \b(?:not\ (?:\w+\ )?(?:enabled|supported|allowed|permitted|available|accepted)|unsupported
        |disabled
      |cannot|can't|must\ be\ (?:empty|removed|omitted))
    | (?:does\ not|doesn't|do\ not|cannot|not)\ (?:support|accept|allow|handle)s?
      \ (?:the\ |an?\ |any\ )?
      ['"`]?(?:system|developer)\b
    | (?:unsupported|unknown|unexpected|invalid|unrecognized
      |not\ supported)\ (?:\w+\ )?role\b.{0,20}
      \b(?:system|developer)\b
    | incompatible\ with\ (?:the\ |an?\ )?system\b
    | \brole\b.{0,20}\b(?:system|developer)\b.{0,40}\b(?:not|unsupported|invalid|unexpected
      |unknown)\b
    | invalid\ value:?\ ['"`](?:system|developer)['"`]
    | ['"`](?:system|developer)['"`].{0,60}
      (?:is\ not\ (?:one\ of|allowed|supported|valid)|does\ not\ match|unexpected|unsupported
        |not\ supported
      |not\ a\ valid\ role)
    | (?<!optional\ system\ message,\ )(?:conversation\ )?roles\ must\ (?:strictly\ )?alternate
    | only\ ['"`]?user['"`]?,?\ (?:and\ |or\ )?['"`]?(?:assistant|model)['"`]?
      (?:,?\ (?:and|or)\ ['"`]?tool['"`]?)?\ (?:roles?|messages?)
    | (?:valid|supported|allowed)\ roles?\b.{0,30}\buser\b(?!.{0,60}\bsystem\b)
    | input\ should\ be\ 'user'(?:,\ '(?:assistant|model|tool|function)'){0,3},?\ or
      \ '(?:assistant|model|tool|function)'
    | \brole\b.{0,40}\bpermitted:\ 'user',\ '(?:assistant|model)'(?!.{0,60}\bsystem\b)
    | (?:unexpected|unsupported)\ message\ role\b
    | (?:first|initial)\ message\b.{0,30}\b(?:must|should)\b.{0,30}\buser\b
    """
)
_STREAM = re.compile(
    r"""(?ix)
    only\ (?:be\ )?(?:supports?|accepts?|allows?|available\ (?:in|with|for))\ (?:the\ )?['"`]?stream
    | supports?\ only\ stream | \bonly\ ['"`]?stream
    | stream['"`]?\s?[=:]\s?['"`]?false\b.{0,30}\b(?:not\b|unsupported|disabled)
    | stream(?:ing)?['"`]?\ (?:must|has\ to|needs\ to|should)\ be\ (?:set\ to\ )?['"`]?(?:true
      |enabled|on)
    | (?:set|enable|use)\ (?:the\ )?['"`]?stream(?:ing)?(?:\ parameter)?['"`]?\ ?(?:=|:
      |to)?\ ?['"`]?true
    | enable\ the\ ['"`]?stream
    | \b(?:must|only|requires?|needs?)\b.{0,30}\bstream['"`]?\s?[=:]\s?['"]?true
    | non-?\ ?stream(?:ing|ed)?\b.{0,40}\b(?:not\ (?:\w+\ )?(?:supported|allowed|available)
      |unsupported
      |disabled|not\ support)
    | (?:does\ not|doesn't|do\ not|cannot|not)\ support\ (?:\w+\ )?non-?\ ?stream
    | must\ be\ set\ to\ false\ for\ non-streaming\ calls
    | streaming\ is\ (?:required|mandatory) | requires?\ (?:a\ )?stream(?:ing\b|\ ?=|\ to\b|ed\b)
    | not\ support\ http\ call | must\ (?:use|be)\ stream(?:ing|ed)
    """
)
_FORMAT = (
    r"(?:response_?\ ?format|json_schema|json_object|response_?(?:json_?)?schema"
    r"|response_?mime_?type|output_config|output_format"
    r"|structured[_ ]outputs?|JSON\ (?:mode|schema)|guided_json|guided\ decoding|\bgrammar\b)"
)
_FORMAT_REFUSED = re.compile(
    rf"""(?ix)
    {_FORMAT}.{{0,80}}\b(?:not\ (?:\w+\ )?(?:supported|enabled|available|allowed|permitted
      |implemented)
      |unsupported|unavailable|unknown|unrecognized|invalid|disabled|must\ (?:be|contain)
        |should\ be|extra)
    | (?:not\ support(?:ed)?|doesn't\ support|unsupported|unknown|unrecognized|unexpected|invalid
      |disallowed
      |failed\ to\ (?:parse|compile)|extra_forbidden|does\ not\ support
        |additional\ propert\w+)\b.{{0,80}}
      {_FORMAT}
    """
)


def nature_of(
    status: int, text: str, *, hint_s: float | None = None, is_overflow: bool = False
) -> Nature:
    """Return what an HTTP status and all that the server said with it mean.

    `hint_s` is how long the server says to wait: what is spent and comes back within the patience
    that a full server gets is no quota. `is_overflow` says that the client found the request too
    long for the model.
    """
    text = text[:_LONGEST_TEXT]
    is_large_body = _BODY_TOO_LARGE.search(text) is not None
    if status == 402:
        return "quota"
    # A request of more than a minute's tokens is refused with 429 however long one waits.
    if status == 429 and (is_large_body or excess_of(text) is not None):
        return "too-large"
    # Before the status decides: an empty account comes as 429 as well, and no patience fills it.
    if status in _REFUSED_FOR_MONEY and _is_spent(status, text, hint_s):
        return "quota"
    if status in _REFUSED_FOR_CONTENT and _FILTER.search(text):
        return "content-filter"
    if status not in _NEVER_OF_SHAPE:
        # Before sizes, since a limit of 0 images is a limit of images, too.
        if takes_no_images(status, text):
            return "permanent"
        if status == 413 or is_large_body or _is_too_large(text, is_overflow=is_overflow):
            return "too-large"
        if refuses_system(status, text) or demands_stream(status, text):
            return "permanent"
        if refuses_response_format(status, text):
            return "permanent"
    return "transient" if status in _TRANSIENT or status >= 500 else "permanent"


def _is_spent(status: int, text: str, hint_s: float | None) -> bool:
    """Return whether money or a long span's quota is used up, and will be for long."""
    is_of_short_span = _SHORT_SPAN.search(text) is not None
    is_spent = bool(
        _MONEY.search(text)
        or (status == 429 and _PER_DAY_OF_GEMINI.search(text))
        or (status == 403 and _OVER_QUOTA.search(text) and not is_of_short_span)
    )
    if not is_spent and status == 429:
        words_s = hint_in(text)
        is_long = hint_s is None and words_s is not None and words_s > PATIENCE_S
        is_of_long_span = _LONG_SPAN.search(text) is not None and not is_of_short_span
        is_spent = is_long or is_of_long_span
        hint_s = words_s if hint_s is None else hint_s
    return is_spent and (hint_s is None or hint_s > PATIENCE_S)


def _is_too_large(text: str, *, is_overflow: bool) -> bool:
    """Return whether there were too many images, or more tokens than the model's context holds."""
    if image_limit(text) is not None or _TOO_MANY_IMAGES.search(text) or _ONE_IMAGE.search(text):
        return True
    counts = token_counts(text)
    # A complaint about the limit that was set on the reply says nothing of what was sent.
    if _BOUND_OF_OUTPUT.search(text) and not _OF_WHAT_IS_SENT.search(text):
        return False
    if _OF_OUTPUT.search(text) and not _OF_INPUT.search(text):
        return False
    # The reply alone was to be longer than is allowed: fewer frames would not help.
    if counts is not None and 0 < counts.limit <= counts.output:
        return False
    if is_overflow:
        return True
    if _UNKNOWN_NAME.search(text) or (_OF_ELSE.match(text) and "context" not in text):
        return False
    if counts is not None and counts.asked and counts.limit:
        return counts.asked > counts.limit
    return bool(_PLAINLY_TOO_LONG.search(text) or _STRING_TOO_LONG.search(text))


def takes_no_images(status: int, text: str) -> bool:
    """Return whether a server says that its model sees no images at all."""
    text = text[:_LONGEST_TEXT]
    is_said = _NO_IMAGES.search(text) is not None or image_limit(text) == 0
    return is_said and status >= 400 and status not in _NEVER_OF_SHAPE


def most_images(text: str) -> int | None:
    """Return how many images a server says that it takes."""
    text = text[:_LONGEST_TEXT]
    limit = image_limit(text)
    return 1 if limit is None and _ONE_IMAGE.search(text) else limit


def excess_of(text: str) -> float | None:
    """Return a request's tokens over those allowed; None unless both numbers are named."""
    counts = token_counts(text[:_LONGEST_TEXT])
    if counts is None or not counts.output < counts.limit < counts.asked:
        return None
    return counts.asked / counts.limit


def refuses_system(status: int, text: str) -> bool:
    """Return whether a server says that its model takes no system or developer message."""
    return _refuses(_SYSTEM, status, text)


def demands_stream(status: int, text: str) -> bool:
    """Return whether a server says that it answers in pieces alone."""
    return _refuses(_STREAM, status, text)


def refuses_response_format(status: int, text: str) -> bool:
    """Return whether a server says that it does not know a form of reply that was asked for."""
    return _refuses(_FORMAT_REFUSED, status, text)


def _refuses(sign: re.Pattern[str], status: int, text: str) -> bool:
    if status < 400 or status == 403 or status in _NEVER_OF_SHAPE:
        return False
    return sign.search(text[:_LONGEST_TEXT]) is not None


_AGAIN = re.compile(
    r"(?i)(?:(?:try again|retry|available again|reset(?:s)?) (?:in|after)|\bwait(?: for)?) "
    r"(?:(\d{1,3})\s?h(?:ours?)?\s?)?(?:(\d{1,4})\s?m(?:in(?:utes?)?)?(?![a-z])\s?)?"
    r"(?:(\d{1,6}(?:\.\d{1,12})?)\s?(ms|s(?:ec(?:onds?)?)?)(?![a-z]))?"
)
"""`Please try again in 9m38.016s`."""


def hint_in(words: str) -> float | None:
    """Return the seconds after which the words of a refusal say to come back."""
    found = _AGAIN.search(words)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, seconds, unit = found.groups()
    small = float(seconds or 0) / (1000 if unit == "ms" else 1)
    return float(hours or 0) * 3600 + float(minutes or 0) * 60 + small


def image_limit(text: str) -> int | None:
    """Return the number that a server sets for images; None if it names none."""
    if found := _SET_IMAGES.search(text):
        return int(found["set"] or found["over"])
    found = _MOST_IMAGES.search(text)
    if found is None:
        return None
    if found["below"]:
        return max(1, int(found["below"]) - 1)
    said = (
        found["before"]
        or found["first"]
        or found["behind"]
        or found["named"]
        or found["range"]
        or found["chinese"]
    ).lower()
    if said in ("no", "zero"):
        return 0
    return int(said) if said.isdecimal() else _NUMBER_WORDS[said]


class TokenCounts(NamedTuple):
    """Numbers of tokens that a refusal names; 0 if it names none."""

    asked: int
    """Tokens of the request, with those of its reply if both are added."""
    limit: int
    output: int
    """Tokens asked for the reply alone."""


def token_counts(text: str) -> TokenCounts | None:
    """Return the numbers of tokens in a refusal, told apart by the words around them."""
    if not _OF_TOKENS.search(text):
        return None
    if _ELSEWHERE.search(text) and not _OF_WHOLE.search(text):
        return None
    if found := _LEFT_OVER.search(text):
        output, limit, given = map(int, found.groups())
        return TokenCounts(output + given, limit, output)
    if (found := _SUMMED.search(text)) and _OF_INPUT.search(text):
        given, output, limit = map(int, found.groups())
        return TokenCounts(given + output, limit, output)
    found = _PAIRED.search(text)
    if found is None and "xceed" in text:
        found = _SHARE.search(text)
    if found and not _UNLIKE_TOKENS.match(text, found.end()):
        first, second = map(int, found.groups())
        before = text[max(0, found.start() - 60) : found.start()]
        is_output = _OF_OUTPUT.search(before) and not _OF_INPUT.search(before)
        return TokenCounts(0, second, first) if is_output else TokenCounts(first, second, 0)
    return _labelled(text)


def _labelled(text: str) -> TokenCounts:
    numbers = list(islice(_NUMBER.finditer(text), _MOST_NUMBERS))
    asked = [0]
    limits = list[int]()
    outputs = [0]
    for place, found in enumerate(numbers):
        value = int(re.sub(r"[, ]", "", found[1]))
        if value < _LEAST_TOKENS or len(found[1]) > 12 or _UNLIKE_TOKENS.match(text, found.end()):
            continue
        start = numbers[place - 1].end() if place else 0
        end = numbers[place + 1].start() if place + 1 < len(numbers) else len(text)
        before = re.split(r"[.;!?]\s", text[max(start, found.start() - 120) : found.start()])[-1]
        if _OF_CODE.search(before) or _OF_OTHERS.search(before):
            continue
        match _label(before, text[found.end() : min(end, found.end() + 50)]):
            case "asked":
                asked.append(value)
            case "limit":
                limits.append(value)
            case "output":
                outputs.append(value)
    given = max(asked)
    limit = min(limits, default=0)
    output = max(outputs)
    if limits and output and limit == max(limits) - output:
        # As vLLM says what is left of the context for the input once the reply is set aside.
        return TokenCounts(given, limit, 0)
    # Either fits, and both do not.
    is_sum = given <= limit < given + output and output < limit
    return TokenCounts(given + output if is_sum else given, limit, output)


def _label(before: str, behind: str) -> str:
    """Return what a number counts, by the words before it back to the last one, and those behind.

    A limit of the output alone has no label: it is not what is looked for.
    """
    limit = _last(_SAYS_LIMIT, before)
    asked = _last(_SAYS_ASKED, before)
    output = _last(_OF_OUTPUT, before)
    if _BOTH_ADDED.search(before):
        return "asked"
    if _BEHIND_OUTPUT.match(behind):
        return "" if limit > asked else "output"
    if output >= 0:
        if limit <= output:
            return "output"
        return "limit" if _OF_INPUT.search(before) else ""
    if limit >= 0 and limit > asked:
        return "limit"
    if asked < 0 and _BEHIND_LIMIT.match(behind):
        return "limit"
    is_asked = asked >= 0 or _BEHIND_ASKED.match(behind) or _MAY_BE_ASKED.search(before)
    return "asked" if is_asked else ""


def _last(pattern: re.Pattern[str], text: str) -> int:
    return max((found.start() for found in pattern.finditer(text)), default=-1)


def refused_fields(status: int, text: str) -> tuple[str, ...]:
    """Return the names of a limit of tokens that a server says it does not know.

    Both if it names the one and advises the other; none if the limit is merely too high.
    """
    text = text[:_LONGEST_TEXT]
    is_of_value = _WRONG_VALUE.search(text) and not _UNKNOWN_FIELD.search(text)
    if status not in (400, 422) or is_of_value:
        return ()
    places = " ".join(_LOCATED.findall(text))
    return tuple(dict.fromkeys(_TOKEN_FIELD.findall(places or text)))
