// Which declaration a name in JavaScript means, and the values that it can have.
import type { AnyNode, Identifier, Pattern } from "acorn";
import { isClassNode, isFunctionNode, type Tree } from "./tree.ts";

/** What a variable can hold, as far as the code shows it. `member`: taken out of an object, `const { key: name } = of`. */
export type Value =
  | { kind: "expression"; node: AnyNode }
  | { kind: "member"; of: AnyNode; key: AnyNode; isComputed: boolean }
  | { kind: "opaque" };

export interface Binding {
  name: string;
  kind: "function" | "class" | "import" | "parameter" | "variable";
  /** The node that declares it; undefined for a variable that is never declared. */
  node: AnyNode | undefined;
  values: Value[];
}

export interface Scopes {
  /** Names that are used, not those that are declared, or are keys and members. */
  references: Identifier[];
  /** Of a name that is used or declared. Undefined for a global name. */
  bindingOf(name: AnyNode): Binding | undefined;
}

interface Scope {
  parent: Scope | undefined;
  names: Map<string, Binding>;
  /** Where `var` declares. */
  isFunction: boolean;
}

interface Reading {
  tree: Tree;
  scopes: Map<AnyNode, Scope>;
  declared: Map<AnyNode, Binding>;
}

export function readScopes(tree: Tree): Scopes {
  const reading: Reading = { tree, scopes: new Map(), declared: new Map() };
  for (const node of tree.nodes) {
    openScope(node, reading);
    declareIn(node, reading);
  }
  const references = tree.nodes.filter((node): node is Identifier => isReference(node, reading));
  const bindings = new Map<AnyNode, Binding | undefined>(reading.declared);
  for (const node of tree.nodes) assignIn(node, reading);
  for (const node of references) bindings.set(node, find(node.name, scopeAt(node, reading)));
  return { references, bindingOf: (name) => bindings.get(name) };
}

const scopeTypes = new Set([
  "Program",
  "BlockStatement",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "SwitchStatement",
  "CatchClause",
  "StaticBlock",
]);

function openScope(node: AnyNode, { tree, scopes }: Reading): void {
  const parent = tree.parents.get(node);
  const outer = parent && scopes.get(parent);
  const isOwn = scopeTypes.has(node.type) || isFunctionNode(node) || isClassNode(node);
  const isFunction = node.type === "Program" || node.type === "StaticBlock" || isFunctionNode(node);
  scopes.set(node, outer && !isOwn ? outer : { parent: outer, names: new Map(), isFunction });
}

const scopeAt = (node: AnyNode, { scopes }: Reading): Scope => scopes.get(node) as Scope;

function declareIn(node: AnyNode, reading: Reading): void {
  const own = scopeAt(node, reading);
  const outer = own.parent ?? own;
  const add = (scope: Scope, kind: Binding["kind"]) => (name: Identifier, value: Value | undefined) => {
    const known = scope.names.get(name.name) ?? { name: name.name, kind, node, values: [] };
    reading.declared.set(name, known);
    scope.names.set(name.name, known);
    if (value) known.values.push(value);
  };
  const itself: Value = { kind: "expression", node };
  switch (node.type) {
    case "FunctionDeclaration":
      if (node.id) add(outer, "function")(node.id, itself);
      break;
    case "FunctionExpression":
      if (node.id) add(own, "function")(node.id, itself);
      break;
    case "ClassDeclaration":
      if (node.id) add(outer, "class")(node.id, itself);
      break;
    case "ClassExpression":
      if (node.id) add(own, "class")(node.id, itself);
      break;
    case "VariableDeclarator":
      declareVariable(node, reading, add);
      break;
    case "CatchClause":
      if (node.param) spread(node.param, opaque, add(own, "variable"));
      break;
    case "ImportSpecifier":
    case "ImportDefaultSpecifier":
    case "ImportNamespaceSpecifier":
      add(own, "import")(node.local, opaque);
      break;
  }
  if ("params" in node) for (const parameter of node.params) spread(parameter, opaque, add(own, "parameter"));
}

const opaque: Value = { kind: "opaque" };

type Add = (name: Identifier, value: Value | undefined) => void;

function declareVariable(
  node: AnyNode & { type: "VariableDeclarator" },
  reading: Reading,
  add: (scope: Scope, kind: Binding["kind"]) => Add,
): void {
  const { tree } = reading;
  const declaration = tree.parents.get(node);
  const loop = declaration && tree.parents.get(declaration);
  const isEach = loop && /^For(?:In|Of)Statement$/.test(loop.type) && "left" in loop && loop.left === declaration;
  let scope = scopeAt(node, reading);
  if (declaration?.type === "VariableDeclaration" && declaration.kind === "var")
    while (!scope.isFunction && scope.parent) scope = scope.parent;
  // Without a value, a variable is undefined until it is assigned.
  const value: Value | undefined = node.init ? { kind: "expression", node: node.init } : isEach ? opaque : undefined;
  spread(node.id, value, add(scope, "variable"));
}

/** Each name of a pattern, with the value that it gets. */
function spread(pattern: Pattern, value: Value | undefined, add: Add): void {
  switch (pattern.type) {
    case "Identifier":
      add(pattern, value);
      break;
    case "ObjectPattern":
      for (const property of pattern.properties) {
        if (property.type === "RestElement") spread(property.argument, opaque, add);
        else {
          const { key, computed } = property;
          const isKnown = value?.kind === "expression";
          spread(property.value, isKnown ? { kind: "member", of: value.node, key, isComputed: computed } : opaque, add);
        }
      }
      break;
    case "ArrayPattern":
      for (const element of pattern.elements) if (element) spread(element, opaque, add);
      break;
    case "AssignmentPattern":
      spread(pattern.left, value, add);
      spread(pattern.left, { kind: "expression", node: pattern.right }, add);
      break;
    case "RestElement":
      spread(pattern.argument, opaque, add);
      break;
    case "MemberExpression":
      break;
  }
}

/** Further values of variables. One that is never declared is a variable of the whole script. */
function assignIn(node: AnyNode, reading: Reading): void {
  const add: Add = ({ name }, value) => {
    const binding = find(name, scopeAt(node, reading)) ?? { name, kind: "variable", node: undefined, values: [] };
    if (value) binding.values.push(value);
    const [root] = reading.tree.nodes;
    if (binding.node === undefined && root) scopeAt(root, reading).names.set(name, binding);
  };
  const isEach = node.type === "ForInStatement" || node.type === "ForOfStatement";
  if (node.type === "AssignmentExpression") {
    const isValue = /^(?:=|\|\|=|&&=|\?\?=)$/.test(node.operator);
    spread(node.left, isValue ? { kind: "expression", node: node.right } : { kind: "expression", node }, add);
  } else if (isEach && node.left.type !== "VariableDeclaration") spread(node.left, opaque, add);
}

function find(name: string, scope: Scope | undefined): Binding | undefined {
  for (let at = scope; at; at = at.parent) if (at.names.has(name)) return at.names.get(name);
  return undefined;
}

function isReference(node: AnyNode, { tree, declared }: Reading): boolean {
  if (node.type !== "Identifier" || declared.has(node)) return false;
  const parent = tree.parents.get(node);
  switch (parent?.type) {
    case "MemberExpression":
      return parent.computed || parent.object === node;
    case "Property":
    case "MethodDefinition":
    case "PropertyDefinition":
      return parent.computed || parent.value === node;
    case "ExportSpecifier":
      return parent.local === node && !(tree.parents.get(parent) as { source?: unknown } | undefined)?.source;
    case "LabeledStatement":
    case "BreakStatement":
    case "ContinueStatement":
    case "ImportSpecifier":
    case "ExportAllDeclaration":
    case "ImportAttribute":
    case "MetaProperty":
      return false;
    default:
      return true;
  }
}
