// What may be requested: models that are configured.
import type { CreateAgent, ModelEntry, ModelSelection, Repository } from "@agentcli/protocol/api";
import { ApiError, invalid, type Settings } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { listModels } from "../../inference/index.ts";

export type RepositoryCheck = (principal: Principal, repositories: Repository[]) => Promise<void>;

/** Also of sub-agents, whose `inherit` stands for the agent's own. */
export function checkModels(
  { model, customSubagents = [] }: Pick<CreateAgent, "model" | "customSubagents">,
  settings: Settings,
): void {
  checkModel(model, settings);
  customSubagents.forEach(({ name, model: own }, index) => {
    const field = `customSubagents.${index}.model`;
    const requested = typeof own === "string" ? { selection: { id: own }, idField: field } : { selection: own };
    checkSelection({ field, subject: `sub-agent ${name}: `, inherited: model, ...requested }, settings);
  });
}

export const checkModel = (selection: ModelSelection | undefined, settings: Settings): void =>
  checkSelection({ selection, field: "model", subject: "" }, settings);

/** As a setting of a team or a user. */
export const checkDefaultModel = (selection: ModelSelection | null | undefined, settings: Settings): void =>
  checkSelection({ selection: selection ?? undefined, field: "defaultModel", subject: "" }, settings);

/** As a setting of a team: all are models of the server. */
export function checkAllowedModels(allowedModels: string[] | null | undefined, settings: Settings): void {
  (allowedModels ?? []).forEach((id, index) => {
    checkSelection({ selection: { id }, field: "", idField: `allowedModels.${index}`, subject: "" }, settings);
  });
}

interface Requested {
  selection: ModelSelection | undefined;
  /** As the client wrote it: `model`. */
  field: string;
  /** Where the id is, if not in a member of its own. */
  idField?: string;
  /** In front of what is wrong. */
  subject: string;
  /** What `inherit` stands for, where it may be requested. */
  inherited?: ModelSelection | undefined;
}

function checkSelection(requested: Requested, { models: configured }: Settings): void {
  const { selection, field, idField = `${field}.id`, subject } = requested;
  if (!selection) return;
  const models = listModels(configured);
  const id =
    "inherited" in requested && selection.id === "inherit"
      ? (requested.inherited?.id ?? configured.model)
      : selection.id;
  const entry = models.find((model) => model.id === id || model.aliases?.includes(id));
  const names = models.map((model) => model.id).join(", ");
  if (!entry) {
    const known = configured.allowed ? "not a model that the team may use:" : "unknown model";
    throw new ApiError("invalid_model", `${idField}: ${subject}${known} ${id.slice(0, 100)}. Available: ${names}.`);
  }
  const complaints = (selection.params ?? []).flatMap((_, index, params) => complaintAbout(params, index, entry));
  if (complaints.length > 0)
    throw invalid(complaints.map(({ member, wrong }) => `${field}.params.${member}: ${subject}${wrong}`));
}

/** A parameter that the provider would never see must not look accepted. */
function complaintAbout(params: Parameter[], index: number, model: ModelEntry): { member: string; wrong: string }[] {
  const { id, value } = params[index] as Parameter;
  const known = model.parameters ?? [];
  const parameter = known.find((one) => one.id === id);
  if (!parameter) {
    const those = known.map((one) => one.id).join(", ") || "none";
    return [{ member: `${index}.id`, wrong: `the model ${model.id} has no parameter ${id}; it has: ${those}` }];
  }
  if (params.findIndex((one) => one.id === id) < index)
    return [{ member: `${index}.id`, wrong: `${id} is given twice` }];
  const values = parameter.values.map((one) => one.value);
  if (values.includes(value)) return [];
  return [{ member: `${index}.value`, wrong: `${id} of ${model.id} is one of ${values.join(", ")}` }];
}

type Parameter = NonNullable<ModelSelection["params"]>[number];
