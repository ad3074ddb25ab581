// The event of a firing, sealed with the key of its team.
import type { DataKey } from "../../foundation/index.ts";
import type { FiringPayload } from "./prompt.ts";

const payloadAad = (firingId: string): string => `automation-firing:${firingId}`;

export const sealPayload = (key: DataKey, firingId: string, payload: FiringPayload): Buffer =>
  key.seal(JSON.stringify(payload), payloadAad(firingId));

export const openPayload = (key: DataKey, firingId: string, sealed: Buffer): FiringPayload =>
  JSON.parse(key.openText(sealed, payloadAad(firingId)));
