// Texts and names of members in JavaScript that are known without a run.
import type { AnyNode, MemberExpression } from "acorn";
import { refuse } from "../code-tokens.ts";
import { type Code, takeSteps } from "./code.ts";
import type { Binding } from "./scopes.ts";

/** A string, several with `+` between them, a constant, or a variable of the environment; null for anything else. */
export function knownText(node: AnyNode | null | undefined, code: Code): string | null {
  if (!node) return null;
  const read = code.texts.get(node);
  if (read !== undefined) return read;
  // A constant that is made of itself has no value.
  code.texts.set(node, null);
  if (++code.depth > maxDepth) throw refuse(node.start, "its code is nested too deeply");
  const text = readText(node, code);
  code.depth--;
  if (text !== null && node.type !== "Literal" && text.length > maxLength)
    throw refuse(node.start, `it makes a text that is longer than ${maxLength} characters`);
  takeSteps(code, node, 1 + (text?.length ?? 0) / 100);
  code.texts.set(node, text);
  return text;
}

/** More than code that people write needs. */
const maxDepth = 500;
const maxLength = 10_000;

function readText(node: AnyNode, code: Code): string | null {
  const known = (inner: AnyNode) => knownText(inner, code);
  switch (node.type) {
    case "Literal":
      return typeof node.value === "string" ? node.value : null;
    case "TemplateLiteral": {
      const values = node.expressions.map(known);
      if (values.includes(null)) return null;
      takeSteps(code, node, values.length);
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
