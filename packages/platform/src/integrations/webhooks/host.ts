// What deliveries need of the server.
import type { NetworkPolicy, PlatformContext } from "../../foundation/index.ts";

export interface DeliveryHost {
  platform: Pick<PlatformContext, "db" | "vault" | "log" | "metrics">;
  policy: NetworkPolicy;
  publicUrl(): string;
  now(): Date;
  timeoutMs: number;
}
