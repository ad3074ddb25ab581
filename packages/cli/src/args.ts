// The command line as a value. Flags may stand before or after the command they belong to.
import { parseArgs } from "node:util";
import { allFlags, execFlags, type Flag, resumeFlags, rootFlags } from "./flags.ts";
import { Problem } from "./problem.ts";

export interface ExecArguments {
  model?: string;
  sandbox?: string;
  directory?: string;
  overrides: string[];
  json: boolean;
  outputFile?: string;
  skipGitCheck: boolean;
  ephemeral: boolean;
  color: "always" | "never" | "auto";
}

export type Command =
  | { command: "help"; topic: string | null }
  | { command: "version" }
  | { command: "exec"; prompt: string | null; options: ExecArguments }
  | { command: "resume"; session: Session; prompt: string | null; options: ExecArguments };

export type Session = { by: "id"; id: string } | { by: "last"; anywhere: boolean };

type Values = Record<string, string | boolean | string[] | undefined>;

export function parseCommandLine(argv: string[]): Command {
  const { values, positionals } = split(argv);
  const [name, ...rest] = positionals;
  if (values.version) return { command: "version" };
  if (name === "help") return { command: "help", topic: rest[0] ?? null };
  if (values.help || name === undefined) return { command: "help", topic: name ?? null };
  if (name !== "exec" && name !== "e") {
    throw new Problem(
      "usage",
      `There is no command "${name}". Did you mean: agentcli exec "${name}"? See agentcli --help.`,
    );
  }
  return rest[0] === "resume" ? resume(rest.slice(1), values) : exec(rest, values);
}

function exec(positionals: string[], values: Values): Command {
  allow(values, { ...execFlags, ...rootFlags }, "exec");
  if (positionals.length > 1) throw tooMany(positionals[1] ?? "");
  return { command: "exec", prompt: positionals[0] ?? null, options: execOptions(values) };
}

/** With --last the single positional is the prompt. */
function resume(positionals: string[], values: Values): Command {
  const options = execOptions(values);
  const most = values.last ? 1 : 2;
  if (positionals.length > most) throw tooMany(positionals[most] ?? "");
  if (values.last) {
    const session: Session = { by: "last", anywhere: values.all === true };
    return { command: "resume", session, prompt: positionals[0] ?? null, options };
  }
  const [id, prompt] = positionals;
  if (!id) throw new Problem("usage", "Which session? Give its id, or --last for the newest of this directory.");
  return { command: "resume", session: { by: "id", id }, prompt: prompt ?? null, options };
}

function execOptions(values: Values): ExecArguments {
  const text = (name: string) => values[name] as string | undefined;
  return {
    model: text("model"),
    sandbox: text("sandbox"),
    directory: text("cd"),
    overrides: (values.config as string[] | undefined) ?? [],
    json: values.json === true,
    outputFile: text("output-last-message"),
    skipGitCheck: values["skip-git-repo-check"] === true,
    ephemeral: values.ephemeral === true,
    color: (text("color") ?? "auto") as ExecArguments["color"],
  };
}

/** Not strict in the parser: its own messages do not say what to do next. */
function split(argv: string[]): { values: Values; positionals: string[] } {
  const options = Object.fromEntries(Object.entries(allFlags).map(([name, flag]) => [name, parserOption(flag)]));
  const { values, positionals, tokens } = parseArgs({
    args: argv,
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) if (token.kind === "option") checkOption(token.rawName, token.name, token.value);
  return { values: values as Values, positionals };
}

const parserOption = (flag: Flag) => ({
  type: flag.value ? ("string" as const) : ("boolean" as const),
  ...(flag.short ? { short: flag.short } : {}),
  ...(flag.repeatable ? { multiple: true } : {}),
});

function checkOption(rawName: string, name: string, value: string | undefined): void {
  const flag = allFlags[name];
  if (!flag) throw new Problem("usage", `Unknown flag ${rawName}.${suggestion(name)} See agentcli exec --help.`);
  if (flag.value && value === undefined)
    throw new Problem("usage", `${rawName} needs a value: ${rawName} ${flag.value}.`);
  if (!flag.value && value !== undefined)
    throw new Problem("usage", `${rawName} takes no value, but "${value}" was given.`);
  if (flag.choices && value !== undefined && !flag.choices.includes(value)) {
    throw new Problem("usage", `${rawName} ${value}: choose one of ${flag.choices.join(", ")}.`);
  }
}

function allow(values: Values, flags: Record<string, Flag>, command: string): void {
  for (const name of Object.keys(values)) {
    if (!(name in flags))
      throw new Problem(
        "usage",
        `--${name} is not a flag of ${command}.${name in resumeFlags ? " Use it with: agentcli exec resume." : ""}`,
      );
  }
}

function suggestion(name: string): string {
  const near = Object.keys(allFlags).filter(
    (flag) => distance(flag, name) <= 2 || (name.length > 2 && flag.startsWith(name)),
  );
  return near[0] ? ` Did you mean --${near[0]}?` : "";
}

/** Edit distance, for did-you-mean. */
export function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}

const tooMany = (extra: string): Problem =>
  new Problem(
    "usage",
    `Unexpected argument "${extra}". Quote a prompt of several words: agentcli exec "fix the test".`,
  );
