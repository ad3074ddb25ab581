// What an expression of JavaScript can be: a number, a function of the script, or a table of functions.
import type { AnyNode, CallExpression, MemberExpression, NewExpression } from "acorn";
import type { Variables } from "../shell-reader.ts";
import { type Code, takeSteps } from "./code.ts";
import { type Binding, readScopes, type Value } from "./scopes.ts";
import { knownText, memberName } from "./texts.ts";
import { ancestorsOf, isClassNode, isFunctionNode, type Tree } from "./tree.ts";

export function openCode(tree: Tree, variables: Variables): Code {
  const code: Code = {
    tree,
    scopes: readScopes(tree),
    variables,
    namespaces: new Set(),
    processes: new Set(),
    stored: new Map(),
    returned: new Map(),
    texts: new Map(),
    depth: 0,
    steps: 0,
  };
  for (const node of tree.nodes) {
    const stored = storedBy(node, code);
    if (stored) addTo(code.stored, stored.name, stored.value);
    const result = returnedBy(node, tree);
    if (result) addTo(code.returned, result.by, result.value);
  }
  return code;
}

function addTo<Key>(lists: Map<Key, AnyNode[]>, key: Key, value: AnyNode): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

function storedBy(node: AnyNode, code: Code): { name: string; value: AnyNode } | null {
  const isMember = node.type === "AssignmentExpression" && node.left.type === "MemberExpression";
  if (isMember && node.left.type === "MemberExpression") {
    const name = memberName(node.left, code);
    return name === null ? null : { name, value: node.right };
  }
  if ((node.type !== "Property" && node.type !== "PropertyDefinition") || node.computed || !node.value) return null;
  const { key } = node;
  const name = key.type === "Identifier" || key.type === "PrivateIdentifier" ? key.name : knownText(key, code);
  return name === null ? null : { name, value: node.value };
}

function returnedBy(node: AnyNode, tree: Tree): { by: AnyNode; value: AnyNode } | null {
  if (node.type === "ArrowFunctionExpression" && node.body.type !== "BlockStatement")
    return { by: node, value: node.body };
  if (node.type !== "ReturnStatement" || !node.argument) return null;
  for (const outer of ancestorsOf(tree, node)) if (isFunctionNode(outer)) return { by: outer, value: node.argument };
  return null;
}

/** For one name or expression. */
const maxSteps = 1000;

/** A key that is a number: no member of a prototype is reached by it. */
export function isNumber(node: AnyNode, code: Code, seen = new Set<AnyNode | Binding>()): boolean {
  if (seen.has(node)) return true;
  takeSteps(code, node);
  if (seen.add(node).size > maxSteps) return false;
  const inner = (each: AnyNode) => isNumber(each, code, seen);
  switch (node.type) {
    case "Literal":
      return typeof node.value === "number";
    case "UpdateExpression":
      return true;
    case "UnaryExpression":
      return /^[-+~]$/.test(node.operator);
    case "BinaryExpression":
      return node.operator === "+"
        ? inner(node.left) && inner(node.right)
        : /^[-*/%&|^]$|^\*\*$|^<<$|^>>>?$/.test(node.operator);
    case "AssignmentExpression":
      return /^(?:\+|=)=?$/.test(node.operator) ? inner(node.right) : !/^(?:\|\||&&|\?\?)=$/.test(node.operator);
    case "ConditionalExpression":
      return inner(node.consequent) && inner(node.alternate);
    case "MemberExpression":
      return memberName(node, code) === "length";
    case "CallExpression":
      return isNumberCall(node, code);
    case "Identifier":
      return (
        code.scopes.bindingOf(node)?.values.every((value) => value.kind === "expression" && inner(value.node)) ?? false
      );
    default:
      return false;
  }
}

function isNumberCall({ callee }: CallExpression, code: Code): boolean {
  if (callee.type === "Identifier")
    return /^(?:Number|parseInt|parseFloat)$/.test(callee.name) && !code.scopes.bindingOf(callee);
  if (callee.type !== "MemberExpression") return false;
  const isMath = callee.object.type === "Identifier" && callee.object.name === "Math";
  return (
    isMath ||
    /^(?:indexOf|lastIndexOf|findIndex|findLastIndex|charCodeAt|codePointAt)$/.test(memberName(callee, code) ?? "")
  );
}

/** Whether what is called there is a function that the script shows, and not a member whose name only the run shows. */
export function isCallable(node: AnyNode, code: Code, seen = new Set<AnyNode | Binding>()): boolean {
  if (seen.has(node)) return true;
  takeSteps(code, node);
  if (seen.add(node).size > maxSteps) return false;
  const inner = (each: AnyNode) => isCallable(each, code, seen);
  switch (node.type) {
    case "Identifier": {
      const binding = code.scopes.bindingOf(node);
      return binding?.values.every((value) => isCallableValue(value, code, seen)) ?? true;
    }
    case "MemberExpression":
      return isCallableMember(node, code, seen);
    case "ConditionalExpression":
      return inner(node.consequent) && inner(node.alternate);
    case "LogicalExpression":
      return inner(node.left) && inner(node.right);
    case "SequenceExpression":
      return node.expressions.slice(-1).every(inner);
    case "AssignmentExpression":
      return inner(node.right);
    case "ChainExpression":
      return inner(node.expression);
    case "AwaitExpression":
      return inner(node.argument);
    case "CallExpression":
      return isCallableResult(node, code, seen);
    case "TaggedTemplateExpression":
      return inner(node.tag);
    default:
      return true;
  }
}

function isCallableValue(value: Value, code: Code, seen: Set<AnyNode | Binding>): boolean {
  if (value.kind === "opaque") return true;
  if (value.kind === "expression") return isCallable(value.node, code, seen);
  return !value.isComputed || knownText(value.key, code) !== null || isTable(value.of, code);
}

/** `a.b`, `list[0]`, `handlers[event]`; of `a.call` and the like what `a` is. */
function isCallableMember(node: MemberExpression, code: Code, seen: Set<AnyNode | Binding>): boolean {
  const name = memberName(node, code);
  if (name !== null) return !/^(?:call|apply|bind)$/.test(name) || isCallable(node.object, code, seen);
  return isNumber(node.property, code) || isTable(node.object, code);
}

/** A function that a function returns. */
function isCallableResult({ callee }: CallExpression, code: Code, seen: Set<AnyNode | Binding>): boolean {
  if (callee.type === "MemberExpression" && memberName(callee, code) === null) return false;
  if (!isCallable(callee, code, seen)) return false;
  return functionsOf(callee, code)
    .flatMap((each) => code.returned.get(each) ?? [])
    .every((each) => isCallable(each, code, seen));
}

/** The functions of the script that a name or an expression can be. */
export function functionsOf(node: AnyNode, code: Code): AnyNode[] {
  if (isFunctionNode(node)) return [node];
  const values = code.scopes.bindingOf(node)?.values ?? [];
  takeSteps(code, node, 1 + values.length / 10);
  return values.flatMap((value) => (value.kind === "expression" && isFunctionNode(value.node) ? [value.node] : []));
}

/** An object or list that is written in the script: by an unknown key it gives its own values, or harmless functions of all objects. */
export function isTable(node: AnyNode, code: Code): boolean {
  const isLiteral = (each: AnyNode): boolean =>
    each.type === "ObjectExpression" || each.type === "ArrayExpression" || isFrozen(each);
  const isFrozen = (each: AnyNode): boolean =>
    (each.type === "CallExpression" || each.type === "NewExpression") && isMadeTable(each, code, isLiteral);
  if (isLiteral(node)) return true;
  if (node.type === "Identifier") {
    const binding = code.scopes.bindingOf(node);
    if (binding === undefined) return /^(?:console|Math|JSON)$/.test(node.name);
    if (code.namespaces.has(binding)) return true;
    takeSteps(code, node, 1 + binding.values.length / 10);
    return (
      binding.values.length > 0 && binding.values.every((value) => value.kind === "expression" && isLiteral(value.node))
    );
  }
  const name = node.type === "MemberExpression" ? memberName(node, code) : null;
  const stored = (name !== null && code.stored.get(name)) || [];
  takeSteps(code, node, 1 + stored.length / 10);
  return stored.length > 0 && stored.every(isLiteral);
}

/** `Object.freeze({ … })` */
function isMadeTable(
  { callee, arguments: [first] }: CallExpression | NewExpression,
  code: Code,
  isLiteral: (node: AnyNode) => boolean,
): boolean {
  const isObject =
    callee.type === "MemberExpression" && callee.object.type === "Identifier" && callee.object.name === "Object";
  return (
    isObject && /^(?:freeze|seal)$/.test(memberName(callee, code) ?? "") && first !== undefined && isLiteral(first)
  );
}

/** A function, a class, or something of a module: it has no members that are data. */
export function isFunctionLike(node: AnyNode, code: Code): boolean {
  if (isFunctionNode(node) || isClassNode(node)) return true;
  if (node.type !== "Identifier") return false;
  const binding = code.scopes.bindingOf(node);
  if (binding === undefined)
    return (
      /^(?:[A-Z]|require$|fetch$|set|clear)/.test(node.name) &&
      !/^(?:Math|JSON|Intl)$/.test(node.name) &&
      node.name in globalThis
    );
  if (binding.kind === "function" || binding.kind === "class") return true;
  if (binding.kind === "import") return !code.namespaces.has(binding);
  takeSteps(code, node, 1 + binding.values.length / 10);
  return (
    binding.values.length > 0 &&
    binding.values.every((value) => value.kind === "expression" && isFunctionNode(value.node))
  );
}
