// Starts the pages of a face, with one query cache and one router.
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { type AnyRouter, RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { onBehalfOf, onSessionChanged } from "./api/client.ts";
import { asApiError } from "./api/error.ts";
import { type SessionView, sessionQuery } from "./api/session.ts";
import "./styles.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // Without a network a query fails at once with an error.
      networkMode: "always",
      retry: (failures, error) => failures < 1 && asApiError(error).isOutcomeUnknown,
      retryDelay: 800,
    },
  },
});

// Refetching the session shows the gate that nobody is signed in, and it leads to the sign-in, or keeps the page where something would be lost; or it
// shows the pages what their person may still do. The page stays until then: a question that was under way while a proof renewed the session is refused, and the session is good.
onSessionChanged(() => void queries.invalidateQueries({ queryKey: sessionQuery.queryKey }));

onBehalfOf(() => queries.getQueryData<SessionView>(sessionQuery.queryKey)?.person.person_id);

/** Draws the pages into the document. Throws when the document has no #pages. */
export function start(router: AnyRouter): void {
  const place = document.querySelector("#pages");
  if (!place) throw new Error("the document has no place for the pages");
  createRoot(place).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
}
