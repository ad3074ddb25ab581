// Judges a call before it takes effect. The model receives the reason of a declined call, and surfaces show it.
import type { TurnSettings } from "@agentcli/protocol";
import { isWithin, patchedPaths } from "../patch/paths.ts";
import { isEditTool } from "../patch/proposed.ts";

export interface ProposedCall {
  name: string;
  args: unknown;
}

export type Verdict =
  | { kind: "allowed" }
  | { kind: "declined"; reason: string }
  /** Runs only with an approval; the reason applies if there is none. */
  | { kind: "unapproved"; reason: string };

export interface Guard {
  /** Without side effects: it may be repeated for the same call after a crash. */
  admit(call: ProposedCall, settings: TurnSettings): Promise<Verdict>;
}

/** The rules of sandbox mode and approval policy. */
export const policyGuard: Guard = {
  async admit(call, settings) {
    if (isEditTool(call.name) && settings.sandbox === "read-only") return judgePatch(settings);
    if (call.name === "exec_command" && asksEscalation(call.args)) return judgeEscalation(call.args, settings);
    return { kind: "allowed" };
  },
};

/** Patches of files outside the writable roots need an approval; without one the sandbox refuses them. */
export const writableRootsGuard = (writableRoots: string[], next: Guard): Guard => ({
  async admit(call, settings) {
    const mayApprove = settings.approval !== "never" && settings.sandbox === "workspace-write";
    if (!isEditTool(call.name) || !mayApprove) return next.admit(call, settings);
    const outside = patchedPaths(call, settings.cwd).find((path) => !isWithin(path, [...writableRoots, "/tmp"]));
    if (outside === undefined) return next.admit(call, settings);
    return { kind: "unapproved", reason: `patch rejected: ${outside} is outside of what may be written` };
  },
});

const readOnlyPatch =
  "patch rejected: writing is blocked by read-only sandbox; rejected by user approval settings. The user can allow it with agentcli exec -s workspace-write";

const judgePatch = ({ approval }: TurnSettings): Verdict =>
  approval === "never" ? declined(readOnlyPatch) : { kind: "unapproved", reason: readOnlyPatch };

function judgeEscalation(args: unknown, settings: TurnSettings): Verdict {
  if (settings.sandbox === "danger-full-access") return { kind: "allowed" };
  // A program of the agent's would run in place of the command that a user approves.
  const { shell = settings.shell } = args as { shell?: unknown };
  if (shell !== settings.shell)
    return declined("outside the sandbox commands run in the user's own shell; leave out shell and ask again");
  if (settings.approval === "never") {
    return declined(
      "approval policy is Never; reject command — you cannot ask for escalated permissions if the approval policy is Never",
    );
  }
  const reason = "this command needs an approval and no user is present to give one; work within the sandbox";
  return { kind: "unapproved", reason };
}

export const asksEscalation = (args: unknown): boolean =>
  typeof args === "object" && args !== null && "sandbox_permissions" in args
    ? args.sandbox_permissions === "require_escalated"
    : false;

const declined = (reason: string): Verdict => ({ kind: "declined", reason });
