// What a client puts into a turn, as parts the model reads.
import { resolve } from "node:path";
import type { Part } from "@agentcli/protocol";
import type { UserInput } from "@agentcli/protocol/app-server";
import { invalidParams } from "../method.ts";
import type { Input } from "../program.ts";

const maxCharacters = 1024 * 1024;

/** `cwd` is where relative paths begin. */
export function readInput(input: UserInput[], cwd: string, { readImages }: Input): Part[] {
  const parts = input.flatMap((piece) => partsOf(piece, cwd, readImages));
  const length = parts.reduce((total, part) => total + (part.type === "text" ? part.text.length : 0), 0);
  if (length > maxCharacters)
    throw invalidParams(`Input exceeds the maximum length of ${maxCharacters} characters.`, {
      input_error_code: "input_too_large",
      max_chars: maxCharacters,
      actual_chars: length,
    });
  return parts;
}

function partsOf(piece: UserInput, cwd: string, readImages: Input["readImages"]): Part[] {
  switch (piece.type) {
    case "text":
      return [{ type: "text", text: piece.text }];
    case "image":
      return [{ type: "image", url: imageUrl(piece.url), ...(piece.detail && { detail: piece.detail }) }];
    case "localImage":
      return readImages([resolve(cwd, piece.path)], cwd).map((part) =>
        part.type === "image" && piece.detail ? { ...part, detail: piece.detail } : part,
      );
    // As a user would write it: the link selects the skill of that name.
    case "skill":
      return [{ type: "text", text: `[$${piece.name}](${piece.path})` }];
    case "mention":
      return [{ type: "text", text: `[@${piece.name}](${piece.path})` }];
    case "audio":
    case "localAudio":
      throw invalidParams(`Input of type ${piece.type} is not supported by agentcli. Send text or images.`);
  }
}

function imageUrl(url: string): string {
  if (/^(https?:\/\/|data:image\/)/.test(url)) return url;
  throw invalidParams(`The url of an image begins with https:// or data:image/, this one with ${url.slice(0, 20)}.`);
}
