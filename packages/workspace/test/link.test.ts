// Requests between a platform and a worker: either side may be hostile, and the other goes on.
import { once } from "node:events";
import { type Duplex, duplexPair } from "node:stream";
import { expect, test } from "vitest";
import { type Answer, type LinkRequest, openLink } from "../src/link/index.ts";

type Handler = (request: LinkRequest, answer: Answer) => Promise<void>;

const nothing: Handler = async () => {};

async function openPair(platform: Handler, worker: Handler) {
  const [left, right] = duplexPair() as [Duplex, Duplex];
  return {
    left,
    platform: await openLink({ stream: left, side: "platform", onRequest: platform }),
    worker: await openLink({ stream: right, side: "worker", onRequest: worker }),
  };
}

/** Without ending the other direction, as an iteration would. */
async function readAll(stream: Duplex): Promise<string> {
  let text = "";
  stream.on("data", (data) => {
    text += String(data);
  });
  await once(stream, "end");
  return text;
}

test("both sides ask, and bytes follow question and answer", async () => {
  const { platform, worker } = await openPair(
    async ({ body, stream }, answer) => {
      answer({ echo: body });
      stream.end();
    },
    async ({ name, stream }, answer) => {
      const text = await readAll(stream);
      answer({ name, size: text.length });
      stream.end("after");
    },
  );
  expect((await worker.request("register", { id: 1 })).reply).toEqual({ echo: { id: 1 } });
  const { reply, stream } = await platform.request("apply", {}, async (to) => void to.end("x".repeat(1_000_000)));
  expect(reply).toEqual({ name: "apply", size: 1_000_000 });
  expect(await readAll(stream)).toBe("after");
});

test("a refusal arrives with its code, and the connection is of use for the next request", async () => {
  const { platform } = await openPair(nothing, async ({ name, stream }, answer) => {
    if (name === "bad") throw Object.assign(new Error("No such agent."), { code: "unknown" });
    answer({});
    stream.end();
  });
  await expect(platform.request("bad", {})).rejects.toMatchObject({ code: "unknown", message: "No such agent." });
  expect((await platform.request("good", {})).reply).toEqual({});
});

test("a lost connection ends every request", async () => {
  const { platform, left } = await openPair(nothing, () => new Promise(() => {}));
  const waiting = platform.request("never", {});
  // What a WebSocket does when its connection breaks.
  left.destroy();
  await expect(waiting).rejects.toMatchObject({ code: "disconnected" });
  await platform.closed;
});

test("an answer that cannot be read, or is never a line, ends that request alone", async () => {
  const answers: Record<string, string> = {
    garbage: "{]\n",
    list: "[1]\n",
    text: '"a"\n',
    endless: "x".repeat(5_000_000),
  };
  const { platform } = await openPair(nothing, async ({ name, stream }, answer) => {
    const raw = answers[name];
    if (raw === undefined) return answer({});
    stream.write(raw);
    stream.end();
  });
  for (const name of ["garbage", "text", "endless"]) await expect(platform.request(name, {}), name).rejects.toThrow();
  expect((await platform.request("good", {})).reply).toEqual({});
});
