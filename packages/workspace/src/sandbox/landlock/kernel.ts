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

/** The same on every processor we have a filter for. */
const calls = { createRuleset: 444, addRule: 445, restrictSelf: 446 };
const pathBeneath = 1;
const askVersion = 1;
const pathOnly = 0o10000000;
const processControl = { setSeccomp: 22, setNoNewPrivileges: 38 };
const filterMode = 2;
const setDescriptorFlags = 2;
const capabilityFormat = 0x20080522;

// Over 60 lines because every call into the kernel is declared beside its use.
export function openKernel(): Kernel {
  const library = koffi.load(null);
  const createRuleset = library.func("syscall", "long", ["long", "void *", "size_t", "uint32_t"]);
  const addRule = library.func("syscall", "long", ["long", "int", "int", "void *", "uint32_t"]);
  const restrictSelf = library.func("syscall", "long", ["long", "int", "uint32_t"]);
  const control = library.func("prctl", "int", ["int", "ulong", "ulong", "ulong", "ulong"]);
  const program = koffi.struct({ length: "uint16_t", instructions: "void *" });
  const controlFilter = library.func("prctl", "int", ["int", "ulong", koffi.pointer(program), "ulong", "ulong"]);
  const setCapabilities = library.func("capset", "int", ["void *", "void *"]);
  const controlFile = library.func("fcntl", "int", ["int", "int", "int"]);
  const execute = library.func("execve", "int", ["str", "str *", "str *"]);

  /** Nothing goes on after a wall that could not be put up. */
  function must(what: string, result: number): number {
    if (result >= 0) return result;
    throw new Error(`${what} failed with error number ${koffi.errno()}.`);
  }

  function restrict({ rules, network }: Confinement): void {
    const version = landlockVersion();
    const attribute = rulesetAttribute(version, network);
    const ruleset = must("landlock_create_ruleset", createRuleset(calls.createRuleset, attribute, attribute.length, 0));
    for (const rule of rules) {
      const opened = openPath(rule.path);
      if (opened === undefined) continue;
      const rights = rightsOf(rule.grant, opened.kind, version);
      const bytes = ruleAttribute(rights, opened.descriptor);
      must(`landlock_add_rule for ${rule.path}`, addRule(calls.addRule, ruleset, pathBeneath, bytes, 0));
      closeSync(opened.descriptor);
    }
    must("landlock_restrict_self", restrictSelf(calls.restrictSelf, ruleset, 0));
    closeSync(ruleset);
  }

  function landlockVersion(): number {
    return Math.max(0, createRuleset(calls.createRuleset, null, 0, askVersion));
  }

  return {
    landlockVersion,
    confine(confinement) {
      must("prctl no_new_privs", control(processControl.setNoNewPrivileges, 1, 0, 0, 0));
      // Real root would otherwise keep powers that know no paths; without new privileges no program brings them back.
      const header = Buffer.alloc(8);
      header.writeUInt32LE(capabilityFormat, 0);
      must("capset", setCapabilities(header, Buffer.alloc(24)));
      restrict(confinement);
      const { filter } = confinement;
      if (filter === undefined) return;
      const filterProgram = { length: filter.length / 8, instructions: filter };
      must("prctl seccomp", controlFilter(processControl.setSeccomp, filterMode, filterProgram, 0, 0));
    },
    become(argv, env) {
      // Node marks its standard streams to be closed.
      for (const stream of [0, 1, 2]) must("fcntl", controlFile(stream, setDescriptorFlags, 0));
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      execute(argv[0], [...argv, null], [...variables, null]);
      throw new Error(`${argv[0]} could not be executed: error number ${koffi.errno()}.`);
    },
  };
}

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
