// What a user sends: text, files, images, and commands that begin with a slash.
import { fileURLToPath } from "node:url";
import type { UserInput } from "@agentcli/protocol/app-server";
import { type ContentBlock, type EmbeddedResourceResource, RequestError } from "@agentclientprotocol/sdk";

export const inputOf = (prompt: ContentBlock[]): UserInput[] => prompt.map(partOf);

const text = (words: string): UserInput => ({ type: "text", text: words, text_elements: [] });

function partOf(block: ContentBlock): UserInput {
  switch (block.type) {
    case "text":
      return text(block.text);
    case "image":
      return { type: "image", url: `data:${block.mimeType};base64,${block.data}` };
    case "resource_link": {
      const path = pathOf(block.uri);
      return path === null ? text(`[@${block.name}](${block.uri})`) : { type: "mention", name: block.name, path };
    }
    case "resource":
      return embedded(block.resource);
    case "audio":
      throw RequestError.invalidParams(undefined, "agentcli reads no audio. Send text, files or images.");
  }
}

/** The text as the editor has it, which need not be saved. */
function embedded(resource: EmbeddedResourceResource): UserInput {
  const name = pathOf(resource.uri) ?? resource.uri;
  if ("text" in resource) return text(`<file path=${JSON.stringify(name)}>\n${resource.text}\n</file>`);
  const { mimeType, blob } = resource;
  if (mimeType?.startsWith("image/")) return { type: "image", url: `data:${mimeType};base64,${blob}` };
  throw RequestError.invalidParams(
    undefined,
    `${name}: agentcli reads text and images, this is ${mimeType ?? "of no known type"}. Send a link to the file.`,
  );
}

/** Null for what is not a local file. */
function pathOf(uri: string): string | null {
  if (uri.startsWith("/")) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return null;
  }
}

export interface SlashCommand {
  name: string;
  argument: string;
}

/** Only a prompt of text can be a command. */
export function slashCommandOf(prompt: ContentBlock[]): SlashCommand | null {
  const [first] = prompt;
  if (first?.type !== "text") return null;
  const [, name, argument = ""] = /^\/([\w-]+)(?:\s+([\s\S]*))?$/.exec(first.text.trim()) ?? [];
  return name === undefined ? null : { name, argument: argument.trim() };
}
