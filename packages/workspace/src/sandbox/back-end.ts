// The back ends of the sandbox, and the known gaps of each. Pure.
import { scopingVersion } from "./landlock/versions.ts";
import type { SandboxPolicy } from "./policy.ts";

export type BackEnd =
  /** "shared" where a container masks /proc, so that a pid namespace cannot mount its own. */
  | { kind: "bubblewrap"; program: string; processes: "own" | "shared" }
  | { kind: "landlock"; version: number }
  | { kind: "seatbelt"; program: string };

/** A back end that does not work here. */
export interface UnavailableBackEnd {
  backEnd: "bubblewrap" | "landlock" | "seatbelt";
  reason: string;
  remedy: string;
}

/** Only a network namespace can be limited to a proxy. */
export const supportsProxy = ({ kind }: BackEnd): boolean => kind === "bubblewrap";

/** Why the proxy is unavailable, and what to do. */
export const proxyUnavailable = ({ kind }: BackEnd): [reason: string, remedy: string] => [
  `allowed_domains cannot be enforced with ${kind}.`,
  "Install bubblewrap, or turn the network off.",
];

const sentences = {
  "hard-links": "a file inside that was hard-linked to one outside before: writing it changes both",
  server: "a command can crash or misuse the server beside it, which has no more rights than the command",
  "protected-names":
    ".git, .agentcli, .agents and .platform inside writable directories, and .git of repositories below, can be changed",
  "hook-files": "files that hooks run can be changed in the workspace; hooks run from a private copy of them",
  "file-attributes": "modes, owners, dates and attributes of the user's own files outside can be changed",
  "file-names": "names, sizes and dates of hidden files can be seen",
  "other-processes": "processes of the machine can be seen, and those of the same user slowed down",
  signals: "processes of the same user can be signalled",
  "kernel-objects": "shared memory, queues and semaphores of the machine are within reach",
  "unix-sockets": "sockets of the machine can be reached by their paths",
  "left-behind": "a process that means to can outlive the sandbox, still confined by it",
} as const;

export type KnownGap = keyof typeof sentences;

export const describeKnownGap = (admission: KnownGap): string => sentences[admission];

type EnforcedPolicy = Pick<SandboxPolicy, "mode" | "unixSockets"> & Partial<Pick<SandboxPolicy, "protectedPaths">>;

export function knownGapsOf(backEnd: BackEnd, policy: EnforcedPolicy): KnownGap[] {
  return [...(policy.mode === "workspace-write" ? gapsOfWriting : []), "server", ...backEndGaps(backEnd, policy)];
}

const gapsOfWriting: KnownGap[] = ["hard-links"];

function backEndGaps(backEnd: BackEnd, policy: EnforcedPolicy): KnownGap[] {
  switch (backEnd.kind) {
    case "bubblewrap":
      return backEnd.processes === "own" ? [] : ["other-processes", "signals", "left-behind"];
    case "landlock":
      return [
        ...(policy.mode === "workspace-write" ? ["protected-names" as const] : []),
        ...(policy.mode === "workspace-write" && policy.protectedPaths?.length ? ["hook-files" as const] : []),
        ...(policy.unixSockets === "allowed" ? ["unix-sockets" as const] : []),
        ...(backEnd.version < scopingVersion ? ["signals" as const] : []),
        "file-attributes",
        "file-names",
        "other-processes",
        "kernel-objects",
        "left-behind",
      ];
    case "seatbelt":
      return ["other-processes", "kernel-objects", "left-behind"];
  }
}
