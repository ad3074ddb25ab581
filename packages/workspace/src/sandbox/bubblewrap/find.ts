// Finds bubblewrap, and explains its errors.

import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { findProgram, type ProgramSearch } from "../../programs/index.ts";
import { explainStartLimit } from "../start-limit.ts";

export function findBubblewrap(search: ProgramSearch): string {
  const program = findProgram("bwrap", search);
  if (program !== undefined) return program;
  throw new SandboxUnavailable(
    "The program bwrap (bubblewrap) was not found on PATH.",
    "Install it: apt-get install bubblewrap (Debian, Ubuntu) or dnf install bubblewrap (Fedora).",
  );
}

const remedies: { pattern: RegExp; remedy: string }[] = [
  {
    pattern: /[Uu]nknown option|usage:/,
    remedy: "Install bubblewrap 0.8 or newer.",
  },
  {
    pattern: /mount proc/,
    remedy: "In a container, unmask /proc: docker run --security-opt systempaths=unconfined.",
  },
  {
    pattern: /namespace|uid map|setting up|permission|not permitted/i,
    remedy:
      "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0, " +
      "or in a container docker run --security-opt seccomp=unconfined.",
  },
];

export function explainBubblewrapFailure(stderr: string): { reason: string; remedy: string } {
  const limit = explainStartLimit(stderr);
  if (limit) return { reason: limit.reason, remedy: limit.remedy };
  const match = remedies.find(({ pattern }) => pattern.test(stderr));
  return {
    reason: `bubblewrap does not work here: ${stderr.trim().replace(/\.$/, "")}.`,
    remedy: match?.remedy ?? "Fix the cause, or use danger-full-access in a disposable container or machine.",
  };
}
