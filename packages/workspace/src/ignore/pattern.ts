// One pattern of an ignore file, matched as git does. The time grows with the product of both lengths, whatever the pattern:
// a repository that is not trusted may contain it, and an expression that backtracks could be kept busy for hours.

type Step =
  | { kind: "character"; accepts(character: string): boolean }
  /** Any number of characters of one name. */
  | { kind: "name" }
  /** Any number of characters. */
  | { kind: "anything" }
  /** Nothing, or any number of characters and a slash. */
  | { kind: "directories" };

/** Whether it matches all of a text. A pattern that git cannot read matches nothing. */
export function compilePattern(pattern: string, judges: "path" | "name"): (text: string) => boolean {
  if (!/[*?[\\]/.test(pattern)) return (text) => text === pattern;
  const steps = readSteps(Array.from(pattern), judges);
  return steps === null ? () => false : (text) => matchesSteps(steps, text);
}

/** Follows all ways through the steps at once. */
function matchesSteps(steps: Step[], text: string): boolean {
  let reached = new Set<number>();
  enter(0, steps, reached);
  for (const character of text) {
    const next = new Set<number>();
    for (const at of reached)
      for (const from of stepsAfter(at, steps[at], character))
        if (from === at) next.add(at);
        else enter(from, steps, next);
    if (next.size === 0) return false;
    reached = next;
  }
  return reached.has(steps.length);
}

/** With the steps behind it that may match nothing. */
function enter(at: number, steps: Step[], reached: Set<number>): void {
  for (let next = at; !reached.has(next); next += 1) {
    reached.add(next);
    if (next === steps.length || steps[next]?.kind === "character") return;
  }
}

/** Where matching goes on once the step has taken the character; a step that goes on may also end there. */
function stepsAfter(at: number, step: Step | undefined, character: string): number[] {
  if (step === undefined) return [];
  if (step.kind === "character") return step.accepts(character) ? [at + 1] : [];
  if (step.kind === "directories") return character === "/" ? [at, at + 1] : [at];
  return step.kind === "anything" || character !== "/" ? [at, at + 1] : [];
}

function readSteps(pattern: string[], judges: "path" | "name"): Step[] | null {
  const steps: Step[] = [];
  for (let at = 0; at < pattern.length; ) {
    const read = pattern[at] === "*" ? readStars(pattern, at, judges) : readCharacter(pattern, at);
    if (read === null) return null;
    // Directories once are directories twice: a thousand of them in a row would be followed for every character.
    const isRepeated = read.step.kind === "directories" && steps.at(-1)?.kind === "directories";
    if (!isRepeated) steps.push(read.step);
    at = read.next;
  }
  return steps;
}

interface ReadStep {
  step: Step;
  /** Where the next one begins. */
  next: number;
}

/** Two stars stand for directories only between slashes. */
function readStars(pattern: string[], at: number, judges: "path" | "name"): ReadStep {
  let end = at;
  while (pattern[end] === "*") end += 1;
  const isOwnPart = (at === 0 || pattern[at - 1] === "/") && (end === pattern.length || pattern[end] === "/");
  if (judges === "name" || end - at === 1 || !isOwnPart) return { step: { kind: "name" }, next: end };
  return end === pattern.length
    ? { step: { kind: "anything" }, next: end }
    : { step: { kind: "directories" }, next: end + 1 };
}

function readCharacter(pattern: string[], at: number): ReadStep | null {
  const character = pattern[at];
  if (character === "?") return { step: { kind: "character", accepts: (other) => other !== "/" }, next: at + 1 };
  if (character === "[") return readClass(pattern, at + 1);
  const literal = character === "\\" ? pattern[at + 1] : character;
  if (literal === undefined) return null;
  return {
    step: { kind: "character", accepts: (other) => other === literal },
    next: at + (character === "\\" ? 2 : 1),
  };
}

/** From behind its opening bracket. Null if it is not closed. */
function readClass(pattern: string[], from: number): ReadStep | null {
  const negated = pattern[from] === "!" || pattern[from] === "^";
  const first = negated ? from + 1 : from;
  const members: ((character: string) => boolean)[] = [];
  let at = first;
  while (at === first || pattern[at] !== "]") {
    const member = pattern[at] === "[" && pattern[at + 1] === ":" ? readNamed(pattern, at) : readRange(pattern, at);
    if (member === null) return null;
    members.push(member.accepts);
    at = member.next;
  }
  const accepts = (character: string) =>
    character !== "/" && members.some((includes) => includes(character)) !== negated;
  return { step: { kind: "character", accepts }, next: at + 1 };
}

interface ClassMember {
  accepts(character: string): boolean;
  next: number;
}

/** One character, or all between two. */
function readRange(pattern: string[], at: number): ClassMember | null {
  const low = readMember(pattern, at);
  if (low === null) return null;
  const isRange = pattern[low.next] === "-" && pattern[low.next + 1] !== "]" && pattern[low.next + 1] !== undefined;
  const high = isRange ? readMember(pattern, low.next + 1) : low;
  if (high === null) return null;
  return { accepts: (character) => low.character <= character && character <= high.character, next: high.next };
}

function readMember(pattern: string[], at: number): { character: string; next: number } | null {
  const escaped = pattern[at] === "\\";
  const character = pattern[escaped ? at + 1 : at];
  return character === undefined ? null : { character, next: at + (escaped ? 2 : 1) };
}

const named: Record<string, RegExp> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[\0-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\v\f\r]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** Such as [:digit:]. */
function readNamed(pattern: string[], at: number): ClassMember | null {
  const end = pattern.indexOf("]", at + 2);
  const name = pattern.slice(at + 2, end - 1).join("");
  const expression = end > 0 && pattern[end - 1] === ":" ? named[name] : undefined;
  return expression === undefined ? null : { accepts: (character) => expression.test(character), next: end + 1 };
}
