// The story that both SDKs tell, against a real platform.
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { curlStoryteller, startBridge } from "./curl-storyteller.ts";
import { openStage } from "./stage.ts";
import { type Step, storyteller, type Teller } from "./storyteller.ts";

const file = new URL("../../../e2e/platform-sdk-story.json", import.meta.url);
const { steps }: { steps: Step[] } = JSON.parse(readFileSync(file, "utf8"));

test("the story comes out as it is written", { timeout: 120_000 }, async () => {
  const stage = await openStage();
  onTestFinished(stage.close);
  await follow(storyteller(stage));
});

test("so it does through the bridge, with curl", { timeout: 120_000 }, async () => {
  const stage = await openStage();
  onTestFinished(stage.close);
  const bridge = await startBridge({ PLATFORM_BACKEND_URL: stage.url, PLATFORM_API_KEY: stage.key });
  onTestFinished(bridge.close);
  await follow(curlStoryteller(bridge, stage));
});

async function follow(tell: Teller): Promise<void> {
  for (const [index, step] of steps.entries()) {
    const about = `step ${index + 1}: ${JSON.stringify(step)}`;
    const { value, error } = await tell(step).then(
      (value) => ({ value, error: undefined }),
      (error: unknown) => ({ value: undefined, error }),
    );
    expect(error === undefined ? undefined : described(error), about).toEqual(
      step.fails && expect.objectContaining(step.fails),
    );
    if (step.expect !== undefined) expect(plain(value), about).toEqual(matching(step.expect));
  }
}

/** Objects may have more members than the story names; lists are as they are written. */
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
