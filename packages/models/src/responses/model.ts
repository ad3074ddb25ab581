// The Responses wire.
import type { Wire } from "../wire.ts";
import { responsesBody } from "./request.ts";
import { responsesReader } from "./stream.ts";

export const responsesWire: Wire = { path: "responses", body: responsesBody, reader: responsesReader };
