// The variables of the environment, `process.env`: read, copied, handed on, or set if they make no program load anything.
import type { AnyNode } from "acorn";
import { checkVariables } from "../code-calls.ts";
import type { Code } from "./code.ts";
import { isEnvironment, memberName } from "./texts.ts";
import { type Tree, unknownCode } from "./tree.ts";

export function checkEnvironment(code: Code): void {
  for (const node of code.tree.nodes) if (isEnvironment(node, code)) checkUse(node, code);
}

function checkUse(node: AnyNode, code: Code): void {
  const { tree } = code;
  const parent = tree.parents.get(node) ?? node;
  if (parent.type !== "MemberExpression" || parent.object !== node) {
    if (!isHandedOn(node, code)) throw unknownCode(tree, parent);
    return;
  }
  const name = memberName(parent, code);
  const use = tree.parents.get(parent);
  const isCalled = use?.type === "CallExpression" && use.callee === parent;
  if (isCalled || /^(?:__\w+__|valueOf|constructor)$/.test(name ?? "")) throw unknownCode(tree, use ?? parent);
  if (isTarget(parent, tree)) checkVariables([name], parent.start, code.variables);
}

/** Whether it is assigned to, also among others, counted or deleted. */
export function isTarget(node: AnyNode, tree: Tree): boolean {
  const parent = tree.parents.get(node);
  switch (parent?.type) {
    case "AssignmentExpression":
    case "ForInStatement":
    case "ForOfStatement":
      return parent.left === node;
    case "AssignmentPattern":
      return parent.left === node && isTarget(parent, tree);
    case "UpdateExpression":
      return true;
    case "UnaryExpression":
      return parent.operator === "delete";
    case "ChainExpression":
    case "ArrayPattern":
    case "ObjectPattern":
    case "RestElement":
      return isTarget(parent, tree);
    case "Property":
      return parent.value === node && isTarget(parent, tree);
    default:
      return false;
  }
}

/** `...process.env`, `spawn(…, { env: process.env })`, `"NAME" in process.env`, `const { NAME } = process.env`, `Object.keys(process.env)` */
function isHandedOn(node: AnyNode, code: Code): boolean {
  const { tree } = code;
  const parent = tree.parents.get(node);
  switch (parent?.type) {
    case "SpreadElement":
      return true;
    case "BinaryExpression":
      return parent.operator === "in";
    case "VariableDeclarator":
      return parent.id.type === "ObjectPattern";
    case "ForInStatement":
      return parent.right === node;
    case "Property": {
      const object = tree.parents.get(parent);
      const call = object && tree.parents.get(object);
      return parent.key.type === "Identifier" && parent.key.name === "env" && call?.type === "CallExpression";
    }
    case "CallExpression":
      return isReadBy(parent.callee, parent.arguments.indexOf(node as never), code);
    default:
      return false;
  }
}

function isReadBy(callee: AnyNode, index: number, code: Code): boolean {
  if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return false;
  const name = `${callee.object.name}.${memberName(callee, code)}`;
  if (code.scopes.bindingOf(callee.object)) return false;
  return /^(?:Object\.(?:keys|values|entries|hasOwn)|JSON\.stringify|console\.\w+)$/.test(name)
    ? true
    : name === "Object.assign" && index > 0;
}
