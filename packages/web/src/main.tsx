// Starts the web app.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RequestError } from "./api/request.ts";
import { createAppRouter } from "./router.tsx";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/components.css";
import "./styles/pages.css";
import "./styles/lists.css";
import "./styles/reference.css";
import "./styles/repositories.css";

/** A refusal stays one; only what may pass by itself is tried again. */
const mayPass = (error: unknown): boolean =>
  error instanceof RequestError && (error.status === 0 || error.status >= 500);

const queries = new QueryClient({
  defaultOptions: { queries: { retry: (count, error) => mayPass(error) && count < 3, staleTime: 1_000 } },
});
const root = document.getElementById("root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={createAppRouter()} />
      </QueryClientProvider>
    </StrictMode>,
  );
