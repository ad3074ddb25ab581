// Finds bubblewrap, and explains its errors.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { contains } from "../paths.ts";
import { SandboxUnavailable } from "../sandbox-unavailable.ts";

export interface ProgramSearch {
  /** PATH. */
  path: string;
  /** Programs in these directories are not trusted: the model may have written them. */
  untrusted: string[];
}

export function findBubblewrap({ path, untrusted }: ProgramSearch): string {
  const directories = path.split(delimiter).filter((directory) => directory.startsWith("/"));
  for (const directory of directories) {
    const program = resolveProgram(join(directory, "bwrap"));
    // With / as the workspace, the whole machine is trusted.
    const isTrusted = (candidate: string) => !untrusted.some((root) => root !== "/" && contains(root, candidate));
    if (program !== undefined && isTrusted(program)) return program;
  }
  throw new SandboxUnavailable(
    "The program bwrap (bubblewrap) was not found on PATH.",
    "Install it: apt-get install bubblewrap (Debian, Ubuntu) or dnf install bubblewrap (Fedora).",
  );
}

function resolveProgram(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return undefined;
  }
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
  const match = remedies.find(({ pattern }) => pattern.test(stderr));
  return {
    reason: `bubblewrap does not work here: ${stderr.trim().replace(/\.$/, "")}.`,
    remedy: match?.remedy ?? "Fix the cause, or use danger-full-access in a disposable container or machine.",
  };
}
