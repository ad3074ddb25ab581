// Notifications that a browser receives while the web app is closed: `/v1/me/push`.
import { z } from "zod";

export const PushSubscription = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .describe("Where the browser's push service takes messages"),
    keys: z.strictObject({
      p256dh: z
        .string()
        .regex(/^B[A-Za-z0-9_-]{86}$/)
        .describe("The browser's public key: P-256, uncompressed, base64url"),
      auth: z
        .string()
        .regex(/^[A-Za-z0-9_-]{22}$/)
        .describe("16 bytes, base64url"),
    }),
  })
  .describe("Of what PushSubscription.toJSON() of a browser returns")
  .meta({ id: "PushSubscription" });
export type PushSubscription = z.infer<typeof PushSubscription>;

export const PushState = z
  .object({
    publicKey: z.string().describe("For applicationServerKey: P-256, uncompressed, base64url"),
    isSubscribed: z.boolean().describe("Whether this browser receives notifications"),
  })
  .meta({ id: "PushState" });
export type PushState = z.infer<typeof PushState>;

/** What a service worker is sent. */
export const PushMessage = z.object({
  title: z.string(),
  body: z.string(),
  tag: z.string().describe("The agent or build: a newer notification takes the place of an older one"),
  path: z.string().describe("The page to open"),
});
export type PushMessage = z.infer<typeof PushMessage>;
