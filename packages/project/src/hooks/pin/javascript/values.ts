// What an expression of JavaScript can be: a known text, a number, a function of the script, or a table of functions.
import type { AnyNode, CallExpression, MemberExpression, NewExpression } from "acorn";
import type { Variables } from "../shell-reader.ts";
import { type Binding, readScopes, type Scopes, type Value } from "./scopes.ts";
import { ancestorsOf, isClassNode, isFunctionNode, type Tree } from "./tree.ts";

export interface Code {
  tree: Tree;
  scopes: Scopes;
  /** Variables of the environment whose values are known. */
  variables: Variables;
  /** Modules of Node that start and load nothing, by the names that they have here. */
  namespaces: Set<Binding>;
  /** The module `process`, where it is imported. */
  processes: Set<Binding>;
  /** By the name of a member, every value that it gets anywhere. */
  stored: Map<string, AnyNode[]>;
  /** By the function, what it returns. */
  returned: Map<AnyNode, AnyNode[]>;
}

export function openCode(tree: Tree, variables: Variables): Code {
  const code: Code = {
    tree,
    scopes: readScopes(tree),
    variables,
    namespaces: new Set(),
    processes: new Set(),
    stored: new Map(),
    returned: new Map(),
  };
  for (const node of tree.nodes) {
    const stored = storedBy(node, code);
    if (stored) code.stored.set(stored.name, [...(code.stored.get(stored.name) ?? []), stored.value]);
    const result = returnedBy(node, tree);
    if (result) code.returned.set(result.by, [...(code.returned.get(result.by) ?? []), result.value]);
  }
  return code;
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

/** A string, several with `+` between them, a constant, or a variable of the environment; null for anything else. */
export function knownText(node: AnyNode | null | undefined, code: Code, depth = 0): string | null {
  if (!node || depth > 100) return null;
  const known = (inner: AnyNode) => knownText(inner, code, depth + 1);
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? node.value : null;
    case "TemplateLiteral": {
      const values = node.expressions.map(known);
      if (values.includes(null)) return null;
      return node.quasis.map(({ value }, index) => `${value.cooked ?? ""}${values[index] ?? ""}`).join("");
    }
    case "BinaryExpression": {
      const [left, right] = node.operator === "+" ? [known(node.left), known(node.right)] : [null, null];
      return left === null || right === null ? null : left + right;
    }
    case "Identifier": {
      const value = constantOf(code.scopes.bindingOf(node), code);
      return value && known(value);
    }
    case "MemberExpression": {
      const isVariable = isEnvironment(node.object, code);
      return isVariable ? (code.variables.get(memberName(node, code) ?? "") ?? null) : null;
    }
    default:
      return null;
  }
}

/** The only value of a `const`. */
function constantOf(binding: Binding | undefined, { tree }: Code): AnyNode | null {
  const [value, ...others] = binding?.values ?? [];
  const declaration = binding?.node && tree.parents.get(binding.node);
  const isConstant = declaration?.type === "VariableDeclaration" && declaration.kind === "const";
  return isConstant && value?.kind === "expression" && others.length === 0 ? value.node : null;
}

/** `process.env` */
export const isEnvironment = (node: AnyNode, code: Code): boolean =>
  node.type === "MemberExpression" && isProcess(node.object, code) && memberName(node, code) === "env";

/** The global name, or the module of the same name. */
export function isProcess(node: AnyNode, { scopes, processes }: Code): boolean {
  const binding = scopes.bindingOf(node);
  return node.type === "Identifier" && (binding ? processes.has(binding) : node.name === "process");
}

/** The name of a member, if it is known; null otherwise. */
export function memberName({ computed, property }: MemberExpression, code: Code): string | null {
  if (!computed) return property.type === "Identifier" || property.type === "PrivateIdentifier" ? property.name : null;
  const isNumber = property.type === "Literal" && typeof property.value === "number";
  return isNumber ? String(property.value) : knownText(property, code);
}

/** More than code that people write needs. */
const maxSteps = 1000;

/** A key that is a number: no member of a prototype is reached by it. */
export function isNumber(node: AnyNode, code: Code, seen = new Set<AnyNode | Binding>()): boolean {
  if (seen.has(node)) return true;
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
    return (
      binding.values.length > 0 && binding.values.every((value) => value.kind === "expression" && isLiteral(value.node))
    );
  }
  const name = node.type === "MemberExpression" ? memberName(node, code) : null;
  const stored = (name !== null && code.stored.get(name)) || [];
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
  return (
    binding.values.length > 0 &&
    binding.values.every((value) => value.kind === "expression" && isFunctionNode(value.node))
  );
}
