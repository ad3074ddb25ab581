// Removes definitions of commands in formulas, which a page does not show, and the words that such commands hide.
import { type Closing, endOfArguments, endOfGroup, hasFormula, pairBraces } from "./braces.ts";
import { collectRemovals, type Removals } from "./removals.ts";
import { stripUnseenMath } from "./unseen-math.ts";

export function stripMathDefinitions(text: string, removals: Removals): string {
  if (!definition.test(text) || !hasFormula(text)) return text;
  const closing = pairBraces(text);
  const definitions = findDefinitions(text, closing);
  const uses = findHidingUses(text, { hiding: findHiding(definitions), definitions, closing });
  const kept: string[] = [];
  let at = 0;
  for (const { begin, end } of [...definitions, ...uses].sort((one, other) => one.begin - other.begin)) {
    if (begin < at) continue;
    kept.push(text.slice(at, begin));
    removals.add("math-definition", text.slice(begin, end));
    at = end;
  }
  return [...kept, text.slice(at)].join("");
}

const name = /\\([a-zA-Z@]+|[^a-zA-Z\s])/.source;
const defining = [
  /(?:\\(?:long|global|outer|protected)\s*){0,8}\\[gex]?def\s*/.source + name,
  String.raw`\\(?:(?:re)?new|provide)command\*?\s*(?:\{\s*)?${name}\s*\}?`,
  String.raw`\\Declare(?:MathOperator|RobustCommand)\*?\s*(?:\{\s*)?${name}\s*\}?`,
  /\\(?:re)?newenvironment\s*\{([^{}]{0,200})\}/.source,
  String.raw`(?:\\global\s*)?\\(?:future)?let\s*${name}\s*(?:=\s*)?(\\[a-zA-Z@]+|\\?[^\s{}])`,
].join("|");
const definition = new RegExp(defining);
const definitions = new RegExp(defining, "g");

interface Definition {
  name: string;
  /** Null where it ends with more than its arguments. */
  parameters: number | null;
  body: string;
  /** In so many others that it is not read, which takes time for each of them. */
  isBuried: boolean;
  kind: "command" | "alias" | "environment";
  begin: number;
  end: number;
}

function findDefinitions(text: string, closing: Closing): Definition[] {
  const marks = [...text.matchAll(/[{}$]/g)].map(({ index }) => index);
  const enclosing: number[] = [];
  let next = 0;
  return [...text.matchAll(definitions)].flatMap((found): Definition[] => {
    const [, defined, command, operator, environment, alias, target] = found;
    const behind = found.index + found[0].length;
    const begin = found.index;
    if (alias !== undefined) {
      const body = target ?? "";
      return [{ name: alias, parameters: null, body, isBuried: false, kind: "alias", begin, end: behind }];
    }
    while ((marks[next] ?? text.length) < behind) next += 1;
    const open = marks[next] ?? text.length;
    const close = closing.get(open);
    if (close === undefined) return [];
    const head = text.slice(behind, Math.min(open, behind + maxHead));
    const end = environment === undefined ? close + 1 : endOfArguments(text, close + 1, { count: 1, closing });
    const parameters = defined === undefined ? countOf(head) : countPlain(head);
    const body = text.slice(open + 1, end - 1);
    while ((enclosing.at(-1) ?? text.length) <= begin) enclosing.pop();
    const isBuried = enclosing.push(end) > maxEnclosing;
    const kind = environment === undefined ? "command" : "environment";
    return [
      { name: defined ?? command ?? operator ?? environment ?? "", parameters, body, isBuried, kind, begin, end },
    ];
  });
}

/** More is never plain. */
const maxHead = 200;
/** Itself included. */
const maxEnclosing = 4;

/** `[2][default]` of a command; with a default, its uses have brackets. */
function countOf(head: string): number | null {
  const [, count = "0", rest = ""] = /^\s*(?:\[\s*(\d)\s*\])?\s*(\S*)/.exec(head) ?? [];
  return rest === "" ? Number(count) : null;
}

/** `#1#2`; others are ended by other words. */
const countPlain = (head: string): number | null =>
  /^\s*(?:#\d\s*)*$/.test(head) ? (head.match(/#/g)?.length ?? 0) : null;

/** Those that do not plainly show each of their arguments, and what follows them, also by way of others. */
function findHiding(all: Definition[]): Map<string, Definition> {
  const hiding = new Map<string, Definition>();
  // Of several definitions it is not known here which one a use has.
  for (const each of all.filter(hidesByItself))
    hiding.set(each.name, hiding.has(each.name) ? { ...each, parameters: null } : each);
  const usersOf = new Map<string, Definition[]>();
  for (const each of all)
    if (!each.isBuried)
      for (const [, used = ""] of each.body.matchAll(new RegExp(name, "g"))) {
        const users = usersOf.get(used);
        if (users === undefined) usersOf.set(used, [each]);
        else if (users.at(-1) !== each) users.push(each);
      }
  const left = [...hiding.keys()];
  for (let used = left.pop(); used !== undefined; used = left.pop())
    for (const user of usersOf.get(used) ?? [])
      if (!hiding.has(user.name)) {
        hiding.set(user.name, user);
        left.push(user.name);
      }
  return hiding;
}

function hidesByItself({ parameters, body, isBuried, kind }: Definition): boolean {
  if (isBuried || /\\(?:csname|expandafter|@)/.test(body) || unfinished.test(body)) return true;
  const seen = stripUnseenMath(`$${body}$`, collectRemovals());
  if (seen !== `$${body}$`) return true;
  if (parameters === null) return kind !== "alias";
  return Array.from({ length: parameters }, (_, index) => `#${index + 1}`).some((argument) => !body.includes(argument));
}

/** What it hides comes behind its use. */
const unfinished =
  /\\(?:[hv]?phantom|(?:math)?[lrc]lap|(?:text)?color|f?colorbox|html\w+|cssId|style|raisebox|mathchoice|h?space|m?kern)\*?\s*$/;

interface HidingCommands {
  hiding: Map<string, Definition>;
  definitions: Definition[];
  closing: Closing;
}

function findHidingUses(text: string, commands: HidingCommands): { begin: number; end: number }[] {
  const { hiding, definitions, closing } = commands;
  let [last, next] = [0, 0];
  const commandUses = [...text.matchAll(new RegExp(name, "g"))].flatMap((found) => {
    while ((definitions[next]?.end ?? text.length) <= found.index) next += 1;
    const used = hiding.get(found[1] ?? "");
    const isInDefinition = found.index >= (definitions[next]?.begin ?? text.length);
    if (used === undefined || isInDefinition || found.index < last) return [];
    const begin = found.index + found[0].length;
    last =
      used.parameters === null || used.parameters === 0
        ? endOfGroup(text, begin, closing)
        : endOfArguments(text, begin, { count: used.parameters, closing });
    return [{ begin: found.index, end: last }];
  });
  return [...commandUses, ...findEnvironments(text, definitions)];
}

/** Of environments that the formula defines: what they do with the words in them is not read. */
function findEnvironments(text: string, definitions: Definition[]): { begin: number; end: number }[] {
  const defined = new Set(definitions.flatMap(({ name, kind }) => (kind === "environment" ? [name.trim()] : [])));
  if (defined.size === 0) return [];
  const open = new Map<string, number>();
  return [...text.matchAll(/\\(begin|end)\s*\{([^{}]{0,200})\}/g)].flatMap(
    ({ 0: mark, 1: side, 2: which = "", index }) => {
      const used = which.trim();
      if (!defined.has(used)) return [];
      if (side === "begin") {
        if (!open.has(used)) open.set(used, index);
        return [];
      }
      const begin = open.get(used);
      open.delete(used);
      return begin === undefined ? [] : [{ begin, end: index + mark.length }];
    },
  );
}
