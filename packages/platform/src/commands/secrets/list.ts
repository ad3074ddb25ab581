// `platform secrets list`

import type { SecretRow } from "../../secrets/store.ts";
import { versionOf } from "../../secrets/views.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withSecrets } from "./owner.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const rows = await withSecrets(invocation, program, (secrets) => secrets.list());
  const none = "No secrets. Set one: platform secrets set NAME < FILE\n";
  const lines = rows.map(secretLine).join("") || none;
  program.print(invocation.has("json") ? `${JSON.stringify(rows.map(versionOf), null, 2)}\n` : lines);
  return 0;
}

export const secretLine = ({ id, name, type, phase, repos, hosts, updated_at }: SecretRow): string =>
  `${[name, words[type], phase, repos.join(", ") || "all repositories", ...boundTo(hosts), id].join("  ")}  set ${updated_at.toISOString()}\n`;

const boundTo = (hosts: string[]): string[] => (hosts.length > 0 ? [`placeholder, value for ${hosts.join(", ")}`] : []);

const words = { runtime_secret: "secret", environment_variable: "visible", build_secret: "secret" } as const;
