// How long runs rest whose server was killed, until another has taken them up and gone on.
import { createServer } from "node:http";
import { median } from "./measure.mjs";
import { startPlatform } from "./platform-server.mjs";

const count = 10;

/** From kill -9 of the owner to the next question of each of its runs at the model, which never answers. */
export async function takeover({ house, scratch }) {
  const model = await startSilentModel();
  const platform = await startPlatform({ house, scratch, modelUrl: model.url });
  for (let run = 0; run < count; run += 1) await platform.create({ prompt: { text: `run ${run}` } });
  await model.asked(count);
  const beside = await platform.serveBeside();
  const killedAt = performance.now();
  await platform.kill();
  const arrivals = await model.asked(2 * count);
  const rests = arrivals.slice(count).map((arrivedAt) => arrivedAt - killedAt);
  await beside.stop();
  model.close();
  const what = `kill -9 of a server to the next step of its ${count} runs on another`;
  return [
    [`${what}, median`, "platform serve", median(rests), "ms", null, ""],
    [`${what}, last`, "platform serve", Math.max(...rests), "ms", null, "< lease 10 s + 10 s"],
  ];
}

async function startSilentModel() {
  const arrivals = [];
  let look = () => {};
  const server = createServer((asked) => {
    asked.resume();
    arrivals.push(performance.now());
    look();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    /** When the first of them came, once there are so many. */
    asked: (wanted) =>
      new Promise((resolve) => {
        look = () => arrivals.length >= wanted && resolve(arrivals.slice(0, wanted));
        look();
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
