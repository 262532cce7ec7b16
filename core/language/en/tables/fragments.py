"""Building blocks of the rows: subjects, what precedes a value, where a value ends.

`{who}` matches "I" or one of the speaker's people ("my sister Anna"); values end at the next clause.
"""

from __future__ import annotations

import re

from core.language.lazy_regex import lazy_regex

KIN = (
    r"wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|mother|mom|mum|mam|father|dad|sister|brother|son|"
    r"daughter|"
    r"uncle|aunt|cousin|niece|nephew|grandmother|grandma|grandfather|grandpa|boss|manager|roommate|flatmate|"
    r"best friend|friend|"
    r"colleague|coworker|classmate|neighbou?r|landlord|landlady|therapist|doctor|coach|"
    r"oldest|youngest|eldest|(?:grand)?parents|siblings|kids|children|sons|daughters|sisters|brothers|twins|ex(?:-(?:wife|husband))?"
)
PETS = r"dog|puppy|cat|kitten|hamster|rabbit|bunny|parrot|horse|turtle|snake|guinea pig|fish|bird|pet"
FREE = r"(?:^|(?<=[,;:] )|(?<=\band )|(?<=\bbut )|(?<=\bbecause )|(?<=\bsince )|(?<=\bso )|(?<=[-–—] )|(?<=\bthat ))"
ADV = (
    r"(?:(?:also|now|currently|actually|still|just|recently|already|really|always|usually|originally|mostly|only|"
    r"finally|absolutely|personally|generally|both|very|so|totally|truly|secretly|have|has|even|officially) )*"
)
WHO = (
    rf"(?:\b(?:I|we)|\b(?:my|our) (?P<kin>(?:older |younger |little |big |elder |twin |"
    rf"late )?(?:{KIN})(?:-in-law)?)(?:,? (?P<kinname>(?-i:[A-Z][a-z]+)))?,?) {ADV}"
)
TITLES = "St|Dr|Mr|Mrs|Ms|Mt"
"""Beginnings of names whose full stop ends no sentence."""
V = rf"(?P<v>(?:(?:{TITLES})\. )?[^,.;!?()]+?)"
_AFTER = (
    r"but|because|since|so|which|who|when|while|where|although|though|with my|with our|at the moment|now|"
    r"these days|right now|currently|anymore|any more|instead|for (?:about |over |almost |nearly |the |\d|a |an |"
    r"two|three|four|five|six|seven|eight|nine|ten)|as of|until|"
    r"in order|to be|after|before|during|(?:last|next|this) (?:week|weekend|month|year|summer|winter|spring|fall|"
    r"autumn|morning|evening|afternoon|mon|tue|wed|thu|fri|sat|sun)\w*|yesterday|today|too|as well|from now|"
    r"starting|originally|these|soon|back in|ago|in (?:(?:19|20)\d\d|early|late|mid|january|february|"
    r"march|april|may|june|"
    r"july|august|september|october|november|december)\b|on (?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    r"weekends|weekdays)|at the weekend|every (?:day|week|morning|night|month|evening|sunday|weekend)"
)
"""Text after a value that is not part of it."""
END = rf"(?=$|[,.;!?()]| [-–—]| (?:and|{_AFTER})\b)"
_CLAUSE = r"I|it|they|we|my|the|so|but|especially|[a-z]+ing (?:my|me)|\w+ (?:is|are|was)|plus|as|and then"
LIST_END = (
    rf"(?=$|[.;!?()]| [-–—]|,? (?:but|so|because|which|who|plus|especially|as I|just) |, (?:and )?(?:{_CLAUSE})\b|"
    rf" (?:and (?:I|it|my|we|then|the|am|have|would|so|can|feel|that|they|he|she)\b|(?:{_AFTER})\b))"
)
"""The same if the value is a list such as "A, B and C"."""
ILL = (
    r"(?:type [12] )?(?:asthma|diabetes|depression|anxiety|adhd|autism|arthritis|migraines?|epilepsy|cancer|"
    r"hypertension|high blood pressure|celiac disease|coeliac disease|insomnia|back pain|heart condition|ibs|"
    r"crohn's disease|ptsd|ocd|dyslexia|anemia|eczema|psoriasis|endometriosis|tinnitus|asperger's|sleep apnea|"
    r"bipolar disorder|hay fever|knee injury|food poisoning|thyroid condition)"
)
_PARTS = {
    "{ill}": ILL,
    "{kin}": KIN,
    "{list_end}": LIST_END,
    "{free}": FREE,
    "{who}": WHO,
    "{v}": V,
    "{end}": END,
    "{adv}": ADV,
}


def row(regex: str) -> re.Pattern[str]:
    """Return `regex` with its placeholders filled in, in any case."""
    for name, part in _PARTS.items():
        regex = regex.replace(name, part)
    return lazy_regex(regex, re.IGNORECASE)
