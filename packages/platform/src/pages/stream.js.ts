// The script of an agent's page: shows each run from its stream.
import { outcomeWords } from "@agentcli/protocol/api";

export const streamScript = `"use strict";
const maxOutput = 4000;
const outcomeWords = ${JSON.stringify(outcomeWords)};
for (const section of document.querySelectorAll("section.run")) follow(section);

function follow(section) {
  const steps = section.querySelector(".steps");
  const source = new EventSource(section.dataset.stream);
  const calls = new Map();
  const outputs = new Map();
  let text = null;

  const add = (className, content) => {
    const element = document.createElement("div");
    element.className = className;
    element.textContent = content;
    steps.append(element);
    return element;
  };
  const on = (event, show) => source.addEventListener(event, ({ data }) => show(JSON.parse(data)));

  on("assistant", (data) => {
    text ??= add("message assistant", "");
    text.textContent += data.text;
  });
  on("thinking", (data) => {
    text = null;
    add("thinking", data.text);
  });
  on("tool_call", (data) => {
    text = null;
    const shown = calls.get(data.callId) ?? add("call", "");
    calls.set(data.callId, shown);
    shown.className = "call " + data.status;
    shown.textContent = data.name + " " + summary(data.args);
    const output = outputOf(data.result);
    if (output) addOutput(shown).textContent = output;
    outputs.delete(data.callId);
  });
  on("interaction_update", (data) => {
    if (data.type !== "shell-output-delta") return;
    const { callId, value } = data.event;
    const shown = calls.get(callId);
    if (!shown) return;
    const output = outputs.get(callId) ?? addOutput(shown);
    outputs.set(callId, output);
    // The end of a long output is what is new.
    output.textContent = (output.textContent + value.data).slice(-maxOutput);
    output.scrollTop = output.scrollHeight;
  });
  on("result", (data) => {
    if (data.text && !section.textContent.includes(data.text)) add("message assistant", data.text);
    setStatus(data.status);
  });
  on("done", () => {
    source.close();
    if (["CREATING", "RUNNING"].includes(section.dataset.status)) location.reload();
  });
  on("status", (data) => setStatus(data.status));
  source.onerror = () => {
    // Streams are kept for a while; after that the result is what is left.
    if (source.readyState === EventSource.CLOSED && steps.childElementCount === 0)
      add("message assistant", section.querySelector(".fallback").content.textContent);
  };

  function setStatus(status) {
    const badge = section.querySelector(".badge");
    badge.textContent = outcomeWords[status];
    badge.className = "badge " + status.toLowerCase();
  }
}

function addOutput(shown) {
  const output = document.createElement("pre");
  shown.append(output);
  return output;
}

function summary(args) {
  if (!args) return "";
  return args.command ?? args.path ?? args.pattern ?? args.description ?? JSON.stringify(args);
}

function outputOf(result) {
  const value = result?.success ?? result?.error;
  if (!value) return "";
  const text = value.stdout ?? value.content ?? value.message ?? value.text ?? "";
  return typeof text === "string" ? text.slice(0, maxOutput) : "";
}
`;
