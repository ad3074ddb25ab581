// The moments at which a thread asks its hooks. A thread without hooks has no gate, and loads nothing of them.
import type { Outcome, TurnEnd } from "@agentcli/protocol";
import type { Verdict } from "../guard.ts";
import type { ModelReply } from "../ports.ts";
import type { Drive } from "../running.ts";
import type { Tool } from "../tools/tool.ts";

export interface PlannedCall {
  callId: string;
  tool: Tool;
  args: unknown;
}

export type Admission = { kind: "admitted"; args: unknown } | { kind: "declined"; reason: string };

export interface AgentIdentity {
  id: string;
  type: string;
  task: string;
}

export type Spawned = { kind: "refused"; reason: string } | { kind: "welcome"; context: string[] };

/** What hooks decide is in the log before it takes effect. None of this throws for what a hook does. */
export interface HookGate {
  /** The session has started and a prompt was given. Each is told once, also when the turn is taken up again. */
  begin(run: Drive): Promise<void>;
  /** A call that is about to be made; its arguments may come back rewritten. */
  admit(call: PlannedCall, run: Drive): Promise<Admission>;
  /** A call that only an approval lets through; null where no hook has an opinion. */
  approve(call: PlannedCall, run: Drive): Promise<Exclude<Verdict, { kind: "unapproved" }> | null>;
  /** What a call came to, as the model is to be told. */
  settled(call: PlannedCall, outcome: Outcome, run: Drive): Promise<Outcome>;
  replied(reply: Extract<ModelReply, { kind: "replied" }>, run: Drive): Promise<void>;
  compaction(moment: "before" | "after", run: Drive): Promise<void>;
  /** False where the turn goes on: what it goes on with has been added. */
  mayEnd(message: string, run: Drive): Promise<boolean>;
  /** A sub-agent is about to start. */
  spawning(agent: AgentIdentity, run: Drive): Promise<Spawned>;
  /** The same hooks, asked by a sub-agent. */
  forAgent(agent: AgentIdentity, parentId: string): HookGate;
  /** The last turn of the program is about to end like this; nothing hooks say to it counts. */
  endSession(end: TurnEnd, run: Drive): Promise<void>;
}
