// Calls of node:child_process, as the shell commands that do the same.
import type { AnyNode, Property, SpreadElement } from "acorn";
import { checkVariables, unknownWord, unknownWords } from "../code-calls.ts";
import { quote } from "../shell-words.ts";
import type { Code } from "./code.ts";
import type { ProcessCall, Starters } from "./modules.ts";
import { isEnvironment, isProcess, knownText, memberName } from "./texts.ts";
import { sourceOf, unknownCode } from "./tree.ts";
import { functionsOf } from "./values.ts";

/** Every use of a name that can start something has to be a call. */
export function readCalls(code: Code, starters: Starters): ProcessCall[] {
  const promised = bindPromised(code, starters);
  const named = code.scopes.references.flatMap((name) => {
    const binding = code.scopes.bindingOf(name);
    if (!binding || promised.has(name)) return [];
    if (starters.modules.has(binding)) return [callOfModule(name, code)];
    const method = starters.functions.get(binding);
    return method === undefined ? [] : [callOf(name, method, code)];
  });
  return [...starters.calls, ...named];
}

function callOf(name: AnyNode, method: string, { tree }: Code): ProcessCall {
  const call = tree.parents.get(name);
  if (call?.type !== "CallExpression" || call.callee !== name) throw unknownCode(tree, call ?? name);
  return { method, node: call };
}

function callOfModule(name: AnyNode, code: Code): ProcessCall {
  const member = code.tree.parents.get(name);
  const method = member?.type === "MemberExpression" && member.object === name ? memberName(member, code) : null;
  if (!member || method === null) throw unknownCode(code.tree, member ?? name);
  return callOf(member, method, code);
}

/** `const run = promisify(execFile)`; gives the names that are used there. */
function bindPromised(code: Code, { modules, functions }: Starters): Set<AnyNode> {
  const used = new Set<AnyNode>();
  const { tree, scopes } = code;
  for (const node of tree.nodes) {
    const declarator = node.type === "CallExpression" ? tree.parents.get(node) : undefined;
    if (node.type !== "CallExpression" || declarator?.type !== "VariableDeclarator") continue;
    const [given] = node.arguments;
    const made = scopes.bindingOf(declarator.id);
    if (!given || !made || !/(?:^|\.)promisify$/.test(sourceOf(tree, node.callee))) continue;
    const isMember = given.type === "MemberExpression";
    const name = isMember ? given.object : given;
    const binding = scopes.bindingOf(name);
    const method = binding && (isMember ? modules.has(binding) && memberName(given, code) : functions.get(binding));
    if (!method) continue;
    functions.set(made, method);
    used.add(name);
  }
  return used;
}

export function commandOf({ method, node }: ProcessCall, code: Code): string {
  const [first, ...rest] = node.arguments;
  const unknown = () => unknownCode(code.tree, node);
  const program = first && isOwnProgram(first, code) ? "node" : knownText(first, code);
  if (program === null || !/^(?:exec|execFile|spawn)(?:Sync)?$|^fork$/.test(method)) throw unknown();
  if (/^exec(?:Sync)?$/.test(method)) return inDirectory(program, readOptions(rest, node, code));
  // What is not written as a list can be the options instead, also where others follow it.
  const list = rest[0]?.type === "ArrayExpression" ? rest[0].elements : undefined;
  const options = readOptions(list ? rest.slice(1) : rest, node, code);
  const words = [
    ...(method === "fork" ? ["node"] : []),
    quote(program),
    ...(list ?? []).map((each) => wordOf(each, code)),
  ];
  if (!options.isShell) return inDirectory(words.join(" "), options);
  const values = (list ?? []).map((each) => knownText(each, code));
  if (values.includes(null)) throw unknown();
  return inDirectory([program, ...values].join(" "), options);
}

const isOwnProgram = (node: AnyNode, code: Code): boolean =>
  node.type === "MemberExpression" && isProcess(node.object, code) && memberName(node, code) === "execPath";

function wordOf(node: AnyNode | null, code: Code): string {
  if (node?.type === "SpreadElement") return unknownWords;
  const value = knownText(node, code);
  return value === null ? unknownWord : quote(value);
}

const inDirectory = (command: string, { directory }: ProcessOptions): string =>
  directory === null ? command : `cd ${quote(directory)} && ${command}`;

interface ProcessOptions {
  directory: string | null;
  isShell: boolean;
}

/** Options in braces; a function that gets the result runs nothing else. */
function readOptions(given: AnyNode[], call: AnyNode, code: Code): ProcessOptions {
  const options: ProcessOptions = { directory: null, isShell: false };
  for (const item of given) {
    if (functionsOf(item, code).length > 0) continue;
    if (item.type !== "ObjectExpression") throw unknownCode(code.tree, call);
    for (const property of item.properties) readOption(property, options, { call, code });
  }
  return options;
}

interface OptionContext {
  call: AnyNode;
  code: Code;
}

function readOption(property: Property | SpreadElement, options: ProcessOptions, { call, code }: OptionContext): void {
  const unknown = () => unknownCode(code.tree, call);
  const name = nameOf(property, code);
  if (name === null || property.type !== "Property" || property.kind !== "init") throw unknown();
  const { value } = property;
  if (name === "cwd" && sourceOf(code.tree, value) !== "process.cwd()") {
    options.directory = knownText(value, code);
    if (options.directory === null) throw unknown();
  }
  if (name === "shell") {
    if (value.type !== "Literal" || typeof value.value !== "boolean") throw unknown();
    options.isShell = value.value;
  }
  if (name === "env") checkVariablesOf(value, { call, code });
  if (/^(?:execPath|execArgv|argv0|__proto__)$/.test(name)) throw unknown();
}

function nameOf(property: Property | SpreadElement, code: Code): string | null {
  if (property.type !== "Property") return null;
  const { key, computed } = property;
  return !computed && key.type === "Identifier" ? key.name : knownText(key, code);
}

/** `process.env`, or `{ ...process.env, NAME: value }`. */
function checkVariablesOf(value: AnyNode, { call, code }: OptionContext): void {
  if (isEnvironment(value, code)) return;
  if (value.type !== "ObjectExpression") throw unknownCode(code.tree, call);
  const others = value.properties.filter(
    (property) => property.type !== "SpreadElement" || !isEnvironment(property.argument, code),
  );
  const names = others.map((property) =>
    property.type === "Property" && property.kind === "init" ? nameOf(property, code) : null,
  );
  checkVariables(names, call.start, code.variables);
}
