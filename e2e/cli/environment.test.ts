// The environment of commands, as configured.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

const printing = [call("exec_command", { cmd: "env | sort", login: false }), replyWith("Done.")];
const secretValue = "canary-4711-value";

async function environmentOf(config: string, env: Record<string, string>): Promise<string> {
  const harness = await openHarness({ replies: printing, config });
  const { code, events } = await harness.events(["print"], { env });
  expect(code).toBe(0);
  return String(itemsOf(events, "command_execution")[0]?.aggregated_output);
}

test("keys are removed unless configured by name; the API key of the model is always removed", async () => {
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

test("core and patterns limit it", async () => {
  const env = await environmentOf('[shell_environment_policy]\ninherit = "core"\nexclude = ["lang"]\n', {
    PLAIN: "plain",
  });
  expect(env).toMatch(/^PATH=/m);
  expect(env).not.toContain("PLAIN");
});

test("the variable with the provider's key is removed, even where secrets are allowed", async () => {
  const config = `[model_providers.scripted.env_http_headers]\nx-team = "TEAM_NAME"\n[shell_environment_policy]\nignore_default_excludes = true\n`;
  const env = await environmentOf(config, { TEAM_NAME: "some-team-name", MY_TOKEN: "my-token-value" });
  expect(env).toContain("MY_TOKEN=");
  expect(env).not.toContain("TEAM_NAME");
});

test("a command cannot read credentials in a location that a variable names", async () => {
  const elsewhere = mkdtempSync("/var/tmp/elsewhere-");
  onTestFinished(() => rmSync(elsewhere, { recursive: true }));
  for (const path of ["codex/auth.json", "config/gh/hosts.yml", "plain/file"]) {
    mkdirSync(join(elsewhere, path, ".."), { recursive: true });
    writeFileSync(join(elsewhere, path), `content of ${path}\n`);
  }
  const replies = [call("exec_command", { cmd: `cat ${elsewhere}/*/* ${elsewhere}/*/*/*` }), replyWith("Done.")];
  const harness = await openHarness({ replies });
  const env = { CODEX_HOME: join(elsewhere, "codex"), XDG_CONFIG_HOME: join(elsewhere, "config") };
  const { events } = await harness.events(["print"], { env });
  const output = String(itemsOf(events, "command_execution")[0]?.aggregated_output);
  expect(output.match(/content of .*/g)).toEqual(["content of plain/file"]);
});
