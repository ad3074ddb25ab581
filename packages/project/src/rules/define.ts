// Turns the calls of a rules file into rules, and tests each rule on its examples.
import { basename, isAbsolute } from "node:path";
import { splitWords } from "../shell/split-words.ts";
import { type Arguments, bindArguments, oneOf, optionalText, textOf, textsOf } from "./arguments.ts";
import { matchesPattern } from "./match.ts";
import type { Call, Value } from "./parse.ts";
import type { HostExecutable, NetworkRule, Origin, PrefixRule, Rule } from "./rule.ts";
import { RulesError } from "./rules-error.ts";

export function defineRule(call: Call, file: string): Rule {
  const define = definitions.get(call.name);
  if (!define) {
    throw new RulesError(call, `unknown function ${call.name}; expected one of: ${[...definitions.keys()].join(", ")}`);
  }
  return define(call, { file, line: call.line });
}

const definitions = new Map<string, (call: Call, origin: Origin) => Rule>([
  ["prefix_rule", definePrefix],
  ["network_rule", defineNetwork],
  ["host_executable", defineExecutable],
]);

function definePrefix(call: Call, origin: Origin): PrefixRule {
  const values = bindArguments(call, ["pattern", "decision", "match", "not_match", "justification"], ["pattern"]);
  const rule: PrefixRule = {
    kind: "prefix",
    pattern: readPattern(values.require("pattern")),
    decision: oneOf(values, "decision", ["allow", "prompt", "forbidden"], "allow"),
    justification: optionalText(values, "justification"),
    origin,
  };
  tryExamples(values, rule);
  return rule;
}

function readPattern(value: Value): string[][] {
  const elements = itemsOf(value, "pattern");
  if (elements.length === 0) throw new RulesError(value, "pattern is empty and would fit every command");
  return elements.map((element) => {
    if (element.kind === "string") return [textOf(element, "a word of pattern")];
    const alternatives = textsOf(element, "a place of pattern");
    if (alternatives.length === 0) throw new RulesError(element, "a place of pattern has no alternatives");
    return alternatives;
  });
}

/** Every `match` example must match and no `not_match` example may, so that a wrong rule is found at once. */
function tryExamples(values: Arguments, rule: PrefixRule): void {
  for (const [argument, shouldMatch] of [
    ["match", true],
    ["not_match", false],
  ] as const) {
    const examples = values.find(argument);
    for (const example of examples ? itemsOf(examples, argument) : []) {
      const words = readExample(example, argument);
      if (matchesPattern(rule.pattern, words) === shouldMatch) continue;
      const shown = `\`${words.join(" ")}\``;
      const mistake = shouldMatch
        ? `does not match ${shown}, which is listed in match`
        : `matches ${shown}, which is listed in not_match`;
      throw new RulesError(example, `the pattern ${mistake}. Correct the pattern or the example.`);
    }
  }
}

function readExample(example: Value, argument: string): string[] {
  const words = example.kind === "string" ? splitWords(example.text) : textsOf(example, `an example in ${argument}`);
  if (words === null) throw new RulesError(example, "the example has a quotation that is not closed");
  if (words.length === 0) throw new RulesError(example, "the example is empty");
  return words;
}

function defineNetwork(call: Call, origin: Origin): NetworkRule {
  const names = ["host", "protocol", "decision", "justification"];
  const values = bindArguments(call, names, ["host", "protocol", "decision"]);
  const host = values.require("host");
  const name = textOf(host, "host").toLowerCase();
  if (!/^[\w.-]+$|^\[?[0-9a-f:]+\]?$/.test(name)) {
    throw new RulesError(
      host,
      `host ${JSON.stringify(name)} is not the name or address of one host, without scheme or port`,
    );
  }
  return {
    kind: "network",
    host: name,
    protocol: oneOf(values, "protocol", ["http", "https", "socks5_tcp", "socks5_udp"], null),
    decision: oneOf(values, "decision", ["allow", "prompt", "deny"], null),
    justification: optionalText(values, "justification"),
    origin,
  };
}

function defineExecutable(call: Call, origin: Origin): HostExecutable {
  const values = bindArguments(call, ["name", "paths"], ["name", "paths"]);
  const name = textOf(values.require("name"), "name");
  if (name.includes("/"))
    throw new RulesError(values.require("name"), "name is a program's name without its directory");
  const paths = values.require("paths");
  for (const path of textsOf(paths, "paths")) {
    if (!isAbsolute(path)) throw new RulesError(paths, `${path} is not an absolute path`);
    if (basename(path) !== name) throw new RulesError(paths, `${path} does not end in ${name}`);
  }
  return { kind: "executable", name, paths: textsOf(paths, "paths"), origin };
}

function itemsOf(value: Value, what: string): Value[] {
  if (value.kind !== "list") throw new RulesError(value, `${what} must be a list`);
  return value.items;
}
