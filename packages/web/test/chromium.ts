// A real Chromium for tests, with a visitor who is logged in and notes everything that goes wrong on a page.
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type Browser, chromium, type Locator, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

let browser: Browser;

/** One browser for all tests of a file. */
export function startChromium(): void {
  beforeAll(async () => {
    const executablePath = process.env.CHROMIUM ?? programs.find((path) => existsSync(path));
    if (executablePath === undefined)
      throw new Error("Chromium is not installed. Run: sudo apt-get install chromium, or set CHROMIUM to its path.");
    // Its own sandbox does not start for root, nor in most containers.
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"], timeout: 120_000 });
  });
  afterAll(() => browser?.close());
}

export interface VisitorOptions {
  width?: number;
  colorScheme?: "light" | "dark";
  /** That of the machine, if absent. */
  timezoneId?: string;
}

export interface PageVisitor {
  page: Page;
  /** Errors of scripts, and what the content security policy refused. */
  complaints: string[];
  /** Rules of axe that the page breaks now. */
  findBarriers(): Promise<string[]>;
}

/** Opens the login link and presses its button. */
export async function visit(loginLink: string, options: VisitorOptions = {}): Promise<PageVisitor> {
  const visitor = await openVisitor(options);
  const { page } = visitor;
  await page.goto(loginLink);
  await page.getByRole("button").click();
  await page.waitForURL("**/agents");
  // Before that no key has an effect.
  await page.locator("aside.side").waitFor();
  return visitor;
}

/** An empty page of a browser without cookies. */
export async function openVisitor(options: VisitorOptions = {}): Promise<PageVisitor> {
  const { width = 1440, colorScheme = "light", timezoneId } = options;
  const context = await browser.newContext({
    ...{ viewport: { width, height: 900 }, colorScheme, bypassCSP: false },
    ...(timezoneId !== undefined && { timezoneId }),
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (/Content Security Policy|Refused to/i.test(message.text())) complaints.push(message.text());
  });
  return { page, complaints, findBarriers: () => findBarriers(page) };
}

/** Presses Tab until the element has the focus, as people do without a mouse. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  const isFocused = () => target.evaluate((element) => element === element.ownerDocument.activeElement);
  for (let count = 0; count < maxTabs; count += 1) {
    if (await isFocused()) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${target}.`);
}

const maxTabs = 150;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate("axe.run().then(({ violations }) => violations)");
  return (found as { id: string; nodes: { html: string }[] }[]).map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`,
  );
}

/** Nothing sticks out at the side. */
export async function expectNoOverflow(page: Page): Promise<void> {
  expect(await findOverflow(page)).toBe(0);
}

/** By how many pixels the page is wider than the window. */
export const findOverflow = async (page: Page): Promise<number> =>
  Number(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"));

/** To look at, where PHOTOGRAPHS names a folder. */
export async function photograph(page: Page, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  const folder = process.env.PHOTOGRAPHS;
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ ...options, path: join(folder, `${name}.png`) });
}
