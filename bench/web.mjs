// The web app in a real browser: a run of many events is opened, scrolled and clicked; a slow phone opens the list of agents.
import { chromium } from "playwright-core";
import { commands, message, startServer } from "./model-server.mjs";
import { startPlatform } from "./platform-server.mjs";

const turns = Number(process.env.BENCH_WEB_TURNS ?? 80);
const callsPerTurn = 50;

export async function webRows({ root, scratch }) {
  const server = await startServer((index) => (index < turns ? turn(index * callsPerTurn) : message("All done.")));
  const platform = await startPlatform({ root, scratch, modelUrl: server.url });
  try {
    const frames = await longRun(platform);
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: ["--no-sandbox", "--enable-precise-memory-info"],
    });
    try {
      return [...(await measure(browser, platform, frames)), ...(await measurePhone(browser, platform))];
    } finally {
      await browser.close();
    }
  } finally {
    await platform.stop();
    server.close();
  }
}

/** Commands that differ: the same one again and again would be stopped as a loop. */
const turn = (first) =>
  commands(
    Array.from({ length: callsPerTurn }, (_, index) => `echo line ${first + index}`),
    first,
  );

/** Returns its agent, and how many frames its stream has. */
async function longRun(platform) {
  const { agentId, stream } = await platform.create({ prompt: { text: "work for long" } });
  const headers = { authorization: `Bearer ${platform.key}` };
  const response = await fetch(`${platform.url}${stream}`, { headers });
  let count = 0;
  for await (const part of response.body.pipeThrough(new TextDecoderStream()))
    count += part.split("\nevent: ").length - 1;
  return { agentId, count };
}

async function logIn(browser, platform, viewport) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(platform.command("login-link").replace(/^https?:\/\/[^/]+/, platform.url));
  await page.getByRole("button").click();
  await page.locator("aside.side").waitFor();
  return page;
}

/** The slow 4G and the phone of Lighthouse, with nothing in the cache. */
async function measurePhone(browser, platform) {
  const page = await logIn(browser, platform, { width: 390, height: 844 });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  const bytesPerSecond = (1_638.4 * 1_024) / 8;
  await devtools.send("Network.emulateNetworkConditions", {
    ...{ offline: false, latency: 150, downloadThroughput: bytesPerSecond, uploadThroughput: bytesPerSecond / 2 },
  });
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  const [paints, lists] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    await page.goto(`${platform.url}/agents`);
    await page.locator(".row-name").first().waitFor();
    lists.push(await page.evaluate("performance.now()"));
    paints.push(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
  }
  const median = (times) => times.sort((a, b) => a - b)[2];
  const what = "agents page on a slow phone";
  return [
    [what, "first paint, median of 5", median(paints), "ms", 0, "≤ 2,000 ms"],
    [what, "the list is shown, median of 5", median(lists), "ms", 0, ""],
  ];
}

async function measure(browser, platform, { agentId, count }) {
  const page = await logIn(browser, platform, { width: 1440, height: 900 });
  await page.addInitScript(noteMoments);
  const [times, wholes] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    await page.goto("about:blank");
    const startedAt = performance.timeOrigin + performance.now();
    await page.goto(`${platform.url}/agents/${agentId}`, { waitUntil: "commit" });
    await page.getByText("All done.").first().waitFor();
    await page.locator("[data-connection='ended']").waitFor();
    const { shownAt, endedAt } = await page.evaluate("window.moments");
    times.push(shownAt - startedAt);
    wholes.push(endedAt - startedAt);
  }
  const scrolled = await page.evaluate(scroll);
  const click = await page.evaluate(clickStep);
  const heap = await page.evaluate("performance.memory.usedJSHeapSize / 2 ** 20");
  const nodes = await page.evaluate("document.querySelectorAll('*').length");
  const what = `run of ${count} events in Chromium`;
  return [
    [what, "open: last message is shown, median of 5", times.sort((a, b) => a - b)[2], "ms", 0, "≤ 1,000 ms"],
    [what, "open: all steps are there, median of 5", wholes.sort((a, b) => a - b)[2], "ms", 0, "≤ 1,000 ms"],
    [what, "scroll to the top: frames per second", scrolled.perSecond, "fps", 0, "60"],
    [what, "scroll: longest frame", scrolled.longest, "ms", 0, ""],
    [what, "click to paint", click, "ms", 0, "≤ 100 ms"],
    [what, "heap of the page", heap, "MB", 0, ""],
    [what, "elements", nodes, "", 0, ""],
  ];
}

/**
 * In the page: when the last message and all steps are there. Playwright looks for an element after 20, 50, 100, 100 and then
 * every 500 ms: what it waits for seems to take up to that much longer.
 */
const noteMoments = () => {
  window.moments = {};
  const observer = new MutationObserver(() => {
    const now = performance.timeOrigin + performance.now();
    const texts = [...document.querySelectorAll(".run .markdown")].map(({ textContent }) => textContent);
    if (texts.some((text) => text.includes("All done."))) window.moments.shownAt ??= now;
    if (document.querySelector("[data-connection='ended']")) window.moments.endedAt ??= now;
    if (window.moments.shownAt && window.moments.endedAt) observer.disconnect();
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
};

/** In the page: 400 pixels a frame, up to the first line. */
const scroll = () =>
  new Promise((resolve) => {
    const times = [];
    const step = (now) => {
      times.push(now);
      window.scrollBy(0, -400);
      if (window.scrollY > 0 && times.length < 600) return void requestAnimationFrame(step);
      const gaps = times.slice(1).map((time, index) => time - times[index]);
      resolve({ perSecond: (gaps.length * 1_000) / (now - times[0]), longest: Math.max(...gaps) });
    };
    requestAnimationFrame(step);
  });

/** In the page: from the click on a step until what it shows is painted. */
const clickStep = () =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    document.querySelector("button.step-line").click();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - startedAt)));
  });
