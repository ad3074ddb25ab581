// The parts the app server is composed of. Each opens with the host and closes with the server.
import type { OpenPart } from "./method.ts";
import { openThreads } from "./threads/index.ts";

export const parts: OpenPart[] = [openThreads];
