// The route tree: three layouts, and the pages of pages.ts below them.
import { type AnyRoute, createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { AccountLayout } from "./shell/account-layout.tsx";
import { MerchantLayout } from "./shell/merchant-layout.tsx";
import { Start } from "./shell/start.tsx";
import { Crash, NoSuchPage, PageSkeleton } from "./shell/states.tsx";
import { Root } from "./shell/root.tsx";
import { type Load, accountPages, guestPages, merchantPages } from "./pages.ts";

const root = createRootRoute({ component: Root });
const start = createRoute({ getParentRoute: () => root, path: "/", component: Start });
const account = createRoute({ getParentRoute: () => root, id: "account", component: AccountLayout });
const merchant = createRoute({
  getParentRoute: () => root,
  path: "/$merchant/$environment",
  component: MerchantLayout,
});

function below(parent: AnyRoute, pages: Record<string, Load>): AnyRoute[] {
  return Object.entries(pages).map(([path, load]) =>
    createRoute({
      getParentRoute: () => parent,
      path,
      component: lazyRouteComponent(load, "Page"),
    }),
  );
}

// Filters are plain text in the address: ?status=paid, never ?status="paid".
const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));
const stringifySearch = (search: Record<string, unknown>): string => {
  const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== "");
  return set.length === 0 ? "" : `?${new URLSearchParams(set.map(([name, value]) => [name, String(value)]))}`;
};

export const router = createRouter({
  routeTree: root.addChildren([
    start,
    ...below(root, guestPages),
    account.addChildren(below(account, accountPages)),
    merchant.addChildren(below(merchant, merchantPages)),
  ]),
  basepath: "/portal",
  parseSearch,
  stringifySearch,
  scrollRestoration: true,
  defaultPreload: "intent",
  defaultPendingMs: 150,
  defaultPendingComponent: PageSkeleton,
  defaultNotFoundComponent: NoSuchPage,
  defaultErrorComponent: Crash,
});
