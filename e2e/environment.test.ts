// What commands of a run find in their environment, as configured.
import { call, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { desk, itemsOf } from "./harness.ts";

const printing = [call("exec_command", { cmd: "env | sort", login: false }), say("Done.")];
const secretValue = "canary-4711-value";

async function environmentOf(config: string, env: Record<string, string>): Promise<string> {
  const at = await desk({ replies: printing, config });
  const { code, events } = await at.events(["print"], { env });
  expect(code).toBe(0);
  return String(itemsOf(events, "command_execution")[0]?.aggregated_output);
}

test("keys stay out unless they are asked for by name; the model's own never pass", async () => {
  const given = {
    AGENT_API_KEY: secretValue,
    COPIED_CONFIG: `{"key":"${secretValue}"}`,
    DEPLOY_TOKEN: "wanted-token",
    OTHER_TOKEN: "unwanted-token",
    PLAIN: "plain",
  };
  const env = await environmentOf(
    '[shell_environment_policy]\ninclude = ["DEPLOY_TOKEN", "AGENT_API_KEY"]\nset = { MODE = "test" }\n',
    given,
  );
  expect(env).toContain("DEPLOY_TOKEN=");
  expect(env).toContain("PLAIN=plain\n");
  expect(env).toContain("MODE=test\n");
  expect(env).not.toMatch(/OTHER_TOKEN|AGENT_API_KEY|COPIED_CONFIG/);
  expect(env).not.toContain(secretValue);
});

test("core and patterns narrow it down", async () => {
  const env = await environmentOf('[shell_environment_policy]\ninherit = "core"\nexclude = ["lang"]\n', {
    PLAIN: "plain",
  });
  expect(env).toMatch(/^PATH=/m);
  expect(env).not.toContain("PLAIN");
});

test("the variable a provider takes its key from does not pass, even where secrets may", async () => {
  const config = `[model_providers.scripted.env_http_headers]\nx-team = "TEAM_NAME"\n[shell_environment_policy]\nignore_default_excludes = true\n`;
  const env = await environmentOf(config, { TEAM_NAME: "some-team-name", MY_TOKEN: "my-token-value" });
  expect(env).toContain("MY_TOKEN=");
  expect(env).not.toContain("TEAM_NAME");
});
