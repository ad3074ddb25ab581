// Programs that run another command: which command, read from their arguments.
import { withExpansions } from "./literal.ts";
import { splitWords } from "./split-words.ts";
import { isKnown, unknown, type Word } from "./word.ts";

export type WrappedCommand =
  | { kind: "nothing" }
  | { kind: "commands"; commands: Word[][] }
  | { kind: "script"; script: string }
  /** Expansions stay as written: more may run than can be determined. */
  | { kind: "template"; script: string; reason: string }
  | { kind: "unknown"; reason: string };

/** `input` is the text of a here-document or here-string, if there is one. */
export function readWrapped(words: Word[], input: string | null): WrappedCommand {
  const [program] = words;
  if (!isKnown(program)) return { kind: "unknown", reason: `which program \`${program?.unknown}\` is, is not known` };
  const name = program.slice(program.lastIndexOf("/") + 1);
  const special = Object.hasOwn(specials, name) ? specials[name] : undefined;
  if (special) return special(words, input);
  const shape = Object.hasOwn(prefixes, name) ? prefixes[name] : undefined;
  return shape ? command(afterOptions(words, shape)) : nothing;
}

/** How a wrapper program takes its own options. */
interface Shape {
  /** Letters of options whose value may be the next word. */
  valued?: string;
  longValued?: string[];
  /** Number of operands between options and command. */
  operands?: number;
  takesAssignments?: true;
}

const prefixes: Record<string, Shape> = {
  builtin: {},
  busybox: {},
  chroot: { operands: 1 },
  coproc: {},
  doas: { valued: "Cu" },
  exec: { valued: "a" },
  ionice: { valued: "cnpPu", longValued: ["class", "classdata", "pid", "pgid", "uid"] },
  nice: { valued: "n", longValued: ["adjustment"] },
  nohup: {},
  setsid: {},
  stdbuf: { valued: "ioe", longValued: ["input", "output", "error"] },
  sudo: {
    valued: "CDRTUghprtu",
    longValued: ["chdir", "chroot", "close-from", "command-timeout", "group", "host", "prompt", "role", "type", "user"],
    takesAssignments: true,
  },
  time: { valued: "fo", longValued: ["format", "output"] },
  timeout: { valued: "ks", longValued: ["kill-after", "signal"], operands: 1 },
};

const shell: typeof readWrapped = (words, input) => {
  const { given, rest } = shellOptions(words);
  const [first] = rest;
  if (given.includes("c") && first !== undefined) return scriptOf([first]);
  if (rest.length > 0 && !given.includes("s")) return { kind: "unknown", reason: "a script file is run" };
  if (input !== null) return { kind: "script", script: input };
  return { kind: "unknown", reason: "a shell reads its commands from standard input" };
};

const sourced: typeof readWrapped = () => ({ kind: "unknown", reason: "a script file is run" });

/** Programs that need special handling. */
const specials: Record<string, typeof readWrapped> = {
  bash: shell,
  dash: shell,
  ksh: shell,
  sh: shell,
  zsh: shell,
  ".": sourced,
  source: sourced,
  command: (words) => (isLookup(words[1]) ? nothing : command(afterOptions(words, {}))),
  env: (words) => command(afterEnv(words)),
  eval: (words) => scriptOf(words[1] === "--" ? words.slice(2) : words.slice(1)),
  find: (words) => ({ kind: "commands", commands: findActions(words) }),
  trap: (words) => trapped(words[1] === "--" ? words.slice(2) : words.slice(1)),
  xargs: (words) => command(xargsCommand(words)),
};

const nothing: WrappedCommand = { kind: "nothing" };

const command = (words: Word[]): WrappedCommand =>
  words.length > 0 ? { kind: "commands", commands: [words] } : nothing;

function scriptOf(words: Word[]): WrappedCommand {
  if (words.length === 0) return nothing;
  const script = words.map((word) => (isKnown(word) ? word : withExpansions(word.unknown))).join(" ");
  if (words.every(isKnown)) return { kind: "script", script };
  return { kind: "template", script, reason: "the text of a script is made when it runs" };
}

/** The words after the options and operands of a program: the command it runs. */
function afterOptions(words: Word[], shape: Shape): Word[] {
  let at = 1;
  while (at < words.length) {
    const word = words[at];
    if (!isKnown(word)) break;
    if (word === "--") {
      at++;
      break;
    }
    const length = optionLength(word, shape);
    if (length === 0) break;
    at += length;
  }
  return skipAssignments(words.slice(at + (shape.operands ?? 0)), shape);
}

/** Number of words of an option; 0 where the command begins. */
function optionLength(word: string, { valued = "", longValued = [] }: Shape): number {
  if (word === "!" || word === "-") return 1;
  if (word.startsWith("--")) return longValued.includes(word.slice(2)) ? 2 : 1;
  if (!word.startsWith("-")) return 0;
  const letter = [...word.slice(1)].findIndex((candidate) => valued.includes(candidate));
  return letter === word.length - 2 ? 2 : 1;
}

function skipAssignments(words: Word[], shape: Shape): Word[] {
  if (!shape.takesAssignments) return words;
  const first = words.findIndex((word) => !isAssignment(word));
  return first === -1 ? [] : words.slice(first);
}

/** `X=$(…)` is an assignment too, whatever its value. */
const isAssignment = (word: Word): boolean => /^\w+=/.test(isKnown(word) ? word : word.unknown);

/** `env -S "git push"` splits the text itself. */
function afterEnv(words: Word[]): Word[] {
  const shape: Shape = { valued: "uC", longValued: ["unset", "chdir"], takesAssignments: true };
  const splitting = words.findIndex((word) => isKnown(word) && /^(-[i0v]*S|--split-string(=|$))/.test(word));
  const plain = afterOptions(words, shape);
  if (splitting < 1 || words.length - plain.length < splitting) return plain;
  const option = words[splitting] as string;
  const attached = option.replace(/^(-[i0v]*S|--split-string=?)/, "");
  const text = attached === "" ? words[splitting + 1] : attached;
  const rest = words.slice(splitting + (attached === "" ? 2 : 1));
  const split = isKnown(text) ? splitWords(text) : null;
  return afterOptions(["env", ...(split ?? [unknown(option)]), ...rest], shape);
}

const isLookup = (word: Word | undefined): boolean => isKnown(word) && /^-[pvV]*[vV]/.test(word);

function findActions(words: Word[]): Word[][] {
  const actions: Word[][] = [];
  let open: Word[] | null = null;
  for (const word of words) {
    const closes = word === ";" || (word === "+" && open?.at(-1) === "{}");
    if (open && !closes) open.push(word);
    if (open && closes) open = null;
    if (open || !isKnown(word) || !/^-(exec|ok)(dir)?$/.test(word)) continue;
    open = [];
    actions.push(open);
  }
  return actions.filter((action) => action.length > 0).map((action) => replaced(action, "{}"));
}

function xargsCommand(words: Word[]): Word[] {
  const shape: Shape = {
    valued: "EIJLPRSadns",
    longValued: ["arg-file", "delimiter", "max-args", "max-chars", "max-procs", "process-slot-var"],
  };
  const found = afterOptions(words, shape);
  if (found.length === 0) return [];
  const placeholder = xargsPlaceholder(words.slice(1, words.length - found.length));
  return placeholder === null ? [...found, unknown("…")] : replaced(found, placeholder);
}

/** The placeholder of the input in the command; null when the input is appended. */
function xargsPlaceholder(options: Word[]): string | null {
  for (const [at, option] of options.entries()) {
    const match = isKnown(option) ? /^(?:-[0rtx]*([IJi])(.*)|--replace(?:=(.*))?)$/s.exec(option) : null;
    if (!match) continue;
    const next = options[at + 1];
    const separate = match[1] !== undefined && match[1] !== "i" && match[2] === "" && isKnown(next) ? next : "";
    return match[2] || match[3] || separate || "{}";
  }
  return null;
}

/** Within a longer word, such as a script, the placeholder stays: the rest can still be checked. */
const replaced = (words: Word[], placeholder: string): Word[] =>
  words.map((word, at) => {
    const isReplaced = isKnown(word) && (at === 0 ? word.includes(placeholder) : word === placeholder);
    return isReplaced ? unknown(word) : word;
  });

/** `trap -` and `trap ''` only restore or ignore. */
function trapped(words: Word[]): WrappedCommand {
  const [action] = words;
  if (action === undefined || (isKnown(action) && /^(-.*|\d*)$/.test(action))) return nothing;
  return scriptOf([action]);
}

/** The option letters, and the words after the options. `-o` and `-O` take the next word. */
function shellOptions(words: Word[]): { given: string; rest: Word[] } {
  let given = "";
  let at = 1;
  while (at < words.length) {
    const word = words[at];
    if (!isKnown(word) || !/^[-+]./.test(word)) break;
    at++;
    if (word === "--") break;
    if (word.startsWith("--")) {
      if (/^--(rcfile|init-file)$/.test(word)) at++;
      continue;
    }
    if (word.startsWith("-")) given += word.slice(1);
    if (/[oO]/.test(word)) at++;
  }
  return { given, rest: words.slice(at) };
}
