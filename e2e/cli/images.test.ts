import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LoggedRequest, replyWith } from "@agentcli/testkit";
import { openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const dataUrl = `data:image/png;base64,${png.toString("base64")}`;

interface WireBody {
  input: { content: Record<string, string>[] }[];
}
const userContent = (request: LoggedRequest | undefined) => {
  const { input } = (request?.body ?? { input: [] }) as WireBody;
  return input.at(-1)?.content;
};

async function openImageHarness(replies = [replyWith("One dot."), replyWith("Two dots.")]) {
  const here = await openHarness({ replies });
  for (const name of ["a.png", "b.png"]) writeFileSync(join(here.repository, name), png);
  return here;
}

test("images come before the text, each between its tags, in exec and in resume", async () => {
  const here = await openImageHarness();
  expect((await here.run(["exec", "-i", "a.png,b.png", "what is this?"])).stdout).toBe("One dot.\n");
  const tag = (number: number, name: string) => ({
    type: "input_text",
    text: `<image name=[Image #${number}] path=${join(here.repository, name)}>`,
  });
  const image = { type: "input_image", image_url: dataUrl };
  const end = { type: "input_text", text: "</image>" };
  expect(userContent(here.requests()[0])).toEqual([
    tag(1, "a.png"),
    image,
    end,
    tag(2, "b.png"),
    image,
    end,
    { type: "input_text", text: "what is this?" },
  ]);
  expect((await here.run(["exec", "resume", "--last", "--image", "b.png", "and this?"])).stdout).toBe("Two dots.\n");
  expect(userContent(here.requests()[1])).toEqual([
    tag(1, "b.png"),
    image,
    end,
    { type: "input_text", text: "and this?" },
  ]);
  expect(readFileSync(here.sessionFile(), "utf8").split(dataUrl)).toHaveLength(4);
});

test("a resumed thread sends the image again unchanged, even when the file is gone", async () => {
  const here = await openImageHarness();
  await here.run(["exec", "-i", "a.png", "remember it"]);
  writeFileSync(join(here.repository, "a.png"), "gone");
  expect((await here.run(["exec", "resume", "--last", "what was it?"])).code).toBe(0);
  expect(JSON.stringify(here.requests()[1]?.body)).toContain(dataUrl);
});

test("a file that is not an image ends with exit code 2 before any request or record", async () => {
  const here = await openImageHarness();
  writeFileSync(join(here.repository, "text.png"), "text");
  for (const [name, message] of [
    ["missing.png", "there is no such file"],
    ["text.png", "is not a PNG, JPEG, GIF or WebP image"],
    ["a.png,missing.png", "there is no such file"],
  ] as const) {
    const { code, stderr } = await here.run(["exec", "-i", name, "look"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  }
  expect(here.requests()).toEqual([]);
  expect(sessionFiles(here.home)).toEqual([]);
});

test("images without a prompt are refused in a resume", async () => {
  const here = await openImageHarness();
  await here.run(["exec", "hello"]);
  const { code, stderr } = await here.run(["exec", "resume", "--last", "-i", "a.png"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("require a prompt") });
});
