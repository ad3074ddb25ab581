// The Responses wire.
import type { WireFormat } from "../wire.ts";
import { responsesBody } from "./request.ts";
import { responsesReader } from "./stream.ts";

export const responsesFormat: WireFormat = { body: responsesBody, reader: responsesReader };
