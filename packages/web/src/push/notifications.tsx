// Notifications of this browser: on or off, and why they cannot be turned on.
import type { PushState } from "@agentcli/protocol/api";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { RequestError, request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure, Notice } from "../components/feedback.tsx";
import { Loaded } from "../components/page.tsx";

const path = "/v1/me/push";

const pushQuery = queryOptions({
  queryKey: ["push"],
  queryFn: ({ signal }) => request<PushState>(path, { signal }),
});

const isSupported = (): boolean => "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;

export const Notifications = () => (
  <section className="section card notifications">
    <h2>Notifications</h2>
    <p className="page-lead">
      This browser shows when a run of yours finishes or fails, also while the app is closed: one notification for each
      of the eight newest agents, and one for all others together.
    </p>
    {isSupported() ? <Switch /> : <Unsupported />}
  </section>
);

const Unsupported = () => (
  <Notice>
    This browser cannot receive notifications here. They need an <code>https</code> address; on an iPhone or iPad add
    the app to the home screen first.
  </Notice>
);

function Switch() {
  const query = useQuery(pushQuery);
  const queries = useQueryClient();
  const change = useAction(async (act: () => Promise<PushState>) => {
    queries.setQueryData(pushQuery.queryKey, await act());
  });
  return (
    <>
      <Loaded query={query}>
        {({ isSubscribed, publicKey }) =>
          isSubscribed ? (
            <Button isBusy={change.isPending} onClick={() => void change.run(turnOff)}>
              Turn off in this browser
            </Button>
          ) : (
            <Button look="primary" isBusy={change.isPending} onClick={() => void change.run(() => turnOn(publicKey))}>
              Turn on in this browser
            </Button>
          )
        }
      </Loaded>
      {change.error !== null && <Failure error={change.error} />}
    </>
  );
}

async function turnOn(publicKey: string): Promise<PushState> {
  if ((await Notification.requestPermission()) !== "granted")
    throw refusal("This browser does not allow notifications of this page. Allow them in the settings of the browser.");
  await navigator.serviceWorker.register("/push-worker.js", { scope: "/" });
  const { pushManager } = await navigator.serviceWorker.ready;
  // One under another key, as after the keys of the platform were replaced, would keep the browser from subscribing.
  await (await pushManager.getSubscription())?.unsubscribe();
  const options = { userVisibleOnly: true, applicationServerKey: publicKey };
  const subscription = await pushManager.subscribe(options).catch(() => {
    throw refusal("The push service of this browser cannot be reached. Try again later.");
  });
  const { endpoint, keys } = subscription.toJSON();
  return request<PushState>(path, { method: "PUT", body: { endpoint, keys } });
}

const refusal = (message: string) => new RequestError(0, "notifications", message);

async function turnOff(): Promise<PushState> {
  const registration = await navigator.serviceWorker.getRegistration("/");
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
  return request<PushState>(path, { method: "DELETE" });
}
