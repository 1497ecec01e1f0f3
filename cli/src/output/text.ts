// Text from elsewhere, as a terminal may be given it: nothing in it moves the cursor, changes colours or turns letters around. Pure.

/** Control characters, and those that turn the direction of what follows. */
const HARMFUL = /[\p{Cc}\p{Bidi_Control}]/gu;

export const shown = (text: string): string => text.replaceAll(HARMFUL, "\ufffd");
