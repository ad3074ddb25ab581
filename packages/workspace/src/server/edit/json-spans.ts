// Where the parts of a JSON text are, so that one can be replaced and the rest stays as it was written.

export interface Span {
  start: number;
  end: number;
}

/** Values of the object that begins at `start`, by name. The text must be valid JSON. */
export function membersOf(text: string, start: number): Map<string, Span> {
  const members = new Map<string, Span>();
  let at = skipSpace(text, start + 1);
  while (text[at] === '"') {
    const name = spanAt(text, at);
    const value = spanAt(text, skipSpace(text, skipSpace(text, name.end) + 1));
    members.set(JSON.parse(text.slice(name.start, name.end)) as string, value);
    at = skipSpace(text, value.end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return members;
}

/** Items of the array that begins at `start`. */
export function itemsOf(text: string, start: number): Span[] {
  const items: Span[] = [];
  let at = skipSpace(text, start + 1);
  while (at < text.length && text[at] !== "]") {
    const item = spanAt(text, at);
    items.push(item);
    at = skipSpace(text, item.end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return items;
}

function spanAt(text: string, start: number): Span {
  if (text[start] === '"') return { start, end: endOfString(text, start) };
  if (text[start] !== "{" && text[start] !== "[") {
    let end = start;
    while (end < text.length && !/[\s,\]}]/.test(text[end] ?? "")) end += 1;
    return { start, end };
  }
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === "{" || character === "[") depth += 1;
    else if (character === "}" || character === "]") depth -= 1;
    if (depth === 0) return { start, end: at + 1 };
  }
  return { start, end: text.length };
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

export function skipSpace(text: string, start: number): number {
  let at = start;
  while (/\s/.test(text[at] ?? "")) at += 1;
  return at;
}
