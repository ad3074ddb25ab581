// The scenario that both SDKs run, against a real platform.
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { curlScenarioRunner, startBridge } from "./curl-scenario-runner.ts";
import { openPlatformFixture } from "./platform-fixture.ts";
import { type Step, type StepRunner, scenarioRunner } from "./scenario-runner.ts";

const file = new URL("../../../e2e/sdk/platform-scenario.json", import.meta.url);
const { steps }: { steps: Step[] } = JSON.parse(readFileSync(file, "utf8"));

test("the scenario ends as written", async () => {
  const fixture = await openPlatformFixture();
  onTestFinished(fixture.close);
  await follow(scenarioRunner(fixture));
});

test("so it does through the bridge, with curl", async () => {
  const fixture = await openPlatformFixture();
  onTestFinished(fixture.close);
  const bridge = await startBridge({ PLATFORM_BACKEND_URL: fixture.url, PLATFORM_API_KEY: fixture.key });
  onTestFinished(bridge.close);
  await follow(curlScenarioRunner(bridge, fixture));
});

async function follow(runStep: StepRunner): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const about = `step ${index + 1}: ${JSON.stringify(step)}`;
    const { value, error } = await runStep(step).then(
      (value) => ({ value, error: undefined }),
      (error: unknown) => ({ value: undefined, error }),
    );
    expect(error === undefined ? undefined : described(error), about).toEqual(
      step.fails && expect.objectContaining(step.fails),
    );
    if (step.expect !== undefined) expect(plain(value), about).toEqual(matching(step.expect));
  }
}

/** Objects may have more members than the scenario names; lists are as they are written. */
function matching(expected: unknown): unknown {
  if (Array.isArray(expected)) return expected.map(matching);
  if (typeof expected !== "object" || expected === null) return expected;
  return expect.objectContaining(
    Object.fromEntries(Object.entries(expected).map(([name, value]) => [name, matching(value)])),
  );
}

const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

function described(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) throw error;
  const { name, ...facts } = "toJSON" in error ? JSON.parse(JSON.stringify(error)) : { name: error.stack };
  return { error: name, ...facts };
}
