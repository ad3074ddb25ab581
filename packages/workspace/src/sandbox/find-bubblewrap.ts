// Where bubblewrap is, and what its complaints mean.
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { contains } from "./plan.ts";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";

export interface PlacesToLook {
  /** Where programs are looked for. */
  path: string;
  /** A program in here is not trusted: the model may have written it. */
  untrusted: string[];
}

export function findBubblewrap({ path, untrusted }: PlacesToLook): string {
  const places = path.split(delimiter).filter((place) => place.startsWith("/"));
  for (const place of places) {
    const program = resolveProgram(join(place, "bwrap"));
    // Whoever works in / trusts the whole machine.
    const isTrusted = (found: string) => !untrusted.some((root) => root !== "/" && contains(root, found));
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

const remedies: { sign: RegExp; remedy: string }[] = [
  {
    sign: /[Uu]nknown option|usage:/,
    remedy: "Install bubblewrap 0.8 or newer.",
  },
  {
    sign: /mount proc/,
    remedy: "In a container, unmask /proc: docker run --security-opt systempaths=unconfined.",
  },
  {
    sign: /namespace|uid map|setting up|permission|not permitted/i,
    remedy:
      "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0, " +
      "or in a container docker run --security-opt seccomp=unconfined.",
  },
];

export function explainFailure(said: string): { reason: string; remedy: string } {
  const known = remedies.find(({ sign }) => sign.test(said));
  return {
    reason: `bubblewrap does not work here: ${said.trim().replace(/\.$/, "")}.`,
    remedy: known?.remedy ?? "See what it said, or use danger-full-access inside a container or machine you can lose.",
  };
}
