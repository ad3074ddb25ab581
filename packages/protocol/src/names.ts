// Names that people see in lists: agents, keys, service accounts, teams, sessions.

/**
 * Controls a terminal, ends the line, turns the text around or cannot be seen, so that two names look the same. The selectors
 * of the form of an emoji are not included: people type them without knowing.
 */
export const unprintable = /(?![\uFE0E\uFE0F])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** What is wrong with a name that has one. */
export const unprintableProblem = "must not contain control characters or invisible characters";

/** For names that are taken from other texts. */
export const withoutUnprintable = (text: string): string => text.replace(new RegExp(unprintable, "gu"), "");
