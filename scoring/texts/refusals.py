"""Refusals told from answers: "I can't help" is one, "the video does not show it" is none.

A refusal that the provider marks is no answer: the model forfeits. One in plain words ("I am unable
to view videos") is an answer, and the judge says what it is worth; it is only counted here, and
`--without refusals` leaves its battle out. Words are read, so what they do not foresee is missed:
English, German, French, Spanish and Chinese are known, and of other languages no refusal is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

MOST_WORDS = 80
"""A longer answer that begins by refusing goes on to answer."""
_OPENING = 320
"""Characters from the start within which it has to be said."""

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|»[^«]*«|「[^」]*」|『[^』]*』')
_SENTENCES = re.compile(r"(?<=[.!?…]) |(?<=[。！？]) ?")
_SAYING = (
    r"\b(?:says?|said|tells?|told|asks?|asked|shouts?|repl(?:ies|ied)|answers|answered|explains?"
    r"|reads|sagte?|ruft|fragte?|antwortete?|erklärte?|steht|dit|dice)\b"
)
_LEAD = (
    rf"(?:(?![^,，]{{0,90}}{_SAYING})[^,，:;]{{0,90}}[,，;—–] ?"
    r"(?:but |aber |mais |pero |但)?){0,2}?(?:(?:as an?(?: [\w-]+){1,5}?|unfortunately|sadly"
    r"|regrettably|sorry|but|i regret(?: to say| to inform you)?(?: that)?) ){0,2}?"
)
"""What may stand before a refusal in its sentence; what somebody in the video says is no
refusal."""
_FILLER = re.compile(
    r"(?:i(?:['’]m| am) (?:\w+ ){0,2}sorry|sorry|(?:my )?apolog|i apologi|thank|hello|hi\b"
    r"|i understand|i appreciate|great|good|interesting|that['’]s an? |what an? |unfortunately"
    r"|as an? |i(?:['’]m| am) (?:only |just )?an? "
    r"|es tut mir|tut mir|entschuld|danke|vielen dank|hallo|guten|ich verstehe|leider|als ki"
    r"|als sprach|ich bin (?:nur )?eine? |désolé|je suis (?:vraiment )?désolé|bonjour|merci"
    r"|lo siento|hola|gracias|disculp|抱歉|对不起|很抱歉|您好|你好|谢谢)",
    re.IGNORECASE,
)
"""Beginnings of sentences that say nothing yet."""

_CANNOT = (
    r"(?:i(?:['’]m| am| would be)? (?:(?:\w+ly|just|still|also"
    r"|afraid(?: that)?(?: i['’]m| i am| i)?) ){0,2}"
    r"(?:can(?:no|['’])?t|can not|could(?: not|n['’]t)|unable to|not able to"
    r"|not (?:allowed|permitted|programmed|designed|equipped) to|won['’]t(?: be able to)?"
    r"|will not(?: be able to)?|have no (?:way|means) to|lack the ability to"
    r"|do(?:n['’]t| not) have the (?:ability|capability|capacity|means) to)(?: and will not)?"
    r"|it(?:['’]s| is) (?:not possible|impossible) for me to)"
)
_UNSURE = (
    r"(?! (?:(?:this|that|it|the question|your question) )?(?:with (?:\w+ )?"
    r"(?:certainty|confidence|precision)|for (?:sure|certain)|definitively|exactly|fully))"
)
_HELP_EN = (
    # "I can't help but notice" helps, and "I can't see her answer" sees.
    rf"{_CANNOT} (?:(?!(?:see|hear|tell|make|find|read|say|watch)\b)\w+ ){{0,2}}?(?:help"
    r"(?! but\b| (?:notic|think|feel|wonder|laugh|smil)ing)|assist|comply|fulfil+|engage|discuss"
    r"|continue|participate|respond|do that|do this|support|answer|comment on (?:this|that|it)"
    r"|(?:process|complete|perform|carry out) (?:this|that|your|the|such an?) (?:request|task)"
    r"|provide (?:\w+ ){0,3}?(?:answer|assistance|response|help|information|analysis"
    rf"|description|summary))\b{_UNSURE}",
    r"(?:sorry,? )?can(?:no|['’])t (?:help|assist|do) (?:you )?(?:with )?(?:that|this)\b",
    rf"{_CANNOT} (?:\w+ or )?(?:identify|name|recogni[sz]e|describe) (?:\w+ ){{0,2}}?"
    r"(?:people|persons|individuals|content)\b(?! (?:in|on|behind|at|near) the)",
    r"(?:that|this|it)(?:['’]s| is) (?:not something|nothing) (?:that )?i(?:['’]m| am| can)"
    r"(?: able to)? (?:help|assist|answer|discuss|do)\b",
    r"i(?:['’]m going to have to| must|(?: am going to| will)? have to| need to) (?:\w+ )?"
    r"(?:decline|refuse)\b",
    r"i(?:['’]d| would) (?:rather|prefer) not (?:to )?(?:answer|discuss|say|comment|help)",
    r"i(?:['’]m| am) not (?:comfortable|willing)\b",
    r"i (?:decline|refuse) to\b",
    r"(?:my|our) (?:guidelines|policies|policy|programming|rules) (?:\w+ ){0,2}?"
    r"(?:(?:not|\w+n['’]t) (?:allow|permit)|prohibits?|forbids?|prevents?)\b",
    r"(?:this|that|it|your request|\w+ing (?:this|that|it)) "
    r"(?:goes |is |violates |would violate )(?:against )?"
    r"(?:my|our|the) (?:content )?(?:guidelines|polic)",
)
_MEANS = r"(?:videos?|images?|frames|pictures|clips?|footage|visuals?|media|attachments?)"
_THE = r"(?:(?:any|the|your|this|that|these|those|an?|such|or \w+|\w+ed|actual|visual|full) ){0,3}?"
_ENDS = (
    r"(?= ?(?:$|[.,;:!?)(–—-]|(?:directly|contents?|inputs?|files?|data|links?|you|that you|or|and"
    r"|to|so|but|because|as|since|itself|myself|yet|in (?:this|our|your)|at (?:this|the) "
    r"(?:time|moment)|right now|here|from (?:the )?(?:internet|web|links?|urls?))\b))"
)
"""What may follow where videos as such are meant; a picture on the wall is a thing in one."""
_VIEW = r"(?:view|watch|access|open|play|process|analy[sz]e|interpret|review|download|load)"
_AND = r"(?:,? (?:or |and )?\w+){0,2}?"
_BLIND_EN = (
    # "I am unable to view videos"; "I can't see a dog" is an answer, so the thing has to be media.
    rf"{_CANNOT} (?:\w+ly )?{_VIEW}{_AND} {_THE}{_MEANS}\b{_ENDS}",
    rf"{_CANNOT} (?:\w+ly )?(?:see|perceive|look at)(?: or \w+)? {_THE}"
    rf"(?:videos?|images|pictures|footage|media|attachments?)\b{_ENDS}",
    r"i (?:currently )?do(?:n['’]t| not) (?:\w+ )?have (?:the )?(?:\w+ )?"
    rf"(?:access to|capabilit\w+ to|means of) (?:\w+ )?{_THE}{_MEANS}\b",
    rf"i (?:have no|lack) (?:\w+ )?access to {_THE}{_MEANS}\b",
    rf"i do(?:n['’]t| not) (?:see|have) (?:any|an?|the|your) {_MEANS} "
    r"(?:attached|uploaded|provided|in (?:this|our|your) (?:chat|conversation|message))",
    r"(?:as|i['’]m|i am) (?:only |just )?an? (?:\w+[- ]){0,2}?(?:ai|text-based|language)\b.{0,60}?"
    r"\b(?:can(?:no|['’])?t|unable to|not able to|do(?:n['’]t| not)) (?:\w+ ){0,2}?"
    rf"(?:{_VIEW}|see|perceive){_AND} {_THE}{_MEANS}\b",
)

_ICH = r"(?:[\w-]+ ){0,5}?(?:ich kann|kann ich|könnte ich"
_HELP_DE = (
    rf"{_ICH}|ich darf|darf ich|ich werde|werde ich|ich möchte|möchte ich|ich will) "
    r"(?:(?!kein)[\w-]+ ){0,6}?nicht (?:weiter )?(?:helfen|weiterhelfen|behilflich sein|dienen"
    r"|beantworten|antworten|eingehen|unterstützen|nachkommen|mitmachen|erfüllen|ausführen"
    r"|entsprechen|äußern|diskutieren|bearbeiten)",
    rf"{_ICH}) (?:\w+ ){{0,4}}?keine (?:\w+ )?(?:antwort|hilfe|auskunft|auskünfte|informationen"
    r"|beschreibung) (?:\w+ ){0,3}?(?:geben|bieten|leisten|erteilen|liefern|anbieten)",
    rf"{_ICH}|ich darf|darf ich) (?:\w+ ){{0,4}}?keine (?:angaben|aussagen) (?:\w+ ){{0,4}}?machen",
    r"(?:[\w-]+ ){0,5}?(?:ich bin|bin ich|ist es mir|mir ist es|es ist mir) (?:\w+ ){0,2}?nicht "
    r"(?:in der lage|imstande|möglich|erlaubt|gestattet),? (?:\w+ ){0,4}?(?:zu |be)"
    r"(?:helfen|antworten|beantworten|unterstützen)\b",
    r"(?:[\w-]+ ){0,4}?(?:helfe ich|ich helfe|antworte ich|ich antworte) (?:\w+ ){0,3}?nicht\b",
    r"ich darf (?:\w+ ){0,5}?(?:nicht |keine (?:\w+ )?)identifizieren",
    r"(?:[\w-]+ ){0,3}?(?:ich muss|muss ich) (?:\w+ ){0,5}?(?:ablehnen|verweigern)",
    r"ich (?:lehne|verweigere)\b",
    r"(?:das|dies) (?:verstößt|widerspricht) (?:gegen )?(?:meinen?|unseren?)\b",
    r"meine (?:richtlinien|vorgaben|regeln) (?:\w+ ){0,3}?nicht",
)
_FILME = r"(?:videos?|bilder|videodateien|dateien|clips?|aufnahmen|filme|medien|anhänge?)"
_SEHEN = (
    r"(?:an|ab|aus|auf)?(?:sehen|schauen|öffnen|spielen|rufen|zugreifen|werten|analysieren"
    r"|verarbeiten|betrachten)"
)
_BLIND_DE = (
    rf"{_ICH}|und kann) (?:(?:leider|derzeit|momentan|aber|mir|direkt|selbst) ){{0,3}}"
    rf"(?:keine|das|dieses|ihr|dein) (?:\w+ )?{_FILME}(?: oder \w+)? "
    rf"(?:(?:leider|derzeit|selbst|direkt|nicht) ){{0,3}}{_SEHEN}",
    rf"{_ICH}) (?:(?:leider|derzeit|selbst) ){{0,2}}{_FILME} (?:\w+ ){{0,3}}?(?:nicht|weder) "
    rf"(?:\w+ ){{0,3}}?{_SEHEN}",
    rf"(?:das|dieses|ihr|dein|den|diesen) {_FILME} kann ich "
    rf"(?:(?:mir|leider|derzeit|selbst) ){{0,3}}nicht {_SEHEN}",
    rf"[^.!?]{{0,80}}?\b(?:weil|da) ich (?:\w+ ){{0,2}}?keine {_FILME} (?:\w+ ){{0,2}}?"
    rf"{_SEHEN} kann",
    r"(?:[\w-]+ ){0,5}?(?:ich bin|bin ich|ist es mir|mir ist es|es ist mir) (?:\w+ ){0,2}?nicht "
    rf"(?:in der lage|fähig|möglich|imstande),? (?:\w+ ){{0,2}}?{_FILME}\b",
    r"(?:[\w-]+ ){0,4}?(?:ich habe|habe ich) (?:\w+ ){0,2}?"
    r"(?:keinen (?:\w+ )?(?:zugriff auf|zugang zu)"
    rf"|keine (?:\w+ )?(?:möglichkeit|fähigkeit),?) (?:\w+ )?{_FILME}\b",
)

_HELP_OTHER = (
    r"je ne (?:peux|suis) (?:\w+ ){0,3}?(?:pas|en mesure|capable)(?: \w+){0,4}? "
    r"(?:d['’])?(?:vous |t['’])?(?:aider|assister|répondre|satisfaire)\b",
    r"je dois (?:\w+ )?(?:refuser|décliner)",
    r"no (?:puedo|podré) (?:\w+ ){0,2}?(?:ayudar\w*|responder\w*|contestar\w*|asistir\w*|cumplir"
    r"|proporcionar)\b",
    r"(?:tengo que|debo) (?:rechazar|negarme|declinar)",
    r"我?(?:不能|无法|無法|不便|没办法)(?:为您|為您|给您|對此|对此|就此)?(?:提供)?"
    r"(?:帮助|幫助|协助|協助|回答|满足|讨论|回應|回应)",
    r"我(?:必须|不得不)?拒绝",
)
_BLIND_OTHER = (
    r"je ne (?:peux|suis) (?:\w+ ){0,4}?(?:pas|capable|mesure) (?:\w+ ){0,2}?(?:de |d['’])?(?:voir"
    r"|regarder|visionner|accéder|ouvrir|lire|analyser) (?:\w+ )?(?:la |les |des |de |aux? )?"
    r"(?:vidéos?|images)\b",
    r"no (?:puedo|tengo) (?:\w+ ){0,4}?(?:ver|acceso|acceder|reproducir|abrir|analizar|visualizar) "
    r"(?:a )?(?:el |los |al |un )?(?:v[ií]deos?|im[aá]genes)\b",
    r"我?(?:不能|无法|無法|没办法|没有能力)(?:直接)?(?:观看|觀看|查看|播放|访问|打开|处理|看到)"
    r"(?:任何|您的|你的|这个|该|這個)?(?:视频|影片|視頻|图像|图片)(?=$|[。，,.！!]|内容|文件|或|和)",
)

_HELPS_NOT = re.compile(
    f"{_LEAD}(?:{'|'.join([*_HELP_EN, *_HELP_DE, *_HELP_OTHER])})", re.IGNORECASE
)
"""Says that the model will not or cannot help; no refusal where the video is said not to show
it."""
_SEES_NOT = re.compile(
    f"{_LEAD}(?:{'|'.join([*_BLIND_EN, *_BLIND_DE, *_BLIND_OTHER])})", re.IGNORECASE
)
"""Says that the model cannot see videos."""
_GROUND = re.compile(
    r"\b(?:video|clip|footage|frames?|images?|pictures?|recording|scenes?|subtitles?)\b.{0,30}?"
    r"(?:\b(?:not|never|nothing|no|cuts?|ends?|too)\b|n['’]t\b)"
    r"|\b(?:not|never|nothing|isn['’]t|aren['’]t|wasn['’]t|no(?:body| one|where)?)\b.{0,40}?"
    r"\b(?:visible|shown|seen|legible|readable|depicted|in (?:the|this|these) "
    r"(?:video|clip|frames?|footage))\b|\b(?:there (?:is|are|was|were)|shows?|has|have) no\b"
    r"|\b(?:blurr\w+|out of (?:frame|shot|view)|off[- ]screen|too (?:dark|small|far|fast))\b"
    r"|\b(?:video|clip|film|bilder?|aufnahmen?|szenen?)\b.{0,40}?\b(?:nicht|kein\w*|nie|nichts)\b"
    r"|\b(?:nicht|kein\w*|nie|nichts)\b.{0,40}?\b(?:sichtbar|zu sehen|gezeigt|zu erkennen"
    r"|erkennbar|lesbar|im (?:video|bild|clip))\b"
    r"|\b(?:unscharf|verdeckt|zu (?:dunkel|klein|weit|schnell))\b"
    r"|\bvidéo\b.{0,30}?\bne\b|\bv[ií]deo no\b|\bno se (?:ve|muestra)\b"
    r"|(?:视频|影片|画面).{0,12}?(?:没有|未|不)",
    re.IGNORECASE,
)
"""Says that the video does not show something."""
_GOES_ON = re.compile(
    r"(?:\b(?:but|however|though|yet|still|nevertheless|aber|jedoch|allerdings|dennoch|mais|pero)\b"
    r"|但)(?!.{0,40}\b(?:if|you|please|wenn|falls|sie|du|bitte|si|vous|usted)\b)"
    r"(?!.{0,20}\b(?:help|assist|can(?:no|['’])t|unable|helfen|nicht)\b).{0,60}?"
    r"(?:\b(?:based on|from the|frames?|images|shows?|see|appears?|seems?|looks|describe|visually"
    r"|bilder\w*|zeigt|zeigen|sehe|scheint|sieht|anhand)\b|画面)",
    re.IGNORECASE,
)
"""Goes on to answer all the same."""

_CUES = (
    *("not", "n't", "n’t", "cant", "have no", "no p", "no t", "unable", " lack ", "impossible"),
    *("declin", "refus", "prevent", "forbid", "prohibit", "against", "violat"),
    *("nicht", "kein", "weder", "lehn", "verweiger", "verstö", "widerspr"),
    *("je ne", "je dois", "rechaz", "negarme", "不", "无", "無", "没", "拒"),
)
"""Every refusal holds one of these; most answers hold none, and no pattern need be tried on
them."""


def is_refusal(answer: str) -> bool:
    """Return whether an answer refuses in plain words, in a language of those above.

    It does where it has at most `MOST_WORDS` words and begins by saying that it cannot or will not
    help, or that it cannot see videos. That a thing is not to be seen ("I can't see a dog", "I
    can't answer that: the video does not show it") is an answer, and so is what somebody says.
    """
    # By characters first: to split a hostile answer of megabytes would take long.
    if len(answer) > 20 * MOST_WORDS or len(answer.split()) > MOST_WORDS:
        return False
    lower = answer[:_OPENING].lower()
    for cue in _CUES:
        if cue in lower:
            break
    else:
        return False
    # What stands in quotation marks is somebody else's word.
    opening = _QUOTED.sub("x", " ".join(answer[:_OPENING].split())).lstrip("*_#>- ")
    for sentence in _opening_sentences(opening):
        if _SEES_NOT.match(sentence):
            return _GOES_ON.search(opening) is None
        if _HELPS_NOT.match(sentence):
            return _GROUND.search(opening) is None and _GOES_ON.search(opening) is None
    return False


def _opening_sentences(opening: str) -> Iterator[str]:
    """Yield the sentences up to the first that says something, which is among them."""
    for sentence in _SENTENCES.split(opening):
        yield sentence
        if sentence and not _FILLER.match(sentence):
            return
