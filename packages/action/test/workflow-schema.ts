// GitHub's own parser, with the schemas of workflows and actions that it publishes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from "@actions/workflow-parser";
import type { parseAction } from "@actions/workflow-parser/actions/action-parser";
import { temporaryDirectory } from "@agentcli/testkit";
import { rolldown } from "rolldown";

interface Parser {
  convertWorkflowTemplate: typeof convertWorkflowTemplate;
  NoOperationTraceWriter: typeof NoOperationTraceWriter;
  parseAction: typeof parseAction;
  parseWorkflow: typeof parseWorkflow;
}

export interface WorkflowSchema {
  /** What GitHub would object to. */
  problemsOfWorkflow(content: string): Promise<string[]>;
  problemsOfAction(content: string): string[];
}

export async function openWorkflowSchema(): Promise<WorkflowSchema> {
  const { parseWorkflow, parseAction, convertWorkflowTemplate, NoOperationTraceWriter } = await load();
  const trace = new NoOperationTraceWriter();
  return {
    async problemsOfWorkflow(content) {
      const { context, value } = parseWorkflow({ name: "workflow.yml", content }, trace);
      if (value) await convertWorkflowTemplate(context, value);
      return context.errors.getErrors().map(({ message }) => message);
    },
    problemsOfAction: (content) =>
      parseAction({ name: "action.yml", content }, trace)
        .context.errors.getErrors()
        .map(({ message }) => message),
  };
}

/** Bundled first: it imports JSON in a way that Node refuses. */
async function load(): Promise<Parser> {
  const directory = await temporaryDirectory();
  const input = join(directory.path, "entry.mjs");
  const name = "@actions/workflow-parser";
  writeFileSync(input, `export * from "${name}";\nexport * from "${name}/actions/action-parser";\n`);
  const bundle = await rolldown({ input, platform: "node", cwd: import.meta.dirname, resolve: { modules } });
  const file = join(directory.path, "parser.mjs");
  await bundle.write({ file, format: "esm" });
  const parser: Parser = await import(pathToFileURL(file).href);
  await directory.remove();
  return parser;
}

const modules = [join(import.meta.dirname, "../../../node_modules")];
