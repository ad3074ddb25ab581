// The script of an agent's page, in a document with what it uses of one.
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { streamScript } from "../../src/pages/stream.js.ts";

class Element {
  className = "";
  dataset: Record<string, string> = {};
  children: Element[] = [];
  #text = "";
  get textContent(): string {
    return this.#text + this.children.map(({ textContent }) => textContent).join("");
  }
  set textContent(text: string) {
    this.#text = text;
    this.children = [];
  }
  append(child: Element): void {
    this.children.push(child);
  }
}

function openPage() {
  const steps = new Element();
  const section = Object.assign(new Element(), {
    dataset: { stream: "/stream", status: "RUNNING" },
    querySelector: () => steps,
  });
  const listeners = new Map<string, (message: { data: string }) => void>();
  class EventSource {
    addEventListener(event: string, listener: (message: { data: string }) => void): void {
      listeners.set(event, listener);
    }
  }
  const document = { querySelectorAll: () => [section], createElement: () => new Element() };
  runInContext(streamScript, createContext({ document, EventSource }));
  return { steps, send: (event: string, data: object) => listeners.get(event)?.({ data: JSON.stringify(data) }) };
}

const printed = (data: string) => ({
  type: "shell-output-delta",
  event: { callId: "1.0", case: "stdout", value: { data } },
});

test("output of a command is on the page while it runs, and the result takes its place", () => {
  const { steps, send } = openPage();
  const call = { callId: "1.0", name: "run_terminal_cmd", args: { command: "make" } };
  send("tool_call", { ...call, status: "running" });
  send("interaction_update", { type: "step-started", stepId: 1 });
  send("interaction_update", printed("compiling <b>\n"));
  send("interaction_update", printed("linking\n"));
  expect(steps.textContent).toBe("run_terminal_cmd makecompiling <b>\nlinking\n");
  expect(steps.children[0]?.children).toHaveLength(1);
  send("interaction_update", printed("x".repeat(10_000)));
  expect(steps.textContent.length).toBeLessThan(5_000);
  send("tool_call", { ...call, status: "completed", result: { success: { stdout: "compiled\n" } } });
  expect(steps.textContent).toBe("run_terminal_cmd makecompiled\n");
});

test("a warning of a run is on the page", () => {
  const { steps, send } = openPage();
  const error = { message: "This run created the git repository in vendor." };
  send("tool_call", { callId: "warning:9", name: "warning", status: "error", result: { error } });
  expect(steps.textContent).toContain(error.message);
});
