// The Anthropic Messages wire.
import type { WireFormat } from "../wire.ts";
import { tokenCount } from "./count.ts";
import { messagesBody } from "./request.ts";
import { messagesReader } from "./stream.ts";

export const anthropicFormat: WireFormat = { body: messagesBody, reader: messagesReader, count: tokenCount };
