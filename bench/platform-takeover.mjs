// How long runs wait after their server was killed until another server continues them.
import { createServer } from "node:http";
import { median } from "./measure.mjs";
import { startPlatform } from "./platform-server.mjs";

const count = 10;

/** From kill -9 of the owner to the next model request of each of its runs; the model never replies. */
export async function takeover({ root, scratch }) {
  const model = await startSilentModel();
  const platform = await startPlatform({ root, scratch, modelUrl: model.url });
  for (let run = 0; run < count; run += 1) await platform.create({ prompt: { text: `run ${run}` } });
  await model.waitForRequests(count);
  const another = await platform.serveAnother();
  const killedAt = performance.now();
  await platform.kill();
  const arrivals = await model.waitForRequests(2 * count);
  const waits = arrivals.slice(count).map((arrivedAt) => arrivedAt - killedAt);
  await another.stop();
  model.close();
  const what = `kill -9 of a server to the next step of its ${count} runs on another`;
  return [
    [`${what}, median`, "platform serve", median(waits), "ms", null, ""],
    [`${what}, last`, "platform serve", Math.max(...waits), "ms", null, "< lease 10 s + 10 s"],
  ];
}

async function startSilentModel() {
  const arrivals = [];
  let check = () => {};
  const server = createServer((request) => {
    request.resume();
    arrivals.push(performance.now());
    check();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** Arrival times of the first requests, once there are that many. */
    waitForRequests: (expected) =>
      new Promise((resolve) => {
        check = () => arrivals.length >= expected && resolve(arrivals.slice(0, expected));
        check();
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
