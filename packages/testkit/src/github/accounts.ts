// Accounts of the fake GitHub: what they are, and what they may do in a repository.
import type { Context } from "openapi-backend";
import type { Operation, RequestReader } from "./request.ts";
import { idOf } from "./shapes.ts";
import { GithubError, type GithubState } from "./state.ts";

export const accountOperations = (
  { accounts }: GithubState,
  { shapes, repositoryRequest: at }: RequestReader,
): Record<string, Operation> => {
  const find = ({ request: { params } }: Context) => {
    const login = String(params.username).toLowerCase();
    const found = accounts.find((account) => account.login.toLowerCase() === login);
    if (found === undefined) throw new GithubError(404, "Not Found");
    return found;
  };
  return {
    "users/get-by-username": async (context) => {
      const { login, type } = find(context);
      const fields = { login, id: idOf(login), type, user_view_type: "public" };
      return { status: 200, body: shapes.with("users/get-by-username", fields) };
    },
    // Any user may read a public repository; the answer knows no more than four levels.
    "repos/get-collaborator-permission-level": async (context) => {
      const { repository } = at(context, ["metadata", "read"]);
      const { login, permissions } = find(context);
      const permission = permissions[`${repository.owner}/${repository.name}`] ?? "read";
      const fields = { permission, role_name: permission, user: null };
      return { status: 200, body: { ...shapes.with("repos/get-collaborator-permission-level", fields), login } };
    },
  };
};
