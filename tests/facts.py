"""What a message names. Tests ask for facts (a name, a number, an option), not for the sentence around them."""


def missing(message: str, facts: str) -> list[str]:
    """The facts, which are separated by spaces, that a message does not name."""
    return [fact for fact in facts.split() if fact not in message]
