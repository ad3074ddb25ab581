// Names that people see in lists: agents, keys, service accounts, teams, sessions.

/** Controls a terminal, ends the line or turns the text around; no name contains it. */
export const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** For names that are taken from other texts. */
export const withoutUnprintable = (text: string): string => text.replace(new RegExp(unprintable, "gu"), "");
