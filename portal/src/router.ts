// The router of a face: turns files into routes, and reads and writes the query of addresses.
import { type AnyRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { noAnswer } from "./api/error.ts";
import { pagesRoot } from "./face.ts";
import type { Load } from "./pages.ts";
import { Crash, NoSuchPage, PageSkeleton } from "./shell/states.tsx";

/** Routes for pages, by their addresses, below a layout. */
export function below(parent: AnyRoute, pages: Record<string, Load>): AnyRoute[] {
  return Object.entries(pages).map(([path, load]) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      component: lazyRouteComponent(filed(load), "Page"),
    }),
  );
}

/**
 * Loads the file of a page. When a file does not come, the router loads the whole document anew, which helps after an upgrade. While the service
 * does not answer, that would leave the person with the browser's own error page, so this says it within ours.
 */
function filed(load: Load): Load {
  return () =>
    load().catch(async (error: unknown) => {
      await fetch(`${pagesRoot}/`, { method: "HEAD" }).catch(() => {
        throw noAnswer();
      });
      throw error;
    });
}

// Query parameters are plain text: ?status=paid, never ?status="paid".
const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));
const stringifySearch = (search: Record<string, unknown>): string => {
  const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  return set.length === 0 ? "" : `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
};

export function routerOf(routeTree: AnyRoute) {
  return createRouter({
    routeTree,
    basepath: pagesRoot,
    parseSearch,
    stringifySearch,
    scrollRestoration: true,
    defaultPreload: "intent",
    defaultPendingMs: 150,
    defaultPendingComponent: PageSkeleton,
    defaultNotFoundComponent: NoSuchPage,
    defaultErrorComponent: Crash,
  });
}
