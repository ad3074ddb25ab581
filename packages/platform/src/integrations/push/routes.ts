// Notifications of this browser over HTTP. They belong to its session, and end with it.
import type { PushState } from "@agentcli/protocol/api";
import { type Api, ApiError, type Principal, type ServerContext, schema } from "../../foundation/index.ts";
import { checkReceiver } from "../webhooks/index.ts";
import { openServerKey } from "./server-key.ts";
import { isSubscribed, removeSubscription, type Subscriber, storeSubscription } from "./store.ts";

const path = "/v1/me/push";
const tag = "Notifications";
const answer = { status: 200, schema: schema("push", "PushState"), description: "The state of this browser" } as const;

export function addPushRoutes(api: Api, context: ServerContext): void {
  const { db, vault, network, publicUrl } = context;
  const stateOf = async ({ sessionId }: Subscriber): Promise<PushState> => {
    const { publicKey } = await openServerKey(vault, publicUrl);
    return { publicKey, isSubscribed: await isSubscribed(db, sessionId) };
  };
  api.route(
    {
      method: "get",
      path,
      summary:
        "Read whether this browser receives notifications, and under which key it subscribes. Only in the web app",
      tag,
      scope: "agents:read",
      answer,
      problems: ["key_not_supported"],
    },
    async ({ principal }) => stateOf(await readSubscriber(context, principal)),
  );
  api.route(
    {
      method: "put",
      path,
      summary: "Send notifications about one's ended runs to this browser. Only in the web app",
      tag,
      scope: "agents:write",
      body: schema("push", "PushSubscription"),
      answer,
      problems: ["key_not_supported"],
    },
    async ({ principal, body }) => {
      const subscriber = await readSubscriber(context, principal);
      await checkReceiver(body.endpoint, network, "endpoint");
      await storeSubscription(context, subscriber, body);
      return stateOf(subscriber);
    },
  );
  api.route(
    {
      method: "delete",
      path,
      summary: "End the notifications of this browser. Only in the web app",
      tag,
      scope: "agents:write",
      answer,
      problems: ["key_not_supported"],
    },
    async ({ principal }) => {
      const subscriber = await readSubscriber(context, principal);
      await removeSubscription(db, subscriber.sessionId);
      return stateOf(subscriber);
    },
  );
}

/** A key has no browser; one that leaks must not send a copy of every result elsewhere. */
async function readSubscriber({ db }: ServerContext, { keyId, teamId }: Principal): Promise<Subscriber> {
  const session = await db.selectFrom("sessions").select("id").where("id", "=", keyId).executeTakeFirst();
  if (session) return { sessionId: session.id, teamId };
  throw new ApiError("key_not_supported", "Notifications are those of a browser, not of a key. Use the web app.");
}
