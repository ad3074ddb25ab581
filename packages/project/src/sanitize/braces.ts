// Groups of formulas: braces that belong together, and what they enclose.

/** Where the last character of its closing brace is, by the position of each. */
export type Closing = Map<number, number>;

export function pairBraces(text: string): Closing {
  // In the body of a command, one kind may end where the other does not.
  const [braces, groups]: [number[], number[]] = [[], []];
  const pairs = new Map<number, number>();
  for (const { 0: mark, index } of text.matchAll(/\\(?:[be]group(?![a-zA-Z])|[\s\S])|[{}]/g)) {
    if (mark === "{") braces.push(index);
    if (mark === "\\bgroup") groups.push(index);
    const start = mark === "}" ? braces.pop() : mark === "\\egroup" ? groups.pop() : undefined;
    if (start !== undefined) pairs.set(start, index + mark.length - 1);
  }
  return pairs;
}

/** Where the group, formula or paragraph ends. */
export function endOfGroup(text: string, begin: number, closing: Closing): number {
  let at = begin;
  while (at < text.length && !/^(?:[$}]|\n\s*\n|\\egroup)/.test(text.slice(at, at + 8))) {
    const close = closing.get(at);
    at = close === undefined ? at + (text[at] === "\\" ? 2 : 1) : close + 1;
  }
  return Math.min(at, text.length);
}

/** Behind so many arguments, each a group, a command or a character; earlier where there are not as many. */
export function endOfArguments(text: string, begin: number, { count, closing }: { count: number; closing: Closing }) {
  let end = begin;
  for (let left = count; left > 0; left -= 1) {
    const at = end + (/^[ \t\n]{0,8}/.exec(text.slice(end, end + 8))?.[0].length ?? 0);
    if (at >= text.length || /[$}]/.test(text[at] ?? "")) return end;
    const command = /^\\(?:[a-zA-Z@]+|[\s\S])/.exec(text.slice(at, at + 40))?.[0];
    end = (closing.get(at) ?? at + (command ?? " ").length - 1) + 1;
  }
  return end;
}

/** In other texts, commands of TeX are talked about. */
export const hasFormula = (text: string): boolean => /\$|(?:```|~~~)[ \t]*math|\\[([]/.test(text);
