import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LoggedRequest, say } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { desk, sessionFiles } from "./harness.ts";

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

async function deskWithImages(replies = [say("One dot."), say("Two dots.")]) {
  const here = await desk({ replies });
  for (const name of ["a.png", "b.png"]) writeFileSync(join(here.repository, name), png);
  return here;
}

test("images come before the text, each between its tags, in exec and in resume", async () => {
  const here = await deskWithImages();
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

test("an image is sent again as it was when the thread is resumed, also when the file is gone", async () => {
  const here = await deskWithImages();
  await here.run(["exec", "-i", "a.png", "remember it"]);
  writeFileSync(join(here.repository, "a.png"), "gone");
  expect((await here.run(["exec", "resume", "--last", "what was it?"])).code).toBe(0);
  expect(JSON.stringify(here.requests()[1]?.body)).toContain(dataUrl);
});

test("what is no image ends with exit code 2 before anything is asked or written", async () => {
  const here = await deskWithImages();
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
  const here = await deskWithImages();
  await here.run(["exec", "hello"]);
  const { code, stderr } = await here.run(["exec", "resume", "--last", "-i", "a.png"]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("belong to a prompt") });
});
