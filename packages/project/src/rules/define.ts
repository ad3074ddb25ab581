// The calls of a rules file as rules, with the examples of each rule tried on it.
import { basename, isAbsolute } from "node:path";
import { splitWords } from "../shell/split-words.ts";
import { type Arguments, bindArguments, oneOf, optionalText, textOf, textsOf } from "./arguments.ts";
import { RulesFault } from "./fault.ts";
import { fitsPattern } from "./match.ts";
import type { Call, Value } from "./parse.ts";
import type { HostExecutable, NetworkRule, Origin, PrefixRule, Rule } from "./rule.ts";

export function defineRule(call: Call, file: string): Rule {
  const define = definitions.get(call.name);
  if (!define) {
    throw new RulesFault(
      call,
      `there is no ${call.name} in rules files; there are ${[...definitions.keys()].join(", ")}`,
    );
  }
  return define(call, { file, line: call.line });
}

const definitions = new Map<string, (call: Call, origin: Origin) => Rule>([
  ["prefix_rule", definePrefix],
  ["network_rule", defineNetwork],
  ["host_executable", defineExecutable],
]);

function definePrefix(call: Call, origin: Origin): PrefixRule {
  const given = bindArguments(call, ["pattern", "decision", "match", "not_match", "justification"], ["pattern"]);
  const rule: PrefixRule = {
    kind: "prefix",
    pattern: readPattern(given.require("pattern")),
    decision: oneOf(given, "decision", ["allow", "prompt", "forbidden"], "allow"),
    justification: optionalText(given, "justification"),
    origin,
  };
  tryExamples(given, rule);
  return rule;
}

function readPattern(value: Value): string[][] {
  const places = itemsOf(value, "pattern");
  if (places.length === 0) throw new RulesFault(value, "pattern is empty and would fit every command");
  return places.map((place) => {
    if (place.kind === "string") return [textOf(place, "a word of pattern")];
    const alternatives = textsOf(place, "a place of pattern");
    if (alternatives.length === 0) throw new RulesFault(place, "a place of pattern has no alternatives");
    return alternatives;
  });
}

/** Every `match` example must fit and no `not_match` example may: a rule that misses what it was written for is found at once. */
function tryExamples(given: Arguments, rule: PrefixRule): void {
  for (const [argument, shouldFit] of [
    ["match", true],
    ["not_match", false],
  ] as const) {
    const examples = given.find(argument);
    for (const example of examples ? itemsOf(examples, argument) : []) {
      const words = readExample(example, argument);
      if (fitsPattern(rule.pattern, words) === shouldFit) continue;
      const shown = `\`${words.join(" ")}\``;
      const mistake = shouldFit
        ? `does not fit ${shown}, its example in match`
        : `fits ${shown}, its example in not_match`;
      throw new RulesFault(example, `the pattern ${mistake}`);
    }
  }
}

function readExample(example: Value, argument: string): string[] {
  const words = example.kind === "string" ? splitWords(example.text) : textsOf(example, `an example in ${argument}`);
  if (words === null) throw new RulesFault(example, "the example has a quotation that is not closed");
  if (words.length === 0) throw new RulesFault(example, "the example is empty");
  return words;
}

function defineNetwork(call: Call, origin: Origin): NetworkRule {
  const names = ["host", "protocol", "decision", "justification"];
  const given = bindArguments(call, names, ["host", "protocol", "decision"]);
  const host = given.require("host");
  const name = textOf(host, "host").toLowerCase();
  if (!/^[\w.-]+$|^\[?[0-9a-f:]+\]?$/.test(name)) {
    throw new RulesFault(
      host,
      `host ${JSON.stringify(name)} is not the name or address of one host, without scheme or port`,
    );
  }
  return {
    kind: "network",
    host: name,
    protocol: oneOf(given, "protocol", ["http", "https", "socks5_tcp", "socks5_udp"], null),
    decision: oneOf(given, "decision", ["allow", "prompt", "deny"], null),
    justification: optionalText(given, "justification"),
    origin,
  };
}

function defineExecutable(call: Call, origin: Origin): HostExecutable {
  const given = bindArguments(call, ["name", "paths"], ["name", "paths"]);
  const name = textOf(given.require("name"), "name");
  if (name.includes("/")) throw new RulesFault(given.require("name"), "name is a program's name without its directory");
  const paths = given.require("paths");
  for (const path of textsOf(paths, "paths")) {
    if (!isAbsolute(path)) throw new RulesFault(paths, `${path} is not an absolute path`);
    if (basename(path) !== name) throw new RulesFault(paths, `${path} does not end in ${name}`);
  }
  return { kind: "executable", name, paths: textsOf(paths, "paths"), origin };
}

function itemsOf(value: Value, what: string): Value[] {
  if (value.kind !== "list") throw new RulesFault(value, `${what} must be a list`);
  return value.items;
}
