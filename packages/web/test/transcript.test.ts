// What happens around the work of an agent, in a real browser: hooks, blocked connections, missing servers and warnings.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { loginLink } from "../../platform/src/pages/index.ts";
import { openRunHarness } from "../../platform/test/runs/run-harness.ts";
import { expectNoOverflow, photograph, startChromium, visit } from "./chromium.ts";

startChromium();

const sizes = [
  [1440, "light"],
  [820, "dark"],
  [390, "light"],
] as const;

test("the transcript says which hooks ran, what was blocked, and which MCP server is missing", async () => {
  const { fixture, client, repository } = await openRunHarness({
    replies: [
      call("exec_command", { cmd: "rm -rf build" }),
      call("exec_command", { cmd: "curl -s --noproxy '' http://10.1.2.3/; git init -q vendor; true" }),
      replyWith("Done."),
    ],
  });
  const url = await repository("guarded", {
    ".platform/hooks.json": JSON.stringify({
      version: 1,
      hooks: {
        beforeShellExecution: [{ command: "sh hooks/guard.sh", matcher: "rm" }],
        afterShellExecution: [{ command: "true" }],
      },
    }),
    "hooks/guard.sh": `echo '{"permission":"deny","user_message":"no deleting <b>here</b>"}'\n`,
  });
  const { agentId } = await client.create({
    ...{ prompt: { text: "Clean up" }, repos: [{ url }] },
    mcpServers: [{ name: "docs", command: "false" }],
  });
  const { page, complaints, findBarriers } = await visit(await loginLink(fixture.platform, client.url));
  await page.goto(`${client.url}/agents/${agentId}`);
  await page.locator('.run-outcome[data-outcome="FINISHED"]').waitFor();
  const step = (hasText: string) => page.locator(".step", { hasText });
  const denied = step("beforeShellExecution · blocked");
  await denied.getByText("no deleting <b>here</b>").waitFor();
  await denied.getByText("/workspace/guarded/.platform/hooks.json", { exact: true }).waitFor();
  expect(await step("afterShellExecution · completed").count()).toBe(1);
  await step("Connection to 10.1.2.3:80 · blocked").getByText("The sandbox blocked a connection").waitFor();
  await step("MCP server docs · not available").getByText("docs").first().waitFor();
  await page.locator(".run-warning", { hasText: "vendor" }).waitFor();
  for (const [width, colorScheme] of sizes) {
    await page.setViewportSize({ width, height: 1100 });
    await page.emulateMedia({ colorScheme });
    await expectNoOverflow(page);
    expect([width, await findBarriers()]).toEqual([width, []]);
    await photograph(page, `around-${width}-${colorScheme}`);
  }
  expect(complaints).toEqual([]);
});
