// What the page of keys shows and does.
import { ApiProblem } from "../http/index.ts";
import type { PageHost } from "./host.ts";
import { keysPage } from "./key-pages.ts";
import { answerPage } from "./layout.ts";
import type { Pages } from "./routes.ts";
import type { Visitor } from "./session.ts";

export function addKeyPages(pages: Pages, { platform }: PageHost): void {
  const { principals, db } = platform;

  pages.get("/keys", async (context, visitor) => {
    const keys = await principals.listKeys(visitor.principal.teamId);
    return answerPage(context, {
      title: "Keys",
      visitor,
      body: keysPage({ keys, fresh: null, token: visitor.formToken }),
    });
  });

  pages.form("/keys", async (context, visitor, { name = "" }) => {
    if (name.trim() === "" || name.length > 100)
      throw new ApiProblem("validation_error", "A key needs a name of 1 to 100 characters.");
    const owner = { kind: "user", email: emailOf(visitor) } as const;
    const { name: team } = await db
      .selectFrom("teams")
      .select("name")
      .where("id", "=", visitor.principal.teamId)
      .executeTakeFirstOrThrow();
    const { key } = await principals.createKey({ name, team, owner, scopes: null, expiresAt: null });
    const keys = await principals.listKeys(visitor.principal.teamId);
    return answerPage(context, {
      title: "Keys",
      visitor,
      body: keysPage({ keys, fresh: key, token: visitor.formToken }),
    });
  });

  pages.form("/keys/:id/revoke", async (context, visitor) => {
    const id = context.req.param("id") ?? "";
    const keys = await principals.listKeys(visitor.principal.teamId);
    if (!keys.some((key) => key.id === id)) throw new ApiProblem("not_found", "There is no such key.");
    await principals.revokeKey(id);
    return context.redirect("/keys", 303);
  });
}

const emailOf = ({ principal }: Visitor): string | null => (principal.kind === "user" ? principal.email : null);
