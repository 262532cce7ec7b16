"""English sentences that assert something, and those that do not."""

from __future__ import annotations

import re
from typing import Final

from core.language.lazy_regex import either, lazy_regex
from core.language.parts import Assertions, LeadIn
from core.language.quotation_marks import QUOTED, is_mostly_quoted

_SPEECH = lazy_regex(
    r"\b(?:says?|said|saying|told|tells?|inform(?:s|ed)|announce[sd]|I quote|mumbled|muttered|asked|asks|"
    r"replied|wrote|writes|shouted|yelled|whispered|claims?|claimed|"
    r"quotes?|quoted|goes|reads?|sings?|sang|lyrics?|line|according to)\b",
    re.IGNORECASE,
)
_REPORTED = lazy_regex(
    r"\b(?:says?|said|told (?:me|us|him|her|them)|claims?|claimed|thinks?|thought|believes?|asked (?:me )?(?:if|"
    r"whether))"
    r"(?: that)? (?:I|my|we)\b|^(?:he|she|they|someone|somebody|people|everyone|[A-Z]\w+) (?:says?|said|told|"
    r"claims?)\b|\bas (?:the (?:song|saying|poem|quote|line) (?:says|goes)|they say)\b",
)
_HYPOTHETICAL = lazy_regex(
    r"^(?:even )?(?:if|what if|suppose|supposing|imagine|assume|assuming|say|let's say|let us say|pretend|unless|"
    r"in case|"
    r"whether|had I|were I|hypothetically|should I)\b"
    r"|\b(?:I|we) wish\b|\bif only\b|\b(?:would|could|should|might) have\b|\bif (?:I|we|it|he|she|they|you|my)\b"
    r"|\b(?:I|we) (?:would|could|might|may)(?! like| love| rather| never| always| really| not)\b"
    r"|\bhypothetical|\bin (?:my|a|the) (?:dreams?|story|novel|game|movie|another life|alternate)\b|\bin theory\b"
    r"|\b(?:let us|let['’]s) (?:pretend|imagine|assume|suppose|say)\b|\bI['’]d (?:(?:only|really|probably|just) )?"
    r"(?:be|have|go|do|make|take|get|move|buy|live|work|die|quit|become|choose|pick)\b"
    r"|\bpretend(?:ing)? (?:to be|that|I)\b|\bas if\b|\bas though\b|\bfor (?:example|instance)\b|"
    r"\bdreamed (?:that|of|I)\b"
    r"|\bI (?:almost|nearly) \w+ed\b|\bmaybe (?:I|we)\b|\bperhaps (?:I|we)\b|\bjust kidding\b|\bkidding\b",
    re.IGNORECASE,
)
_QUESTION = lazy_regex(
    r"^(?:and |so |but |or |hey |well |oh |also |then )*(?:what|how|why|when|where|who|whom|whose|which|do|does|"
    r"did|is|are|am|was|were|can|could|"
    r"would|will|should|shall|have you|has|had you|any|anything|isn't|aren't|don't you|didn't|wanna|"
    r"ever)\b(?!.*\bI (?:was|am) a kid\b)"
    r".*\b(?:you|your|I|we|it|he|she|they|the|this|that|there|my)\b",
    re.IGNORECASE,
)
_REQUEST = lazy_regex(
    r"^(?:please |now |ok |okay |then )*(?:write|draft|compose|create|generate|translate|summari[sz]e|rewrite|"
    r"explain|act as|tell me|give me|help me|show me|"
    r"make (?:me|a|it|this)|list|describe|fix|find|suggest|recommend|correct|proofread|edit|convert|pretend|"
    r"role-?play|consider|compare|calculate|analy[sz]e)\b"
    r"(?!.*\b(?:from now on|going forward|always|in future|in the future|every time|whenever)\b)",
    re.IGNORECASE,
)
_ASKING_TAIL = lazy_regex(
    r"^(?P<said>.{8,}?)(?:[,;—–]| - |\.\.\.)\s*(?:so |and |but |do you |then )?(?:what|how|why|when|where|who|"
    r"which|can|could|would|will|"
    r"do|does|did|is|are|have|any|should|got)\b[^,;]*\?$",
    re.IGNORECASE,
)
_LEAD_IN = lazy_regex(
    r"^(?P<lead>[A-Za-z][^:.;!?\"“”]{0,60}):\s+(?=(?:please|and|but|so|just|always|never|do not|don['’]t|from now on|"
    r"call me|i|i['’](?:m|ve|ll|d)|im|we|we['’](?:re|ve|ll)|my|our|last|yesterday|today|next)\b)",
    re.IGNORECASE,
)
_NO_LEAD = lazy_regex(
    r"\b(?:sa(?:y|ys|id|ying)|tells?|told|ask(?:s|ed)?|wr(?:ite|ites|ote)|repl(?:y|ies|ied)|thinks?|thought|he|"
    r"she|they|who|translat\w+|rewrite|rephrase|correct|proofread|examples?|quotes?|quoted|subject|title|lyrics?|song|"
    r"prompt|text|sentences?|phrase|story|character|role|dialogue|e-?mail|letter|message|review|post|tweet|caption|"
    r"summari[sz]e|draft|scenario|imagine|suppose|pretend|joke|motto|slogan|question|task)\b",
    re.IGNORECASE,
)
_TOLD_SOMETHING = lazy_regex(
    r"^I (?:have )?(?:said|told|asked|wrote|replied) (?:\S+ ){0,6}?(?!(?:me|him|her|them|us|you|that|this)$)\w+$",
    re.IGNORECASE,
)
"""Words before a colon that report a promise rather than quote: "I said yes to Acme: …"."""
_LEAD_WORDS = frozenset(
    "update note news fact facts reminder confession context background health diet allergy allergies work job home "
    "food family important correction edit ps fyi also and first second third next finally lastly anyway warning "
    "heads-up actually truth honestly remember me personally plan plans today tonight yesterday rule "
    "rules preference preferences request problem".split()
)
"""Single words allowed before a colon; any other is the name of someone quoted."""
_STATED_ITSELF = lazy_regex(
    r"^(?!.*\b(?:before|as|when|while|since|after|until|for|about|of|in|on)\b).*\b(?:I|we|my|our)\b", re.IGNORECASE
)
"""Words before a colon that are a statement and not a lead-in: "My writing is going well:"."""


def is_question(sentence: str) -> bool:
    """Return whether a sentence has the form of a question, and no full stop."""
    return bool(_QUESTION.match(sentence)) and not sentence.endswith((".", "!"))


def is_request(sentence: str) -> bool:
    """Return whether a sentence only asks for something to be done once."""
    return bool(_REQUEST.match(sentence))


def is_quoted(sentence: str) -> bool:
    """Return whether a sentence gives someone else's words: a quotation with a verb of speech, or reported speech."""
    if _REPORTED.search(sentence):
        return True
    if not QUOTED.search(sentence):
        return False
    return bool(_SPEECH.search(QUOTED.sub(" ", sentence))) or is_mostly_quoted(sentence)


ASSERTIONS: Final = Assertions(
    is_question=is_question,
    is_request=is_request,
    is_quoted=is_quoted,
    hypothetical=_HYPOTHETICAL,
    asking_tail=_ASKING_TAIL,
    lead_in=LeadIn(_LEAD_IN, either([_NO_LEAD, _REQUEST]), _STATED_ITSELF, _TOLD_SOMETHING, _LEAD_WORDS),
)
