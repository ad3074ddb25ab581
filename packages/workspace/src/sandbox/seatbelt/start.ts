// Starts the server under sandbox-exec. Written for macOS and not yet run there; see docs/sandbox.md.

import { lstatSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { sandboxedEnvironment } from "../../environment/index.ts";
import type { BackEnd } from "../back-end.ts";
import { startConfined } from "../confined-process.ts";
import { refuseSymlink } from "../paths.ts";
import { mayBeLink, type SandboxPolicy } from "../policy.ts";
import { showRuntime } from "../runtime.ts";
import { type ServerProgram, type StartedSandbox, writableOf } from "../started-sandbox.ts";
import { seatbeltProfile } from "./profile.ts";

export function startWithSeatbelt(
  policy: SandboxPolicy,
  { program }: Extract<BackEnd, { kind: "seatbelt" }>,
  { serverProgram, nodePath, env, enter }: ServerProgram,
): StartedSandbox {
  const resolved = resolvePaths(
    showRuntime(policy, { serverProgram, nodePath, path: env.PATH ?? "", terminals: undefined }),
  );
  refuseLinks(resolved);
  const temporary = realpathSync(mkdtempSync(join(tmpdir(), "agent-sandbox-")));
  const { profile, parameters } = seatbeltProfile(resolved, temporary);
  const definitions = Object.entries(parameters).map(([name, value]) => `-D${name}=${value}`);
  const confined = startConfined({
    ...enter(program, [...definitions, "-p", profile, nodePath, serverProgram]),
    setup: undefined,
  });
  return {
    process: confined,
    config: {
      env: { ...sandboxedEnvironment(env), TMPDIR: temporary },
      writable: writableOf(resolved, temporary),
      orphans: "ended-by-watchdog",
    },
    async close() {
      await confined.end();
      rmSync(temporary, { recursive: true, force: true });
    },
    explainFailure: (stderr) =>
      stderr.startsWith("sandbox-exec:")
        ? new SandboxUnavailable(
            `The macOS sandbox (sandbox-exec) failed: ${stderr.trim()}.`,
            "Report this as a bug and include this message.",
          )
        : undefined,
  };
}

/** Rules need real paths. A path that does not exist keeps its name, so that it stays denied once it is created. */
function resolvePaths(policy: SandboxPolicy): SandboxPolicy {
  const resolve = (path: string) => {
    try {
      return realpathSync(path);
    } catch {
      return path;
    }
  };
  const { hidden, shown, writableRoots } = policy;
  return {
    ...policy,
    hidden: hidden.map(resolve),
    shown: shown.map(resolve),
    writableRoots: writableRoots.map(resolve),
  };
}

function refuseLinks({ mode, root, writableRoots, protectedNames }: SandboxPolicy): void {
  if (mode !== "workspace-write") return;
  const paths = [root, ...writableRoots].flatMap((directory) =>
    protectedNames.filter((name) => !mayBeLink(name)).map((name) => join(directory, name)),
  );
  const link = paths.find((path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink());
  if (link !== undefined) throw refuseSymlink(link);
}
