// What a case can expect, one entry for each name. `not` has the same names.
import { createHash } from "node:crypto";
import { compileGlob } from "@agentcli/project/globs";
import type { Expectation } from "./case.ts";
import type { CaseFacts, Row } from "./facts.ts";
import {
  anyTableOf,
  checkedPath,
  numberOf,
  severalOf,
  shortened,
  shown,
  type Table,
  tableOf,
  textOf,
} from "./fields.ts";
import { CaseFileError, type Located } from "./located.ts";
import { type Matcher, nameMatcher, textMatcher } from "./match.ts";

interface Finding {
  holds: boolean;
  /** What was there, for a reader whose expectation failed. */
  found: string;
}

type Check = (facts: CaseFacts) => Finding;

interface Kind {
  /** For one value. */
  read(value: Located, name: string): Check;
  /** What `not` means; absent: that the check does not hold. */
  readNot?(value: Located): Check;
  /** Of several values one has to hold, not each. */
  several?: "together";
}

export function readExpectations(table: Table): Expectation[] {
  const [expected, unexpected] = [table.get("expect"), table.get("not")];
  return [...(expected ? readAll(expected, "expect") : []), ...(unexpected ? readAll(unexpected, "not") : [])].map(
    ({ name, line, check }) => ({
      name,
      line,
      check: (facts) => {
        const { holds, found } = check(facts);
        return holds ? null : found;
      },
    }),
  );
}

interface ReadCheck {
  name: string;
  line: number;
  check: Check;
}

const inverted =
  (check: Check): Check =>
  (facts) => {
    const { holds, found } = check(facts);
    return { holds: !holds, found };
  };

function readAll(value: Located, what: "expect" | "not"): ReadCheck[] {
  return [...tableOf(value, what, Object.keys(kinds))].flatMap(([name, member]) => {
    const { read, several, readNot = (each: Located) => inverted(read(each, name)) } = kinds[name] as Kind;
    const values = several === "together" ? [member] : severalOf(member);
    return values
      .map((each) => ({ ...each, line: each.line || member.line }))
      .map((each) => ({
        name: `${what === "not" ? "not " : ""}${name} ${shown(each)}`,
        line: each.line,
        check: what === "not" ? readNot(each) : read(each, name),
      }));
  });
}

interface Field {
  [name: string]: "name" | "text";
}

/** One of the rows has all of these members. A value that is not a table is the first member. */
const oneOf = (fields: Field, rowsOf: (facts: CaseFacts) => Row[]): Kind => ({
  read(value, name) {
    const [first = ""] = Object.keys(fields);
    const given: Table = value.kind === "table" ? tableOf(value, name, Object.keys(fields)) : new Map([[first, value]]);
    const matchers = [...given].map(([member, wanted]): [string, Matcher] => {
      const matcher = fields[member] === "name" ? nameMatcher : textMatcher;
      return [member, matcher(wanted, `${name}.${member}`)];
    });
    return (facts) => {
      const rows = rowsOf(facts);
      const holds = rows.some((row) => matchers.every(([member, matches]) => matches(row[member] ?? "")));
      return { holds, found: describeRows(rows, Object.keys(fields)) };
    };
  },
});

const maxRows = 6;

function describeRows(rows: Row[], members: string[]): string {
  if (rows.length === 0) return "there was none";
  const texts = rows.slice(0, maxRows).map((row) =>
    members
      .filter((member) => row[member])
      .map((member) => `${member} "${shortened(row[member] ?? "", 100)}"`)
      .join(", "),
  );
  return `there was ${texts.join("; ")}${rows.length > maxRows ? "; …" : ""}`;
}

const inText = (textIn: (facts: CaseFacts) => string | null, absent: string): Kind => ({
  read(value, name) {
    const matches = textMatcher(value, name);
    return (facts) => {
      const text = textIn(facts);
      return {
        holds: text !== null && matches(text),
        found: text === null ? absent : `it is "${shortened(text, 300)}"`,
      };
    };
  },
});

const exit: Kind = {
  read(value) {
    const wanted = numberOf(value, "exit");
    return ({ exit: found, error }) => ({
      holds: found === wanted,
      found: `the exit code is ${found}${error === null ? "" : `: ${shortened(error, 300)}`}`,
    });
  },
};

/** `none`: nothing may be touched. */
const filesTouched: Kind = {
  several: "together",
  read(value) {
    const isWithin = globMatcher(value);
    return ({ touched }) => {
      const outside = touched.filter((path) => !isWithin(path));
      return { holds: outside.length === 0, found: touchedText(touched, outside) };
    };
  },
  readNot(value) {
    const isWithin = globMatcher(value);
    return ({ touched }) => {
      const within = touched.filter(isWithin);
      return { holds: within.length === 0, found: touchedText(touched, within) };
    };
  },
};

function globMatcher(value: Located): (path: string) => boolean {
  const globs = severalOf(value).map((each) => textOf(each, "files_touched"));
  const matchers = globs.filter((glob) => glob !== "none").map(compileGlob);
  return (path) => matchers.some((matches) => matches(path));
}

const touchedText = (touched: string[], wrong: string[]): string =>
  touched.length === 0
    ? "no file was touched"
    : `touched: ${shortened((wrong.length > 0 ? wrong : touched).join(", "), 300)}`;

/** By path: a text in it, its `sha256:…`, `true` if it exists, `false` if it does not. */
const file: Kind = {
  read(value) {
    const wanted = [...anyTableOf(value, "file")].map(([path, member]) => ({
      path: checkedPath(path, member.line, "file"),
      matches: fileMatcher(member, path),
    }));
    return ({ readFile }) => {
      const wrong = wanted.filter(({ path, matches }) => !matches(readFile(path)));
      const texts = (wrong.length > 0 ? wrong : wanted).map(({ path }) => describeFile(path, readFile(path)));
      return { holds: wrong.length === 0, found: texts.join("; ") };
    };
  },
};

function fileMatcher(value: Located, path: string): (text: string | null) => boolean {
  if (value.kind === "value" && typeof value.value === "boolean") {
    const isThere = value.value;
    return (text) => (text !== null) === isThere;
  }
  const hash = value.kind === "value" && /^sha256:[0-9a-f]{64}$/.test(String(value.value)) ? value.value : null;
  const matches = hash === null ? textMatcher(value, path) : (text: string) => sha256(text) === hash;
  return (text) => text !== null && matches(text);
}

const sha256 = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

const describeFile = (path: string, text: string | null): string =>
  text === null ? `${path} does not exist` : `${path} has "${shortened(text, 200)}" (${sha256(text)})`;

const budget: Kind = {
  read(value) {
    const limits = [...tableOf(value, "budget", ["requests", "tokens", "usd", "tools"])].map(([name, amount]) => ({
      name: name as keyof CaseFacts["spent"],
      limit: numberOf(amount, `budget.${name}`),
    }));
    if (limits.length === 0) throw new CaseFileError(value.line, "budget is empty: it needs a limit");
    return ({ spent }) => {
      const over = limits.filter(({ name, limit }) => (spent[name] ?? Infinity) > limit);
      const texts = (over.length > 0 ? over : limits).map(
        ({ name, limit }) => `${name} ${spent[name] ?? "at a price that is not known"} of ${limit}`,
      );
      return { holds: over.length === 0, found: `spent: ${texts.join(", ")}` };
    };
  },
};

const agentFields: Field = {
  agent: "name",
  description: "text",
  instructions: "text",
  sandbox: "name",
  model: "name",
  tools: "text",
};

const kinds: Record<string, Kind> = {
  exit,
  message: inText(({ message }) => message, "the turn ended without a final message"),
  error: inText(({ error }) => error, "nothing failed"),
  instructions: inText(({ instructions }) => instructions, "there are none"),
  hook_refused: oneOf({ reason: "text", event: "name", hook: "text" }, ({ hooks }) =>
    hooks.filter(({ status }) => status === "blocked"),
  ),
  hook_ran: oneOf(
    { event: "name", hook: "text", status: "name", reason: "text", context: "text" },
    ({ hooks }) => hooks,
  ),
  rule_matched: oneOf({ command: "text", decision: "name", reason: "text" }, ({ rules }) => rules),
  skill_offered: oneOf({ skill: "name", description: "text" }, ({ skills }) => skills.offered),
  skill_loaded: oneOf({ skill: "name", text: "text" }, ({ skills }) => skills.loaded),
  agent_offered: oneOf(agentFields, ({ agents }) => agents.offered),
  agent_started: oneOf(
    { agent: "name", task: "text", instructions: "text", sandbox: "name", model: "name", tools: "text" },
    ({ agents }) => agents.started,
  ),
  tool_denied: oneOf({ tool: "name", input: "text", reason: "text", agent: "name" }, ({ calls }) =>
    calls.filter(({ status }) => status === "declined"),
  ),
  tool_called: oneOf(
    { tool: "name", input: "text", status: "name", output: "text", agent: "name" },
    ({ calls }) => calls,
  ),
  files_touched: filesTouched,
  file,
  budget,
};
