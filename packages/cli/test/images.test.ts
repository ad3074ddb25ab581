import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { promptInput, readImages } from "../src/exec/images.ts";
import { temporaryHome } from "./session-files.ts";

const beginnings = {
  png: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]),
  jpeg: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]),
  gif: Buffer.from("GIF89a.."),
  webp: Buffer.from("RIFF\u0001\u0002\u0003\u0004WEBPVP8 "),
};

test.each(Object.entries(beginnings))("%s is known by its content, whatever it is called", async (type, bytes) => {
  const directory = await temporaryHome();
  writeFileSync(join(directory, "picture.txt"), bytes);
  expect(readImages(["picture.txt"], directory)).toEqual([
    {
      type: "image",
      url: `data:image/${type};base64,${bytes.toString("base64")}`,
      name: join(directory, "picture.txt"),
    },
  ]);
});

test("several come in order, with commas between them or one by one, and before the text", async () => {
  const directory = await temporaryHome();
  for (const name of ["a.png", "b.png", "c,d.png"]) writeFileSync(join(directory, name), beginnings.png);
  const images = readImages(["b.png, a.png", "c,d.png"], directory);
  expect(images.map((part) => part.type === "image" && part.name)).toEqual(
    ["b.png", "a.png", "c,d.png"].map((name) => join(directory, name)),
  );
  expect(promptInput(images, "look").map(({ type }) => type)).toEqual(["image", "image", "image", "text"]);
});

test.each([
  ["a missing file", "missing.png", "missing.png: there is no such file"],
  ["a directory", "folder", "folder is not a file"],
  ["text", "text.png", "text.png is not a PNG, JPEG, GIF or WebP image"],
  ["an empty file", "empty.png", "empty.png is not a PNG"],
  ["RIFF that is not WebP", "sound.webp", "sound.webp is not a PNG"],
  ["one byte too many", "huge.png", "has 20971521 bytes; the limit is 20971520 (20 MiB)"],
  ["an empty name", "a.png,", "a file name is missing"],
])("%s is refused with exit code 2", async (_, value, message) => {
  const directory = await temporaryHome();
  mkdirSync(join(directory, "folder"));
  writeFileSync(join(directory, "text.png"), "not a picture");
  writeFileSync(join(directory, "empty.png"), "");
  writeFileSync(join(directory, "sound.webp"), "RIFF....WAVEfmt ");
  writeFileSync(join(directory, "huge.png"), beginnings.png);
  truncateSync(join(directory, "huge.png"), 20 * 1024 * 1024 + 1);
  expect(() => readImages([value], directory)).toThrow(message);
  expect(() => readImages([value], directory)).toThrow(expect.objectContaining({ exit: "usage" }));
});
