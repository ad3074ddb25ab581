// `platform egress why`
import { CommandError } from "@agentcli/command-line";
import type { EgressEntry } from "@agentcli/protocol/api";
import { explainHost, type HostExplanation } from "../../egress/operator.ts";
import type { Invocation } from "../command.ts";
import { withVault } from "../principals.ts";
import type { Program } from "../program.ts";

const usage = "platform egress why HOST --agent ID";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const [host] = invocation.positionals;
  const agentId = invocation.text("agent");
  if (host === undefined || agentId === undefined) throw new CommandError("usage", `Something is missing: ${usage}.`);
  const result = await withVault(invocation, program, ({ db, vault, settings }) =>
    explainHost({ db, vault, publicUrl: settings.publicUrl ?? "" }, { agentId, host }),
  );
  if (result.kind === "unknown-agent") throw new CommandError("usage", `There is no agent ${agentId}.`);
  if (result.kind === "invalid-host")
    throw new CommandError(
      "usage",
      `Invalid host "${host}": expected a name or an address, with :PORT if it is not 443.`,
    );
  const { explanation } = result;
  program.print(invocation.has("json") ? `${JSON.stringify(explanation, null, 2)}\n` : describe(host, explanation));
  return explanation.decision === "allowed" ? 0 : 1;
}

function describe(host: string, { decision, reason, runId, met }: HostExplanation): string {
  const about = runId === null ? "The agent has not run yet." : `In its last run, ${runId}:`;
  const none = runId === null ? [] : ["  nothing asked for it"];
  const lines = met.length === 0 ? none : met.map(entryLine);
  return `${[`${host} is ${decision}: ${reason}`, about, ...lines].join("\n")}\n`;
}

const entryLine = ({ port, decision, phase, process, connections, bytesSent, bytesReceived, reason }: EgressEntry) =>
  [
    `  ${decision} ${connections === 1 ? "once" : `${connections} times`} on port ${port}, phase ${phase}${process ? `, by ${process}` : ""}`,
    decision === "allowed" ? `, ${bytesSent} bytes sent, ${bytesReceived} received` : `: ${reason}`,
  ].join("");
