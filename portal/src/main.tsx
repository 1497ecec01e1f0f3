// The start of the pages: one cache of answers, one router.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { onSignedOut } from "./api/client.ts";
import { asApiError } from "./api/error.ts";
import { sessionQuery } from "./api/session.ts";
import { router } from "./routes.tsx";
import "./styles.css";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // Without a network a question fails at once, and says so.
      networkMode: "always",
      retry: (failures, error) => failures < 1 && asApiError(error).isOutcomeUnknown,
      retryDelay: 800,
    },
  },
});

// The gate of the session leads to the sign-in as soon as it knows.
onSignedOut(() => void queries.resetQueries({ queryKey: sessionQuery.queryKey }));

const place = document.querySelector("#pages");
if (!place) throw new Error("index.html has no place for the pages");
createRoot(place).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
