// A run whose agent has a runtime secret, and the places where no form of it may be.
import { execFileSync } from "node:child_process";
import { expect } from "vitest";
import { openLog } from "../../src/foundation/telemetry/index.ts";
import { findLeaks } from "../harness/leaks.ts";
import { openRunHarness, type RunHarness, type RunHarnessOptions } from "../runs/run-harness.ts";

export interface SecretHarness extends RunHarness {
  logged: string[];
}

export async function openWithSecrets(
  options: RunHarnessOptions,
  secrets: Record<string, string>,
): Promise<SecretHarness> {
  const logged: string[] = [];
  const log = openLog({ write: (line) => logged.push(line), now: () => new Date() });
  const harness = await openRunHarness(options, log);
  for (const [name, value] of Object.entries(secrets)) {
    const { status, text } = await harness.client.send("PUT", `/v1/team/secrets/${name}`, { value });
    expect(status, text).toBe(201);
  }
  return { ...harness, logged };
}

/** Everything that the run shows and leaves behind; returns what the model was sent. */
export async function expectNowhere(
  { client, fixture, requests, logged }: SecretHarness,
  ids: { agentId: string; runId: string },
  forms: string[],
): Promise<string> {
  const shown = await client.streamText(ids);
  const run = JSON.stringify(await client.read(ids));
  const conversation = (await client.get(`/v1/agents/${ids.agentId}/conversation`)).text;
  const artifacts = (await client.get(`/v1/agents/${ids.agentId}/artifacts`)).text;
  const diff = (await client.get(`/v1/agents/${ids.agentId}/diff`)).text;
  const sent = JSON.stringify(requests().map(({ body }) => body));
  for (const [name, text] of Object.entries({ shown, run, conversation, artifacts, diff, sent }))
    expect({ name, forms: forms.filter((form) => text.includes(form)) }).toEqual({ name, forms: [] });
  const leaks = await findLeaks({ ...fixture, key: async () => fixture.key }, logged, forms);
  expect(leaks.filter((path) => !path.includes("/workspaces/"))).toEqual([]);
  return sent;
}

/** All objects and references of the repositories on the embedded git host, as text; not of the work of the agents. */
export function pushedObjects(dataDirectory: string): string {
  const list = `
    find "$1" -name HEAD -not -path "*/workspaces/*" -not -path "*/handoffs/*" -not -path "*/logs/*" -printf '%h\n' | while read -r directory; do
      git -c safe.directory="*" --git-dir "$directory" cat-file --batch-all-objects --batch
      git -c safe.directory="*" --git-dir "$directory" for-each-ref
    done
  `;
  return execFileSync("bash", ["-c", list, "list", dataDirectory], { encoding: "latin1" });
}
