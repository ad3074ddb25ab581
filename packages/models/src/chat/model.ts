// The chat completions wire.
import type { WireFormat } from "../wire.ts";
import { chatBody } from "./request.ts";
import { chatReader } from "./stream.ts";

export const chatFormat: WireFormat = { body: chatBody, reader: chatReader };
