// Members and calls: by a member whose name only the run shows, code reaches the constructor of functions, which evaluates text.
import type { AnyNode, AssignmentProperty, MemberExpression, Property } from "acorn";
import { type Code, takeSteps } from "./code.ts";
import { isTarget } from "./environment.ts";
import { knownText, memberName } from "./texts.ts";
import { ancestorsOf, isClassNode, isFunctionNode, type Tree, unknownCode } from "./tree.ts";
import { isCallable, isFunctionLike, isNumber } from "./values.ts";

/** They lead to constructors and prototypes, to the code that called, or load a library. */
const refusedMembers =
  /^(?:__proto__|__define[GS]etter__|__lookup[GS]etter__|callee|caller|eval|Function|getPrototypeOf|globalThis|setEngine|setPrototypeOf)$/;

export function checkMembers(code: Code): void {
  const { tree } = code;
  const isStrict = isStrictScript(tree);
  for (const node of tree.nodes) {
    switch (node.type) {
      case "MemberExpression":
        checkMember(node, code);
        break;
      case "Property":
        checkKey(node, code);
        break;
      case "CallExpression":
      case "NewExpression":
        if (!isCallable(node.callee, code)) throw unknownCode(tree, node);
        break;
      case "TaggedTemplateExpression":
        if (!isCallable(node.tag, code)) throw unknownCode(tree, node);
        break;
      case "ThisExpression":
        if (!isStrict) checkThis(node, code);
        break;
    }
  }
}

function checkMember(node: MemberExpression, code: Code): void {
  const { tree } = code;
  const parent = tree.parents.get(node) ?? node;
  const name = memberName(node, code);
  if (name === null) {
    if (!isNumber(node.property, code) && isFunctionLike(node.object, code)) throw unknownCode(tree, parent);
    return;
  }
  const isRefused =
    refusedMembers.test(name) ||
    (name === "constructor" && !isOnlyCompared(parent, code)) ||
    (name === "prototype" && !isOwnPrototype(node, code));
  if (isRefused) throw unknownCode(tree, parent);
}

/** `x.constructor.name`, `x.constructor === Map` */
function isOnlyCompared(parent: AnyNode, code: Code): boolean {
  if (parent.type === "MemberExpression") return memberName(parent, code) === "name";
  return parent.type === "BinaryExpression" && /^[=!]==?$/.test(parent.operator);
}

/** Of a function or class of the script; of others only a method that is called, `Object.prototype.hasOwnProperty.call(…)`. */
function isOwnPrototype(node: MemberExpression, code: Code): boolean {
  const { tree, scopes } = code;
  const kind = scopes.bindingOf(node.object)?.kind;
  if (kind === "function" || kind === "class") return true;
  const method = tree.parents.get(node);
  const call = method && tree.parents.get(method);
  return (
    method?.type === "MemberExpression" &&
    memberName(method, code) !== null &&
    call?.type === "MemberExpression" &&
    /^(?:call|apply)$/.test(memberName(call, code) ?? "")
  );
}

/** `const { constructor: make } = run`, `{ __proto__: own }` */
function checkKey(node: Property | AssignmentProperty, code: Code): void {
  const { tree } = code;
  const { key, computed, value } = node;
  const name = !computed && key.type === "Identifier" ? key.name : knownText(key, code);
  const isPattern = tree.parents.get(node)?.type === "ObjectPattern";
  const isRefused = isPattern && /^(?:constructor|prototype)$/.test(name ?? "");
  const isEmpty = value.type === "Literal" && value.value === null;
  if (isRefused || (name === "__proto__" && !isEmpty)) throw unknownCode(tree, node);
}

/** Outside of classes and modules, `this` can be the object of all globals. */
function checkThis(node: AnyNode, code: Code): void {
  const { tree } = code;
  if (isOfClassOrScript(node, code)) return;
  const parent = tree.parents.get(node) ?? node;
  const name = parent.type === "MemberExpression" ? memberName(parent, code) : null;
  const isPassed = parent.type === "CallExpression" && isCallingFunction(parent.callee, code);
  if (!isPassed && (name === null || (name in globalThis && !/^(?:name|escape)$/.test(name))))
    throw unknownCode(tree, parent);
}

const isCallingFunction = (callee: AnyNode, code: Code): boolean =>
  callee.type === "MemberExpression" && /^(?:call|apply|bind)$/.test(memberName(callee, code) ?? "");

function isOfClassOrScript(node: AnyNode, code: Code): boolean {
  let isOfFunction = false;
  for (const outer of ancestorsOf(code.tree, node)) {
    takeSteps(code, node);
    if (isClassNode(outer)) return true;
    isOfFunction ||= isFunctionNode(outer);
  }
  return !isOfFunction;
}

function isStrictScript({ nodes: [root] }: Tree): boolean {
  return (
    root?.type === "Program" &&
    root.body.some((each) => isModuleStatement(each) || ("directive" in each && each.directive === "use strict"))
  );
}

const isModuleStatement = ({ type }: AnyNode): boolean => /^(?:Import|Export)\w*Declaration$/.test(type);

/** `all[one][two] = value`: what all objects have can be changed, and by that the variables of programs that start. */
export function checkNestedWrites(code: Code): void {
  const isUnknown = (node: AnyNode): node is MemberExpression =>
    node.type === "MemberExpression" && memberName(node, code) === null && !isNumber(node.property, code);
  const isTaken = (node: AnyNode): boolean =>
    code.scopes.bindingOf(node)?.values.some((value) => {
      takeSteps(code, node);
      return value.kind === "expression" && isUnknown(value.node);
    }) ?? false;
  for (const node of code.tree.nodes) {
    if (node.type !== "MemberExpression" || memberName(node, code) !== null || isNumber(node.property, code)) continue;
    if (isTarget(node, code.tree) && (isUnknown(node.object) || isTaken(node.object)))
      throw unknownCode(code.tree, node);
  }
}
