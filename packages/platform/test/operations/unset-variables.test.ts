// Commands while a secret that only a server needs is not in the environment.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { command } from "../harness/command.ts";
import { testPlatform } from "../harness/platform.ts";

const config = `
[metrics]
token_env = "UNSET_METRICS_TOKEN"
[oidc]
issuer = "https://login.example.com"
client_id = "platform"
client_secret_env = "UNSET_OIDC_SECRET"
[source_hosts.github]
token_env = "UNSET_GITHUB_TOKEN"
client_id = "1"
client_secret_env = "UNSET_GITHUB_SECRET"
[model_providers.other]
base_url = "https://models.example.com/v1"
env_key = "UNSET_MODEL_KEY"
`;

test("doctor names every variable that is not set, other commands do their work, and no server starts", async () => {
  const platform = await testPlatform();
  onTestFinished(platform.close);
  await platform.key({ name: "the key" });
  writeFileSync(join(platform.platform.settings.dataDirectory, "config.toml"), config);
  const report = await command(platform, "doctor");
  for (const name of ["METRICS_TOKEN", "OIDC_SECRET", "GITHUB_TOKEN", "GITHUB_SECRET"])
    expect(report).toMatch(new RegExp(`^FAIL variable: .*the variable UNSET_${name} is not set\\.`, "m"));
  expect(report).toMatch(/^ok {3}database: PostgreSQL/m);
  expect(await command(platform, "keys", "list")).toContain("the key");
  expect(await command(platform, "teams", "list")).toContain("default");
  expect(await command(platform, "users", "list")).toContain("@");
  expect(await command(platform, "models")).toContain("practice");
  expect(await command(platform, "audit", "verify")).toMatch(/^(?:whole|UNPROVED)/);
  await expect(command(platform, "serve", "--listen", "127.0.0.1:0")).rejects.toThrow(
    "metrics.token_env: the variable UNSET_METRICS_TOKEN is not set. Put the token there.",
  );
});
