// What a script in JavaScript loads and starts. It is followed through the modules that can start something; others are refused.
import { isBuiltin } from "node:module";
import { type CodeUses, unknownStart } from "./code-calls.ts";
import { readTokens, refuse, type Token } from "./code-tokens.ts";
import { checkEnvironment, checkGlobal, isMember, nameAt, signAt } from "./javascript-globals.ts";
import { checkMembers } from "./javascript-members.ts";
import { type Bindings, commandOfCall, type ProcessCall } from "./javascript-processes.ts";
import type { Variables } from "./shell-reader.ts";

export function readJavascript(text: string, variables: Variables): CodeUses {
  const tokens = readTokens(text, "javascript");
  const uses: CodeUses = { modules: [], commands: [] };
  const bindings: Bindings = { modules: new Set(), functions: new Map(), calls: [], declared: new Set() };
  tokens.forEach((token, at) => {
    if (token.kind === "name") checkName(tokens, at, variables);
    if (token.kind === "string") readSpecifier(tokens, at, { uses, bindings });
  });
  checkMembers(tokens);
  bindPromisified(tokens, bindings);
  const named = tokens.flatMap((token, at) => {
    if (token.kind !== "name" || bindings.declared.has(at) || isMember(tokens, at)) return [];
    return calledFunction(tokens, at, bindings) ?? [];
  });
  for (const call of [...bindings.calls, ...named])
    uses.commands.push({ text: commandOfCall(tokens, call, variables), at: tokens[call.at]?.at ?? 0 });
  return uses;
}

/** They evaluate text, load files by other ways, or change what the names of programs mean. */
const refusedNames = new Set(
  `eval Function Worker SharedWorker WebAssembly createRequire getBuiltinModule dlopen chdir mainModule _linkedBinding
  _load _compile _extensions execve loadEnvFile setEngine registerHooks`.split(/\s+/),
);

function checkName(tokens: Token[], at: number, variables: Variables): void {
  const { text } = tokens[at] as Token;
  const shown = tokens.slice(at, at + 4);
  if (refusedNames.has(text)) throw unknownStart(shown);
  if (/^(?:constructor|binding)$/.test(text) && isMember(tokens, at)) throw unknownStart(shown);
  if (/^(?:globalThis|global|process|arguments)$/.test(text)) checkGlobal(tokens, at);
  if (text === "require") checkRequire(tokens, at);
  if (text === "import") checkImport(tokens, at);
  if (text === "module" && !isMember(tokens, at)) checkModule(tokens, at);
  if (text === "env" && isMember(tokens, at) && nameAt(tokens, at - 2) === "process")
    checkEnvironment(tokens, at, variables);
}

function checkRequire(tokens: Token[], at: number): void {
  const next = signAt(tokens, at + 1);
  const isLoading = next === "(" && tokens[at + 2]?.value != null && signAt(tokens, at + 3) === ")";
  const member = next === "." ? nameAt(tokens, at + 2) : "";
  const isResolving = member === "resolve" && signAt(tokens, at + 3) === "(";
  const isMain = member === "main" && !/^(?:\?\.|\[|\.)$/.test(signAt(tokens, at + 3));
  const isCompared = [at - 1, at + 3].some((sign) => /^[=!]==?$/.test(signAt(tokens, sign)));
  const isNamed = member === "main" && isMember(tokens, at + 4) && nameAt(tokens, at + 4) === "filename";
  if (isMember(tokens, at) || !(isLoading || isResolving || (isMain && isCompared) || isNamed))
    throw unknownStart(tokens.slice(at, at + 6));
}

/** `import("./x.js")`; other imports have a string, which is read as such. */
function checkImport(tokens: Token[], at: number): void {
  if (signAt(tokens, at + 1) !== "(") return;
  if (tokens[at + 2]?.value == null || !/^[,)]$/.test(signAt(tokens, at + 3)))
    throw unknownStart(tokens.slice(at, at + 6));
}

/** `module.exports`, and `require.main === module`. */
function checkModule(tokens: Token[], at: number): void {
  if (signAt(tokens, at + 1) === "." && nameAt(tokens, at + 2) === "exports") return;
  if (/^[=!]==?$/.test(signAt(tokens, at - 1)) || /^[=!]==?$/.test(signAt(tokens, at + 1))) return;
  throw unknownStart(tokens.slice(at, at + 3));
}

interface Found {
  uses: CodeUses;
  bindings: Bindings;
}

function readSpecifier(tokens: Token[], at: number, { uses, bindings }: Found): void {
  const token = tokens[at] as Token;
  const { value } = token;
  const before = tokens[at - 1];
  const isStatic = before?.kind === "name" && /^(?:from|import)$/.test(before.text) && !isMember(tokens, at - 1);
  const isCalled = signAt(tokens, at - 1) === "(" && /^(?:require|import)$/.test(nameAt(tokens, at - 2));
  const isStarting = /^(?:node:)?child_process$/.test(value ?? "");
  if (isMemberName(tokens, at) && (refusedNames.has(value ?? "") || /^(?:constructor|binding)$/.test(value ?? "")))
    throw unknownStart([token]);
  if (!isStatic && !isCalled) {
    if (isStarting) throw unknownStart([token]);
    return;
  }
  if (value === null) throw unknownStart([token]);
  if (isStarting) {
    if (isStatic) bindImport(tokens, at, bindings);
    else bindRequired(tokens, at, bindings);
    return;
  }
  if (/^(?:node:)?process$/.test(value)) checkProcess(tokens, at, isStatic);
  if (isBuiltin(value) && !harmlessModules.has(value.replace(/^node:/, "")))
    throw refuse(token.at, `what the module ${value} runs or loads is not known`);
  uses.modules.push({ name: value, at: token.at });
}

/** `process` keeps its name, and `env` is used through it. */
function checkProcess(tokens: Token[], at: number, isStatic: boolean): void {
  const found: Bindings = { modules: new Set(), functions: new Map(), calls: [], declared: new Set() };
  if (isStatic) bindImport(tokens, at, found);
  else bindRequired(tokens, at, found);
  const isOther =
    [...found.modules].some((name) => name !== "process") ||
    [...found.functions.values()].some((name) => /^(?:env|binding|constructor)$/.test(name)) ||
    found.calls.some(({ method }) => !/^(?:cwd|exit|on|once)$/.test(method));
  if (isOther) throw unknownStart(tokens.slice(at, at + 1));
}

/** `x["name"]` */
const isMemberName = (tokens: Token[], at: number): boolean => {
  const before = tokens[at - 2];
  const isOperand = before !== undefined && (before.kind !== "sign" || /^(?:[)\]}]|\?\.)$/.test(before.text));
  return signAt(tokens, at - 1) === "[" && signAt(tokens, at + 1) === "]" && isOperand;
};

/** `import cp, { spawn as start } from "node:child_process"`, `import * as cp from …` */
function bindImport(tokens: Token[], end: number, bindings: Bindings): void {
  let at = end - 1;
  while (at >= 0 && !/^(?:import|export)$/.test(nameAt(tokens, at))) at--;
  if (nameAt(tokens, at) !== "import") throw unknownStart(tokens.slice(end, end + 1));
  bindPattern(tokens, { start: at + 1, end: end - 1 }, bindings);
}

/** `const { spawn: start } = require("child_process")`, also with `await import`; `require("child_process").spawn(…)`. */
function bindRequired(tokens: Token[], end: number, bindings: Bindings): void {
  if (signAt(tokens, end + 2) === "." && signAt(tokens, end + 4) === "(") {
    bindings.calls.push({ method: nameAt(tokens, end + 3), at: end + 4 });
    return;
  }
  let at = end - 3;
  if (nameAt(tokens, at) === "await") at--;
  if (signAt(tokens, at) !== "=" || /^[.([?]|\?\.$/.test(signAt(tokens, end + 2)))
    throw unknownStart(tokens.slice(end - 2, end + 2));
  const last = at;
  while (at >= 0 && !/^(?:const|let|var)$/.test(nameAt(tokens, at)) && last - at < 64) at--;
  if (!/^(?:const|let|var)$/.test(nameAt(tokens, at))) throw unknownStart(tokens.slice(end - 2, end + 2));
  bindPattern(tokens, { start: at + 1, end: last }, bindings);
}

/** `cp`, `* as cp`, `{ a, b as c, d: e }`, and several of them. */
function bindPattern(tokens: Token[], { start, end }: { start: number; end: number }, bindings: Bindings): void {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const { kind, text } = tokens[at] as Token;
    bindings.declared.add(at);
    if (text === "{") depth++;
    else if (text === "}") depth--;
    else if (kind !== "name") {
      if (!/^[,*:]$/.test(text)) throw unknownStart(tokens.slice(start, start + 6));
    } else if (/^(?:as|type)$/.test(text) && tokens[at + 1]?.kind === "name") continue;
    else if (depth === 0) bindings.modules.add(text);
    else {
      const isRenamed = nameAt(tokens, at + 1) === "as" || signAt(tokens, at + 1) === ":";
      const local = isRenamed ? nameAt(tokens, at + 2) : text;
      if (isRenamed) {
        bindings.declared.add(at + 1).add(at + 2);
        at += 2;
      }
      if (text === "default") bindings.modules.add(local);
      else bindings.functions.set(local, text);
    }
  }
}

/** `const run = promisify(execFile)` */
function bindPromisified(tokens: Token[], bindings: Bindings): void {
  tokens.forEach((token, at) => {
    if (token.text !== "promisify" || signAt(tokens, at + 1) !== "(") return;
    const isOfModule = bindings.modules.has(nameAt(tokens, at + 2)) && signAt(tokens, at + 3) === ".";
    const target = isOfModule ? at + 4 : at + 2;
    const made = isOfModule ? nameAt(tokens, target) : bindings.functions.get(nameAt(tokens, target));
    let start = at - 1;
    if (isMember(tokens, at)) start -= 2;
    const isConstant = signAt(tokens, start) === "=" && nameAt(tokens, start - 2) === "const";
    if (made === undefined || !isConstant || signAt(tokens, target + 1) !== ")") return;
    bindings.functions.set(nameAt(tokens, start - 1), made);
    bindings.declared
      .add(start - 1)
      .add(at + 2)
      .add(target);
  });
}

/** Where a function that starts something is called; null if the name is none. Any other use of it is refused. */
function calledFunction(tokens: Token[], at: number, bindings: Bindings): ProcessCall | null {
  const name = nameAt(tokens, at);
  if (bindings.modules.has(name)) {
    if (!isMember(tokens, at + 2) || signAt(tokens, at + 3) !== "(") throw unknownStart(tokens.slice(at, at + 4));
    return { method: nameAt(tokens, at + 2), at: at + 3 };
  }
  const method = bindings.functions.get(name);
  if (method === undefined) return null;
  if (signAt(tokens, at + 1) !== "(") throw unknownStart(tokens.slice(at, at + 3));
  return { method, at: at + 1 };
}

/** Modules of Node that start and evaluate nothing. */
const harmlessModules = new Set(
  `assert assert/strict async_hooks buffer console constants crypto dgram diagnostics_channel dns dns/promises events fs
  fs/promises http http2 https net os path path/posix path/win32 perf_hooks process punycode querystring readline
  readline/promises stream stream/consumers stream/promises stream/web string_decoder timers timers/promises tls tty url
  util util/types zlib`.split(/\s+/),
);
