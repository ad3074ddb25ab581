// The back ends a sandbox can stand on, and what each admits that it cannot stop. Pure.
import { scopingVersion } from "./landlock/rights.ts";
import type { SandboxPolicy } from "./policy.ts";

export type BackEnd =
  /** Shared processes: where a container masks /proc, a pid namespace could not show its own. */
  | { kind: "bubblewrap"; program: string; processes: "own" | "shared" }
  | { kind: "landlock"; version: number }
  | { kind: "seatbelt"; program: string };

/** Only a network of its own can be made to end at a proxy. */
export const canProxy = ({ kind }: BackEnd): boolean => kind === "bubblewrap";

/** Why there is no proxy, and what to do. */
export const noProxy = ({ kind }: BackEnd): [reason: string, remedy: string] => [
  `Commands cannot be held to allowed_domains on ${kind}.`,
  "Install bubblewrap, or leave the network off.",
];

const sentences = {
  "hard-links": "a file inside that was hard-linked to one outside before: writing it changes both",
  server: "a command can crash or misuse the server beside it, which may no more than the command itself",
  "protected-names": ".git, .agentcli, .agents and .platform inside writable directories can be changed",
  "file-attributes": "modes, owners, dates and attributes of the user's own files outside can be changed",
  "file-names": "names, sizes and dates of hidden files can be seen",
  "other-processes": "processes of the machine can be seen, and those of the same user slowed down",
  signals: "processes of the same user can be signalled",
  "kernel-objects": "shared memory, queues and semaphores of the machine are within reach",
  "unix-sockets": "sockets of the machine can be reached by their paths",
  "left-behind": "a process that means to can outlive the sandbox, still confined by it",
} as const;

export type Admission = keyof typeof sentences;

export const describeAdmission = (admission: Admission): string => sentences[admission];

type Choice = Pick<SandboxPolicy, "mode" | "unixSockets">;

export function admissionsOf(backEnd: BackEnd, choice: Choice): Admission[] {
  return [...(choice.mode === "workspace-write" ? writing : []), "server", ...admissionsBeyond(backEnd, choice)];
}

const writing: Admission[] = ["hard-links"];

function admissionsBeyond(backEnd: BackEnd, choice: Choice): Admission[] {
  switch (backEnd.kind) {
    case "bubblewrap":
      return backEnd.processes === "own" ? [] : ["other-processes", "signals", "left-behind"];
    case "landlock":
      return [
        ...(choice.mode === "workspace-write" ? ["protected-names" as const] : []),
        ...(choice.unixSockets === "allowed" ? ["unix-sockets" as const] : []),
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
