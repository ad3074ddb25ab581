// What an address fills into the form of a new agent: links of other pages, and texts shared from other apps.
export interface Given {
  repository?: string;
  prompt?: string;
}

const maxLength = 20_000;

export function readGiven({ repository, prompt }: Record<string, unknown>): Given {
  return {
    ...(isText(repository) && { repository }),
    ...(isText(prompt) && { prompt }),
  };
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= maxLength;
