// The chat completions wire.
import type { Wire } from "../wire.ts";
import { chatBody } from "./request.ts";
import { chatReader } from "./stream.ts";

export const chatWire: Wire = { path: "chat/completions", body: chatBody, reader: chatReader };
