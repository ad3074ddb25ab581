// Matchers of hook definitions as functions.
type Matches = (subject: string) => boolean;

/** Definitions with an invalid pattern were rejected when they were read; in an older thread they match everything. */
export function patternMatcher(matcher: string): Matches {
  try {
    const expression = new RegExp(matcher, "u");
    return (subject) => expression.test(subject);
  } catch {
    return () => true;
  }
}

/** Words separated by bars are names, anything else is a regular expression. */
export function nameOrPatternMatcher(matcher: string): Matches {
  if (!/^[A-Za-z0-9_|]+$/.test(matcher)) return patternMatcher(matcher);
  const names = matcher.split("|");
  return (subject) => names.includes(subject);
}
