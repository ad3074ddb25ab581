// `--image`: images for the prompt, checked by content and stored in the session.
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { imageType } from "@agentcli/engine";
import type { Part } from "@agentcli/protocol";

const maxBytes = 20 * 1024 * 1024;

/** Each value is a path, or several with commas between them. */
export function readImages(values: string[], cwd: string): Part[] {
  return values.flatMap((value) => pathsIn(value, cwd)).map(readImage);
}

/** Images come before the text: models read them in this order. */
export const promptInput = (images: Part[], text: string): Part[] => [...images, { type: "text", text }];

/** A comma may be part of a name. */
function pathsIn(value: string, cwd: string): string[] {
  if (existsSync(resolve(cwd, value))) return [resolve(cwd, value)];
  const names = value.split(",").map((name) => name.trim());
  if (names.includes("")) throw new CommandError("usage", `--image ${value}: a file name is missing.`);
  return names.map((name) => resolve(cwd, name));
}

function readImage(path: string): Part {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new CommandError("usage", `--image ${path}: there is no such file.`);
  if (!stat.isFile()) throw new CommandError("usage", `--image ${path} is not a file.`);
  if (stat.size > maxBytes) {
    throw new CommandError(
      "usage",
      `--image ${path} has ${stat.size} bytes; the limit is ${maxBytes} (20 MiB). Make it smaller.`,
    );
  }
  const base64 = readBytes(path).toString("base64");
  const type = imageType(base64);
  if (!type) throw new CommandError("usage", `--image ${path} is not a PNG, JPEG, GIF or WebP image.`);
  return { type: "image", url: `data:${type};base64,${base64}`, name: path };
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CommandError("usage", `--image ${path} cannot be read: ${(error as Error).message}.`);
  }
}
