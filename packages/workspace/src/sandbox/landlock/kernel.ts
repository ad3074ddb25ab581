// Drops rights of this process for good, by system calls that Node does not offer.
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { loadKoffi } from "../../koffi.ts";
import type { Rule } from "./plan.ts";
import { rightsOf, ruleAttribute, rulesetAttribute } from "./rights.ts";

export interface Confinement {
  rules: Rule[];
  network: "on" | "off";
  /** The system-call filter; undefined if there is none for this architecture. */
  filter: Buffer | undefined;
}

export interface Kernel {
  /** The Landlock ABI version; 0 if the kernel does not support or enable it. */
  landlockVersion(): number;
  /** Restricts the calling thread and everything it starts or becomes. */
  confine(confinement: Confinement): void;
  /** execve. Ends all threads of this process, so no unrestricted one is left. */
  become(argv: string[], env: Record<string, string>): never;
}

export function openKernel(): Kernel {
  const library = openLibrary();
  return {
    landlockVersion: library.version,
    confine({ rules, network, filter }) {
      library.setNoNewPrivileges();
      // Real root would otherwise keep capabilities that ignore paths; with no_new_privs no program regains them.
      library.dropCapabilities();
      restrict(library, rules, network);
      if (filter !== undefined) library.filterCalls(filter);
    },
    become(argv, env) {
      // Node marks its standard streams close-on-exec.
      for (const stream of [0, 1, 2]) library.keepOpen(stream);
      library.execute(
        argv,
        Object.entries(env).map(([name, value]) => `${name}=${value}`),
      );
      throw new Error(`${argv[0]} could not be executed: errno ${library.errno()}.`);
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

/** Undefined if it no longer exists or is a symlink now: nothing to grant. */
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

/** System calls without a C library wrapper; the same on every supported architecture. */
const calls = { createRuleset: 444, addRule: 445, restrictSelf: 446 };
const pathBeneath = 1;
const versionFlag = 1;
const control = { setSeccomp: 22, filterMode: 2, setNoNewPrivileges: 38, setDescriptorFlags: 2 };
const capabilityFormat = 0x20080522;

function openLibrary() {
  const koffi = loadKoffi();
  const library = koffi.load(null);
  /** Stops if a restriction could not be applied. */
  const checked = (what: string, result: number): number => {
    if (result >= 0) return result;
    throw new Error(`${what} failed with errno ${koffi.errno()}.`);
  };
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
    errno: koffi.errno,
    version: (): number => Math.max(0, createRuleset(calls.createRuleset, null, 0, versionFlag)),
    createRuleset: (bytes: Buffer) =>
      checked("landlock_create_ruleset", createRuleset(calls.createRuleset, bytes, bytes.length, 0)),
    addRule: (ruleset: number, bytes: Buffer) =>
      checked("landlock_add_rule", addRule(calls.addRule, ruleset, pathBeneath, bytes, 0)),
    restrictSelf: (ruleset: number) => checked("landlock_restrict_self", restrictSelf(calls.restrictSelf, ruleset, 0)),
    setNoNewPrivileges: () => checked("prctl no_new_privs", setForProcess(control.setNoNewPrivileges, 1, 0, 0, 0)),
    dropCapabilities() {
      const header = Buffer.alloc(8);
      header.writeUInt32LE(capabilityFormat, 0);
      checked("capset", setCapabilities(header, Buffer.alloc(24)));
    },
    filterCalls: (filter: Buffer) =>
      checked(
        "prctl seccomp",
        setFilter(control.setSeccomp, control.filterMode, { length: filter.length / 8, instructions: filter }, 0, 0),
      ),
    keepOpen: (stream: number) => checked("fcntl", setForDescriptor(stream, control.setDescriptorFlags, 0)),
    /** Returns only on failure. */
    execute: (argv: string[], env: string[]): number => execute(argv[0], [...argv, null], [...env, null]),
  };
}
