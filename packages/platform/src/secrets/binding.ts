// What a secret must be so that it can be bound to hosts: commands get a placeholder of its shape instead of the value.
import type { SecretPhase, SecretType } from "@agentcli/protocol/api";
import { checkBinding, placeholderFor } from "@agentcli/workspace";
import { ApiError } from "../foundation/index.ts";

interface Bindable {
  name: string;
  value: string;
  type?: SecretType | undefined;
  phase?: SecretPhase | undefined;
  hosts?: string[] | undefined;
  uses?: string[] | undefined;
}

/** Throws ApiError `validation_error`. `former` says what the change leaves as it is. */
export async function refuseUnboundable(
  change: Bindable,
  former: Pick<Bindable, "type" | "phase" | "hosts"> | undefined,
): Promise<void> {
  const hosts = change.hosts ?? former?.hosts ?? [];
  if (hosts.length === 0) {
    if (change.uses !== undefined && change.uses.length > 0)
      throw refusal(`uses: ${change.name} is bound to no host. Name its hosts too.`);
    return;
  }
  const type = change.type ?? former?.type ?? "runtime_secret";
  const phase = change.phase ?? (change.type === undefined ? former?.phase : undefined) ?? "run";
  if (type !== "runtime_secret" || phase !== "run")
    throw refusal(
      `hosts: only secrets for the commands of agents can be bound to hosts (type runtime_secret, phase run).`,
    );
  for (const host of hosts)
    await checkBinding(host).catch((error: Error) => {
      throw refusal(`hosts: ${error.message}`);
    });
  if ((await placeholderFor(change.value)) === null)
    throw refusal(
      `value: a secret that is bound to hosts needs a placeholder of the same shape: one line of printable ASCII, with at least 16 letters and digits.`,
    );
}

const refusal = (message: string): ApiError => new ApiError("validation_error", message);
