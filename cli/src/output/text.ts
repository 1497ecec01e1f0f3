// Makes foreign text safe for a terminal: nothing in it moves the cursor, changes colours or turns letters around. Pure.

/** Control characters, and characters that turn the direction of the text after them. */
const HARMFUL = /[\p{Cc}\p{Bidi_Control}]/gu;

export const shown = (text: string): string => text.replaceAll(HARMFUL, "\ufffd");
