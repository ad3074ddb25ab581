// Global names of JavaScript: those that start and load nothing, and `process`, `require` and `module` for some of their members.
import { isBuiltin } from "node:module";
import type { AnyNode, Identifier } from "acorn";
import type { Code } from "./code.ts";
import { harmlessModules } from "./modules.ts";
import { isProcess, memberName } from "./texts.ts";
import { ancestorsOf, isFunctionNode, unknownCode } from "./tree.ts";

/** Names of no declaration. One that Node does not have either only ends the script. */
export function checkGlobals(code: Code): void {
  const { tree, scopes } = code;
  for (const name of scopes.references) {
    if (isProcess(name, code)) checkProcess(name, code);
    else if (!scopes.bindingOf(name)) checkGlobal(name, code);
  }
  for (const node of tree.nodes) if (node.type === "WithStatement") throw unknownCode(tree, node);
}

/** Functions and objects that evaluate no text and lead to nothing that does. */
const harmlessGlobals = new Set(
  `AbortController AbortSignal AggregateError Array ArrayBuffer Atomics BigInt BigInt64Array BigUint64Array Blob Boolean
  Buffer ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException
  DataView Date DecompressionStream Error EvalError Event EventTarget File FinalizationRegistry Float32Array Float64Array
  FormData Headers Infinity Int16Array Int32Array Int8Array Intl Iterator JSON Map Math MessageChannel MessageEvent
  MessagePort NaN Number Object Performance Promise Proxy RangeError ReadableStream ReferenceError RegExp Request Response
  Set String SubtleCrypto Symbol SyntaxError TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream
  TypeError URIError URL URLSearchParams Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet
  WebSocket WritableStream __dirname __filename atob btoa clearImmediate clearInterval clearTimeout console crypto
  decodeURI decodeURIComponent encodeURI encodeURIComponent escape exports fetch isFinite isNaN parseFloat parseInt
  performance queueMicrotask setImmediate setInterval setTimeout structuredClone undefined unescape`.split(/\s+/),
);

/** Also where this Node does not have them. */
const refusedGlobals = /^(?:eval|Function|ShadowRealm|SharedWorker|WebAssembly|Worker)$/;

function checkGlobal(name: Identifier, code: Code): void {
  const { tree } = code;
  const parent = tree.parents.get(name);
  if (parent?.type === "UnaryExpression" && parent.operator === "typeof") return;
  if (parent?.type === "BinaryExpression" && parent.operator === "instanceof") return;
  const check = special.get(name.name);
  if (check) check(name, code);
  else if (isRefused(name.name)) throw unknownCode(tree, parent && isShort(parent) ? parent : name);
}

/** In code of `node -e`, all modules of Node are global names. */
const isRefused = (name: string): boolean =>
  refusedGlobals.test(name) ||
  (isBuiltin(name) ? !harmlessModules.has(name) : name in globalThis && !harmlessGlobals.has(name));

/** Used for some of their members. */
const special = new Map<string, (name: Identifier, code: Code) => void>([
  ["require", checkRequire],
  ["module", checkModule],
  ["global", checkGlobalObject],
  ["globalThis", checkGlobalObject],
  ["arguments", checkArguments],
  ["Reflect", (name, code) => checkMember(name, code, /^(?:has|ownKeys)$/)],
]);

const isShort = ({ start, end }: AnyNode): boolean => end - start < 80;

/** Not all of the object, nor a member whose name only the run shows. */
function checkMember(name: Identifier, code: Code, allowed: RegExp): void {
  const parent = code.tree.parents.get(name) ?? name;
  const member = parent.type === "MemberExpression" && parent.object === name ? memberName(parent, code) : null;
  if (member === null || !allowed.test(member)) throw unknownCode(code.tree, parent);
}

const processMembers =
  /^(?:abort|arch|argv|argv0|availableMemory|config|constrainedMemory|cpuUsage|cwd|emitWarning|env|execArgv|execPath|exit|exitCode|features|getegid|geteuid|getgid|getgroups|getuid|hrtime|kill|memoryUsage|nextTick|off|on|once|pid|platform|ppid|release|removeAllListeners|removeListener|report|resourceUsage|setMaxListeners|stderr|stdin|stdout|title|umask|uptime|version|versions)$/;

function checkProcess(name: Identifier, code: Code): void {
  const parent = code.tree.parents.get(name);
  if (parent?.type === "UnaryExpression" && parent.operator === "typeof") return;
  if (parent?.type !== "VariableDeclarator" || parent.id.type !== "ObjectPattern") {
    checkMember(name, code, processMembers);
    return;
  }
  for (const property of parent.id.properties) {
    const key = property.type === "Property" && !property.computed ? property.key : null;
    const isKnown = key?.type === "Identifier" && key.name !== "env" && processMembers.test(key.name);
    if (!isKnown) throw unknownCode(code.tree, parent);
  }
}

/** What is loaded is read with the modules. */
function checkRequire(name: Identifier, code: Code): void {
  const { tree } = code;
  const parent = tree.parents.get(name) ?? name;
  if (parent.type === "CallExpression" && parent.callee === name) return;
  checkMember(name, code, /^(?:resolve|main)$/);
  const use = tree.parents.get(parent) ?? parent;
  const isMain = parent.type === "MemberExpression" && memberName(parent, code) === "main";
  const isName = use.type === "MemberExpression" && memberName(use, code) === "filename";
  const isResolved = use.type === "CallExpression" && use.callee === parent;
  if (isMain ? !isCompared(use) && !isName : !isResolved) throw unknownCode(tree, use);
}

const isCompared = (node: AnyNode): boolean => node.type === "BinaryExpression" && /^[=!]==?$/.test(node.operator);

/** `module.exports`, `!module.parent`, and `require.main === module`. */
function checkModule(name: Identifier, code: Code): void {
  const { tree } = code;
  const parent = tree.parents.get(name) ?? name;
  if (isCompared(parent)) return;
  checkMember(name, code, /^(?:exports|parent)$/);
  const use = tree.parents.get(parent) ?? parent;
  const isTested = (use.type === "UnaryExpression" && use.operator === "!") || isCompared(use);
  if (parent.type === "MemberExpression" && memberName(parent, code) === "parent" && !isTested)
    throw unknownCode(tree, use);
}

function checkGlobalObject(name: Identifier, code: Code): void {
  const { tree } = code;
  const parent = tree.parents.get(name) ?? name;
  const member = parent.type === "MemberExpression" && parent.object === name ? memberName(parent, code) : null;
  const isHarmless = member !== null && (harmlessGlobals.has(member) || !(member in globalThis));
  if (!isHarmless || refusedGlobals.test(member ?? "") || /^(?:require|module)$/.test(member ?? ""))
    throw unknownCode(tree, parent);
}

/** Those of a function of the script; the script itself gets `require` as one of them. */
function checkArguments(name: Identifier, { tree }: Code): void {
  for (const outer of ancestorsOf(tree, name))
    if (isFunctionNode(outer) && outer.type !== "ArrowFunctionExpression") return;
  throw unknownCode(tree, tree.parents.get(name) ?? name);
}
