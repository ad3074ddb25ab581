// What a sandbox does about the repositories below its writable roots: protect those that exist, watch for others.
import type { OpenedWorkspace } from "../../lifecycle/index.ts";
import { resolveExisting } from "../../paths.ts";
import type { BackEnd } from "../back-end.ts";
import type { SandboxPolicy } from "../policy.ts";
import { findNestedRepositories } from "./nested.ts";
import { type RepositoryWatch, watchRepositories } from "./watch.ts";

export interface NestedProtection {
  policy: SandboxPolicy;
  /** Absent if commands can write nothing. */
  watch?: RepositoryWatch;
}

export async function protectNested(policy: SandboxPolicy, backEnd: BackEnd): Promise<NestedProtection> {
  if (policy.mode !== "workspace-write") return { policy };
  const roots = [...new Set([policy.root, ...policy.writableRoots].flatMap(resolveExisting))];
  const nested = await findNestedRepositories(roots);
  const isProtected = policy.nestedRepositories === "protected";
  return {
    policy: { ...policy, protectedRepositories: isProtected ? nested.protected : [] },
    watch: watchRepositories({
      roots,
      nested,
      rootRepositories: backEnd.kind === "landlock" ? "watched" : "protected",
      newRepositories: isProtected ? "set-aside" : "kept",
    }),
  };
}

/**
 * Searches only if a command ran or a file was changed since the last search. The first command starts to list the workspace,
 * which goes on while it runs and while the model writes its reply.
 */
export function withRepositoryWatch(workspace: OpenedWorkspace, watch: RepositoryWatch): OpenedWorkspace {
  let isUsed = false;
  let preparing: { done: Promise<void>; stop: AbortController } | undefined;
  function prepareOnce(): void {
    if (preparing) return;
    const stop = new AbortController();
    // The search itself reports what cannot be read.
    preparing = { stop, done: watch.prepare(stop.signal).catch(() => {}) };
  }
  async function stopPreparing(): Promise<void> {
    preparing?.stop.abort();
    await preparing?.done;
  }
  return {
    ...workspace,
    exec(request, onChunk, signal) {
      isUsed = true;
      const result = workspace.exec(request, onChunk, signal);
      prepareOnce();
      return result;
    },
    edit(request) {
      isUsed = true;
      return workspace.edit(request);
    },
    async findRepositoryChanges() {
      if (!isUsed) return [];
      isUsed = false;
      await stopPreparing();
      return watch.findChanges();
    },
    async close() {
      await stopPreparing();
      await workspace.close();
    },
  };
}
