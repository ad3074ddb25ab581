// Gives up rights of this process for good, by calls Node has no words for.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import koffi from "koffi";
import type { Rule } from "./plan.ts";
import { rightsOf, ruleAttribute, rulesetAttribute } from "./rights.ts";

export interface Confinement {
  rules: Rule[];
  network: "on" | "off";
  /** The system-call filter; undefined where there is none for this processor. */
  filter: Buffer | undefined;
}

export interface Kernel {
  /** The version of the Landlock interface; 0 where the kernel has none or keeps it off. */
  landlockVersion(): number;
  /** Binds the calling thread and everything it starts or becomes. */
  confine(confinement: Confinement): void;
  /** Becomes another program. All threads of this one end, so none is left that was not bound. */
  become(argv: string[], env: Record<string, string>): never;
}

export function openKernel(): Kernel {
  const library = openLibrary();
  return {
    landlockVersion: library.version,
    confine({ rules, network, filter }) {
      library.refusePrivileges();
      // Real root would otherwise keep powers that know no paths; without new privileges no program brings them back.
      library.dropCapabilities();
      restrict(library, rules, network);
      if (filter !== undefined) library.filterCalls(filter);
    },
    become(argv, env) {
      // Node marks its standard streams to be closed.
      for (const stream of [0, 1, 2]) library.keepOpen(stream);
      library.execute(
        argv,
        Object.entries(env).map(([name, value]) => `${name}=${value}`),
      );
      throw new Error(`${argv[0]} could not be executed: error number ${koffi.errno()}.`);
    },
  };
}

function restrict(library: Library, rules: Rule[], network: Confinement["network"]): void {
  const version = library.version();
  const ruleset = library.createRuleset(rulesetAttribute(version, network));
  for (const rule of rules) {
    const opened = openPath(rule.path);
    if (opened === undefined) continue;
    library.addRule(ruleset, ruleAttribute(rightsOf(rule.grant, opened.kind, version), opened.descriptor));
    closeSync(opened.descriptor);
  }
  library.restrictSelf(ruleset);
  closeSync(ruleset);
}

const pathOnly = 0o10000000;

/** Undefined when it is gone meanwhile, or a link now: then there is nothing to grant. */
function openPath(path: string): { descriptor: number; kind: "directory" | "file" } | undefined {
  try {
    const descriptor = openSync(path, pathOnly | constants.O_NOFOLLOW);
    const stats = fstatSync(descriptor);
    if (!stats.isSymbolicLink()) return { descriptor, kind: stats.isDirectory() ? "directory" : "file" };
    closeSync(descriptor);
    return undefined;
  } catch {
    return undefined;
  }
}

type Library = ReturnType<typeof openLibrary>;

/** System calls without a name in the C library; the same on every processor we have a filter for. */
const calls = { createRuleset: 444, addRule: 445, restrictSelf: 446 };
const pathBeneath = 1;
const askVersion = 1;
const control = { setSeccomp: 22, filterMode: 2, setNoNewPrivileges: 38, setDescriptorFlags: 2 };
const capabilityFormat = 0x20080522;

function openLibrary() {
  const library = koffi.load(null);
  const createRuleset = library.func("syscall", "long", ["long", "void *", "size_t", "uint32_t"]);
  const addRule = library.func("syscall", "long", ["long", "int", "int", "void *", "uint32_t"]);
  const restrictSelf = library.func("syscall", "long", ["long", "int", "uint32_t"]);
  const setForProcess = library.func("prctl", "int", ["int", "ulong", "ulong", "ulong", "ulong"]);
  const program = koffi.struct({ length: "uint16_t", instructions: "void *" });
  const setFilter = library.func("prctl", "int", ["int", "ulong", koffi.pointer(program), "ulong", "ulong"]);
  const setCapabilities = library.func("capset", "int", ["void *", "void *"]);
  const setForDescriptor = library.func("fcntl", "int", ["int", "int", "int"]);
  const execute = library.func("execve", "int", ["str", "str *", "str *"]);
  return {
    version: (): number => Math.max(0, createRuleset(calls.createRuleset, null, 0, askVersion)),
    createRuleset: (bytes: Buffer) =>
      must("landlock_create_ruleset", createRuleset(calls.createRuleset, bytes, bytes.length, 0)),
    addRule: (ruleset: number, bytes: Buffer) =>
      must("landlock_add_rule", addRule(calls.addRule, ruleset, pathBeneath, bytes, 0)),
    restrictSelf: (ruleset: number) => must("landlock_restrict_self", restrictSelf(calls.restrictSelf, ruleset, 0)),
    refusePrivileges: () => must("prctl no_new_privs", setForProcess(control.setNoNewPrivileges, 1, 0, 0, 0)),
    dropCapabilities() {
      const header = Buffer.alloc(8);
      header.writeUInt32LE(capabilityFormat, 0);
      must("capset", setCapabilities(header, Buffer.alloc(24)));
    },
    filterCalls: (filter: Buffer) =>
      must(
        "prctl seccomp",
        setFilter(control.setSeccomp, control.filterMode, { length: filter.length / 8, instructions: filter }, 0, 0),
      ),
    keepOpen: (stream: number) => must("fcntl", setForDescriptor(stream, control.setDescriptorFlags, 0)),
    /** Returns only when it failed. */
    execute: (argv: string[], env: string[]): number => execute(argv[0], [...argv, null], [...env, null]),
  };
}

/** Nothing goes on after a wall that could not be put up. */
function must(what: string, result: number): number {
  if (result >= 0) return result;
  throw new Error(`${what} failed with error number ${koffi.errno()}.`);
}
