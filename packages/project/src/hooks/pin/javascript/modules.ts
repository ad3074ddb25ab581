// Which modules JavaScript loads, and under which names it has those that start programs.
import { isBuiltin } from "node:module";
import type { AnyNode, ImportDeclaration } from "acorn";
import type { CodeUses } from "../code-calls.ts";
import { refuse } from "../code-tokens.ts";
import type { Code } from "./code.ts";
import type { Binding } from "./scopes.ts";
import { memberName } from "./texts.ts";
import { unknownCode } from "./tree.ts";

/** A call of a function of node:child_process. */
export interface ProcessCall {
  method: string;
  node: AnyNode & { type: "CallExpression" };
}

/** The names that node:child_process and its functions have in a script. */
export interface Starters {
  modules: Set<Binding>;
  /** By the name in the module. */
  functions: Map<Binding, string>;
  /** Without a name of their own: `require("child_process").spawn(…)`. */
  calls: ProcessCall[];
}

export function readModules(code: Code, uses: CodeUses): Starters {
  const starters: Starters = { modules: new Set(), functions: new Map(), calls: [] };
  for (const node of code.tree.nodes) {
    const source = loadedBy(node, code);
    if (source) readModule({ node, source }, { code, uses, starters });
  }
  return starters;
}

/** The node with the name of the module, where one is loaded. */
function loadedBy(node: AnyNode, { scopes }: Code): AnyNode | null {
  switch (node.type) {
    case "ImportDeclaration":
    case "ExportAllDeclaration":
    case "ImportExpression":
      return node.source;
    case "ExportNamedDeclaration":
      return node.source ?? null;
    case "CallExpression": {
      const { callee, arguments: given } = node;
      const isRequire = callee.type === "Identifier" && callee.name === "require" && !scopes.bindingOf(callee);
      return isRequire ? (given.length === 1 && given[0] ? given[0] : node) : null;
    }
    default:
      return null;
  }
}

interface Loading {
  node: AnyNode;
  source: AnyNode;
}

interface Found {
  code: Code;
  uses: CodeUses;
  starters: Starters;
}

function readModule({ node, source }: Loading, { code, uses, starters }: Found): void {
  const value = textOf(source);
  if (value === null) throw unknownCode(code.tree, node);
  const name = isBuiltin(value) ? value.replace(/^node:/, "") : null;
  if (name === "child_process") {
    bindStarters(node, code, starters);
    return;
  }
  if (name === "process") bindProcess(node, code);
  else if (name !== null) {
    if (!harmlessModules.has(name)) throw refuse(source.start, `what the module ${value} runs or loads is not known`);
    for (const { binding, name: member } of namesOf(node, code) ?? [])
      if (member === null) code.namespaces.add(binding);
  }
  uses.modules.push({ name: value, at: source.start });
}

/** Not a constant: a name has to be where it is loaded. */
function textOf(node: AnyNode): string | null {
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  return node.type === "TemplateLiteral" && node.quasis.length === 1 ? (node.quasis[0]?.value.cooked ?? null) : null;
}

interface Named {
  binding: Binding;
  /** In the module; null for all of it. */
  name: string | null;
}

/** The names that what is loaded gets; null if it is used in another way. */
function namesOf(node: AnyNode, code: Code): Named[] | null {
  if (node.type === "ImportDeclaration") return importedNames(node, code);
  if (node.type !== "CallExpression" && node.type !== "ImportExpression") return null;
  const { tree, scopes } = code;
  const outer = tree.parents.get(node);
  const value = outer?.type === "AwaitExpression" ? outer : node;
  const parent = tree.parents.get(value);
  if (parent?.type !== "VariableDeclarator" || parent.init !== value) return null;
  if (parent.id.type === "Identifier") {
    const binding = scopes.bindingOf(parent.id);
    return binding ? [{ binding, name: null }] : null;
  }
  if (parent.id.type !== "ObjectPattern") return null;
  const names = parent.id.properties.map((property): Named | null => {
    if (property.type !== "Property" || property.computed) return null;
    const binding = scopes.bindingOf(property.value);
    const name = property.key.type === "Identifier" ? property.key.name : textOf(property.key);
    return binding && name !== null ? { binding, name: name === "default" ? null : name } : null;
  });
  return names.includes(null) ? null : (names as Named[]);
}

function importedNames({ specifiers }: ImportDeclaration, { scopes }: Code): Named[] {
  return specifiers.flatMap((specifier) => {
    const binding = scopes.bindingOf(specifier.local);
    if (!binding) return [];
    if (specifier.type !== "ImportSpecifier") return [{ binding, name: null }];
    const { imported } = specifier;
    const name = imported.type === "Identifier" ? imported.name : String(imported.value);
    return [{ binding, name: name === "default" ? null : name }];
  });
}

function bindStarters(node: AnyNode, code: Code, starters: Starters): void {
  const { tree, scopes } = code;
  const names = namesOf(node, code);
  for (const { binding, name } of names ?? [])
    if (name === null) starters.modules.add(binding);
    else starters.functions.set(binding, name);
  if (names) return;
  const outer = tree.parents.get(node);
  const value = outer?.type === "AwaitExpression" ? outer : node;
  const member = tree.parents.get(value);
  const use = member && tree.parents.get(member);
  const method = member?.type === "MemberExpression" && member.object === value ? memberName(member, code) : null;
  const isNamed = use?.type === "VariableDeclarator" && use.init === member ? scopes.bindingOf(use.id) : undefined;
  if (method !== null && use?.type === "CallExpression" && use.callee === member)
    starters.calls.push({ method, node: use });
  else if (method !== null && isNamed) starters.functions.set(isNamed, method);
  else throw unknownCode(tree, member ?? node);
}

/** `process` keeps its name, and `env` is used through it. */
function bindProcess(node: AnyNode, code: Code): void {
  const names = namesOf(node, code);
  const isKept = names?.every(({ binding, name }) =>
    name === null
      ? binding.name === "process"
      : !/^(?:env|binding|constructor|mainModule|dlopen|chdir|getBuiltinModule|execve|loadEnvFile|_\w+)$/.test(name),
  );
  if (!names || !isKept) throw unknownCode(code.tree, code.tree.parents.get(node) ?? node);
  for (const { binding, name } of names) if (name === null) code.processes.add(binding);
  // Texts with variables of the environment are known from here on.
  code.texts.clear();
}

/** Modules of Node that start and evaluate nothing. */
export const harmlessModules = new Set(
  `assert assert/strict async_hooks buffer console constants crypto dgram diagnostics_channel dns dns/promises events fs
  fs/promises http http2 https net os path path/posix path/win32 perf_hooks process punycode querystring readline
  readline/promises stream stream/consumers stream/promises stream/web string_decoder timers timers/promises tls tty url
  util util/types zlib`.split(/\s+/),
);
