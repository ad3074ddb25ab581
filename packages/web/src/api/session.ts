// The visitor of the page, as the server wrote it into the document.
export interface PageSession {
  userId: number;
  email: string;
  team: string;
  isAdmin: boolean;
  /** Sent with every request that changes something. */
  formToken: string;
  /** What every page says, such as that the practice model is in use. */
  notice: string | null;
}

const content = document.querySelector<HTMLMetaElement>('meta[name="session"]')?.content ?? "{}";

export const session: PageSession = {
  ...{ userId: 0, email: "", team: "", isAdmin: false, formToken: "", notice: null },
  ...(JSON.parse(content) as Partial<PageSession>),
};
